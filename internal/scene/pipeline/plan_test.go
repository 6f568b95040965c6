package pipeline_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/kernel/exchange"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
)

// troupe is a cast with names that get into each other's way.
func troupe() []scene.Member {
	return []scene.Member{
		{ID: "m1", Key: "mary-jane", Name: "Mary Jane", Order: 0, Active: true},
		{ID: "m2", Key: "mary", Name: "Mary", Order: 1, Active: true},
		{ID: "m3", Key: "bob", Name: "Bob [the Elder]", Order: 2, Active: true},
		{ID: "m4", Key: "jose", Name: "José", Order: 3, Active: true},
		{ID: "m5", Key: "narrator", Name: "Narrator", Kind: scene.Narrator, Order: 4, Active: true},
		{ID: "m6", Key: "xiaoming", Name: "小明", Order: 5, Active: true},
	}
}

// slots are a plan, of speakers and cues in turn.
func slots(pairs ...string) []exchange.Slot {
	plan := []exchange.Slot{}
	for i := 0; i < len(pairs); i += 2 {
		plan = append(plan, exchange.Slot{Speaker: pairs[i], Cue: pairs[i+1]})
	}
	return plan
}

func TestParsePlan(t *testing.T) {
	long := strings.Repeat(`"mary", "bob", `, 6)
	for name, c := range map[string]struct {
		raw  string
		want []exchange.Slot // nil: no plan
	}{
		"as asked":                   {`["mary — laughs", "bob — leaves"]`, slots("m2", "laughs", "m3", "leaves")},
		"rest":                       {`[]`, slots()},
		"nothing":                    {``, nil},
		"null":                       {`null`, nil},
		"a number":                   {`3`, nil},
		"an empty text":              {`""`, nil},
		"strangers only":             {`["ghost — howls", 4, null]`, nil},
		"strangers between":          {`["ghost — howls", "bob — runs", false]`, slots("m3", "runs")},
		"bare names":                 {`["Bob [the Elder]", "José", "小明"]`, slots("m3", "", "m4", "", "m6", "")},
		"any case":                   {`["MARY-JANE: hums", "jOSÉ - sings"]`, slots("m1", "hums", "m4", "sings")},
		"separators":                 {`["mary – a", "bob: b", "jose - c", "narrator\td", "bob—e"]`, slots("m2", "a", "m3", "b", "m4", "c", "m5", "d", "m3", "e")},
		"a key with a hyphen":        {`["mary-jane — waves"]`, slots("m1", "waves")},
		"the longer name":            {`["Mary Jane waves", "Mary waves"]`, slots("m1", "waves", "m2", "waves")},
		"no part of a word":          {`["maryland — votes", "bobby", "Bob's turn"]`, nil},
		"an id":                      {`["m3 — by id"]`, slots("m3", "by id")},
		"one separator only":         {`["mary — — so it is", "bob: : x"]`, slots("m2", "— so it is", "m3", ": x")},
		"cue in Markdown":            {`["mary — *smiles* “softly”"]`, slots("m2", "*smiles* “softly”")},
		"a cue of two lines":         {`["mary —  looks \n\n up"]`, slots("m2", "looks")},
		"twice in a row":             {`["mary — a", "Mary — b", "bob", "mary"]`, slots("m2", "a", "m3", "", "m2", "")},
		"too many":                   {`[` + long + `"mary"]`, slots("m2", "", "m3", "", "m2", "", "m3", "", "m2", "")},
		"spaces":                     {`["  Bob "]`, slots("m3", "")},
		"bold":                       {`["**Mary**.", "**bob:** hides", "**jose** — sits", "__Narrator__: ends"]`, slots("m2", "", "m3", "hides", "m4", "sits", "m5", "ends")},
		"ornaments":                  {`["- mary", "2. bob — b", "3) jose", "> narrator", "@mary", "` + "`bob`" + `: c", "# jose"]`, slots("m2", "", "m3", "b", "m4", "", "m5", "", "m2", "")},
		"quotes":                     {`["\"mary\" — a", "'bob': b", "“José” – c", "«narrator»"]`, slots("m2", "a", "m3", "b", "m4", "c", "m5", "")},
		"a quoted line":              {`["\"mary — says no\""]`, slots("m2", "says no")},
		"brackets":                   {`["[mary] — a", "<bob> b", "(jose): c"]`, slots("m2", "a", "m3", "b", "m4", "c")},
		"a name with brackets":       {`["[Bob [the Elder]]: a"]`, slots("m3", "a")},
		"a text":                     {`"Bob"`, slots("m3", "")},
		"a text of lines":            {`"The plan:\n1. **Mary** — asks\n2. Bob — answers\nThat is all."`, slots("m2", "asks", "m3", "answers")},
		"a list in a text":           {`"[\"mary — asks\", \"bob\"]"`, slots("m2", "asks", "m3", "")},
		"a list in a fence":          {"\"```json\\n[\\\"mary\\\", \\\"bob\\\",]\\n```\"", slots("m2", "", "m3", "")},
		"Python's list":              {`"['mary — it\\'s late', \"bob — he's in\"]"`, slots("m2", "it's late", "m3", "he's in")},
		"an apostrophe in it":        {`"['mary — it's late', 'bob']"`, slots("m2", "it's late", "m3", "")},
		"a list without quotes":      {`"[mary, bob]"`, slots("m2", "", "m3", "")},
		"lists in texts in a list":   {`["['Bob']"]`, slots("m3", "")},
		"an empty list in a text":    {`"[]"`, slots()},
		"lists in a list":            {`[["mary"], ["bob — b"]]`, slots("m2", "", "m3", "b")},
		"names in a row":             {`"mary, bob & José and narrator"`, slots("m2", "", "m3", "", "m4", "", "m5", "")},
		"names with arrows":          {`["mary -> bob → mary"]`, slots("m2", "", "m3", "", "m2", "")},
		"one or the other":           {`"Mary or Bob"`, slots("m2", "")},
		"a name in the cue":          {`["mary and bob's dog bark", "bob, Mary laughs"]`, slots("m2", "and bob's dog bark", "m3", "Mary laughs")},
		"objects":                    {`[{"speaker": "mary", "cue": "asks"}, {"name": "**Bob [the Elder]**"}, {"cue": "x", "speaker_key": "jose: y"}]`, slots("m2", "asks", "m3", "", "m4", "x")},
		"an object's own cue":        {`[{"speaker": "mary — asks"}, {"speaker": 7}, {"other": "bob"}]`, slots("m2", "asks")},
		"names as fields":            {`{"mary": "asks", "ghost": "x", "Bob [the Elder]": "answers"}`, slots("m2", "asks", "m3", "answers")},
		"a plan in an object":        {`{"plan": ["mary", "mary", "ghost"]}`, slots("m2", "")},
		"rest in an object":          {`{"speaking_plan": []}`, slots()},
		"an object that says little": {`{"plan": "soon"}`, nil},
		"thoughts":                   {`"<thinking>maybe mary, maybe jose\nmary — no</thinking>[\"bob\"]"`, slots("m3", "")},
		"a thought without an end":   {`"<think>\nmary — a\nbob — b"`, nil},
		"a thought without a start":  {`"mary — a\n</think>\nbob — b"`, slots("m3", "b")},
		"thoughts in an item":        {`["<reasoning>mary</reasoning>bob — b"]`, slots("m3", "b")},
		"deep":                       {strings.Repeat("[", 40) + `"mary"` + strings.Repeat("]", 40), nil},
		"cut off":                    {`["mary", "bo`, nil},
		"the Turkish i":              {`["İ — x"]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := pipeline.ParsePlan(json.RawMessage(c.raw), troupe(), 5)
			if ok != (c.want != nil) {
				t.Fatalf("ok is %t, the plan %v", ok, got)
			}
			if diff := cmp.Diff(c.want, append(c.want[:0:0], got...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A name that is a key of one and the name of another is the first one's.
func TestSharedNames(t *testing.T) {
	cast := []scene.Member{{ID: "a", Key: "one", Name: "Sam"}, {ID: "b", Key: "sam", Name: "Sam"}, {ID: "c", Key: "[x]", Name: "*Star*"}}
	got, _ := pipeline.ParsePlan(json.RawMessage(`["Sam", "*Star* — shines", "[x]", "one"]`), cast, 8)
	want := []exchange.Slot{{Speaker: "a"}, {Speaker: "c", Cue: "shines"}, {Speaker: "a"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Whatever the plan, its speakers are eligible, nobody stands twice in a row,
// no more than most, and every cue is one line.
func checkPlan(t interface{ Fatalf(string, ...any) }, plan []exchange.Slot, ok bool, eligible []scene.Member, most int) {
	if len(plan) > most || !ok && len(plan) > 0 {
		t.Fatalf("%d slots of %d, ok is %t", len(plan), most, ok)
	}
	for i, s := range plan {
		if !slices.ContainsFunc(eligible, func(m scene.Member) bool { return m.ID == s.Speaker }) {
			t.Fatalf("%q may not speak", s.Speaker)
		}
		if i > 0 && plan[i-1].Speaker == s.Speaker {
			t.Fatalf("%q speaks twice in a row", s.Speaker)
		}
		if strings.ContainsAny(s.Cue, "\r\n") || strings.TrimSpace(s.Cue) != s.Cue {
			t.Fatalf("the cue %q is no line", s.Cue)
		}
	}
}

// A plan as it was asked for is read as it was meant, for any names.
func TestPlanRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[\p{Lu}][\p{Ll}' .-]{0,8}\p{Ll}`), 1, 5, strings.ToLower).Draw(t, "names")
		var cast []scene.Member
		for i, n := range names {
			cast = append(cast, scene.Member{ID: string(rune('0' + i)), Key: "k" + string(rune('0'+i)), Name: n})
		}
		speakers := rapid.SliceOfN(rapid.IntRange(0, len(cast)-1), 0, 6).Draw(t, "speakers")
		lines, want := []string{}, []exchange.Slot{}
		for i, s := range speakers {
			cue := rapid.StringMatching(`[a-z]{1,4}( [a-z,.]{1,4}){0,3}`).Draw(t, "cue")
			lines = append(lines, cast[s].Key+" — "+cue)
			if i == 0 || speakers[i-1] != s {
				want = append(want, exchange.Slot{Speaker: cast[s].ID, Cue: cue})
			}
		}
		raw, err := json.Marshal(lines)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := pipeline.ParsePlan(raw, cast, 8)
		if diff := cmp.Diff(want, append([]exchange.Slot{}, got...)); diff != "" || !ok {
			t.Fatalf("ok is %t (-want +got)\n%s", ok, diff)
		}
	})
}

