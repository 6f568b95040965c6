package voice_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/scene"
	"jp/internal/scene/voice"
)

// outcome is all that a filter tells about a reply.
type outcome struct {
	Text    string
	Cut     *scene.Cut
	Flagged string
}

// pass sends text through a filter in pieces of size bytes.
func pass(o voice.Options, text string, size int) outcome {
	f := voice.New(o)
	for len(text) > 0 {
		n := min(size, len(text))
		f.Write(text[:n])
		text = text[n:]
	}
	f.Flush()
	return outcome{f.Text(), f.Cut(), f.Flagged()}
}

// check compares a whole reply and all ways to cut it into equal pieces.
func check(t *testing.T, o voice.Options, text string, want outcome) {
	t.Helper()
	for size := len(text) + 1; size > 0; size-- {
		if d := cmp.Diff(want, pass(o, text, size)); d != "" {
			t.Errorf("%q in pieces of %d (-want +got):\n%s", text, size, d)
			return
		}
	}
}

func TestOwnLabel(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"Alice", "Hello.", "Hello."},
		{"Alice", "Alice: Hello.", "Hello."},
		{"Alice", "Alice:Hello.", "Hello."},
		{"Alice", "Alice:\nHello.", "Hello."},
		{"Alice", "Alice:\r\n\r\nHello.", "Hello."},
		{"Alice", "ALICE: Hello.", "Hello."},
		{"Alice", "Alice : Bonjour.", "Bonjour."},
		{"Alice", "Alice\u00a0: Bonjour.", "Bonjour."},
		{"Alice", "**Alice:** Hello.", "Hello."},
		{"Alice", "**Alice**: Hello.", "Hello."},
		{"Alice", "**Alice** : Hello.", "Hello."},
		{"Alice", "__Alice__: Hello.", "Hello."},
		{"Alice", "__Alice:__ Hello.", "Hello."},
		{"Alice", "*Alice:* Hello.", "Hello."},
		{"Alice", "***Alice:*** Hello.", "Hello."},
		{"Alice", "[Alice]: Hello.", "Hello."},
		{"Alice", "**[Alice]:** Hello.", "Hello."},
		{"Alice", "[**Alice**]: Hello.", "Hello."},
		{"Alice", "[Alice:] Hello.", "Hello."},
		{"Alice", "# Alice\nHello.", "Hello."},
		{"Alice", "### **Alice:**\r\n\r\nHello.", "Hello."},
		{"Alice", "**Alice**\nHello.", "Hello."},
		{"Alice", "**Alice**  \n\nHello.", "Hello."},
		{"Alice", "\n\n Alice: Hello.", "Hello."},
		{"Alice", "Alice: Alice: Hello.", "Hello."},
		{"Alice", "**Alice**\n\nAlice: [Alice]:\nHello.", "Hello."},
		{"Alice", "Alice:", ""},
		{"Alice", "**Alice**", ""},
		{"Alice", " \n ", ""},
		{"Alice", "\n\nHello.\n", "Hello.\n"},
		{"Alice", "Alice smiled.", "Alice smiled."},
		{"Alice", "**Alice** walked", "**Alice** walked"},
		{"Alice", "Alice", "Alice"},
		{"Alice", "Alice\nHello.", "Alice\nHello."},
		{"Alice", "Alicent: Hello.", "Alicent: Hello."},
		{"Alice", "Alice, look: there!", "Alice, look: there!"},
		{"Alice", "*Alice* walked", "*Alice* walked"},
		{"Alice", "*Alice*\nwalked", "*Alice*\nwalked"},
		{"Alice", "[Alice]\nHello.", "[Alice]\nHello."},
		{"Alice", "### Alice: the end\nHello.", "### Alice: the end\nHello."},
		{"Alice", "### Alice walks", "### Alice walks"},
		{"Alice", "#Alice: Hello.", "#Alice: Hello."},
		{"Alice", "**Alice: Hello.**", "**Alice: Hello.**"},
		{"Alice", "alice://x", "alice://x"},
		{"Alice", "Alice::new()", "Alice::new()"},
		{"Alice", "Hello.\nAlice: Bye.", "Hello.\nAlice: Bye."},
		{"Alice", "Bob: Alice: Hello.", "Bob: Alice: Hello."},
		{"Alice", "> Alice: Hello.", "> Alice: Hello."},
		{"Alice", "`Alice: Hello.`", "`Alice: Hello.`"},
		{"Alice", "\"Alice: Hello.\"", "\"Alice: Hello.\""},
		{"12", "12:30, at last.", "12:30, at last."},
		{"12", "12: at last.", "at last."},
		{"#1", "#1: Hello.", "Hello."},
		{"", ": Hello.", ": Hello."},
		{"Dr. X (a|b)* [2]", "Dr. X (a|b)* [2]: Hello.", "Hello."},
		{"Dr. X (a|b)* [2]", "**Dr. X (a|b)* [2]:** Hello.", "Hello."},
		{"Dr. X (a|b)* [2]", "Dr. X a [2]: Hello.", "Dr. X a [2]: Hello."},
		{".*", "Bob: Hello.", "Bob: Hello."},
		{"[Bot]", "[Bot]: Hello.", "Hello."},
		{"[Bot]", "[[Bot]]: Hello.", "Hello."},
		{"**Star**", "**Star**: Hello.", "Hello."},
		{"night-owl_2", "night-owl_2: Hello.", "Hello."},
		{"Anna Karenina", "Anna: Karenina", "Anna: Karenina"},
		{"アリス", "アリス：こんにちは。", "こんにちは。"},
		{"アリス", "【アリス】こんにちは。", "【アリス】こんにちは。"},
		{"アリス", "アリスは笑った。", "アリスは笑った。"},
		{"アリス", "アリス：\u3000こんにちは。", "こんにちは。"},
		{"アリス", "\u3000こんにちは。", "\u3000こんにちは。"},
		{"Жанна", "ЖАННА: привет", "привет"},
		{"Ölüm", "**ölüm**:\nMerhaba", "Merhaba"},
		{"🦊", "🦊: *barks*", "*barks*"},
		{strings.Repeat("Very ", 60) + "Long", strings.Repeat("Very ", 60) + "Long: Hello.", "Hello."},
	} {
		check(t, voice.Options{Own: c.name}, c.text, outcome{Text: c.want})
		if got := voice.Strip(c.text, c.name); got != c.want {
			t.Errorf("Strip(%q, %q) = %q, want %q", c.text, c.name, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	cast := []string{"Bob", "Bob Stone", "ALICE", "Sam [the] (1+)", "アリス", "", " "}
	for _, c := range []struct{ text, kept, label, removed string }{
		{"Hi.\nBob: Hey.", "Hi.", "Bob", "Bob: Hey."},
		{"Hi.\n\n\nBob: Hey.\nSam [the] (1+): no", "Hi.", "Bob", "Bob: Hey.\nSam [the] (1+): no"},
		{"Alice: Hi.\nbob: Hey.", "Hi.", "Bob", "bob: Hey."},
		{"Hi.\n  **Bob:** Hey.", "Hi.", "Bob", "  **Bob:** Hey."},
		{"Hi.\n**Bob**: Hey.", "Hi.", "Bob", "**Bob**: Hey."},
		{"Hi.\n__Bob__: Hey.", "Hi.", "Bob", "__Bob__: Hey."},
		{"Hi.\n[Bob]: Hey.", "Hi.", "Bob", "[Bob]: Hey."},
		{"Hi.\n\n### Bob\nHey.", "Hi.", "Bob", "### Bob\nHey."},
		{"Hi.\n\n**Bob**\nHey.", "Hi.", "Bob", "**Bob**\nHey."},
		{"Hi.\r\n\r\nBob:\r\nHey.", "Hi.", "Bob", "Bob:\r\nHey."},
		{"Hi.\nBob:", "Hi.", "Bob", "Bob:"},
		{"Hi.\n**Bob**", "Hi.", "Bob", "**Bob**"},
		{"Hi.\nBob Stone: Hey.", "Hi.", "Bob Stone", "Bob Stone: Hey."},
		{"Hi.\nSam [the] (1+): Hey.", "Hi.", "Sam [the] (1+)", "Sam [the] (1+): Hey."},
		{"やあ。\nアリス：「うん」", "やあ。", "アリス", "アリス：「うん」"},
		{"```\nx\n```\nBob: Hey.", "```\nx\n```", "Bob", "Bob: Hey."},
		{"A `tick` and \\` one.\nBob: Hey.", "A `tick` and \\` one.", "Bob", "Bob: Hey."},
		{"A stray ` tick.\n\nBob: Hey.", "A stray ` tick.", "Bob", "Bob: Hey."},
		{"\"Hi,\" I say.\nBob: Hey.", "\"Hi,\" I say.", "Bob", "Bob: Hey."},
		{"“Hi.\n\nBob: Hey.", "“Hi.", "Bob", "Bob: Hey."},
		{"„Hallo“, sagt sie.\nBob: Hey.", "„Hallo“, sagt sie.", "Bob", "Bob: Hey."},
		{"> A quote\nBob: Hey.", "> A quote", "Bob", "Bob: Hey."},
	} {
		check(t, voice.Options{Own: "Alice", Others: cast, Cut: true}, c.text,
			outcome{Text: c.kept, Cut: &scene.Cut{Label: c.label, Removed: c.removed}})
		whole := strings.TrimPrefix(c.text, "Alice: ")
		check(t, voice.Options{Own: "Alice", Others: cast}, c.text, outcome{Text: whole})
	}
}

func TestNoCut(t *testing.T) {
	for _, c := range []struct{ text, flagged string }{
		{text: "Hi.\nBob smiled."},
		{text: "Hi.\n**Bob** smiled."},
		{text: "Hi.\nBobby: Hey."},
		{text: "Hi. Bob: Hey."},
		{text: "Hi.\nAlice: Hey."}, // the speaker's own, whatever the others are called
		{text: "Hi.\n\"Bob: Hey.\""},
		{text: "Hi.\n> Bob: Hey."},
		{text: "Hi.\n- Bob: Hey."},
		{text: "Hi.\n    Bob: Hey."},
		{text: "Hi.\n\tBob: Hey."},
		{text: "Hi.\n`Bob: Hey.`"},
		{text: "Hi: `a\nBob: Hey.` x"},
		{text: "Hi: ``a ` b\nBob: Hey.`` x"},
		{text: "```\nBob: Hey.\n```"},
		{text: "```yaml\n~~~\n``\nBob: Hey.\n"},
		{text: "~~~ `x`\nBob: Hey.\n~~~"},
		{text: "````\n```\nBob: Hey.\n````"},
		{text: "She read: “Dear all,\nBob: never again.”"},
		{text: "She read: \"Dear all,\nBob: never again.\""},
		{text: "彼女は「ねえ\nBob：うん」と言った。"},
		{text: "Bob: Hey.", flagged: "Bob"},
		{text: "**Bob**\nHey.", flagged: "Bob"},
		{text: "Bob:\nSam: Hey.", flagged: "Bob"},
		{text: "Sam:", flagged: "Sam"},
		{text: "\u3000\nBob: Hey.", flagged: "Bob"},
	} {
		check(t, voice.Options{Own: "Alice", Others: []string{"Bob", "alice", "Sam"}, Cut: true}, c.text,
			outcome{Text: c.text, Flagged: c.flagged})
	}
}

func TestFlaggedThenCut(t *testing.T) {
	o := voice.Options{Own: "Alice", Others: []string{"Bob", "Sam"}, Cut: true}
	check(t, o, "Alice: Bob: Hey.\nSam: No.", outcome{Text: "Bob: Hey.", Flagged: "Bob", Cut: &scene.Cut{Label: "Sam", Removed: "Sam: No."}})
	check(t, o, "Bob:\nSam:\nx\nBob: y", outcome{Text: "Bob:\nSam:\nx", Flagged: "Bob", Cut: &scene.Cut{Label: "Bob", Removed: "Bob: y"}})
}

// What cannot be a label is shown at once, character for character.
func TestHoldsBackOnlyWhatMayBeALabel(t *testing.T) {
	f := voice.New(voice.Options{Own: "Alice", Others: []string{"Bob"}, Cut: true})
	for _, c := range [][2]string{
		{"\n", ""}, {"Ali", ""}, {"ce", ""}, {": ", ""}, {"Al", ""}, {"so ", "Also "}, {"é"[:1], ""}, {"é"[1:], "é"},
		{".\n", ".\n"}, {"*", ""}, {"*B", ""}, {"y", "**By"}, {" Bob: x\n", " Bob: x\n"}, {"Bob", ""}, {":", ""}, {" ", ""}, {"x", ""},
	} {
		if got := f.Write(c[0]); got != c[1] {
			t.Fatalf("Write(%q) = %q, want %q", c[0], got, c[1])
		}
	}
	want := &scene.Cut{Label: "Bob", Removed: "Bob: x"}
	if d := cmp.Diff(want, f.Cut()); d != "" || f.Flush() != "" {
		t.Errorf("the cut (-want +got):\n%s", d)
	}
}

// reply draws texts that are likely to be about labels.
func reply() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"Alice", "Bob", "Bob Stone", "[X]", "アリス", "é", ":", "：", "*", "**", "__", "[", "]", "#", "# ", " ", "  ", "\n", "\r\n", "\n\n",
		"`", "```", "~~~", "\"", "“", "”", ">", "-", "word", ".", "\\", "\u3000", "\u00a0", "\xff", "/", "1",
	})
	return rapid.Map(rapid.SliceOfN(piece, 0, 24), func(s []string) string { return strings.Join(s, "") })
}

