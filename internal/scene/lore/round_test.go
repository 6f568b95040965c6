package lore_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// anyBook draws books as DecodeBook makes them, with unknown fields of format.
func anyBook(format string) *rapid.Generator[scene.Book] {
	key := rapid.StringMatching(`[a-zé北 ,"'<C+]{0,6}[a-z]|/[a-c]{1,3}/[ims]?|/etc/passwd`)
	text := rapid.StringMatching(`[ -~\n“é北]{0,20}`)
	return rapid.Custom(func(t *rapid.T) scene.Book {
		b := scene.Book{World: scene.World{Name: text.Draw(t, "name"), Recursive: rapid.Bool().Draw(t, "recursive")}}
		if rapid.Bool().Draw(t, "book extras") {
			b.World.Extras = json.RawMessage(`{"extensions":{"x":[1,2.50]},"scan_depth":"9"}`)
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "entries") {
			flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
			e := scene.Entry{
				Name: text.Draw(t, "name"), Content: text.Draw(t, "content"),
				Keys:          rapid.SliceOfN(key, 0, 4).Draw(t, "keys"),
				SecondaryKeys: rapid.SliceOfN(key, 0, 2).Draw(t, "secondary"),
				Selective:     flag("selective"), CaseInsensitive: flag("case"), WholeWords: flag("words"), Regex: flag("regex"),
				Constant: flag("constant"), AtDepth: flag("depth"), Enabled: flag("enabled"),
				Priority: rapid.IntRange(-5, 200).Draw(t, "priority"), Order: rapid.IntRange(-5, 200).Draw(t, "order"),
			}
			normal(&e)
			if flag("extras") && e.Name != "" {
				e.Extras = json.RawMessage(fmt.Sprintf(extrasOf[format], 1000+i))
			}
			b.Entries = append(b.Entries, e)
		}
		b.World.ContentHash = lore.Hash(b)
		return b
	})
}

var extrasOf = map[string]string{
	"character_book": `{"character_book":{"extensions":{"<x>":null,"depth":4,"selectiveLogic":1},"id":%d,"position":"after_char"}}`,
	"world_info":     `{"world_info":{"depth":4,"group":"a","id":"b","matchWholeWords_":null,"uid":%d}}`,
}

// normal spells the keys of an entry as DecodeBook does: an entry whose keys
// are all patterns is one of patterns, and slashes that say nothing are left
// out.
func normal(e *scene.Entry) {
	all := append(append([]string{}, e.Keys...), e.SecondaryKeys...)
	patterns := len(all) > 0
	for _, k := range all {
		_, ok := lore.Pattern(k)
		patterns = patterns && ok
	}
	e.Regex = e.Regex || patterns
	for _, keys := range []*[]string{&e.Keys, &e.SecondaryKeys} {
		if len(*keys) == 0 {
			*keys = nil
		}
		for i, k := range *keys {
			end := strings.LastIndexByte(k, '/')
			if _, ok := lore.Pattern(k); e.Regex && ok && (k[end:] == "/i") == e.CaseInsensitive && len(k[end:]) < 3 && (k[end:] == "/" || k[end:] == "/i") {
				(*keys)[i] = k[1:end]
			}
		}
	}
}

var codecs = map[string]func(scene.Book) (json.RawMessage, error){
	"character_book": lore.EncodeCharacterBook,
	"world_info":     lore.EncodeWorldInfo,
}

var asBooks = cmp.Options{
	cmp.Transformer("nil", func(s []scene.Entry) []scene.Entry {
		if len(s) == 0 {
			return nil
		}
		return s
	}),
	cmp.Transformer("text", func(r json.RawMessage) string { return string(r) }),
}

// TestRoundTrip: what is written is read again as the same book.
func TestRoundTrip(t *testing.T) {
	for format, encode := range codecs {
		t.Run(format, rapid.MakeCheck(func(t *rapid.T) {
			want := anyBook(format).Draw(t, "book")
			raw, err := encode(want)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := lore.DecodeBook(raw)
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			if diff := cmp.Diff(want, got, asBooks); diff != "" {
				t.Fatalf("%s\n%s", diff, raw)
			}
		}))
	}
}

// TestOtherFormat: the meaning of every entry survives a visit in the format
// that it did not come from.
func TestOtherFormat(t *testing.T) {
	for format, encode := range codecs {
		for from := range codecs {
			if from == format {
				continue
			}
			t.Run(from+" as "+format, rapid.MakeCheck(func(t *rapid.T) {
				want := anyBook(from).Draw(t, "book")
				raw, err := encode(want)
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := lore.DecodeBook(raw)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range []*scene.Book{&want, &got} {
					b.World.ContentHash, b.World.Extras = "", nil
					for i := range b.Entries {
						b.Entries[i].Extras = nil
					}
				}
				if diff := cmp.Diff(want, got, asBooks); diff != "" {
					t.Fatal(diff)
				}
			}))
		}
	}
}

