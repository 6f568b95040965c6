package card_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"jp/internal/lib/fault"
	"jp/internal/scene/card"
)

// fixture is a file of a real program, which is not ours to copy.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "fixtures", "cards", name))
	if err != nil {
		t.Skipf("no fixtures here: %v", err)
	}
	return data
}

// TestSeraphina: a real card comes in whole.
func TestSeraphina(t *testing.T) {
	file := fixture(t, "seraphina.png")
	at := bytes.Index(file, []byte("tEXtchara\x00")) + len("tEXtchara\x00")
	text, err := base64.StdEncoding.DecodeString(string(file[at : at+bytes.Index(file[at:], []byte("IEND"))-8]))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Data struct {
			Name, Description, Personality, Scenario, Creator string
			FirstMes                                          string   `json:"first_mes"`
			MesExample                                        string   `json:"mes_example"`
			CreatorNotes                                      string   `json:"creator_notes"`
			SystemPrompt                                      string   `json:"system_prompt"`
			PostHistory                                       string   `json:"post_history_instructions"`
			Version                                           string   `json:"character_version"`
			Greetings                                         []string `json:"alternate_greetings"`
			Tags                                              []string
			Extensions                                        map[string]any
			Book                                              struct {
				Name    string
				Entries []struct {
					Keys    []string
					Content string
				}
			} `json:"character_book"`
		}
		Avatar, Chat, Talkativeness string
		Date                        string `json:"create_date"`
		Fav                         bool
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	p, err := card.Decode(file, "seraphina.png")
	if err != nil {
		t.Fatal(err)
	}
	d, c := want.Data, p.Card
	texts := func(s ...string) []string { return s }
	if diff := cmp.Diff(
		texts(d.Name, d.Description, d.Personality, d.Scenario, d.Creator, d.FirstMes, d.MesExample, d.CreatorNotes, d.SystemPrompt, d.PostHistory, d.Version, fmt.Sprint(d.Greetings, d.Tags)),
		texts(c.Name, c.Description, c.Personality, c.Scenario, c.Creator, c.FirstMessage, c.Examples, c.CreatorNotes, c.SystemPrompt, c.PostHistory, c.Version, fmt.Sprint(c.Greetings, c.Tags)),
	); diff != "" {
		t.Errorf("(-chunk +card):\n%s", diff)
	}
	var ext map[string]any
	if err := json.Unmarshal(c.Extensions, &ext); err != nil {
		t.Fatal(err)
	}
	d.Extensions["orb"] = map[string]any{"outer": map[string]any{
		"avatar": want.Avatar, "chat": want.Chat, "create_date": want.Date, "talkativeness": want.Talkativeness, "fav": want.Fav,
	}}
	if diff := cmp.Diff(d.Extensions, ext); diff != "" {
		t.Errorf("extensions (-chunk +card):\n%s", diff)
	}
	if d.Name != "Seraphina" || c.Format != "tavern_v2" || p.Avatar == nil || !bytes.Equal(p.Avatar.Data, file) {
		t.Errorf("%s, %s, and the avatar is not the whole file", c.Name, c.Format)
	}
	if p.Book == nil || p.Book.World.Name != d.Book.Name || len(p.Book.Entries) != len(d.Book.Entries) || len(d.Book.Entries) == 0 {
		t.Fatalf("the book: %+v", p.Book)
	}
	for i, e := range p.Book.Entries {
		if diff := cmp.Diff(d.Book.Entries[i].Keys, e.Keys); diff != "" || d.Book.Entries[i].Content != e.Content {
			t.Errorf("entry %d: %s", i, diff)
		}
	}
	roundTrip(t, p)
	out, err := card.EncodePNG(p.Card, p.Avatar, p.Book)
	if err != nil {
		t.Fatal(err)
	}
	_, _, before := chunksOf(t, file)
	if _, _, after := chunksOf(t, out); !bytes.Equal(before, after) {
		t.Error("the image has other bytes")
	}
}

