package attach_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
	"jp/internal/workspace/attach"
)

const png = "\x89PNG\r\n\x1a\n0000"

// tree writes files below a folder of their own and returns a place in it: the
// workspace is ws, beside it lies what is outside.
func tree(t *testing.T, files map[string]string) attach.Place {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "ws")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return attach.Place{Root: root, Dir: root}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// read reads references as a person types them and tells their documents,
// notes and error in lines.
func read(t *testing.T, p attach.Place, typed ...string) string {
	t.Helper()
	var refs []attach.Ref
	for _, s := range typed {
		ref, err := p.Typed(s)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		refs = append(refs, ref)
	}
	return told(p, refs, refs)
}

// pulled reads references that came with the conversation.
func pulled(t *testing.T, p attach.Place, stored ...string) string {
	t.Helper()
	var refs []attach.Ref
	for _, s := range stored {
		ref, reason := attach.Stored(s)
		if reason != "" {
			return "reason: " + reason + "\n"
		}
		refs = append(refs, ref)
	}
	return told(p, refs, nil)
}

func told(p attach.Place, refs, named []attach.Ref) string {
	var out strings.Builder
	docs, err := p.Read(refs, named, func(s string) { fmt.Fprintf(&out, "note: %s\n", s) })
	for _, d := range docs {
		out.WriteString(line(d) + "\n")
	}
	if err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	return strings.ReplaceAll(out.String(), filepath.Dir(p.Root), "DIR")
}

func line(d llm.Document) string {
	if d.Image != nil {
		return fmt.Sprintf("%s: %s, %d bytes", d.Source, d.Image.MediaType, len(d.Image.Data))
	}
	return d.Source + ": " + d.Text
}

