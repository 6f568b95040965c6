package tavern_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/tavern"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the want sections of testdata")
	os.Exit(m.Run())
}

func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// cards are those that goldens can be matched with: ids are lower-case names.
func cards(names ...string) []scene.CardBrief {
	var out []scene.CardBrief
	for _, n := range names {
		out = append(out, scene.CardBrief{ID: "id-" + strings.ToLower(n), Name: n})
	}
	return out
}

// TestGolden: testdata/*.txtar has chat.jsonl, and group.json where there is
// one, and what comes of them: the transcript, the report, and the export.
func TestGolden(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.txtar")
	if len(names) == 0 {
		t.Fatal("no cases")
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			arc, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in := map[string][]byte{}
			var out []txtar.File
			for _, f := range arc.Files {
				if f.Name == "chat.jsonl" || f.Name == "group.json" {
					in[f.Name] = f.Data
					out = append(out, f)
				}
			}
			arc.Files = append(out, golden(t, in["chat.jsonl"], in["group.json"])...)
			if updating() {
				if err := os.WriteFile(name, txtar.Format(arc), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(arc))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func golden(t *testing.T, chat, group []byte) []txtar.File {
	var out []txtar.File
	add := func(name, text string) {
		out = append(out, txtar.File{Name: name, Data: []byte(text)})
	}
	tr, report, err := tavern.Decode(chat, group, cards("Aria", "Bo", "Who A B"))
	if err != nil {
		add("error", fmt.Sprintf("%s: %v\n%s\n", fault.CodeOf(err), err, fault.HintOf(err)))
		return out
	}
	add("report", strings.Join(report, "\n")+"\n")
	add("transcript", indent(t, tr))
	exported, err := tavern.EncodeChat(tr)
	if err != nil {
		t.Fatal(err)
	}
	add("export.jsonl", string(exported))
	if tr.Conversation.Kind == scene.Group {
		def, err := tavern.EncodeGroup(tr, "")
		if err != nil {
			t.Fatal(err)
		}
		add("export.json", indent(t, json.RawMessage(def)))
	}
	return out
}

func indent(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDates: a line's date is read in every form that chats have.
func TestDates(t *testing.T) {
	noon := time.Date(2024, 1, 5, 14, 3, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		`"2024-01-05T14:03:22.123Z"`:      noon.Add(22123 * time.Millisecond),
		`"2024-01-05T15:03:22.123+01:00"`: noon.Add(22123 * time.Millisecond),
		`"2024-01-05T14:03:22"`:           noon.Add(22 * time.Second),
		`1704463402123`:                   noon.Add(22123 * time.Millisecond),
		`"1704463402123"`:                 noon.Add(22123 * time.Millisecond),
		`1704463402`:                      noon.Add(22 * time.Second),
		`"2024-1-5@14h03m22s123ms"`:       noon.Add(22123 * time.Millisecond),
		`"2024-1-5 @14h 03m 22s 7ms"`:     noon.Add(22007 * time.Millisecond),
		`"2024-01-05@14h03m22s"`:          noon.Add(22 * time.Second),
		`"January 5, 2024 2:03pm"`:        noon,
		`"January 5, 2024 2:03 PM"`:       noon,
		`"January  5, 2024 14:03"`:        noon,
		`"January 5, 2024 2:03:22 p"`:     {},
		`"Jan 5, 2024 2:03:22pm"`:         noon.Add(22 * time.Second),
		`"1/5/2024, 2:03:22\u202fPM"`:     noon.Add(22 * time.Second),
		`"2024-01-05 14:03:22"`:           noon.Add(22 * time.Second),
		`"Fri Jan 05 2024 15:03:22 GMT+0100 (Central European Standard Time)"`: noon.Add(22 * time.Second),
		`""`: {}, `null`: {}, `"yesterday"`: {}, `{}`: {}, `-5`: {}, `1e300`: {}, `"NaN"`: {}, `"0001-01-01T00:00:00Z"`: {},
	} {
		chat := fmt.Sprintf(`{"name":"A","mes":"x","send_date":%s}`, in)
		tr, _, err := tavern.Decode([]byte(chat), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Lines[0].At; !got.Equal(want) {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
		out, err := tavern.EncodeChat(tr)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := tavern.Decode(out, nil, nil)
		if err != nil || !again.Lines[0].At.Equal(want) {
			t.Errorf("%s: written as %s (%v)", in, out, err)
		}
	}
}

// TestForeignLines: line ends, blank lines, byte order marks and missing
// headers change nothing.
func TestForeignLines(t *testing.T) {
	head := `{"user_name":"Kim","character_name":"Aria","create_date":"2024-1-5@14h03m22s","chat_metadata":{}}`
	one, two := `{"name":"Aria","is_user":false,"mes":"One"}`, `{"name":"Kim","is_user":true,"mes":"Two"}`
	want, _, err := tavern.Decode([]byte(head+"\n"+one+"\n"+two+"\n"), nil, cards("Aria"))
	if err != nil {
		t.Fatal(err)
	}
	for _, chat := range []string{
		head + "\r\n" + one + "\r\n" + two, "\ufeff" + head + "\n\n" + one + "\n   \n" + two + "\n\n", " " + head + "\n\t" + one + " \n" + two,
	} {
		got, _, err := tavern.Decode([]byte(chat), nil, cards("aria"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", chat, diff)
		}
	}
	bare, _, err := tavern.Decode([]byte(one+"\n"+two), nil, cards("Aria"))
	if err != nil {
		t.Fatal(err)
	}
	bare.Extras, want.Extras = nil, nil
	if diff := cmp.Diff(want, bare); diff != "" {
		t.Error(diff)
	}
}

// TestTooLong: what is refused is counted in lines, swipes and members, not in
// bytes: short ones make a small file that would fill the memory.
func TestTooLong(t *testing.T) {
	swipes := func(n int) string { return `{"mes":"","swipes":[` + strings.Repeat(`"",`, n) + `""]}` + "\n" }
	for _, chat := range []string{
		strings.Repeat(`{"mes":""}`+"\n", 250_002), strings.Repeat("\n", 250_002) + "x", swipes(250_001), swipes(150_000) + swipes(150_000),
	} {
		_, _, err := tavern.Decode([]byte(`{"mes":""}`+"\n"+chat), nil, nil)
		if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), "250000") {
			t.Errorf("%d bytes: %v", len(chat), err)
		}
	}
	if _, _, err := tavern.Decode([]byte(strings.Repeat(`{"mes":""}`+"\n", 50_000)), nil, nil); err != nil {
		t.Error(err)
	}
	group := `{"members":[` + strings.Repeat(`"a",`, scene.MostMembers) + `"b"]}`
	if _, _, err := tavern.Decode(nil, []byte(group), nil); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
}

// TestEdited: what changed in the scene wins over what was kept of the file.
func TestEdited(t *testing.T) {
	chat := `{"user_name":"unused","character_name":"unused","chat_metadata":{"scenario":"Old","note_prompt":"kept"}}
{"name":"Aria","is_user":false,"original_avatar":"Aria.png","mes":"One","send_date":"January 5, 2024 2:03pm","swipes":["One","Two"],"swipe_id":0,"swipe_info":[{},{}]}`
	group := `{"id":"7","name":"Old","members":["Aria.png"],"disabled_members":[],"activation_strategy":3,"generation_mode":2,"chats":["a"],"chat_id":"a","chat_metadata":{"scenario":"Older"}}`
	tr, _, err := tavern.Decode([]byte(chat), []byte(group), cards("Aria"))
	if err != nil {
		t.Fatal(err)
	}
	same, err := tavern.EncodeGroup(tr, "")
	if err != nil || !strings.Contains(string(same), `"activation_strategy":3`) || !strings.Contains(string(same), `"generation_mode":2`) {
		t.Errorf("strategies were not kept: %s, %v", same, err)
	}
	c := &tr.Conversation
	c.Title, c.Scenario, c.TurnMode, c.ContextMode = "New", "Newer", scene.Manual, scene.Swap
	c.Members[0].Muted = true
	c.Members = append(c.Members, scene.MemberSpec{Name: "../Aria"}, scene.MemberSpec{Name: "Aria"})
	tr.Lines[0].Variants, tr.Lines[0].Chosen, tr.Lines[0].At = []string{"Three"}, 0, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	lines, err := tavern.EncodeChat(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"scenario":"Newer"`, `"note_prompt":"kept"`, `"mes":"Three"`, `"2025-01-01T00:00:00.000Z"`} {
		if !strings.Contains(string(lines), want) {
			t.Errorf("no %s in %s", want, lines)
		}
	}
	if strings.Contains(string(lines), "swipe_info") {
		t.Errorf("swipe_info of other swipes: %s", lines)
	}
	def, err := tavern.EncodeGroup(tr, "b")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(def, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"id": "7", "name": "New", "activation_strategy": 2.0, "generation_mode": 0.0, "chat_id": "b", "chats": []any{"a", "b"},
		"members": []any{"Aria.png", "Aria1.png", "Aria2.png"}, "disabled_members": []any{"Aria.png"},
		"chat_metadata": map[string]any{"scenario": "Newer"},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func anyTranscript() *rapid.Generator[scene.Transcript] {
	text := rapid.StringMatching(`[ -~\n"é北\\]{0,20}`)
	name := rapid.StringMatching(`[A-Z][a-zé ./:]{0,8}[a-z]`)
	maybe := rapid.Ptr(text, true)
	return rapid.Custom(func(t *rapid.T) scene.Transcript {
		var tr scene.Transcript
		c := &tr.Conversation
		c.Kind = rapid.SampledFrom([]scene.Kind{scene.Solo, scene.Group}).Draw(t, "kind")
		c.Title, c.Scenario, c.PostHistory = name.Draw(t, "title"), text.Draw(t, "scenario"), text.Draw(t, "instructions")
		places := 0
		if c.Kind == scene.Group {
			c.TurnMode = rapid.SampledFrom([]scene.TurnMode{scene.Manual, scene.RoundRobin, scene.Director}).Draw(t, "turns")
			c.ContextMode = rapid.SampledFrom([]scene.ContextMode{scene.Private, scene.Shared, scene.Swap}).Draw(t, "context")
			c.MaxSpeakers = rapid.IntRange(1, 8).Draw(t, "speakers")
			for i, n := range rapid.SliceOfNDistinct(name, 1, 5, strings.ToLower).Draw(t, "names") {
				m := scene.MemberSpec{
					Name: n, Key: fmt.Sprint("k", i), PublicProfile: maybe.Draw(t, "profile"), Sheet: maybe.Draw(t, "sheet"),
					Kind: rapid.SampledFrom([]scene.MemberKind{scene.Character, scene.Narrator}).Draw(t, "kind"), Muted: rapid.Bool().Draw(t, "muted"),
				}
				if i > 0 && rapid.Bool().Draw(t, "former") {
					m.Muted = false
					tr.Former = append(tr.Former, m)
				} else {
					c.Members = append(c.Members, m)
				}
			}
			places = len(c.Members) + len(tr.Former)
		} else {
			c.CharacterName = name.Draw(t, "character")
		}
		for range rapid.IntRange(0, 5).Draw(t, "lines") {
			line := scene.TranscriptLine{Role: scene.RoleUser, Member: -1, Variants: rapid.SliceOfN(text, 1, 3).Draw(t, "variants")}
			line.Chosen = rapid.IntRange(0, len(line.Variants)-1).Draw(t, "chosen")
			if rapid.Bool().Draw(t, "dated") {
				line.At = time.UnixMicro(rapid.Int64Range(1e12, 2e15).Draw(t, "at")).UTC()
			}
			if rapid.Bool().Draw(t, "assistant") {
				line.Role, line.Member = scene.RoleAssistant, rapid.IntRange(0, max(places, 1)-1).Draw(t, "member")
				if places == 0 {
					line.Member = -1
				}
			} else {
				line.Author = name.Draw(t, "author")
			}
			if rapid.Bool().Draw(t, "extras") {
				line.Extras = json.RawMessage(`{"gen_started":"<x>","jp_hidden":[{"is_system":true,"mes":"a"}],"zeta":1.50}`)
			}
			tr.Lines = append(tr.Lines, line)
		}
		return tr
	})
}

// TestRoundTrip: what is written is read again as the same transcript.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyTranscript().Draw(t, "transcript")
		chat, err := tavern.EncodeChat(want)
		if err != nil {
			t.Fatal(err)
		}
		var groups [][]byte
		if want.Conversation.Kind == scene.Group {
			def, err := tavern.EncodeGroup(want, "chat")
			if err != nil {
				t.Fatal(err)
			}
			groups = append(groups, def)
		}
		for _, group := range append(groups, nil) {
			got, _, err := tavern.Decode(chat, group, nil)
			if err != nil {
				t.Fatal(err)
			}
			got.Extras = nil // file names and the chat's date
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s\n%s\n%s", diff, chat, group)
			}
		}
	})
}

// FuzzDecode: no chat breaks it, and what was read once is stable.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"user_name":"a","character_name":"B"}`+"\n"+`{"name":"B","mes":"x","swipes":["y"],"swipe_id":0}`), []byte(nil))
	f.Add([]byte(`{"name":"B","mes":"x","original_avatar":"B.png"}`+"\n"+`{"mes`), []byte(`{"members":["B.png","C.png"],"activation_strategy":"2"}`))
	f.Add([]byte(`{"mes":null,"is_system":"true"}`), []byte(`{"members":null}`))
	f.Add([]byte(`{"chat_metadata":{"jp":{"kind":"group","members":[{"name":"","former":true}]}}}`), []byte(nil))
	f.Fuzz(func(t *testing.T, chat, group []byte) {
		tr, _, err := tavern.Decode(chat, group, cards("B"))
		if err != nil {
			return
		}
		if tr.Conversation.Kind == scene.Group && len(tr.Conversation.Members) == 0 {
			t.Fatal("a group without members")
		}
		for _, line := range tr.Lines {
			if line.Chosen >= len(line.Variants) || line.Member >= len(tr.Conversation.Members)+len(tr.Former) {
				t.Fatalf("%+v", line)
			}
		}
		out, err := tavern.EncodeChat(tr)
		if err != nil {
			t.Fatal(err)
		}
		var def []byte
		if tr.Conversation.Kind == scene.Group {
			if def, err = tavern.EncodeGroup(tr, ""); err != nil {
				t.Fatal(err)
			}
		}
		again, _, err := tavern.Decode(out, def, cards("B"))
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text := func(tr scene.Transcript) (out []string) {
			for _, line := range tr.Lines {
				out = append(out, line.Variants[line.Chosen])
			}
			return out
		}
		if !slices.Equal(text(tr), text(again)) {
			t.Fatal(cmp.Diff(tr, again))
		}
	})
}

// BenchmarkDecode reads a chat of 20,000 lines by as many speakers, whose names
// all make the same file name.
func BenchmarkDecode(b *testing.B) {
	var s strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&s, `{"name":"A%s","is_user":false,"mes":"%d","send_date":"2024-1-5@14h03m22s"}`+"\n", strings.Repeat("?", i%200)+strings.Repeat(":", i/200), i)
	}
	for b.Loop() {
		tr, _, err := tavern.Decode([]byte(s.String()), nil, cards("A", "B"))
		if err != nil || len(tr.Lines) != 20000 || len(tr.Conversation.Members) != 20000 {
			b.Fatal(err)
		}
	}
}
