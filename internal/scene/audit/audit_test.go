package audit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"jp/internal/scene"
	"jp/internal/scene/audit"
)

func kinds() []string {
	return []string{
		audit.BannedPhrases, audit.RepetitiveOpeners, audit.RepetitiveTemplates, audit.ContrastiveNegation,
		audit.PhraseRepetition, audit.StructuralRepeat, audit.AntiEcho, audit.NegatedNarration,
	}
}

// only switches all detectors off but one.
func only(kind string) map[string]bool {
	toggles := map[string]bool{}
	for _, k := range kinds() {
		toggles[k] = k == kind
	}
	return toggles
}

func texts(found []audit.Finding) []string {
	var list []string
	for _, f := range found {
		list = append(list, f.Text)
	}
	return list
}

// expect runs one detector, and again with the draft as code.
func expect(t *testing.T, kind string, in audit.Input, want ...string) {
	t.Helper()
	in.Toggles = only(kind)
	found := audit.Run(in)
	if d := cmp.Diff(want, texts(found)); d != "" {
		t.Errorf("%s in %q (-want +got):\n%s", kind, in.Draft, d)
	}
	for _, f := range found {
		if f.Kind != kind || f.Why == "" {
			t.Errorf("the finding is %+v", f)
		}
	}
	in.Toggles[kind] = false
	if found := audit.Run(in); found != nil {
		t.Errorf("%s is off and finds %q", kind, texts(found))
	}
	in.Toggles[kind] = true
	in.Draft = "```\n" + in.Draft + "\n```"
	if found := audit.Run(in); kind != audit.StructuralRepeat && found != nil {
		t.Errorf("%s finds %q in code", kind, texts(found))
	}
}

func bank() []scene.Phrase {
	return []scene.Phrase{
		{Kind: scene.LiteralPhrase, Variants: []string{"shivers down", "don't you dare", " a mix of "}},
		{Kind: scene.LiteralPhrase, Variants: []string{"lief ihr kalt", "静かに笑", "숨을 죽", "тень сомнения", "…!", "“well, well”", "par ailleurs :"}},
		{Kind: scene.RegexPhrase, Pattern: `\beyes? (glint|sparkl)\w+`},
		{Kind: scene.RegexPhrase, Pattern: `(broken`},
		{Kind: scene.RegexPhrase, Pattern: `look(?=ahead)`},
		{Kind: scene.RegexPhrase, Pattern: `x*`},
		{Kind: scene.RegexPhrase, Pattern: `((a{900}){900}){900}`},
		{Kind: scene.RegexPhrase, Pattern: `(a{1,100}){1,100}`},
		{Kind: scene.RegexPhrase, Pattern: strings.Repeat("a?", 5000)},
	}
}

func TestBannedPhrases(t *testing.T) {
	for _, c := range []struct {
		draft string
		want  []string
	}{
		{"It rained. It sent Shivers\u00a0 down my spine. I left.", []string{"It sent Shivers\u00a0 down my spine."}},
		{"“Don’t you dare!” she said.", []string{"“Don’t you dare!”"}},
		{"Her voice was a mix of fear and hope.", []string{"Her voice was a mix of fear and hope."}},
		{"Es lief ihr kalt den Rücken hinab. Sie ging.", []string{"Es lief ihr kalt den Rücken hinab."}},
		{"彼女は静かに笑った。彼は去った。", []string{"彼女は静かに笑った。"}},
		{"그는 떠났다. 그녀는 숨을 죽였다.", []string{"그녀는 숨을 죽였다."}},
		{"Ни тень сомнения не мелькнула. Он ушёл.", []string{"Ни тень сомнения не мелькнула."}},
		{"Go…! Now.", []string{"Go…!"}},
		{"\"Well, well,\" he says.", nil},
		{"He says \"Well, well\" again.", []string{"He says \"Well, well\" again."}},
		{"Par ailleurs : rien.", []string{"Par ailleurs : rien."}},
		{"His eyes glinted. A mix of eyes sparkling.", []string{"His eyes glinted.", "A mix of eyes sparkling."}},
		{"Mr. Smith felt shivers down his neck.", []string{"Mr. Smith felt shivers down his neck."}},
		{"*She felt shivers down her neck.* He left.", []string{"She felt shivers down her neck."}},
		{"# Shivers down\n\n- a mix of x", []string{"Shivers down", "a mix of x"}},
		{"彼は言った。「静かに笑え。」", []string{"「静かに笑え。」"}},
		{"İstanbul'da ılık SHIVERS DOWN.", []string{"İstanbul'da ılık SHIVERS DOWN."}},

		{"The shivers downed him. A mixture of things. Do not you dare.", nil},
		{"See https://example.org/shivers down.", nil},
		{"See `shivers down` and <https://a.b/a mix", nil},
		{"Type `eyes glint` twice: ``a mix of ` x``", nil},
		{"See www.shivers.down/a", nil},
		{"aaa xxx broken look looking", nil},
		{"", nil},
	} {
		expect(t, audit.BannedPhrases, audit.Input{Draft: c.draft, Phrases: bank()}, c.want...)
	}
	if found := audit.Run(audit.Input{Draft: "A mix of Shivers down.", Phrases: bank()}); len(found) != 1 || found[0].Why != "banned: “a mix of”, “shivers down”" {
		t.Errorf("found %+v", found)
	}
}

