package rehearsal

import (
	_ "embed"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"jp/internal/kernel/llm"
)

//go:embed voices.txt
var voices string

// lines are the ways in which a part of a reply may be said.
func lines(part string) []string {
	_, rest, _ := strings.Cut(voices, "== "+part+"\n")
	section, _, _ := strings.Cut(rest, "\n\n== ")
	return strings.Split(strings.TrimRight(section, "\n"), "\n")
}

// hash is a number that depends on all of its arguments.
func hash(of ...string) uint64 {
	h := fnv.New64a()
	for _, s := range of {
		_, _ = h.Write([]byte(s + "\x00"))
	}
	return h.Sum64()
}

// pick chooses one of several by a hash; 0 when there is none.
func pick[T any](from []T, of ...string) (chosen T) {
	if len(from) > 0 {
		chosen = from[hash(of...)%uint64(len(from))]
	}
	return chosen
}

// say is a reply to the request.
func (a actor) say(req llm.Request) string {
	last := heard(req)
	others := last.others
	detail, file, line := "word", "", ""
	if c, ok := diff(req); ok {
		detail, file, line = "diff", c.file, pick(c.added, a.name, last.text, "line")
	} else if len(req.Documents) > 0 {
		detail, file = "document", plain(pick(req.Documents, a.name, last.text, "document").Source)
	}
	put := strings.NewReplacer(
		"{name}", a.name, "{who}", last.who, "{quote}", last.quote(), "{tool}", last.tool,
		"{file}", strings.ReplaceAll(file, "`", ""), "{line}", line, "{word}", pick(last.words(), a.name, "word"),
		"{others}", strings.Join(others, " and "),
	)
	part := func(name string) string {
		return capital(put.Replace(pick(lines(name), a.name, last.text, name)))
	}
	var said []string
	switch {
	case last.tool != "":
		said = append(said, part("result"))
	case last.text == "":
		return strings.Join([]string{part("first words"), part("close"), a.mark(req)}, " ")
	default:
		said = append(said, part("take up"))
	}
	if line != "" || detail == "document" && file != "" || detail == "word" && len(last.words()) > 0 {
		said = append(said, part(detail))
	}
	if len(others) > 0 {
		said = append(said, part("others"))
	}
	return strings.Join(append(said, part("close")), " ") + a.mark(req)
}

// mark says that the reply is rehearsed, at length in the first reply.
func (a actor) mark(req llm.Request) string {
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant {
			return " " + lines("mark")[0]
		}
	}
	brief := ""
	if len(req.System) > 0 {
		if q := quote(req.System[0]); q != "" {
			brief = strings.ReplaceAll(lines("brief")[0], "{quote}", q)
		}
	}
	return "\n\n" + strings.NewReplacer("{name}", a.name, "{brief}", brief).Replace(lines("first mark")[0])
}

// remark is the last thing that was said to the speaker.
type remark struct {
	who    string
	text   string
	tool   string   // the tool whose result it is
	others []string // who else was heard, the newest two, oldest first
}

// heard is the newest message that is not the speaker's own.
func heard(req llm.Request) remark {
	r := remark{who: "you"}
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		if m.Role == llm.RoleAssistant || m.Text == "" && m.Role == llm.RoleUser {
			continue
		}
		who, text := unlabel(m.Text)
		switch {
		case r.text == "" && r.tool == "":
			r.who, r.text = who, text
			if m.Role == llm.RoleTool {
				r.tool = plain(m.ToolName)
			}
		case m.Role == llm.RoleUser && len(r.others) < 2 && who != r.who && who != "you" && !slices.Contains(r.others, who):
			r.others = append([]string{who}, r.others...)
		}
	}
	return r
}

// unlabel parts the speaker's label from a labelled message.
func unlabel(text string) (who, rest string) {
	if label, rest, ok := strings.Cut(text, "]: "); ok && strings.HasPrefix(label, "[") && len(label) < 80 {
		if who := plain(label[1:]); who != "" && !strings.ContainsAny(label[1:], "[]\n") {
			return who, rest
		}
	}
	return "you", text
}

// quote is how the remark begins.
func (r remark) quote() string { return quote(r.text) }

// quote is the first sentence of text that quotes nobody itself, cut short.
func quote(text string) string {
	for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' }) {
		for _, s := range strings.SplitAfter(s, ". ") {
			s = plain(strings.ReplaceAll(s, "`", ""))
			if strings.ContainsAny(s, "“”\"*_<>") || strings.HasPrefix(s, "(") {
				continue // it would not survive being quoted in Markdown
			}
			if short := cut(strings.TrimSuffix(s, "."), 80); strings.ContainsFunc(short, unicode.IsLetter) {
				return short
			}
		}
	}
	return cut(plain(strings.NewReplacer("“", "", "”", "", `"`, "", "`", "").Replace(text)), 80)
}

// cut shortens text to about n bytes of whole words.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if at := strings.LastIndex(text[:n], " "); at > 0 {
		return text[:at] + "…"
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// words are the three longest of the remark's first words.
func (r remark) words() []string {
	all := regexp.MustCompile(`\p{L}[\p{L}-]*\p{L}`).FindAllString(cut(plain(r.text), 200), -1)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	all = slices.Compact(all)
	return all[:min(3, len(all))]
}

// change is a part of a diff that adds something.
type change struct {
	file  string
	added []string
}

// diff finds the newest diff among the messages and takes its first file.
func diff(req llm.Request) (change, bool) {
	var c change
	for i := len(req.Messages) - 1; i >= 0 && c.added == nil; i-- {
		if req.Messages[i].Role != llm.RoleUser {
			continue
		}
		c.file = ""
		for line := range strings.Lines(req.Messages[i].Text) {
			if path, ok := strings.CutPrefix(line, "+++ "); ok && c.added == nil {
				c.file = plain(strings.TrimPrefix(path, "b/"))
			} else if added, ok := strings.CutPrefix(line, "+"); ok && c.file != "" && !strings.HasPrefix(line, "+++") {
				if added = plain(added); len(added) > 5 && len(added) < 100 && !strings.Contains(added, "`") {
					c.added = append(c.added, added)
				}
			}
		}
	}
	return c, c.added != nil
}

// plain makes one line without control characters out of text.
func plain(text string) string {
	visible := func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}
	return strings.Join(strings.Fields(strings.Map(visible, text)), " ")
}

// capital makes the first letter a capital.
func capital(text string) string {
	for i, r := range text {
		if unicode.IsLetter(r) {
			return text[:i] + string(unicode.ToUpper(r)) + text[i+len(string(r)):]
		}
		if r == '`' || r == '“' {
			break
		}
	}
	return text
}
