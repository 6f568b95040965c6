package audit

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Replacement is a patch that addresses a finding.
type Replacement struct {
	ID      int
	Replace string
}

// Edit is a patch that addresses the one place where Search stands.
type Edit struct {
	Search, Replace string
}

// Rejected tells why a patch was not applied.
type Rejected struct {
	Index int // in the list of patches, from 0
	Why   string
}

// Patch applies replacements of findings to the draft that they were found in.
// A patch that overlaps one before it in the list is rejected.
func Patch(draft string, findings []Finding, patches []Replacement) (string, []Rejected) {
	s := splicer{draft: draft}
	for i, p := range patches {
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == p.ID })
		if at < 0 {
			s.reject(i, "there is no such finding")
			continue
		}
		f := findings[at]
		switch {
		case f.Start == f.End:
			s.reject(i, "the finding is about the whole text and needs a rewrite")
		case f.Start < 0 || f.End > len(draft) || f.Start > f.End || draft[f.Start:f.End] != f.Text:
			s.reject(i, "the text has changed since it was found")
		default:
			s.splice(i, span{f.Start, f.End}, p.Replace)
		}
	}
	return s.result()
}

// Replace applies edits, each to the one place of the draft where its search
// text stands. All are searched in the draft as it is given.
func Replace(draft string, edits []Edit) (string, []Rejected) {
	s := splicer{draft: draft}
	for i, e := range edits {
		at := strings.Index(draft, e.Search)
		switch {
		case e.Search == "":
			s.reject(i, "the search text is empty")
		case !utf8.ValidString(e.Search):
			s.reject(i, "the search text holds broken characters")
		case at < 0:
			s.reject(i, "the search text is not in the draft")
		case strings.Contains(draft[at+1:], e.Search):
			s.reject(i, "the search text is in the draft more than once")
		default:
			s.splice(i, span{at, at + len(e.Search)}, e.Replace)
		}
	}
	return s.result()
}

// splicer gathers what is replaced where.
type splicer struct {
	draft    string
	pieces   []piece
	rejected []Rejected
}

type piece struct {
	span
	index int
	text  string
}

func (s *splicer) reject(index int, why string) {
	s.rejected = append(s.rejected, Rejected{index, why})
}

func (s *splicer) splice(index int, where span, text string) {
	at, _ := slices.BinarySearchFunc(s.pieces, where.start, func(p piece, start int) int { return cmp.Compare(p.start, start) })
	switch {
	case text == s.draft[where.start:where.end]:
		s.reject(index, "the replacement changes nothing")
	case !utf8.ValidString(text):
		s.reject(index, "the replacement holds broken characters")
	case at > 0 && s.pieces[at-1].end > where.start, at < len(s.pieces) && s.pieces[at].start < where.end:
		s.reject(index, "it overlaps another patch")
	default:
		s.pieces = slices.Insert(s.pieces, at, piece{where, index, text})
	}
}

// result is the draft with all that holds. A draft of which nothing would be
// left stays as it is.
func (s *splicer) result() (string, []Rejected) {
	var b strings.Builder
	from := 0
	for _, p := range s.pieces {
		b.WriteString(s.draft[from:p.start])
		b.WriteString(p.text)
		from = p.end
	}
	b.WriteString(s.draft[from:])
	text := b.String()
	if len(s.pieces) > 0 && strings.TrimSpace(text) == "" {
		for _, p := range s.pieces {
			s.reject(p.index, "nothing would be left of the text")
		}
		text = s.draft
	}
	slices.SortFunc(s.rejected, func(a, b Rejected) int { return cmp.Compare(a.Index, b.Index) })
	return text, s.rejected
}