func TestExpansion(t *testing.T) {
	p := tree(t, map[string]string{
		"ws/b.md": "B", "ws/a.md": "A", "ws/doc/c.md": "C", "ws/doc/deep/d.md": "D", "ws/doc/e.txt": "E",
		"ws/.env": "secret", "ws/doc/.git/config": "secret", "ws/.jp/x.md": "X",
		"ws/x.bin": "\x00\x01", "ws/latin.txt": "caf\xe9", "ws/p.png": png, "ws/bin/x.bin": "\x00", "ws/bin/y.bin": "\x00", "ws/empty.txt": "",
		"ws/my notes.md": "spaces", "ws/grüße.md": "umlauts", "ws/100%.md": "percent", "ws/a%20b.md": "literal", "ws/a b.md": "decoded",
		"ws/q?.md": "mark", "ws/h#.md": "hash", "ws/app/[id]/page.ts": "route", "ws/app/i/page.ts": "another",
		"out/o.md": "O", "out/p.md": "P",
	})
	if err := os.MkdirAll(filepath.Join(p.Root, "void", ".dot"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		typed []string
		want  string
	}{
		{"as typed, each once", []string{"b.md", "a.md", "./b.md", "doc/../b.md"}, "b.md: B\na.md: A\n"},
		{"a glob is sorted", []string{"[ab].md"}, "a.md: A\nb.md: B\n"},
		{"a glob after one of its files", []string{"b.md", "[ab].md"}, "b.md: B\na.md: A\n"},
		{"alternatives", []string{"{b,a}.md"}, "a.md: A\nb.md: B\n"},
		{"one level", []string{"doc/*"}, "doc/c.md: C\ndoc/e.txt: E\n"},
		{"all levels", []string{"doc/**/*.md"}, "doc/c.md: C\ndoc/deep/d.md: D\n"},
		{"a folder", []string{"doc"}, "doc/c.md: C\ndoc/deep/d.md: D\ndoc/e.txt: E\n"},
		{"a folder with a slash", []string{"doc/"}, "doc/c.md: C\ndoc/deep/d.md: D\ndoc/e.txt: E\n"},
		{"a URL", []string{"file:a.md", "file://b.md"}, "a.md: A\nb.md: B\n"},
		{"an absolute URL", []string{"file://" + filepath.Join(p.Root, "a.md")}, "a.md: A\n"},
		{"a described one", []string{"file:a.md?description=the+first"}, "a.md (the first): A\n"},
		{"nothing in a file", []string{"empty.txt"}, "empty.txt: \n"},
		{"a dot entry by name", []string{".env", "doc/.git"}, ".env: secret\ndoc/.git/config: secret\n"},
		{"dot entries by a pattern of theirs", []string{".e*"}, ".env: secret\n"},
		{"no dot entry by any other", []string{"*env", "**/config"}, "error: *env cannot be attached: no file matches it\n"},
		{"a picture", []string{"p.png"}, "p.png: image/png, 12 bytes\n"},
		{"a picture by a glob", []string{"*.png"}, "p.png: image/png, 12 bytes\n"},
		{"bytes", []string{"x.bin"}, "error: x.bin cannot be attached: it is neither text nor a picture\n"},
		{"text in another encoding", []string{"latin.txt"}, "error: latin.txt cannot be attached: it is neither text nor a picture\n"},
		{"a folder of bytes", []string{"bin"}, "note: attachment bin is sent without bin/x.bin, bin/y.bin (it is neither text nor a picture)\nerror: bin cannot be attached: nothing of it can be sent\n"},
		{"a glob with bytes", []string{"[ax].{bin,md}"}, "note: attachment [ax].{bin,md} is sent without x.bin (it is neither text nor a picture)\na.md: A\n"},
		{"spaces", []string{"my notes.md"}, "my notes.md: spaces\n"},
		{"spaces of a URL", []string{"file:my%20notes.md"}, "my notes.md: spaces\n"},
		{"other scripts", []string{"grüße.md", "gr*e.md"}, "grüße.md: umlauts\n"},
		{"a percent sign", []string{"100%.md", "file:100%.md", "file:100%25.md"}, "100%.md: percent\n"},
		{"the file of that very name first", []string{"file:a%20b.md"}, "a%20b.md: literal\n"},
		{"signs of URLs", []string{"q?.md", "h#.md", "file:h#.md"}, "q?.md: mark\nh#.md: hash\n"},
		{"signs of globs", []string{"app/[id]/page.ts"}, "app/[id]/page.ts: route\n"},
		{"outside, by hand", []string{"../out"}, "DIR/out/o.md: O\nDIR/out/p.md: P\n"},
		{"a glob outside, by hand", []string{"../out/p*"}, "DIR/out/p.md: P\n"},
		{"nothing", []string{"nope.md"}, "error: nope.md cannot be attached: there is no such file\n"},
		{"below a file", []string{"a.md/b"}, "error: a.md/b cannot be attached: it cannot be reached: not a directory\n"},
		{"a folder of nothing", []string{"void"}, "error: void cannot be attached: it is a folder without files\n"},
		{"a bad pattern", []string{"[a.md"}, "error: [a.md cannot be attached: no file matches it\n"},
		{"another scheme", []string{"https://example.org/a"}, "error: cannot attach https://example.org/a: only files can be attached, not \"https\"\n"},
		{"no path", []string{"file:"}, "error: an attachment needs a path\n"},
		{"a name that JSON cannot hold", []string{"\xff.md"}, "error: cannot attach \"\\xff.md\": its name is not in UTF-8\n"},
		{"a name that no system has", []string{"a\x00b"}, "error: a\x00b cannot be attached: it cannot be reached: invalid argument\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, read(t, p, tt.typed...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("from a folder with signs of globs", func(t *testing.T) {
		in := attach.Place{Root: p.Root, Dir: filepath.Join(p.Root, "app", "[id]")}
		want := "app/[id]/page.ts: route\n"
		for _, typed := range []string{"*.ts", "page.ts", "."} {
			if diff := cmp.Diff(want, read(t, in, typed)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", typed, diff)
			}
		}
	})
	t.Run("in a workspace with signs of globs", func(t *testing.T) {
		in := attach.Place{Root: filepath.Join(p.Root, "app", "[id]"), Dir: filepath.Join(p.Root, "app", "[id]")}
		for _, got := range []string{read(t, in, "*.ts"), pulled(t, in, "file:*.ts")} {
			if diff := cmp.Diff("page.ts: route\n", got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		}
	})
}

// What came with a conversation reads nothing outside of the workspace, and
// what of it cannot be read stops nobody.
func TestStored(t *testing.T) {
	p := tree(t, map[string]string{
		"ws/a.md": "A", "ws/src/b.md": "B", "ws/src/c.md": "C", "ws/x.bin": "\x00", "ws/a b.md": "spaces", "out/o.md": "O",
	})
	outside := filepath.Join(filepath.Dir(p.Root), "out")
	tests := []struct {
		name, stored, want string
	}{
		{"a bare path", "a.md", "a.md: A\n"},
		{"a URL", "file:src/b.md", "src/b.md: B\n"},
		{"a root-relative URL", "file:///src/b.md", "src/b.md: B\n"},
		{"a root-relative path", "file:/src", "src/b.md: B\nsrc/c.md: C\n"},
		{"a root-relative glob", "file:///**/*.md", "a b.md: spaces\na.md: A\nsrc/b.md: B\nsrc/c.md: C\n"},
		{"a root-relative glob below", "file:///src/*.md", "src/b.md: B\nsrc/c.md: C\n"},
		{"an escaped one", "file:///a%20b.md", "a b.md: spaces\n"},
		{"a described one", "file://a.md?description=first%20one", "a.md (first one): A\n"},
		{"an absolute one inside", "file:" + filepath.Join(p.Root, "a.md"), "a.md: A\n"},
		{"an absolute one outside", "file:" + outside + "/o.md", "note: attachment DIR/out/o.md is left out: it lies outside the workspace\n"},
		{"a folder outside", "file:../out", "note: attachment ../out is left out: it lies outside the workspace\n"},
		{"a glob outside", "file:../out/*", "note: attachment ../out/* is left out: it lies outside the workspace\n"},
		{"climbing in a glob", "file:src/*/../../../out/*", "note: attachment src/*/../../../out/* is left out: no file matches it\n"},
		{"a device", "file:/dev/zero", "note: attachment /dev/zero is left out: it is a device, not a file\n"},
		{"nothing there", "file:gone.md", "note: attachment gone.md is left out: there is no such file\n"},
		{"bytes", "file:x.bin", "note: attachment x.bin is left out: it is neither text nor a picture\n"},
		{"a command", "cmd://touch?arg=ran", "reason: cmd attachments are not read: cmd://touch?arg=ran\n"},
		{"the web", "https://example.org/a", "reason: https attachments are not read: https://example.org/a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, pulled(t, p, tt.stored)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	p := tree(t, map[string]string{"ws/a.md": "A", "ws/doc/c.md": "C", "out/o.md": "O", "out/sub/s.md": "S", "elsewhere/e.md": "E"})
	at := func(name string) string { return filepath.Join(p.Root, name) }
	link(t, "a.md", at("same.md"))
	link(t, "doc", at("docs"))
	link(t, "../../out/o.md", at("doc/leak.md"))
	link(t, "../../out", at("doc/leaks"))
	link(t, "..", at("doc/loop"))
	link(t, "../out", at("away"))
	link(t, "../out/o.md", at("away.md"))
	link(t, "nowhere", at("dangling"))
	link(t, "self", at("self"))
	link(t, "../elsewhere/e.md", filepath.Join(filepath.Dir(p.Root), "out", "further.md"))
	tests := []struct {
		name        string
		typed       string
		inside      bool
		hand, found string // by hand, and as it was stored
	}{
		{"to a file inside", "same.md", true, "same.md: A\n", "same.md: A\n"},
		{"to a folder inside", "docs", true,
			"note: attachment docs is sent without docs/leak.md (it lies outside the workspace)\ndocs/c.md: C\n",
			"note: attachment docs is sent without docs/leak.md (it lies outside the workspace)\ndocs/c.md: C\n"},
		{"through a folder outside, in a glob", "doc/*/*.md", true,
			"note: attachment doc/*/*.md is sent without doc/leaks/further.md, doc/leaks/o.md, doc/loop/away.md (it lies outside the workspace)\ndoc/loop/a.md: A\n",
			"note: attachment doc/*/*.md is sent without doc/leaks/further.md, doc/leaks/o.md, doc/loop/away.md (it lies outside the workspace)\ndoc/loop/a.md: A\n"},
		{"to a file outside", "away.md", false, "away.md: O\n", "note: attachment away.md is left out: it lies outside the workspace\n"},
		{"to a folder outside", "away", false,
			"note: attachment away is sent without away/further.md (it lies outside the workspace)\naway/o.md: O\naway/sub/s.md: S\n",
			"note: attachment away is left out: it lies outside the workspace\n"},
		{"to nowhere", "dangling", false, "error: dangling cannot be attached: there is no such file\n", "note: attachment dangling is left out: there is no such file\n"},
		{"to itself", "self", false,
			"error: self cannot be attached: it cannot be reached: too many levels of symbolic links\n",
			"note: attachment self is left out: it cannot be reached: too many levels of symbolic links\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ref, err := p.Typed(tt.typed)
			if err != nil {
				t.Fatal(err)
			}
			if inside, _ := p.Look(ref); inside != tt.inside {
				t.Errorf("inside: %v", inside)
			}
			if diff := cmp.Diff(tt.hand, read(t, p, tt.typed)); diff != "" {
				t.Errorf("by hand (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.found, pulled(t, p, ref.String())); diff != "" {
				t.Errorf("stored (-want +got)\n%s", diff)
			}
		})
	}
	t.Run("to the workspace", func(t *testing.T) {
		link(t, "ws", filepath.Join(filepath.Dir(p.Root), "alias"))
		through := attach.Place{Root: filepath.Join(filepath.Dir(p.Root), "alias"), Dir: p.Dir}
		if diff := cmp.Diff("a.md: A\n", pulled(t, through, "a.md")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// Nothing but regular files is opened: each of these would wait or never end.
func TestKinds(t *testing.T) {
	p := tree(t, map[string]string{"ws/dir/a.md": "A"})
	if err := syscall.Mkfifo(filepath.Join(p.Root, "dir", "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(p.Root, "dir", "sock"))
	if err != nil {
		t.Skipf("no socket: %v", err)
	}
	defer socket.Close()
	link(t, "pipe", filepath.Join(p.Root, "dir", "to-pipe"))
	link(t, "/dev/zero", filepath.Join(p.Root, "zero"))
	tests := []struct{ typed, want string }{
		{"dir/pipe", "error: dir/pipe cannot be attached: it is a named pipe, not a file\n"},
		{"dir/to-pipe", "error: dir/to-pipe cannot be attached: it is a named pipe, not a file\n"},
		{"dir/sock", "error: dir/sock cannot be attached: it is a socket, not a file\n"},
		{"zero", "error: zero cannot be attached: it is a device, not a file\n"},
		{"/dev/null", "error: /dev/null cannot be attached: it is a device, not a file\n"},
		{"dir", "note: attachment dir is sent without dir/pipe, dir/to-pipe (it is a named pipe, not a file); dir/sock (it is a socket, not a file)\ndir/a.md: A\n"},
		{"dir/*", "note: attachment dir/* is sent without dir/pipe, dir/to-pipe (it is a named pipe, not a file); dir/sock (it is a socket, not a file)\ndir/a.md: A\n"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, read(t, p, tt.typed)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.typed, diff)
		}
	}
}

func TestLimits(t *testing.T) {
	files := map[string]string{"ws/fits.txt": strings.Repeat("x", attach.MaxFile), "ws/big.txt": strings.Repeat("x", attach.MaxFile+1)}
	for i := range 9 {
		files[fmt.Sprintf("ws/large/%d.txt", i)] = strings.Repeat("x", attach.MaxFile)
	}
	for i := range attach.MaxFiles + 1 {
		files[fmt.Sprintf("ws/many/%d.txt", i)] = ""
	}
	p := tree(t, files)
	if got := read(t, p, "fits.txt"); !strings.HasPrefix(got, "fits.txt: xxx") {
		t.Errorf("%.80s", got)
	}
	for typed, want := range map[string]string{
		"big.txt":  "error: big.txt cannot be attached: it is larger than 4 MiB\n",
		"large":    "error: the attachments are larger than 32 MiB together\n",
		"many":     "error: more than 500 files are attached\n",
		"many/*":   "error: more than 500 files are attached\n",
		"ma*/*.tx": "error: ma*/*.tx cannot be attached: no file matches it\n",
	} {
		if got := read(t, p, typed); got != want {
			t.Errorf("%s: %.200s", typed, got)
		}
	}
	// Stored ones are no less of a request.
	if got := pulled(t, p, "file:large"); got != "error: the attachments are larger than 32 MiB together\n" {
		t.Errorf("stored: %.200s", got)
	}
	// A file system may say nothing of a file's size.
	if info, err := os.Stat("/proc/self/maps"); err == nil && info.Size() == 0 {
		if got := read(t, p, "/proc/self/maps"); !strings.HasPrefix(got, "/proc/self/maps: ") || strings.Count(got, "\n") < 3 {
			t.Errorf("%.200s", got)
		}
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	p := tree(t, map[string]string{"ws/dir/a.md": "A", "ws/dir/shut.md": "S", "ws/dir/sub/b.md": "B"})
	for _, name := range []string{"dir/shut.md", "dir/sub"} {
		if err := os.Chmod(filepath.Join(p.Root, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(p.Root, "dir/sub"), 0o755) })
	want := "note: attachment dir is sent without dir/shut.md (it cannot be read: permission denied)\ndir/a.md: A\n"
	if diff := cmp.Diff(want, read(t, p, "dir")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Look says what there is before anything is read.
func TestLook(t *testing.T) {
	p := tree(t, map[string]string{"ws/a.md": "A", "out/o.md": "O"})
	tests := []struct {
		typed  string
		inside bool
		code   fault.Code
	}{
		{"a.md", true, ""},
		{"*.md", true, ""},
		{".", true, ""},
		{"../out", false, ""},
		{"../out/*.txt", false, ""}, // nobody looks there
		{"*.txt", true, fault.NotFound},
		{"gone", false, fault.NotFound},
		{"/dev/zero", false, fault.Invalid},
	}
	for _, tt := range tests {
		ref, err := p.Typed(tt.typed)
		if err != nil {
			t.Fatal(err)
		}
		inside, err := p.Look(ref)
		if inside != tt.inside || (err == nil) != (tt.code == "") || err != nil && fault.CodeOf(err) != tt.code {
			t.Errorf("%s: inside %v, %v", tt.typed, inside, err)
		}
		if errors.Is(err, fs.ErrNotExist) != (tt.typed == "gone") {
			t.Errorf("%s: %v", tt.typed, err)
		}
	}
}

// What String writes, Stored reads.
func TestStoredForm(t *testing.T) {
	part := rapid.StringMatching(`[a-z%?#& +=:*\[\]{}"'ü文\\.@~-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		pattern := filepath.ToSlash(filepath.Clean(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path"), "/")))
		if rapid.Bool().Draw(t, "absolute") {
			pattern = filepath.Clean("/" + pattern)
		}
		want := attach.Ref{Pattern: pattern, Description: rapid.String().Draw(t, "description")}
		got, reason := attach.Stored(want.String())
		if reason != "" || got != want {
			t.Fatalf("%q is read as %#v %s", want.String(), got, reason)
		}
	})
}

// Whatever is typed about a file inside, its stored form names the same file.
func TestTypedIsStored(t *testing.T) {
	p := tree(t, nil)
	name := rapid.StringMatching(`[a-z%?#& +=*\[\]{}ü文.@~-]{1,8}`).Filter(func(s string) bool { return strings.Trim(s, ".") != "" && strings.TrimSpace(s) != "" })
	rapid.Check(t, func(rt *rapid.T) {
		file := name.Draw(rt, "name")
		path := filepath.Join(p.Root, file)
		if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
			rt.Fatal(err)
		}
		defer os.Remove(path)
		ref, err := p.Typed(file)
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := pulled(t, p, ref.String()), file+": text\n"; got != want {
			rt.Fatalf("%q is stored as %q: %s", file, ref.String(), got)
		}
	})
}
