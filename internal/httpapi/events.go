package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"jp/internal/lib/fanout"
	"jp/internal/lib/sse"
)

const (
	keepEvents = 10 * time.Minute // after the end of an exchange
	mostEvents = 1 << 20          // bytes of events for each conversation
	silence    = 3 * time.Second  // before a sign of life
	patience   = 30 * time.Second // with a client that takes nothing
)

// The events that the stream itself knows. Everything else passes.
const (
	eventDone   = "done"   // the last of an exchange
	eventResync = "resync" // some are gone for good: read the messages again
)

// newStreams holds the events of each conversation's running or last exchange.
// A log's name is that of logName; whoever runs an exchange starts the log,
// appends its events with type and data only, and closes it after done.
func newStreams() *fanout.Topics[sse.Event] {
	return fanout.NewTopics(keepEvents, mostEvents, held)
}

// held is about what an event takes in memory: its texts and what holds them,
// which for a token is most of it.
func held(e sse.Event) int { return len(e.Type) + len(e.Data) + 96 }

func (a *api) eventRoutes() {
	route(a, http.MethodGet, "/conversations/{cid}/events", "follow-events",
		"Follow the running or last exchange", a.events,
		produces("text/event-stream"), answers(http.StatusNoContent, "There is nothing to follow"))
}

type eventsIn struct {
	Conversation string `path:"cid"`
	LastEventID  string `header:"Last-Event-ID" doc:"The id of the last event that the client has: what follows it is sent"`
}

type eventsOut struct{ Body func(huma.Context) }

// events replays and follows an exchange, from after the event that the client
// saw last.
func (a *api) events(ctx context.Context, in *eventsIn) (*eventsOut, error) {
	if _, err := a.Scenes.Conversation(ctx, in.Conversation); err != nil {
		return nil, err
	}
	log := a.streams.Of(in.Conversation)
	if log == nil {
		return nothing(), nil
	}
	after := seenOf(log, in.LastEventID)
	if log.Ended(after) {
		return nothing(), nil
	}
	return &eventsOut{Body: func(c huma.Context) { a.follow(c, in.Conversation, log, after) }}, nil
}

func nothing() *eventsOut {
	return &eventsOut{Body: func(c huma.Context) { c.SetStatus(http.StatusNoContent) }}
}

// follow sends what is in a log after an event and what comes, until the
// exchange is done, the log ends or the client goes. The exchange goes on
// without the client.
func (a *api) follow(c huma.Context, conversation string, log *fanout.Log[sse.Event], after int64) {
	_, w := humago.Unwrap(c)
	out, err := sse.NewWriter(w, a.Now, patience)
	for reader := log.After(after); err == nil; {
		var item fanout.Item[sse.Event]
		item, err = next(c.Context(), reader)
		switch {
		case err == nil && item.Gap:
			err = out.Send(sse.Event{Type: eventResync, ID: eventID(log, item.Seq), Data: placed(conversation, exchangeOf(log.Name()), "{}")})
		case err == nil:
			item.Value.ID = eventID(log, item.Seq)
			if err = out.Send(item.Value); err == nil && item.Value.Type == eventDone {
				return
			}
		case errors.Is(err, context.DeadlineExceeded) && c.Context().Err() == nil:
			err = out.Send(sse.Event{Comment: true, Data: "keepalive"})
		}
	}
}

// next waits for an item as long as silence may last.
func next(ctx context.Context, r *fanout.Reader[sse.Event]) (fanout.Item[sse.Event], error) {
	wait, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	return r.Next(wait)
}

// eventID is the id of an event: its exchange and its number.
func eventID(log *fanout.Log[sse.Event], seq int64) string {
	return log.Name() + "." + strconv.FormatInt(seq, 10)
}

// seenOf is the number in a Last-Event-ID, 0 when it is of another exchange.
func seenOf(log *fanout.Log[sse.Event], id string) int64 {
	text, ok := strings.CutPrefix(id, log.Name()+".")
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
