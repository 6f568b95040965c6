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
	var run []string // replies that follow each other
	flush := func() {
		if len(run) > 0 {
			out = append(out, llm.Message{Role: llm.RoleAssistant, Text: strings.Join(run, blank)})
			run = run[:0]
		}
	}
	host := author(path)
	for i := range path {
		m := &path[i].Message
		if m.Role != scene.RoleUser {
			if text := p.reply(m); text != "" {
				run = append(run, text)
			}
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

// reply is a stored reply, with its speaker's name in a group.
func (p *Scene) reply(m *scene.Message) string {
	text := p.Text(*m)
	switch {
	case strings.TrimSpace(text) == "":
		return ""
	case !p.group():
		return text
	}
	return p.Name(m.SpeakerID) + ": " + text
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