// TestIDs: a file without an id has always the same one, a well-formed UUID,
// and another file has another.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range []string{`{"name":"Ada"}`, `{"name":"Ada" }`, `{"name":"Ada"}`} {
		p, err := card.Decode([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(p.Card.ID) {
			t.Errorf("%s is no UUID", p.Card.ID)
		}
		seen[p.Card.ID] = true
	}
	if len(seen) != 2 {
		t.Errorf("three files, two of them the same, have the ids %v", seen)
	}
}

// TestLimits: what is too large, too deep or too many is refused, and what
// is merely long is not.
func TestLimits(t *testing.T) {
	nested := func(n int) string {
		return `{"name":"Ada","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	head := plainPNG()[:33]
	bomb := textChunk("zTXt", "chara", make([]byte, 33<<20), []string{"plain"})
	for _, c := range []struct{ name, data, want string }{
		{"file", string(make([]byte, card.MaxFile+1)), "the file has more than 64 MB"},
		{"depth", nested(100_000), "the card nests more than 256 levels deep"},
		{"depth, a little", nested(256), "the card nests more than 256 levels deep"},
		{"depth that goes", nested(255), ""},
		{"depth in a string", `{"name":"` + strings.Repeat("[", 1000) + `"}`, ""},
		{"chunks", string(head) + strings.Repeat(string(chunkOf("IDAT", nil)), 1<<16), "the picture has more than 65536 chunks"},
		{"chunk that unpacks", string(head) + string(bomb), "it unpacks to more than 32 MB; its chunks are"},
		{"broken chunks", string(head) + strings.Repeat(string(chunkOf("tEXt", []byte("chara\x00?"))), 8) + string(textChunk("tEXt", "chara", []byte(`{"name":"Ada"}`), nil)), "cannot be read"},
		{"chunk that is longer than the file", string(head) + "\xff\xff\xff\xfftEXtchara\x00", "the picture holds no character card"},
		{"archive's files", strings.Repeat("PK\x01\x02", 10_001) + "PK\x05\x06", "the archive holds more than 10000 files"},
		{"archive without a directory", "PK\x05\x06" + strings.Repeat("\x00", 100), "the archive holds no card.json"},
		{"archive that lies", "PK\x05\x06" + strings.Repeat("\xff", 18), "the archive cannot be read"},
		{"values", `{"name":"Ada","tags":[` + strings.Repeat(`"",`, 1_000_000) + `""]}`, "the card has more than 1000000 values"},
		{"entries", `{"name":"Ada","character_book":{"entries":[` + strings.Repeat("{},", 19_999) + `{}]}}`, ""},
		{"list", `{"name":"Ada","tags":[` + strings.Repeat("1,", 300_000) + `1]}`, ""},
		{"fields", `{"name":"Ada"` + manyFields(50_000) + `}`, ""},
		{"text", `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := card.Decode([]byte(c.data), "x.png")
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || fault.CodeOf(err) != fault.Invalid) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			for _, line := range p.Report {
				if len(line) > 1000 {
					t.Errorf("a line of the report has %d bytes", len(line))
				}
			}
		})
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"f%d":%d`, i, i)
	}
	return b.String()
}

// TestReportEnds: a report of thousands of lines is cut and counted.
func TestReportEnds(t *testing.T) {
	var paths strings.Builder
	for i := range 300 {
		fmt.Fprintf(&paths, "file \"../%d\" asset\n", i)
	}
	arc := parse("-- file --\nzip\n" + paths.String() + "file \"card.json\" card.json\n-- asset --\nx\n-- card.json --\n{\"name\":\"Ada\"}\n")
	data, name := build(t, arc)
	p, err := card.Decode(data, name)
	if err != nil || len(p.Report) != 101 || p.Report[100] != "and 200 more of this kind" {
		t.Errorf("%v, %d lines, the last %q", err, len(p.Report), p.Report[len(p.Report)-1])
	}
}
