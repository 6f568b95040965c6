package query

import (
	"slices"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/projection"
	"jp/internal/lib/fault"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// Seen is the request that a participant would be sent now or, with the id of
// a request, was sent first for it, and whose provider it would go to.
// Attachments are read as they are now, which a note says where it matters.
// Errors: fault.NotFound for a name or a request that is not there, and those
// of attachments.
func (r *Run) Seen(stream *conversation.Stream, name, request string) (llm.Request, config.Assistant, error) {
	tree, lines, err := seen(stream, name, request)
	if err == nil {
		tree, err = config.Finalize(tree)
	}
	if err != nil {
		return llm.Request{}, config.Assistant{}, err
	}
	if !slices.Contains(Known(tree), name) {
		return llm.Request{}, config.Assistant{}, nobody(name).
			WithHint("known here: %s", strings.Join(Known(tree), ", "))
	}
	a, err := config.ParticipantConfig(tree, name)
	if err != nil {
		return llm.Request{}, a, err
	}
	docs, err := r.documents(tree, nil)
	if err != nil {
		return llm.Request{}, a, err
	}
	if request != "" && len(docs) > 0 {
		r.Notes("attachments are shown as they are now, which may not be what was sent")
	}
	view := projection.Project(lines, projection.Seat{
		Speaker: name, Provider: a.Model.Provider, Answering: request, Known: Known(tree),
	})
	return Request(a, a.SystemParts(r.Tools != nil), docs, view), a, nil
}

// seen cuts a stream where a participant began to answer a request.
func seen(stream *conversation.Stream, name, request string) (config.Tree, []projection.Line, error) {
	if request == "" {
		return stream.Config(), stream.Lines(), nil
	}
	at, ok := stream.Index(request)
	if !ok || stream.At(at).Kind != conversation.ChatRequest {
		return nil, nil, fault.New(fault.NotFound, "no request %q in this conversation", request).
			WithHint("`jp c print -F json` shows the ids: event_id of each chat_request")
	}
	asked := stream.Responders(request)
	end := at + 1
	for i := at + 1; i < stream.Len(); i++ {
		if !stream.At(i).Kind.Answers() || stream.Answered(i) != request {
			continue
		}
		who := stream.Participant(i)
		if who == name || slices.Index(asked, who) > slices.Index(asked, name) && slices.Contains(asked, name) {
			break
		}
		end = i + 1
	}
	return stream.ConfigAt(end), stream.LinesAt(end), nil
}
