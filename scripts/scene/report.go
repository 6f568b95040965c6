package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is what the calls of one pass cost together.
type row struct {
	pass                                     string
	calls                                    int
	prompt, reuse, oneSlot, again, elsewhere int // characters
	in, cached, out, counted, kept           int // as the server says
	cachedOf                                 int // in, of the calls that said what was cached
	first                                    []time.Duration
}

func (r *row) add(s sent, u reuse) {
	r.calls++
	r.prompt += u.prompt
	r.reuse += u.reusable
	r.oneSlot += u.oneSlot
	r.again += u.again
	r.elsewhere += u.elsewhere
	r.in += s.in
	r.out += s.out
	r.cached += s.cached
	r.counted += truth(s.counted)
	if s.kept {
		r.kept++
		r.cachedOf += s.in
	}
	if s.first > 0 {
		r.first = append(r.first, s.first)
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tally is all that was measured.
type tally struct {
	rows     []*row
	all      row
	breaks   []breach
	refused  []string
	switches map[string][]string // passes, by what they set
	models   map[string]bool
	lore     map[int]bool // exchanges in which some fired
}

// breach is a request that made the model read again what it had read.
type breach struct {
	sent
	reuse
	why string
}

// report writes what the requests so far tell.
func (p *play) report(w io.Writer, took time.Duration) {
	t := p.tally()
	replies, rests, warnings := 0, 0, 0
	for _, o := range p.outcomes {
		replies += o.replies
		rests += truth(o.replies == 0 && o.status == "completed")
		warnings += len(o.warnings)
	}
	fmt.Fprintf(w, "%s: %d exchanges, %d replies, %d rests, %d warnings, %d members, model %s, %.1f s\n",
		p.mode, len(p.outcomes), replies, rests, warnings, p.members, p.model, took.Seconds())
	fmt.Fprint(w, "on the way: ")
	for _, what := range sorted(p.done) {
		fmt.Fprintf(w, "%d × %s, ", p.done[what], what)
	}
	fmt.Fprintf(w, "lore fired in %d exchanges\n\n", len(t.lore))
	t.table(w)
	fmt.Fprintf(w, "\nreusable tokens %s (with one slot %s, where only the request just before counts)\n",
		percent(t.all.reuse, t.all.prompt), percent(t.all.oneSlot, t.all.prompt))
	if t.all.kept > 0 {
		fmt.Fprintf(w, "the server says it had %s of its input cached\n", percent(t.all.cached, t.all.cachedOf))
	}
	t.tell(w)
	for i, o := range p.outcomes {
		for _, warning := range o.warnings {
			fmt.Fprintf(w, "exchange %d: warning: %s\n", i+1, warning)
		}
	}
}

// tally measures the requests, each model for itself.
func (p *play) tally() *tally {
	t := &tally{switches: map[string][]string{}, models: map[string]bool{}, lore: map[int]bool{}, all: row{pass: "all"}}
	meters := map[string]*meter{}
	for i, r := range p.rec.all() {
		s, err := readRequest(r)
		if err == nil {
			err = r.refused()
		}
		if err != nil {
			t.refused = append(t.refused, fmt.Sprintf("request %d (exchange %d): %v", i+1, r.during.number, err))
			continue
		}
		if meters[s.model] == nil {
			meters[s.model] = newMeter()
		}
		u := meters[s.model].measure(&s)
		t.row(s.pass).add(s, u)
		t.all.add(s, u)
		if u.different {
			t.breaks = append(t.breaks, breach{s, u, p.why(s, u)})
		}
		key := s.model + ": " + s.switches
		if !slices.Contains(t.switches[key], s.pass) {
			t.switches[key] = append(t.switches[key], s.pass)
		}
		t.models[s.model] = true
		if s.pass == "writer" && strings.Contains(s.parts[len(s.parts)-1].text, "**Lorebook**") {
			t.lore[s.during.number] = true
		}
	}
	return t
}

// why says what a difference comes of, if the scene asked for it.
func (p *play) why(s sent, u reuse) string {
	switch {
	case slices.Contains(p.edited, u.was):
		return "an edit"
	case p.mode == "swap" && (u.again == 0 || s.parts[u.at].role == "system"):
		return "swap, where each speaker has a system message of its own"
	}
	return "not asked for"
}

// row is that of a pass.
func (t *tally) row(pass string) *row {
	for _, r := range t.rows {
		if r.pass == pass {
			return r
		}
	}
	t.rows = append(t.rows, &row{pass: pass})
	return t.rows[len(t.rows)-1]
}

func (t *tally) table(w io.Writer) {
	order := []string{"director", "writer", "editor", "feedback", "sheet"}
	slices.SortStableFunc(t.rows, func(a, b *row) int { return cmp.Compare(place(order, a.pass), place(order, b.pass)) })
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\tcalls\tprompt\treusable\t\tone slot\tread again\telsewhere\t\tserver: in\tcached\tout\tfirst token\t")
	for _, r := range append(t.rows, &t.all) {
		in, cached, out := "–", "–", "–"
		if r.counted > 0 {
			in, out = fmt.Sprint(r.in), fmt.Sprint(r.out)
		}
		if r.kept > 0 {
			cached = fmt.Sprint(r.cached)
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%s\t%d\t%d\t\t%s\t%s\t%s\t%s\t\n", r.pass, r.calls, tokens(r.prompt), tokens(r.reuse),
			percent(r.reuse, r.prompt), percent(r.oneSlot, r.prompt), tokens(r.again), tokens(r.elsewhere), in, cached, out, r.median())
	}
	tw.Flush()
}

func place(order []string, pass string) int {
	if at := slices.Index(order, pass); at >= 0 {
		return at
	}
	return len(order)
}

func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func (r *row) median() string {
	if len(r.first) == 0 {
		return "–"
	}
	slices.Sort(r.first)
	return fmt.Sprintf("%.1f ms", float64(r.first[len(r.first)/2].Microseconds())/1000)
}

// mostTold is how many differences are written out for each reason.
const mostTold = 6

// tell writes what made models read again.
func (t *tally) tell(w io.Writer) {
	if len(t.switches) > len(t.models) {
		fmt.Fprintln(w, "\nswitches differ within a model (a template may show them first):")
		for _, key := range sorted(t.switches) {
			fmt.Fprintf(w, "  %s (%s)\n", strings.TrimSpace(key), strings.Join(t.switches[key], ", "))
		}
	}
	by := map[string][]breach{}
	for _, b := range t.breaks {
		by[b.why] = append(by[b.why], b)
	}
	for _, why := range sorted(by) {
		again := 0
		for _, b := range by[why] {
			again += b.again + b.elsewhere
		}
		fmt.Fprintf(w, "\n%s: %d requests differ before their last message, %d tokens read again\n", why, len(by[why]), tokens(again))
		for _, b := range by[why][:min(mostTold, len(by[why]))] {
			b.tell(w)
		}
	}
	for _, line := range t.refused {
		fmt.Fprintln(w, "refused:", line)
	}
}

func (b breach) tell(w io.Writer) {
	who := b.pass
	if b.speaker != "" && b.pass != "director" {
		who += " " + b.speaker
	}
	after := ""
	if len(b.during.doings) > 0 {
		after = ", after " + strings.Join(b.during.doings, " and ")
	}
	like := ""
	if b.like != nil {
		like = fmt.Sprintf(" of the %s in exchange %d", b.like.pass, b.like.during.number)
	}
	fmt.Fprintf(w, "  exchange %d%s, %s: %s, byte %d; %d tokens read again\n    was %q%s\n    is  %q\n", b.during.number, after, who,
		b.sent.place(b.at), b.from, tokens(b.again+b.elsewhere), around(b.was, b.from), like, around(b.parts[b.at].text, b.from))
}

// around is the text about a byte.
func around(text string, at int) string {
	return strings.ToValidUTF8(text[max(0, min(at, len(text))-20):min(len(text), at+40)], "")
}
