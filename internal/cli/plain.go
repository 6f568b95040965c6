package cli

import (
	"encoding/json"
	"time"

	"jp/internal/workspace/conversation"
)

// plain is an event as JSON output shows it: the stored fields under their
// stored names, with nothing in base64.
type plain struct {
	ID   string            `json:"event_id,omitempty"`
	Type conversation.Kind `json:"type"`
	// Conversation is said once, with the request that jp q answers.
	Conversation string           `json:"conversation,omitempty"`
	Time         time.Time        `json:"timestamp,omitzero"`
	Request      string           `json:"request_id,omitempty"`
	Participant  string           `json:"participant,omitempty"`
	Author       string           `json:"author,omitempty"`
	Recipients   *plainRecipients `json:"recipients,omitempty"`
	Content      *string          `json:"content,omitempty"`
	Message      *string          `json:"message,omitempty"`
	Reasoning    *string          `json:"reasoning,omitempty"`
	Data         json.RawMessage  `json:"data,omitempty"`
	Incomplete   string           `json:"incomplete,omitempty"`
	CallID       string           `json:"id,omitempty"`
	Name         string           `json:"name,omitempty"`
	Arguments    json.RawMessage  `json:"arguments,omitempty"`
	IsError      *bool            `json:"is_error,omitempty"`
	Question     json.RawMessage  `json:"question,omitempty"`
	Answer       json.RawMessage  `json:"answer,omitempty"`
	Delta        map[string]any   `json:"delta,omitempty"`
	// Usage is said once, by jp q with the last part of an answer, and not kept.
	Usage *plainUsage `json:"usage,omitempty"`
}

// plainUsage counts tokens: cached are some of input, reasoning of output.
type plainUsage struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Cached    int `json:"cached"`
	Reasoning int `json:"reasoning"`
}

type plainRecipients struct {
	Responders []string         `json:"responders,omitempty"`
	Visibility *plainVisibility `json:"visibility,omitempty"`
}

type plainVisibility struct {
	Only []string `json:"only"`
}

func plainOf(ev *conversation.Event) plain {
	p := plain{
		ID: ev.ID, Type: ev.Kind, Time: ev.Time, Request: ev.Request, Participant: ev.Participant,
		Author: ev.Author, Incomplete: ev.Incomplete, CallID: ev.CallID, Name: ev.Name,
		Arguments: ev.Arguments, Question: ev.Question, Answer: ev.Answer, Delta: ev.Delta, Data: ev.Data,
	}
	if ev.Responders != nil || ev.Only != nil {
		p.Recipients = &plainRecipients{Responders: ev.Responders}
		if ev.Only != nil {
			p.Recipients.Visibility = &plainVisibility{Only: ev.Only}
		}
	}
	switch ev.Kind {
	case conversation.ChatRequest:
		p.Content = &ev.Content
	case conversation.ToolCallResponse:
		p.Content, p.IsError = &ev.Content, &ev.IsError
	case conversation.ChatResponse:
		switch ev.Form {
		case conversation.Message:
			p.Message = &ev.Content
		case conversation.Reasoning:
			p.Reasoning = &ev.Content
		}
	}
	return p
}
