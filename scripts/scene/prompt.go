package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// part is a piece of what a model reads, in the order of chat templates: the
// tools, the system message, the conversation.
type part struct{ role, text string }

// sent is a request as it counts for caches.
type sent struct {
	*request
	model    string
	pass     string // what it is for
	speaker  string // of a Writer or Editor
	parts    []part
	switches string // what a template may show before all else
}

// readRequest takes a request apart.
func readRequest(r *request) (sent, error) {
	var body struct {
		Model    string
		Tools    json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Choice json.RawMessage `json:"tool_choice"`
		Format struct {
			Schema struct{ Schema schema } `json:"json_schema"`
		} `json:"response_format"`
		Effort    json.RawMessage `json:"reasoning_effort"`
		Reasoning json.RawMessage
		Template  json.RawMessage `json:"chat_template_kwargs"`
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		return sent{}, fmt.Errorf("jp sent no JSON: %w", err)
	}
	s := sent{request: r, model: body.Model, switches: fmt.Sprintf("%s %s %s", body.Effort, body.Reasoning, body.Template)}
	if len(body.Tools) > 0 {
		s.parts = append(s.parts, part{"tools", string(body.Tools)})
	}
	for _, m := range body.Messages {
		text := string(m.Content)
		_ = json.Unmarshal(m.Content, &text) // else a list, as it is written
		s.parts = append(s.parts, part{m.Role, text})
	}
	s.pass, s.speaker = passOf(body.Choice, body.Format.Schema.Schema), speakerOf(s.parts)
	return s, nil
}

// schema is that of a forced answer.
type schema struct {
	Properties map[string]struct {
		Type any
	}
}

// passOf tells what a request is for by the answer that it forces.
func passOf(choice json.RawMessage, s schema) string {
	var named struct{ Function struct{ Name string } }
	_ = json.Unmarshal(choice, &named) // else "none", a string
	has := func(field string) bool { _, ok := s.Properties[field]; return ok }
	switch name := named.Function.Name; {
	case name == "direct_scene" || has("moods") || has("speaking_plan"):
		return "director"
	case name == "editor_apply_patch" || name == "editor_rewrite" || has("patches") || has("rewritten_text"):
		return "editor"
	case name == "apply_find_replace" || has("edits"):
		return "editor"
	case name == "update_character_sheet" || has("changed"):
		return "sheet"
	case name == "give_feedback" || len(s.Properties) > 0:
		return "feedback"
	case name != "":
		return name
	}
	return "writer"
}

// speakerOf is who a request writes as, empty for nobody.
func speakerOf(parts []part) string {
	for i := len(parts) - 1; i >= 0; i-- {
		if _, after, found := strings.Cut(parts[i].text, "## You are writing as "); found && parts[i].role == "user" {
			name, _, _ := strings.Cut(after, "\n")
			return name
		}
	}
	return ""
}

// head is what stands before the conversation.
func (s sent) head() string {
	text := ""
	for _, p := range s.parts {
		if p.role == "tools" || p.role == "system" {
			text += p.text + "\x00"
		}
	}
	return text
}

// place names a part by where it stands.
func (s sent) place(at int) string {
	switch role := s.parts[at].role; {
	case role == "tools" || role == "system":
		return role
	case at == len(s.parts)-1:
		return "the last message"
	default:
		return fmt.Sprintf("message %d of %d (%s)", s.message(at), s.message(len(s.parts)-1), role)
	}
}

// message counts the messages of the conversation up to a part.
func (s sent) message(at int) int {
	n := 0
	for _, p := range s.parts[:at+1] {
		if p.role != "tools" && p.role != "system" {
			n++
		}
	}
	return n
}

func chars(text string) int { return utf8.RuneCountInString(text) }

// tokens is the usual estimate for a number of characters.
func tokens(chars int) int { return (chars + 2) / 4 }
