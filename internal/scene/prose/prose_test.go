package prose_test

import (
	"strings"
	"testing"

	"jp/internal/scene/prose"
)

// Lines of a block are c, all others a dot.
func TestFence(t *testing.T) {
	for text, want := range map[string]string{
		"a\n```\nb\n```\nc":        ".ccc.",
		"```go\n```go\n```\nx":     "ccc.",
		"````\n```\n`````  \nx":    "ccc.",
		"~~~ a`b\n```\n~~~\nx":     "ccc.",
		"``` a`b\nx":               "..",
		"   ```\nx\n    ```\n```":  "cccc",
		"    ```\nx":               "..",
		"``\nx":                    "..",
		"```\nit never ends\n\nx":  "cccc",
		"```\nx\r\n```\r\nback":    "ccc.",
		"```\n~~~\n```\n~~~\nlast": "cccc" + "c",
	} {
		var f prose.Fence
		got := ""
		for line := range strings.Lines(text) {
			var code bool
			f, code = f.Next(line)
			if code {
				got += "c"
			} else {
				got += "."
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestClosing(t *testing.T) {
	for opens, closes := range map[rune]string{'"': `"`, '“': "”", '„': "“”", '”': "”", '«': "»", '»': "«", '「': "」", '『': "』", 'a': "", '\'': ""} {
		if got := prose.Closing(opens); got != closes {
			t.Errorf("%c closes with %q, want %q", opens, got, closes)
		}
	}
}