func TestRepetitiveOpeners(t *testing.T) {
	for _, c := range []struct {
		draft string
		want  []string
	}{
		{"Go. She ran. She's late. *She* fell! SHE rose. He saw.", []string{"She ran. She's late. *She* fell! SHE rose."}},
		{"Er kam.\n\nEr sah.\n\nEr siegte. Er ging. Sie blieb.", []string{"Er kam.\n\nEr sah.\n\nEr siegte. Er ging."}},
		{"J'ai faim. J'attends. J’entends. J'y vais.", []string{"J'ai faim. J'attends. J’entends. J'y vais."}},
		{"她走了。她看着我。她笑了。她坐下。", []string{"她走了。她看着我。她笑了。她坐下。"}},
		{"彼女は走った。彼女は笑った。彼女は泣いた。彼女は眠った。", []string{"彼女は走った。彼女は笑った。彼女は泣いた。彼女は眠った。"}},

		{"She ran. She fell. She rose. He saw. She left.", nil},
		{"Er kam. Er sah. Sie kam. Er siegte. Er ging.", nil},
		{"彼女は走った。彼は笑った。彼女は泣いた。彼女は眠った。", nil},
		{"- He ran\n- He fell\n- He rose\n- He left", nil},
		{"1. He ran\n2. He fell\n3. He rose\n4. He left", nil},
	} {
		expect(t, audit.RepetitiveOpeners, audit.Input{Draft: c.draft}, c.want...)
	}
}

func TestRepetitiveTemplates(t *testing.T) {
	for _, c := range []struct {
		draft string
		want  []string
	}{
		{"The sound of rain was soft. He sat. The smell of bread was warm. The touch of silk was cold. Go.",
			[]string{"The smell of bread was warm.", "The touch of silk was cold."}},
		{"Der Klang des Regens war weich. Der Duft des Brotes war warm. Der Griff des Messers war kalt.",
			[]string{"Der Duft des Brotes war warm.", "Der Griff des Messers war kalt."}},
		{"La voix de Marie était douce. La main de Pierre était froide. La nuit de Paris était longue. La rue de Lyon était vide.",
			[]string{"La main de Pierre était froide.", "La nuit de Paris était longue.", "La rue de Lyon était vide."}},
		{"彼女の声は低かった。犬の足は短かった。空の色は青かった。", []string{"犬の足は短かった。", "空の色は青かった。"}},

		{"The sound of rain was soft. The smell of bread was warm. He sat.", nil},
		{"He ran. He sat. He ate. He slept.", nil},
		{"彼は走った。彼は泣いた。彼は寝た。", nil},
		{"Der Klang des Regens war weich. Sie schlief. Ein Hund bellte, und der Wind ging.", nil},
		{"- The sound of rain was soft.\n- The smell of bread was warm.\n- The touch of silk was cold.", nil},
	} {
		expect(t, audit.RepetitiveTemplates, audit.Input{Draft: c.draft}, c.want...)
	}
}

