package audit

import (
	"strings"
	"unicode"

	"jp/internal/scene/prose"
)

// mask writes a NUL over every byte of code blocks, code spans and addresses.
func mask(raw string) string {
	m := masker{raw: raw}
	var fence prose.Fence
	begin, at := 0, 0
	for line := range strings.Lines(raw) {
		after, code := fence.Next(line)
		if code {
			if fence == "" {
				m.paragraph(begin, at)
			}
			m.hide(at, at+len(strings.TrimRight(line, "\r\n")))
			begin = at + len(line)
		} else if strings.TrimSpace(line) == "" {
			m.paragraph(begin, at)
			begin = at + len(line)
		}
		fence = after
		at += len(line)
	}
	if fence == "" {
		m.paragraph(begin, at)
	}
	if m.out == nil {
		return raw
	}
	return string(m.out)
}

type masker struct {
	raw string
	out []byte // nil while nothing is hidden
}

func (m *masker) hide(start, end int) {
	if m.out == nil {
		m.out = []byte(m.raw)
	}
	clear(m.out[start:end])
}

// paragraph hides code spans and addresses between two places.
func (m *masker) paragraph(start, end int) {
	from := start
	for _, code := range codeSpans(m.raw[start:end]) {
		m.addresses(from, start+code.start)
		m.hide(start+code.start, start+code.end)
		from = start + code.end
	}
	m.addresses(from, end)
}

// codeSpans returns what stands between equal runs of backticks.
func codeSpans(s string) []span {
	var runs []span
	for at := strings.IndexByte(s, '`'); at >= 0 && at < len(s); {
		end := at + len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		runs = append(runs, span{at, end})
		next := strings.IndexByte(s[end:], '`')
		if next < 0 {
			break
		}
		at = end + next
	}
	closer := make([]int, len(runs)) // of each run, -1 for none
	last := map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		n := runs[i].end - runs[i].start
		if j, ok := last[n]; ok {
			closer[i] = j
		} else {
			closer[i] = -1
		}
		last[n] = i
	}
	var list []span
	for i := 0; i < len(runs); i++ {
		if j := closer[i]; j >= 0 {
			list = append(list, span{runs[i].start, runs[j].end})
			i = j
		}
	}
	return list
}

// addresses hides what begins like a web address, up to a blank or to what
// closes around it.
func (m *masker) addresses(start, end int) {
	for at := start; at < end; {
		i := strings.IndexAny(m.raw[at:end], ":.")
		if i < 0 {
			return
		}
		i += at
		at = i + 1
		from := i
		switch {
		case strings.HasPrefix(m.raw[i:end], "://"):
			for from > start && m.raw[from-1]|0x20 >= 'a' && m.raw[from-1]|0x20 <= 'z' && i-from < 16 {
				from--
			}
		case i-start >= 3 && strings.EqualFold(m.raw[i-3:i], "www"):
			from = i - 3
		}
		if from == i {
			continue
		}
		stop := strings.IndexFunc(m.raw[i:end], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>()\"”»」", r) })
		if stop < 0 {
			stop = end - i
		}
		at = i + len(strings.TrimRight(m.raw[i:i+stop], ".,;:!?*_"))
		m.hide(from, at)
	}
}