func options() *rapid.Generator[voice.Options] {
	names := rapid.SampledFrom([]string{"Alice", "Bob", "bob stone", "[X]", "アリス", "é", "#", "*", "1", ""})
	return rapid.Custom(func(t *rapid.T) voice.Options {
		return voice.Options{
			Own:    names.Draw(t, "own"),
			Others: rapid.SliceOfN(names, 0, 4).Draw(t, "others"),
			Cut:    rapid.Bool().Draw(t, "cut"),
		}
	})
}

// laws holds what is true of every reply, however it is cut into pieces.
func laws(t interface{ Fatalf(string, ...any) }, o voice.Options, text string, sizes []int) {
	want := pass(o, text, len(text)+1)
	f, shown, rest := voice.New(o), "", text
	for i := 0; rest != ""; i++ {
		n := min(len(rest), 1+sizes[i%len(sizes)]%7)
		shown += f.Write(rest[:n])
		rest = rest[n:]
		held := pass(o, text[:len(text)-len(rest)], len(text)+1)
		if late := utf8.RuneCountInString(held.Text) - utf8.RuneCountInString(shown); f.Cut() == nil && late > longest(o)+32 {
			t.Fatalf("%d characters of %q are held back", late, text)
		}
	}
	shown += f.Flush()
	if d := cmp.Diff(want, outcome{f.Text(), f.Cut(), f.Flagged()}); d != "" {
		t.Fatalf("%q with %+v in pieces (-whole +pieces):\n%s", text, o, d)
	}
	if shown != f.Text() && (f.Cut() == nil || strings.TrimSpace(strings.TrimPrefix(shown, f.Text())) != "") {
		t.Fatalf("%q was shown, the text is %q", shown, f.Text())
	}
	if f.Cut() == nil {
		if !strings.HasSuffix(text, want.Text) {
			t.Fatalf("%q became %q, not its end", text, want.Text)
		}
		return
	}
	if !o.Cut || strings.TrimSpace(want.Text) == "" || strings.EqualFold(f.Cut().Label, o.Own) {
		t.Fatalf("%q with %+v must not be cut, but was: %+v", text, o, want)
	}
	if !strings.HasSuffix(text, shown+f.Cut().Removed) {
		t.Fatalf("%q became %q and %q", text, shown, f.Cut().Removed)
	}
}