func TestContrastiveNegation(t *testing.T) {
	for _, draft := range []string{
		"It was not fear, but hope.",
		"Her voice was not loud but clear.",
		"It's not a bug; it's a feature.",
		"It wasn’t anger, it was grief.",
		"Not just a friend, but a brother.",
		"This isn't over — this is a start.",
		"He did not just fall, but broke.",
		"It wasn't anger. It was fear.",
		"She was not tired. She was hungry.",
		"Es war nicht Angst, sondern Hoffnung.",
		"Das ist kein Spiel, das ist Krieg.",
		"Es war keine Wut. Es war Angst.",
		"Ce n'était pas la peur, mais l'espoir.",
		"C’était non pas un cri mais un chant.",
		"Ce n'est pas un jeu, c'est la guerre.",
		"Ce n'était pas la colère. C'était la peur.",
		"No era miedo, sino esperanza.",
		"No era ira. Era miedo.",
		"Non era paura, ma speranza.",
		"Não era medo, mas esperança.",
		"Het was niet angst, maar hoop.",
		"Это был не страх, а надежда.",
		"Это не страх. Это надежда.",
		"To nie strach, lecz nadzieja.",
		"Det var inte rädsla, utan hopp.",
		"这不是恐惧，而是希望。",
		"这不是恐惧。这是希望。",
		"それは恐怖ではなく、希望だった。",
		"그것은 두려움이 아니라 희망이었다.",
	} {
		expect(t, audit.ContrastiveNegation, audit.Input{Draft: "Go! " + draft + " Go!"}, draft)
	}
	for _, draft := range []string{
		"She did not answer, but her hand moved.",
		"He could not see, but he heard.",
		"It was not cold. She was glad.",
		"It was not cold.\n\nIt was dark.",
		"He is not here. He isn't there.",
		"Not now.",
		"Er kam nicht, aber sie ging.",
		"Elle ne bougea pas, mais sa main trembla.",
		"Il n'était pas là, mais il savait.",
		"Non si mosse, ma la mano tremò.",
		"No lo sé. Era tarde.",
		"Он не знал.",
		"是不是你？是我。",
		"我不知道。",
		"それは怖くない。",
		"See `not x, but y` there.",
	} {
		expect(t, audit.ContrastiveNegation, audit.Input{Draft: draft})
	}
}

func TestNegatedNarration(t *testing.T) {
	for _, c := range []struct {
		draft string
		want  []string
	}{
		{"He waits. She doesn't move. She did not blink. Rain falls.", []string{"She doesn't move.", "She did not blink."}},
		{"Er wartet. Sie antwortet nicht. Sie bewegt sich nicht.", []string{"Sie antwortet nicht.", "Sie bewegt sich nicht."}},
		{"Elle ne bouge pas. Il ne parle pas. La pluie tombe.", []string{"Elle ne bouge pas.", "Il ne parle pas."}},
		{"No se movió. No dijo nada. Llovía.", []string{"No se movió.", "No dijo nada."}},
		{"Он не ответил. Она не двигалась.", []string{"Он не ответил.", "Она не двигалась."}},
		{"彼は動かない。彼女は答えなかった。雨が降る。", []string{"彼は動かない。", "彼女は答えなかった。"}},
		{"她没有动。他不说话。下雨了。", []string{"她没有动。", "他不说话。"}},
		{"그는 대답하지 않았다. 그녀는 움직이지 않았다.", []string{"그는 대답하지 않았다.", "그녀는 움직이지 않았다."}},
		{"She didn't move. Rain fell. He never spoke. Dogs ran. They did not stop.", []string{"She didn't move.", "He never spoke.", "They did not stop."}},

		{"She didn't move. Rain fell. He spoke.", nil},
		{"“I don't know. I did not see.” He smiled. “You never do.”", nil},
		{"„Ich weiß nicht. Ich sah nichts.“ Er lächelte.", nil},
		{"「知らない。見なかった。」彼は笑った。", nil},
		{"Didn't she move? Did he not speak?", nil},
		{"No, she thought. No! He ran.", nil},
		{"In the long corridor behind the hall the lamps did not burn. In the garden under the trees the wind did not blow.", nil},
	} {
		expect(t, audit.NegatedNarration, audit.Input{Draft: c.draft}, c.want...)
	}
}

