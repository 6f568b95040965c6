package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const log = `{"event_id":"a","type":"chat_request","content":"1","recipients":{"responders":["ada","bob"]}}
{"event_id":"b","type":"chat_response","message":"r1","participant":"ada","request_id":"a"}
{"event_id":"c","type":"chat_response","message":"r2","participant":"bob","request_id":"a","incomplete":"error"}
{"event_id":"d","type":"chat_response","message":"r3","parti`

// The scripts find nothing only if they can find something.
func TestCompare(t *testing.T) {
	announced, err := Lines([]byte(log))
	if err != nil {
		t.Fatal(err)
	}
	if len(announced) != 2 {
		t.Fatalf("announced %d events, want the request and the whole reply", len(announced))
	}
	request, reply := announced[0], announced[1]
	again, peer := reply, reply
	again.ID = "x"
	peer.ID, peer.Participant, peer.Message = "y", "bob", "r4"
	for _, c := range []struct {
		name          string
		stored        []Event
		lost, doubled int
	}{
		{"all there", []Event{request, reply, peer}, 0, 0},
		{"reply lost", []Event{request, peer}, 1, 0},
		{"reply twice under one id", []Event{request, reply, reply}, 0, 3},
		{"reply twice under two ids", []Event{request, reply, again}, 0, 2},
	} {
		lost, doubled := Compare(announced, c.stored)
		if lost != c.lost || doubled != c.doubled {
			t.Errorf("%s: %d lost, %d doubled; want %d, %d", c.name, lost, doubled, c.lost, c.doubled)
		}
	}
	if diff := cmp.Diff([]string{"bob"}, Unanswered([]Event{request, reply})); diff != "" {
		t.Error(diff)
	}
	if left := Unanswered([]Event{request, reply, peer}); len(left) != 0 {
		t.Errorf("%v left, want nobody", left)
	}
	if _, err := Lines([]byte("hello\n")); err == nil {
		t.Error("text that is no JSON passes")
	}
}