// TestChanged: a person's change wins over the spelling that was kept.
func TestChanged(t *testing.T) {
	for format, in := range map[string]string{
		"character_book": `[{"keys":"a, b","content":5,"insertion_order":"7","enabled":"yes","case_sensitive":null,"name":"N","comment":"C",
			"extensions":{"match_whole_words":null,"position":1,"case_sensitive":null}}]`,
		"world_info": `[{"key":"a, b","content":5,"order":"7","disable":"no","caseSensitive":null,"comment":7,"matchWholeWords":null,"position":"1"}]`,
	} {
		b, _, err := lore.DecodeBook(json.RawMessage(in))
		if err != nil {
			t.Fatal(err)
		}
		e := &b.Entries[0]
		e.Keys, e.Content, e.Order, e.Enabled, e.CaseInsensitive = []string{"c"}, "text", 8, false, false
		e.Name, e.WholeWords, e.AtDepth, e.Selective = "M", true, true, true
		got, notes, err := lore.DecodeBook(must(codecs[format](b)))
		if err != nil || len(notes) != 0 {
			t.Errorf("%s: notes %q, error %v", format, notes, err)
		}
		want := b.Entries[0]
		got.Entries[0].Extras, want.Extras = nil, nil
		if diff := cmp.Diff(want, got.Entries[0]); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
}

// TestHash: it is about what a book says.
func TestHash(t *testing.T) {
	in := `{"name":"B","entries":[{"id":4,"keys":["a"],"content":"A","extensions":{"x":1.0}}]}`
	hash := func(old, new string) string {
		b, _, err := lore.DecodeBook(json.RawMessage(strings.Replace(in, old, new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if b.World.ContentHash != lore.Hash(b) {
			t.Error("the book does not carry its hash")
		}
		b.World.ID, b.Entries[0].ID, b.Entries[0].WorldID, b.Entries[0].Revision = "w", "e", "w", 9
		return lore.Hash(b)
	}
	was := hash("", "")
	for old, new := range map[string]string{`"id":4`: `"id":5`, `,"extensions":{"x":1.0}`: `, "extensions" : { "x": 1.0 }`, `"B"`: `"C"`} {
		if hash(old, new) != was {
			t.Errorf("%s for %s makes another book", new, old)
		}
	}
	for old, new := range map[string]string{`"a"`: `"a","b"`, `"A"`: `"B"`, `1.0`: `2`, `"keys"`: `"enabled":false,"keys"`} {
		if hash(old, new) == was {
			t.Errorf("%s for %s makes no other book", new, old)
		}
	}
}

func TestPattern(t *testing.T) {
	for key, want := range map[string]string{
		`/x/`: `x`, `/x/gi`: `(?i)x`, `/x/gz`: `x`, `/a\/b/smi`: `(?ims)a/b`, `/[\/]+/`: `[/]+`, `/(/i`: `(?i)(`, "/a\nb/": "a\nb",
		`/etc/passwd`: "", `/home/user`: "", `/tmp/dir`: "", `/and/or/`: "", `//`: "", `/`: "", ``: "", `x/i`: "", `/x`: "", `/x\/`: "", `/x/I`: "",
	} {
		if got, ok := lore.Pattern(key); got != want || ok != (want != "") {
			t.Errorf("Pattern(%q) = %q, %t, want %q", key, got, ok, want)
		}
	}
}

// TestRealBook: SillyTavern's own example comes in whole and goes out as it
// came, but for the name and what is usual.
func TestRealBook(t *testing.T) {
	raw := fixture(t, "cards/eldoria-lorebook.json")
	b, notes, err := lore.DecodeBook(raw)
	if err != nil || len(notes) != 0 || len(b.Entries) != 4 {
		t.Fatalf("%d entries, notes %q, error %v", len(b.Entries), notes, err)
	}
	type file struct {
		Entries map[string]map[string]any `json:"entries"`
	}
	var want, got file
	unmarshal(t, raw, &want)
	unmarshal(t, must(lore.EncodeWorldInfo(b)), &got)
	for id, e := range got.Entries {
		for _, usual := range []string{"caseSensitive", "matchWholeWords"} {
			if e[usual] == false {
				delete(got.Entries[id], usual)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func unmarshal(t *testing.T, raw []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

// fixture reads a file of others, which is not part of the project.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	dir := ".."
	for range 10 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Join(dir, "..")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "../shared/fixtures", name))
	if err != nil {
		t.Skipf("the fixtures are not here: %v", err)
	}
	return raw
}

// FuzzDecodeBook: no input breaks it, and what was read once is stable: written
// and read again it is the same book, with nothing left to note but what we do
// not use.
func FuzzDecodeBook(f *testing.F) {
	for _, s := range []string{
		`{"entries":{"0":{"uid":0,"key":["a"],"position":"x"}}}`, `{"entries":[{"keys":"/a/i","use_regex":"1","extensions":{"position":4}}]}`,
		`[{"key":["/a/","b"],"uid":"7"},{"uid":7}]`, `{"spec":"lorebook_v3","data":{"entries":null}}`, `{"entries":[null,1,{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, _, err := lore.DecodeBook(raw)
		if err != nil {
			return
		}
		for format, encode := range codecs {
			out, err := encode(b)
			if err != nil {
				t.Fatal(err)
			}
			once, _, err := lore.DecodeBook(out)
			if err != nil || len(once.Entries) != len(b.Entries) {
				t.Fatalf("%s: %v\n%s", format, err, out)
			}
			for i, e := range once.Entries {
				want := b.Entries[i]
				e.Extras, want.Extras = nil, nil
				if diff := cmp.Diff(want, e, asBooks); diff != "" {
					t.Fatalf("%s: %s\n%s", format, diff, out)
				}
			}
		}
	})
}

// BenchmarkDecodeBook reads a book of 5,000 entries.
func BenchmarkDecodeBook(b *testing.B) {
	raw := bigBook()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		book, _, err := lore.DecodeBook(raw)
		if err != nil || len(book.Entries) != 5000 {
			b.Fatal(err)
		}
	}
}

func bigBook() json.RawMessage {
	var s strings.Builder
	s.WriteString(`{"entries":{`)
	for i := range 5000 {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `"%d":{"uid":%d,"key":["key %d","/pat%d/i"],"keysecondary":[],"comment":"Entry %d","content":%q,"constant":false,
			"selective":true,"order":100,"position":0,"disable":false,"probability":100,"useProbability":true,"depth":4,"group":""}`,
			i, i, i, i, i, strings.Repeat("lore ", 100))
	}
	s.WriteString(`}}`)
	return json.RawMessage(s.String())
}