func TestPhraseRepetition(t *testing.T) {
	for _, c := range []struct {
		draft  string
		recent []string
		want   []string
	}{
		{"He felt velvet darkness close.", []string{"A velvet darkness came.", "The Velvet Darkness, again."}, []string{"velvet darkness"}},
		{"Her breath caught in her throat as he left.", []string{"His breath caught in his throat.", "The breath caught, sharp. Then her breath caught in her own throat."},
			[]string{"Her breath caught in her"}},
		{"Then the old oak door creaked.", []string{"x", "The old oak door stood."}, []string{"the old oak door"}},
		{"Ein samtenes Dunkel fiel.", []string{"Das samtenes Dunkel.", "So samtenes Dunkel!"}, []string{"samtenes Dunkel"}},
		{"Une lueur étrange dans ses yeux.", []string{"Il y a une lueur étrange dans la nuit."}, []string{"Une lueur étrange dans"}},
		{"彼は薄い笑みを浮かべた。", []string{"少年も薄い笑みを浮かべて去る。"}, []string{"薄い笑みを浮かべ"}},
		{"他嘴角微微上扬。", []string{"她嘴角微微上扬着说。"}, []string{"嘴角微微上扬"}},
		{"그는 낮은 목소리로 천천히 말했다.", []string{"낮은 목소리로 천천히 불렀다."}, []string{"낮은 목소리로 천천히"}},

		{"He felt velvet darkness close.", []string{"A velvet darkness came."}, nil},
		{"He was in the end of it all.", []string{"She was in the end of it all, too.", "It was in the end of it all."}, nil},
		{"Alice Smith sat.", []string{"Alice Smith ran.", "Alice Smith fell."}, nil},
		{"Velvet. Darkness came.", []string{"Velvet. Darkness fell.", "Velvet. Darkness rose."}, nil},
		{"See `velvet darkness now` and https://a.b/velvet-darkness-now x", []string{"velvet darkness now https://a.b/velvet-darkness-now", "velvet darkness now"}, nil},
		{"Ein samtenes Dunkel fiel.", []string{"Das samtenes Dunkel."}, nil},
		{"彼女は彼の方を見た。", []string{"彼女は笑った。"}, nil},
		{"Fresh words here.", nil, nil},
	} {
		expect(t, audit.PhraseRepetition, audit.Input{Draft: c.draft, Recent: c.recent}, c.want...)
	}
}

// Replies further back than the window are forgotten, and so are words that
// most replies have.
func TestPhraseWindow(t *testing.T) {
	old := append([]string{"The old oak door stood."}, make([]string, audit.Window)...)
	expect(t, audit.PhraseRepetition, audit.Input{Draft: "The old oak door.", Recent: old})
	expect(t, audit.PhraseRepetition, audit.Input{Draft: "The old oak door.", Recent: old[:audit.Window]}, "The old oak door")
	names := []string{"Anna laughed softly.", "Then anna sat.", "But Anna ran.", "Anna ate."}
	expect(t, audit.PhraseRepetition, audit.Input{Draft: "So Anna laughed.", Recent: []string{"And so Anna laughed.", names[1], names[2], names[3]}})
}