func FuzzParsePlan(f *testing.F) {
	for _, s := range []string{
		`["mary — a", "bob"]`, `"[\"mary\"]"`, `"['mary — it's', 'bob']"`, `{"plan":["mary",["bob"]]}`, `[{"speaker":"mary","cue":"x"}]`,
		`"<think>mary</think>bob"`, "\"```\\n[]\\n```\"", `"mary, bob and jose or narrator"`, `["**mary:** \ud83d"]`, "\"- [mary]\n* 2. bob\"", "[[[[[", `["\u0130"]`,
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, raw string, most int) {
		most = min(max(most, 1), 8)
		plan, ok := pipeline.ParsePlan(json.RawMessage(raw), troupe(), most)
		checkPlan(t, plan, ok, troupe(), most)
		if json.Valid([]byte(raw)) { // text of any kind is a plan, too
			text, err := json.Marshal(raw)
			if err != nil {
				t.Fatal(err)
			}
			plan, ok = pipeline.ParsePlan(text, troupe(), most)
			checkPlan(t, plan, ok, troupe(), most)
		}
	})
}

// said is a path of replies by these members, "" for a person.
func said(speakers ...string) []scene.Step {
	var path []scene.Step
	for _, s := range speakers {
		step := scene.Step{Message: scene.Message{Role: scene.RoleUser}}
		if s != "" {
			step.Role, step.SpeakerID = scene.RoleAssistant, &s
		}
		path = append(path, step)
	}
	return path
}

