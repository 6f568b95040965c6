package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Event is what the scripts ask of an entry of events.json, or of a line of
// jp q -F json.
type Event struct {
	ID          string `json:"event_id"`
	Type        string `json:"type"`
	Author      string `json:"author"`
	Content     string `json:"content"`
	Participant string `json:"participant"`
	Request     string `json:"request_id"`
	Message     string `json:"message"`
	Incomplete  string `json:"incomplete"`
	Recipients  struct {
		Responders []string `json:"responders"`
	} `json:"recipients"`
}

// IsRequest tells whether e is a request.
func (e Event) IsRequest() bool { return e.Type == "chat_request" }

// IsReply tells whether e is a whole reply.
func (e Event) IsReply() bool {
	return e.Type == "chat_response" && e.Message != "" && e.Incomplete == ""
}

// text is what tells an event from all others: requests and replies carry
// numbers.
func (e Event) text() string { return e.Content + e.Message }

// Lines reads the events of jp q -F json. A last line without its end was cut
// by a kill and counts as not announced.
func Lines(out []byte) ([]Event, error) {
	var events []Event
	for line := range bytes.Lines(out) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("no JSON on standard output: %q", line)
		}
		if e.IsRequest() || e.IsReply() {
			events = append(events, e)
		}
	}
	return events, nil
}

// Conversations lists the ids of the stored conversations, oldest first.
func (r *Workspace) Conversations() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.workspace(), ".jp", "conversations"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var ids []string
	for _, e := range entries {
		if number, _, _ := strings.Cut(e.Name(), "-"); e.IsDir() && number != "" && e.Name()[0] != '.' {
			ids = append(ids, "jp-c"+number)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// Events reads the stored events of a conversation, and lets jp read them.
func (r *Workspace) Events(id string) ([]Event, error) {
	if _, err := r.Run("c", "show", "-F", "json", id); err != nil {
		return nil, err
	}
	if _, err := r.Run("c", "print", id); err != nil {
		return nil, err
	}
	pattern := filepath.Join(r.workspace(), ".jp", "conversations", strings.TrimPrefix(id, "jp-c")+"*", "events.json")
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s has %d event files, want one", id, len(found))
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	var events []Event
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, fmt.Errorf("%s: %w", found[0], err)
	}
	return events, nil
}

// Compare counts what was announced but is not stored, and what is stored more
// than once: an id, a numbered text, or a reply to one request by one
// participant.
func Compare(announced, stored []Event) (lost, doubled int) {
	ids, texts, replies := map[string]int{}, map[string]int{}, map[string]int{}
	for _, e := range stored {
		ids[e.ID]++
		if e.IsRequest() || e.IsReply() {
			texts[e.text()]++
		}
		if e.IsReply() {
			replies[e.Request+" "+e.Participant]++
		}
	}
	for _, e := range announced {
		if texts[e.text()] == 0 {
			lost++
		}
	}
	for _, counts := range []map[string]int{ids, texts, replies} {
		for _, n := range counts {
			doubled += n - 1
		}
	}
	return lost, doubled
}

// Unanswered lists who has still to answer the last request.
func Unanswered(stored []Event) []string {
	at := -1
	for i, e := range stored {
		if e.IsRequest() {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	request := stored[at]
	return slices.DeleteFunc(slices.Clone(request.Recipients.Responders), func(name string) bool {
		return slices.ContainsFunc(stored[at:], func(e Event) bool {
			return e.IsReply() && e.Participant == name && e.Request == request.ID
		})
	})
}