func TestStructuralRepetition(t *testing.T) {
	one := "“Hello,” she said and sat down by the fire.\n\nThe room was warm.\n\n*She yawned.*\n\n“And you?”"
	two := "“Oh,” he said and stood up from the chair.\n\nThe night was cold.\n\n*He waited.*\n\n“Coming?”"
	german := "„Ach“, sagte er und stand auf.\n\nDie Nacht war kalt.\n\n*Er wartete.*\n\n„Kommst du?“"
	other := strings.Repeat("The rain went on and on over the hills. ", 12) + "\n\n# Night\n\n- one\n- two\n\nShe slept."
	found := func(draft string, recent ...string) int {
		return len(audit.Run(audit.Input{Draft: draft, Recent: recent, Toggles: only(audit.StructuralRepeat)}))
	}
	for _, c := range []struct {
		draft  string
		recent []string
		want   int
	}{
		{one, []string{two, german}, 1},
		{german, []string{other, one, two}, 1},
		{"「やあ」と彼女は言った。\n\n雨が降る。\n\n「うん」", []string{"「ねえ」と少年は言った。\n\n夜が来る。\n\n「はい」", "「おい」と犬は言った。\n\n空が鳴る。\n\n「いや」"}, 1},
		{one + "\n\nShe slept.", []string{two, german}, 1},
		{one, []string{two}, 0},
		{one, []string{other, other, two}, 0},
		{one, []string{two, german, other, other, other, other, other}, 0},
		{"One.\n\nTwo.", []string{"One.\n\nTwo.", "One.\n\nTwo."}, 0},
		{other, []string{one, two, german}, 0},
		{"```\na\n\nb\n\nc\n```", []string{"```\na\n\nb\n\nc\n```", "```\na\n\nb\n\nc\n```"}, 0},
	} {
		if got := found(c.draft, c.recent...); got != c.want {
			t.Errorf("%q after %q: %d findings, want %d", c.draft, c.recent, got, c.want)
		}
	}
	f := audit.Run(audit.Input{Draft: one, Recent: []string{two, german}, Toggles: only(audit.StructuralRepeat)})[0]
	if f.Start != 0 || f.End != 0 || f.Text != "" {
		t.Errorf("the finding is about the whole draft, not %q", f.Text)
	}
}

func TestAntiEcho(t *testing.T) {
	for _, c := range []struct {
		draft, quoted string
		want          []string
	}{
		{"She frowns. “Leaving tomorrow?” she asks.", "\"I'm leaving tomorrow,\" he says.", []string{"“Leaving tomorrow?”"}},
		{"“You saw the dragon by the river?”", "\"I saw the dragon by the river.\" I sit.", []string{"“You saw the dragon by the river?”"}},
		{"\"Tomorrow?\" He laughs.", "See you tomorrow.", []string{"\"Tomorrow?\""}},
		{"„Du willst nach Hamburg gehen?“, fragt sie.", "„Ich will nach Hamburg gehen“, sage ich.", []string{"„Du willst nach Hamburg gehen?“"}},
		{"« Demain matin ? » dit-elle.", "« Je pars demain matin. »", []string{"« Demain matin ?"}},
		{"「明日出発する？」", "「僕は明日出発する。」", []string{"「明日出発する？」"}},
		{"Завтра утром? Ладно.", "Я уеду завтра утром.", []string{"Завтра утром?"}},

		{"“What do you want?”", "\"I want tea.\"", nil},
		{"“Was willst du?”", "„Ich will Tee.“", nil},
		{"“Leaving tomorrow.”", "\"I'm leaving tomorrow.\"", nil},
		{"“Leaving tomorrow?”", "I'm leaving tomorrow. \"Hello.\"", nil},
		{"“Shall we eat first, or would you rather talk about the tomorrow of it?”", "\"I'm leaving tomorrow.\"", nil},
		{"「何をする？」", "「明日出発する。」", nil},
		{"“Leaving?”", "", nil},
	} {
		expect(t, audit.AntiEcho, audit.Input{Draft: c.draft, Quoted: c.quoted}, c.want...)
	}
}