func TestRoundRobin(t *testing.T) {
	member := func(id string, order int, change ...string) scene.Member {
		return scene.Member{ID: id, Order: order, Active: !slices.Contains(change, "left"), Muted: slices.Contains(change, "muted")}
	}
	abc := []scene.Member{member("a", 0), member("b", 1), member("c", 2)}
	for name, c := range map[string]struct {
		members []scene.Member
		path    []scene.Step
		want    string
	}{
		"nobody spoke":                    {abc, said(""), "a"},
		"the next":                        {abc, said("", "a", ""), "b"},
		"around":                          {abc, said("", "a", "", "c", "", ""), "a"},
		"a muted one is passed over":      {[]scene.Member{member("a", 0), member("b", 1, "muted"), member("c", 2)}, said("a"), "c"},
		"after a muted one":               {[]scene.Member{member("a", 0), member("b", 1, "muted"), member("c", 2)}, said("a", "b"), "c"},
		"after one that left":             {[]scene.Member{member("a", 0), member("b", 1, "left"), member("c", 1), member("d", 2)}, said("b"), "c"},
		"after the last, who left":        {[]scene.Member{member("a", 0), member("b", 1), member("c", 2, "left")}, said("c"), "a"},
		"an unknown speaker":              {abc, said("ghost"), "a"},
		"one alone":                       {[]scene.Member{member("a", 0, "muted"), member("b", 1)}, said("b"), "b"},
		"all muted":                       {[]scene.Member{member("a", 0, "muted")}, said("a"), ""},
		"an older speaker does not count": {abc, said("c", "a"), "b"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			for _, s := range pipeline.RoundRobin(scene.Snapshot{Members: c.members, Path: c.path}) {
				got += s.Speaker
				if s.Cue != "" {
					t.Errorf("a cue %q", s.Cue)
				}
			}
			if got != c.want {
				t.Errorf("%q is next, not %q", got, c.want)
			}
		})
	}
}

