package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jp/internal/cli"
)

// Answers that are typed ahead all count, each for its own question.
func TestAnswersTypedAhead(t *testing.T) {
	dir := t.TempDir()
	conversations := filepath.Join(dir, ".jp", "conversations")
	for _, id := range []string{"17000000001", "17000000002", "17000000003"} {
		for name, data := range map[string]string{"metadata.json": "{}", "base_config.json": "{}", "events.json": "[]"} {
			path := filepath.Join(conversations, id, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".jp", ".id"), []byte("abcde\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := cli.Main(cli.Process{
		Args: []string{"c", "rm", "17000000001", "17000000002", "17000000003"}, Dir: dir, Environ: []string{"HOME=" + dir},
		Stdin: strings.NewReader("y\nn\ny\n"), Stdout: new(bytes.Buffer), Stderr: &stderr, InTTY: true, Now: time.Now,
	})
	if code != 0 {
		t.Errorf("code %d: %s", code, stderr.String())
	}
	left, err := filepath.Glob(filepath.Join(conversations, "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "17000000002" {
		t.Errorf("left: %q, %v", left, err)
	}
}