// All kinds in one draft: numbers run in the order of the draft.
func TestOrder(t *testing.T) {
	in := audit.Input{
		Draft: "She came. She saw. She smiled. She left. It was not fear, but hope. The old oak door creaked. Really tomorrow?\n\n" +
			"She did not move. He did not speak. Shivers down. See `not a, but b`.\n\nEnd.",
		Recent:  []string{"The old oak door.", "x"},
		Quoted:  "Tomorrow, really.",
		Phrases: bank(),
	}
	var got []string
	for i, f := range audit.Run(in) {
		if f.ID != i+1 {
			t.Errorf("finding %d has the number %d", i, f.ID)
		}
		got = append(got, f.Kind+": "+f.Text)
	}
	want := []string{
		"repetitive_openers: She came. She saw. She smiled. She left.",
		"contrastive_negation: It was not fear, but hope.",
		"phrase_repetition: The old oak door",
		"anti_echo: Really tomorrow?",
		"negated_narration: She did not move.",
		"negated_narration: He did not speak.",
		"banned_phrases: Shivers down.",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		text              string
		words, paragraphs int
	}{
		{"", 0, 0},
		{" \n\t\n", 0, 0},
		{"It's 3.5 or 1,000 don’t: café!", 6, 1},
		{"*One* **two**\nthree\n\n\n  four", 4, 2},
		{"彼は走った。\n彼女は笑った。\n「うん」", 5 + 6 + 2, 3},
		{"Take:\n- a\n- b\nGo.\n", 4, 3},
		{"彼女は笑った。\n\nテスト", 6 + 3, 2},
		{"她笑了。", 3, 1},
		{"그는 웃었다.", 2, 1},
		{"Привет, мир", 2, 1},
		{"สวัสดีชาวโลก", 3, 1},
		{"Hi 世界", 3, 1},
		{"a\r\n\r\nb", 2, 2},
		{"```\na\n\nb\n```\n\nc", 3, 2},
		{"🦊 — …", 0, 1},
	} {
		if got := audit.Words(c.text); got != c.words {
			t.Errorf("Words(%q) = %d, want %d", c.text, got, c.words)
		}
		if got := audit.Paragraphs(c.text); got != c.paragraphs {
			t.Errorf("Paragraphs(%q) = %d, want %d", c.text, got, c.paragraphs)
		}
	}
}

// sound checks what is true of all findings.
func sound(t *testing.T, in audit.Input, found []audit.Finding) {
	t.Helper()
	for i, f := range found {
		if f.ID != i+1 || f.Start < 0 || f.Start > f.End || f.End > len(in.Draft) || in.Draft[f.Start:f.End] != f.Text {
			t.Fatalf("finding %d is %+v in %q", i, f, in.Draft)
		}
		if (f.Start == f.End) != (f.Kind == audit.StructuralRepeat) || f.Why == "" {
			t.Fatalf("finding %d is %+v", i, f)
		}
		if utf8.ValidString(in.Draft) && !utf8.ValidString(f.Text) {
			t.Fatalf("finding %d cuts a character: %q", i, f.Text)
		}
		if i > 0 && found[i-1].Start > f.Start {
			t.Fatalf("finding %d is out of order", i)
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add("She ran. She did not stop. “Tomorrow?” It was not a, but b.\n\n```\nx", "The old oak door.\n\na\n\nb", "\"See you tomorrow\"", "old oak", `a+b`)
	f.Add("彼女は静かに笑った。「うん。」İ ﬁ `a` https://x.y *z*", "彼女は静かに笑った。", "「明日」", "静かに", `[^a]`)
	f.Add("\x00\xff “a” _b_ **c", "\xff", "\xfe", "\xff", "(")
	f.Fuzz(func(t *testing.T, draft, recent, quoted, phrase, pattern string) {
		in := audit.Input{Draft: draft, Recent: []string{recent, draft, recent}, Quoted: quoted, Phrases: []scene.Phrase{
			{Kind: scene.LiteralPhrase, Variants: []string{phrase}}, {Kind: scene.RegexPhrase, Pattern: pattern},
		}}
		found := audit.Run(in)
		sound(t, in, found)
		var patches []audit.Replacement
		for _, f := range found {
			patches = append(patches, audit.Replacement{ID: f.ID, Replace: "<" + f.Text + ">"})
		}
		text, rejected := audit.Patch(draft, found, patches)
		if strings.Count(text, "<")-strings.Count(draft, "<") < len(patches)-len(rejected) {
			t.Fatalf("%q became %q, %+v rejected", draft, text, rejected)
		}
		audit.Words(draft)
		audit.Paragraphs(draft)
	})
}