// Six turns of a round never reach the muted, and after it is not muted any
// more a member's turn comes again.
func TestMutedNeverSpeaks(t *testing.T) {
	s := scene.Snapshot{Members: []scene.Member{{ID: "a", Order: 0, Active: true}, {ID: "b", Order: 1, Active: true, Muted: true}, {ID: "c", Order: 2, Active: true}}}
	turns := func(n int) (all string) {
		for range n {
			next := pipeline.RoundRobin(s)[0].Speaker
			all += next
			s.Path = append(s.Path, said("", next)...)
		}
		return all
	}
	if got := turns(6); got != "acacac" {
		t.Errorf("the turns were %s", got)
	}
	s.Members[1].Muted = false
	if got := turns(3); got != "abc" {
		t.Errorf("then %s", got)
	}
}

func TestChoose(t *testing.T) {
	pin, plan := "c", []exchange.Slot{{Speaker: "b", Cue: "x"}}
	for name, c := range map[string]struct {
		mode scene.TurnMode
		pin  *string
		plan []exchange.Slot
		ok   bool
		want []exchange.Slot
	}{
		"a pin":                 {scene.RoundRobin, &pin, nil, false, []exchange.Slot{{Speaker: "c"}}},
		"a pin over a plan":     {scene.Director, &pin, plan, true, []exchange.Slot{{Speaker: "c"}}},
		"a pin over rest":       {scene.Director, &pin, nil, true, []exchange.Slot{{Speaker: "c"}}},
		"Manual with a pin":     {scene.Manual, &pin, nil, false, []exchange.Slot{{Speaker: "c"}}},
		"Manual rests":          {scene.Manual, nil, plan, true, nil},
		"the round":             {scene.RoundRobin, nil, plan, true, []exchange.Slot{{Speaker: "a"}}},
		"the Director":          {scene.Director, nil, plan, true, plan},
		"the Director rests":    {scene.Director, nil, nil, true, nil},
		"no plan, so the round": {scene.Director, nil, nil, false, []exchange.Slot{{Speaker: "a"}}},
		"no mode that is known": {"", nil, nil, false, []exchange.Slot{{Speaker: "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene.Snapshot{Conversation: scene.Conversation{TurnMode: c.mode}, Members: []scene.Member{{ID: "a", Active: true}, {ID: "b", Order: 1, Active: true}, {ID: "c", Order: 2, Active: true}}}
			if diff := cmp.Diff(c.want, pipeline.Choose(s, c.pin, c.plan, c.ok)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if got := pipeline.Choose(scene.Snapshot{Conversation: scene.Conversation{TurnMode: scene.Director}}, nil, nil, false); got != nil {
		t.Errorf("an empty cast planned %v", got)
	}
}
