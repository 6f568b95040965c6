package audit

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// common tells words that carry the grammar and not the matter.
func common(w string) bool {
	if utf8.RuneCountInString(w) <= 2 {
		return true
	}
	switch w {
	case "the", "and", "that", "this", "these", "those", "with", "for", "from", "into", "onto", "over", "out", "off", "down",
		"than", "then", "there", "here", "was", "were", "are", "been", "being", "had", "has", "have", "his", "her", "hers",
		"him", "she", "they", "them", "their", "its", "it's", "you", "your", "our", "who", "what", "when", "where", "which",
		"why", "how", "not", "but", "just", "only", "all", "any", "some", "one", "will", "would", "could", "can", "may", "might",
		"must", "should", "did", "does", "don't", "didn't", "doesn't", "isn't", "wasn't", "i'm", "i'll", "i've", "you're",
		"he's", "she's", "that's", "about", "after", "before", "again", "back", "through", "like", "very", "too", "now", "own",
		"each", "more", "most", "other", "such", "because", "while", "until":
		return true
	case "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines", "und", "oder", "aber",
		"ich", "sie", "wir", "ihr", "ihm", "ihn", "ihre", "ihren", "ihrem", "ihrer", "sein", "seine", "seinen", "seinem",
		"seiner", "mein", "meine", "dein", "deine", "ist", "sind", "war", "waren", "wird", "hat", "hatte", "hatten", "haben",
		"nicht", "kein", "keine", "mit", "von", "vom", "bei", "aus", "auf", "für", "über", "unter", "vor", "nach", "zum", "zur",
		"sich", "als", "wie", "wer", "dass", "wenn", "dann", "noch", "nur", "auch", "schon", "durch", "bis", "ins", "beim",
		"dich", "mich", "mir", "dir":
		return true
	case "les", "une", "dans", "pour", "par", "sur", "avec", "sans", "sous", "que", "qui", "quoi", "dont", "mais", "donc", "est",
		"sont", "était", "étaient", "elle", "elles", "ils", "nous", "vous", "son", "ses", "mon", "mes", "ton", "tes", "leur",
		"leurs", "lui", "pas", "plus", "comme", "cette", "ces", "cet", "aux", "c'est", "c'était", "qu'il", "qu'elle", "puis",
		"tout", "tous", "los", "las", "una", "unos", "con", "por", "para", "sin", "pero", "como", "del", "sus", "era", "eran",
		"fue", "está", "ella", "ellos", "más", "muy", "cuando", "este", "esta", "ese", "esa", "hacia", "entre", "che", "non",
		"gli", "della", "dello", "delle", "degli", "dei", "nel", "nella", "sul", "sulla", "suo", "sua", "suoi", "sue", "come",
		"più", "erano", "sono", "não", "uma", "dos", "seu", "seus", "suas", "foi", "ele", "eles", "elas", "isso", "quando",
		"het", "een", "van", "hij", "zij", "zijn", "haar", "niet", "maar", "voor", "naar", "ook", "nog", "wat", "dat", "werd":
		return true
	case "что", "как", "это", "его", "она", "они", "оно", "был", "была", "было", "были", "для", "при", "над", "под", "без", "или",
		"все", "всё", "уже", "ещё", "так", "тоже", "только", "если", "чтобы", "когда", "где", "кто", "мне", "тебе", "ему", "нее",
		"неё", "них", "меня", "тебя", "свой", "свою", "своей", "jest", "był", "była", "było", "nie", "się", "jak", "ale", "czy",
		"jego", "jej", "przez", "jako", "tylko":
		return true
	}
	return false
}

// asks tells words that begin a question of its own.
func asks(w string) bool {
	switch w {
	case "who", "what", "when", "where", "which", "why", "how", "wer", "was", "wann", "wo", "warum", "wie", "wieso", "welche",
		"welcher", "qui", "que", "quoi", "quand", "où", "pourquoi", "comment", "qué", "quién", "cuándo", "dónde", "cómo", "chi",
		"cosa", "quando", "dove", "perché", "come", "quem", "onde", "como", "кто", "что", "когда", "где", "почему", "как",
		"зачем", "куда":
		return true
	}
	return false
}

// tongue is how a language says "not this, but that".
type tongue struct {
	not    []string
	but    []string // begins what holds instead
	strong bool     // but has no other use after a negation
	only   []string // not only
	be     []string // joins what is and what it is
	it     []string // stands for what was said before
	who    []string // begins a clause
	verb   []string // before not: a verb is denied, no thing
}

func tongues() []tongue {
	f := strings.Fields
	return []tongue{
		{f("not never"), f("but rather"), false, f("just only merely simply"), f("is was are were"), f("it this that"),
			f("i you he she it we they there his her their my the"), f("do did does can could will would should must had have has may might")},
		{f("nicht kein keine keinen keinem keiner"), f("sondern"), true, f("nur bloß"), f("ist war sind waren"), f("es das dies"), nil, nil},
		{f("pas non"), f("mais plutôt"), false, f("seulement juste"), f("est était sont étaient"), f("c ce cela ça"), f("il elle je tu on nous vous ils elles le la les"), nil},
		{f("no"), f("sino"), true, f("solo sólo"), f("es era son eran fue"), f("eso esto"), nil, nil},
		{f("non"), f("ma bensì"), false, f("solo soltanto"), f("è era sono erano"), f("questo quello ciò"), f("lui lei io il la lo"), nil},
		{f("não"), f("mas senão"), false, f("só apenas somente"), f("é era são eram foi"), f("isso isto"), f("ele ela eu o a os as"), nil},
		{f("niet geen"), f("maar"), false, f("alleen enkel"), f("is was zijn waren"), f("het dat dit"), f("hij zij ze ik de het"), nil},
		{f("не"), f("а"), true, f("только просто"), f("был была было были это"), f("это"), nil, nil},
		{f("nie"), f("lecz tylko"), true, f("tylko"), f("jest był była było to"), f("to"), nil, nil},
		{f("inte ikke"), f("utan"), true, f("bara kun"), f("är var er"), f("det"), nil, nil},
	}
}

// has tells whether a list holds a word.
func has(list []string, w string) bool { return slices.Contains(list, w) }

// atom is a word without what is drawn into it: was and not for wasn't.
type atom struct {
	text   string
	joined bool // to the one before, by nothing but blanks
}

func atoms(words []word) []atom {
	list := make([]atom, 0, len(words)+2)
	for i, w := range words {
		first, second := w.text, ""
		if base, ok := strings.CutSuffix(w.text, "n't"); ok {
			first, second = map[string]string{"wo": "will", "ca": "can", "sha": "will"}[base], "not"
			if first == "" {
				first = base
			}
		} else if a, b, ok := strings.Cut(w.text, "'"); ok {
			first, second = a, b
			if b == "s" || b == "re" || b == "m" {
				second = "is"
			}
		}
		list = append(list, atom{first, w.joined && i > 0})
		if second != "" {
			list = append(list, atom{second, true})
		}
	}
	return list
}
