package prompt

import (
	"slices"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
	"jp/internal/scene/macro"
)

// History is a path as models read it. In a group replies begin with their
// speaker's name; replies that follow each other are one message. People's
// messages have a name only when their author is not that of the path's first.
// images returns the pictures of a message, nil for none; a nil images has
// none at all. Messages without text and pictures are left out.
//
// The result never depends on who is about to speak.
func (p *Scene) History(path []scene.Step, images func(message int64) []llm.Image) []llm.Message {
	out := make([]llm.Message, 0, len(path))
	var run strings.Builder // replies that follow each other
	flush := func() {
		if run.Len() > 0 {
			out = append(out, llm.Message{Role: llm.RoleAssistant, Text: run.String()})
			run = strings.Builder{}
		}
	}
	host := author(path)
	for i := range path {
		m := &path[i].Message
		if m.Role != scene.RoleUser {
			p.reply(&run, m)
			continue
		}
		var pictures []llm.Image
		if images != nil && len(path[i].Uploads) > 0 {
			pictures = images(m.ID)
		}
		text := p.said(m.Content, m.Author, host)
		if text != "" || len(pictures) > 0 {
			flush()
			out = append(out, llm.Message{Role: llm.RoleUser, Text: text, Images: pictures})
		}
	}
	flush()
	return out
}

// author is whose messages have no name on a path: the first that is known.
func author(path []scene.Step) string {
	i := slices.IndexFunc(path, func(s scene.Step) bool { return s.Role == scene.RoleUser && line(s.Author) != "" })
	if i < 0 {
		return ""
	}
	return line(path[i].Author)
}

// said is a person's message, with a name unless the host wrote it. One whose
// author nobody noted is the host's.
func (p *Scene) said(content, by, host string) string {
	scope := p.tail
	by = line(by)
	scope.User = first(by, scope.User)
	text := macro.Stored(content, scope)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	if by == "" || host == "" || by == host {
		return text
	}
	return by + ": " + text
}

// reply adds a stored reply to a run of them, with its speaker's name in a
// group.
func (p *Scene) reply(run *strings.Builder, m *scene.Message) {
	text := p.Text(*m)
	if strings.TrimSpace(text) == "" {
		return
	}
	if run.Len() > 0 {
		run.WriteString(blank)
	}
	if p.group() {
		run.WriteString(p.Name(m.SpeakerID))
		run.WriteString(": ")
	}
	run.WriteString(text)
}

// Text is a message with what its macros stand for: {{user}} is the author in
// a person's message, {{char}} the speaker in a member's.
func (p *Scene) Text(m scene.Message) string {
	scope := p.tail
	if m.Role == scene.RoleUser {
		scope.User = first(line(m.Author), scope.User)
	} else if m.SpeakerID != nil && p.group() {
		scope.Char = p.Name(m.SpeakerID)
	}
	return macro.Stored(m.Content, scope)
}

// Label is who said a message.
func (p *Scene) Label(m scene.Message) string {
	switch {
	case m.Role == scene.RoleUser:
		return first(line(m.Author), p.tail.User)
	case p.group():
		return p.Name(m.SpeakerID)
	}
	return p.tail.Char
}