func longest(o voice.Options) int {
	n := utf8.RuneCountInString(o.Own)
	for _, other := range o.Others {
		n = max(n, utf8.RuneCountInString(other))
	}
	return n
}

func TestEveryChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 8).Draw(t, "sizes")
		laws(t, options().Draw(t, "options"), reply().Draw(t, "reply"), sizes)
	})
}

func FuzzFilter(f *testing.F) {
	f.Add("Alice: **Alice**\nHi.\n```\nBob: x\n```\nBob: hey", "Alice", "Bob", true, uint8(3))
	f.Add("[X]: “hi\nBob: x”\n\n### Bob\n", "[X]", "Bob", true, uint8(1))
	f.Add("\u3000\nアリス：うん", "é", "アリス", false, uint8(2))
	f.Fuzz(func(t *testing.T, text, own, other string, cut bool, size uint8) {
		laws(t, voice.Options{Own: own, Others: []string{other}, Cut: cut}, text, []int{int(size), int(size) / 7})
	})
}

// A real reply is what it was, but for the label.
func TestRealReplies(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "fixtures", "conversations", "*", "*.json"))
	if len(files) == 0 {
		t.Skip("no fixtures beside the repository")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(string(data))
		got := pass(voice.Options{Own: "Alice", Others: []string{"Bob"}, Cut: true}, "Alice: "+text, 13)
		if got.Text != text || got.Cut != nil {
			t.Errorf("%s was changed", filepath.Base(file))
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	others := make([]string, 16)
	for i := range others {
		others[i] = strings.Repeat("Member ", i+1)
	}
	text := "Alice: " + strings.Repeat("She said nothing, and *then* she said it again.\n\n", 200)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		pass(voice.Options{Own: "Alice", Others: others, Cut: true}, text, 4)
	}
}
