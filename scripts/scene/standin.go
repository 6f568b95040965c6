package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// standIn is a model server that speaks chat completions. What it answers
// depends on how many answers it gave, and on what is asked of it alone.
type standIn struct{ count atomic.Uint64 }

func newStandIn() *standIn { return &standIn{} }

func (s *standIn) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !strings.HasSuffix(req.URL.Path, "/chat/completions") {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"stand-in"}]}`)
		return
	}
	var body asked
	raw, err := io.ReadAll(req.Body) // to its end, or the connection may be cut
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	newAnswer(w, body, s.count.Add(1)).write()
}

// asked is what the stand-in reads of a request.
type asked struct {
	Tools []struct {
		Function struct {
			Name       string
			Parameters schema
		}
	}
	Choice json.RawMessage `json:"tool_choice"`
	Format struct {
		Schema struct{ Schema schema } `json:"json_schema"`
	} `json:"response_format"`
	Messages []struct{ Content any }
}

// forced is the schema of the answer that is forced, and the tool it is of.
func (a asked) forced() (tool string, s schema) {
	var named struct{ Function struct{ Name string } }
	_ = json.Unmarshal(a.Choice, &named) // else "none", a string
	for _, t := range a.Tools {
		if t.Function.Name == named.Function.Name {
			return t.Function.Name, t.Function.Parameters
		}
	}
	return "", a.Format.Schema.Schema
}

// last is the text of the last message.
func (a asked) last() string {
	if len(a.Messages) == 0 {
		return ""
	}
	return fmt.Sprint(a.Messages[len(a.Messages)-1].Content)
}

// answer is one that is being given.
type answer struct {
	asked
	w    http.ResponseWriter
	n    uint64
	rand *rand.Rand
	size int // characters
}

// newAnswer is the n-th.
func newAnswer(w http.ResponseWriter, body asked, n uint64) *answer {
	return &answer{w: w, asked: body, n: n, rand: rand.New(rand.NewPCG(n, 0))}
}

func (a *answer) write() {
	tool, s := a.forced()
	switch {
	case tool != "":
		raw, _ := json.Marshal(a.fill(s))
		a.delta(object{"tool_calls": []object{{"index": 0, "id": fmt.Sprint("call-", a.n), "type": "function", "function": object{"name": tool, "arguments": ""}}}})
		for _, piece := range pieces(string(raw)) {
			a.delta(object{"tool_calls": []object{{"index": 0, "function": object{"arguments": piece}}}})
		}
		a.end("tool_calls")
	case len(s.Properties) > 0:
		raw, _ := json.Marshal(a.fill(s))
		a.text(string(raw))
	default:
		a.text(a.prose())
	}
}

func (a *answer) text(text string) {
	for _, piece := range pieces(text) {
		a.delta(object{"content": piece})
	}
	a.end("stop")
}

// pieces parts a text behind its blanks.
func pieces(text string) []string { return strings.SplitAfter(text, " ") }

func (a *answer) delta(d object) {
	raw, _ := json.Marshal(d)
	a.size += len(raw) / 3
	a.chunk(object{"choices": []object{{"index": 0, "delta": d}}})
}

func (a *answer) end(why string) {
	a.chunk(object{"choices": []object{{"index": 0, "delta": object{}, "finish_reason": why}}})
	prompt, _ := json.Marshal(a.Messages)
	a.chunk(object{"choices": []object{}, "usage": object{"prompt_tokens": tokens(len(prompt)), "completion_tokens": tokens(a.size)}})
	fmt.Fprint(a.w, "data: [DONE]\n\n")
}

func (a *answer) chunk(c object) {
	raw, _ := json.Marshal(c)
	fmt.Fprintf(a.w, "data: %s\n\n", raw)
	a.w.(http.Flusher).Flush()
}

var (
	speakers = regexp.MustCompile(`Speakers to choose from: (.*?)\. Choose`)
	findings = regexp.MustCompile(`(?m)^(\d+)\. \(`)
	sheets   = regexp.MustCompile(`(?s)<sheet>\n(.*)\n</sheet>`)
)

// fill answers a schema, by the names of its fields.
func (a *answer) fill(s schema) object {
	out := object{}
	changed := a.rand.IntN(2) == 0
	for _, name := range sorted(s.Properties) {
		switch name {
		case "speaking_plan":
			out[name] = a.plan()
		case "moods":
			out[name] = [][]string{{}, {"tense"}, {"merry"}, {"tense"}}[a.rand.IntN(4)]
		case "patches":
			patches := []object{}
			for _, f := range findings.FindAllStringSubmatch(a.last(), -1) {
				patches = append(patches, object{"id": json.Number(f[1]), "replace": a.sentence()})
			}
			out[name] = patches
		case "edits":
			out[name] = []object{}
		case "changed":
			out[name] = changed
		case "sheet", "summary":
			out[name] = nil
			if changed {
				out[name] = a.sheet(name)
			}
		case "rewritten_text":
			out[name] = a.prose()
		default:
			out[name] = a.sentence()
		}
	}
	return out
}

// plan has one to three of the speakers it may choose from, seldom none.
func (a *answer) plan() []string {
	plan := []string{}
	found := speakers.FindStringSubmatch(a.last())
	if found == nil || a.rand.IntN(12) == 0 {
		return plan
	}
	all := strings.Split(found[1], ", ")
	for _, i := range a.rand.Perm(len(all))[:min(len(all), 1+a.rand.IntN(3))] {
		key, _, _ := strings.Cut(all[i], " ")
		plan = append(plan, key+" — "+a.sentence())
	}
	return plan
}

func (a *answer) sheet(field string) string {
	if found := sheets.FindStringSubmatch(a.last()); field == "sheet" && found != nil {
		named := strings.NewReplacer("{{char}}", "the character", "{{user}}", "Robin") // as models would write
		return named.Replace(found[1]) + "\n\nOf late: " + a.sentence()
	}
	return "Something happened."
}

// prose is a reply of a few sentences. Now and then it has phrases that an
// Editor should find.
func (a *answer) prose() string {
	var b strings.Builder
	for i := range 2 + a.rand.IntN(5) {
		if i > 0 {
			b.WriteString([]string{" ", " ", "\n\n"}[a.rand.IntN(3)])
		}
		if a.rand.IntN(3) == 0 {
			fmt.Fprintf(&b, "%q", a.sentence())
			continue
		}
		b.WriteString(a.sentence())
	}
	if a.rand.IntN(4) == 0 {
		b.WriteString(" It comes out barely above a whisper. Old fear sends shivers down every neck.")
	}
	return b.String()
}

// sentence is one of words put together, so that no two are alike.
func (a *answer) sentence() string {
	pick := func(words string) string {
		all := strings.Fields(words)
		return all[a.rand.IntN(len(all))]
	}
	noun := func() string { return pick(adjectives) + " " + pick(nouns) }
	first := pick("One Some Every Each That This Another No")
	text := first + " " + noun() + " " + pick(verbs) + " " + pick(places) + " the " + noun()
	if a.rand.IntN(2) == 0 {
		text += ", and " + pick("a one some that this another") + " " + noun() + " " + pick(verbs)
	}
	return text + "."
}

const (
	adjectives = "amber bitter brittle broken careful copper crooked damp distant dull eager faded frozen gentle gilded hollow idle iron lame late loud mild narrow odd pale patient quiet rough salted sharp silent slow steep sullen tired velvet warm wooden"
	nouns      = "answer anchor apron basket bench bottle bridge candle chart coat compass corner curtain debt door drawer drum feather ferry finger glove harbour hinge kettle ladder lantern ledger letter mirror needle oar promise quarrel rope shadow shutter silence stair tide wager"
	verbs      = "argues bends blinks breathes creaks drifts falters flickers gathers glints grumbles hesitates hums leans lingers listens mutters nods pauses rattles remains returns settles sighs slips stirs sways trembles turns waits wanders yields"
	places     = "above across against along among before behind below beneath beside between beyond inside near opposite outside over past through toward under within"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
