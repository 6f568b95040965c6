package conversation

import (
	"strings"
	"testing"
	"time"

	"jp/internal/lib/fault"
)

func TestParseID(t *testing.T) {
	for text, want := range map[string]ID{
		"jp-c17727391057":                   17727391057,
		"jp-c17727391057-a1b2":              17727391057,
		"17727391057":                       17727391057,
		"17727391057-iana-reference-site":   17727391057,
		"17727391057-Zoë's":                 17727391057,
		"jp-c17727391057-Not-a-global-id":   0,
		"jp-c":                              0,
		"":                                  0,
		"x17727391057":                      0,
		"17727391057x":                      0,
		"-5":                                0,
		"+5":                                0,
		"17727391057-a\nb":                  17727391057,
		"jp-c17727391057-":                  0,
		"jp-c99999999999999999999999999999": 0,
		"../17727391057":                    0,
	} {
		got, err := ParseID(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("ParseID(%q) = %d, %v", text, got, err)
		}
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			t.Errorf("ParseID(%q): code %s", text, fault.CodeOf(err))
		}
	}
}

func TestID(t *testing.T) {
	at := time.Date(2026, 3, 5, 22, 5, 5, 799e6, time.FixedZone("", 3600))
	id := NewID(at)
	if id.String() != "jp-c17727447057" {
		t.Error(id)
	}
}

func TestDirName(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for title, want := range map[string]string{
		"":                             "7",
		"  ":                           "7",
		"...":                          "7",
		"IANA Reference Site":          "7-iana-reference-site",
		"  JP init: XDG / Linux? ":     "7-jp-init--xdg---linux",
		"Élodie und 助手 🦊":              "7-élodie-und-助手",
		"../../etc/passwd":             "7-------etc-passwd",
		long:                           "7-" + strings.TrimSuffix(strings.Repeat("word-", 12), "-"),
		strings.Repeat("x", 70):        "7-" + strings.Repeat("x", 60),
		strings.Repeat("é", 40):        "7-" + strings.Repeat("é", 40),
		"a " + strings.Repeat("é", 40): "7-a",
		strings.Repeat("𝒳", 60):        "7-" + strings.Repeat("𝒳", 45),
	} {
		if got := ID(7).DirName(title); got != want {
			t.Errorf("DirName(%q) = %q, want %q", title, got, want)
		}
	}
	for _, dir := range fixtures(t) {
		m, err := LoadMeta(dir)
		if err != nil {
			t.Fatal(err)
		}
		base := dir[strings.LastIndexAny(dir, `/\`)+1:]
		id, err := ParseID(base)
		if err != nil {
			t.Fatal(err)
		}
		if got := id.DirName(m.Title); got != base {
			t.Errorf("%q is stored as %s, we would say %s", m.Title, base, got)
		}
	}
}

func TestTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-05-01 12:00:00.123456":    "2026-05-01 12:00:00.123456",
		"2026-05-01 12:00:00.0":         "2026-05-01 12:00:00.0",
		"2026-05-01 12:00:00":           "2026-05-01 12:00:00.0",
		"2026-05-01 12:00:00.100":       "2026-05-01 12:00:00.1",
		"2026-05-01 12:00:00.123456789": "2026-05-01 12:00:00.123456789",
		"2026-05-01T12:00:00Z":          "2026-05-01 12:00:00.0",
		"2026-05-01T14:00:00.5+02:00":   "2026-05-01 12:00:00.5",
		"2026-05-01":                    "",
		"yesterday":                     "",
	} {
		at, err := ParseTime(text)
		if err != nil {
			if want != "" {
				t.Error(err)
			}
			continue
		}
		if got := FormatTime(at); got != want {
			t.Errorf("%s → %s, want %s", text, got, want)
		}
	}
}
