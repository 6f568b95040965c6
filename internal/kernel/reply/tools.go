package reply

import (
	"context"
	"fmt"

	"jp/internal/kernel/llm"
)

// run runs the calls that are fit to run and returns exactly one result per
// call, in call order, whatever the port gives back.
func (s Speaker) run(ctx context.Context, calls []llm.ToolCall, unfit map[string]string) []Result {
	var fit []llm.ToolCall
	for _, c := range calls {
		if unfit[c.ID] == "" {
			fit = append(fit, c)
		}
	}
	brought := map[string]Result{}
	if s.Tools != nil && len(fit) > 0 {
		for _, r := range s.Tools.Call(ctx, fit) {
			if _, ok := brought[r.Call]; !ok {
				brought[r.Call] = r
			}
		}
	}
	results := make([]Result, len(calls))
	for i, c := range calls {
		r, ok := brought[c.ID]
		switch {
		case unfit[c.ID] != "":
			r = Result{Content: unfit[c.ID], IsError: true}
		case s.Tools == nil:
			r = Result{Content: fmt.Sprintf("unknown tool %q", c.Name), IsError: true}
		case !ok:
			r = Result{Content: "The tool gave no result.", IsError: true}
		}
		r.Call, r.Name = c.ID, c.Name
		results[i] = r
	}
	return results
}

// notRun answers the calls that the limit on cycles forbids.
func notRun(calls []llm.ToolCall, limit int) []Result {
	results := make([]Result, len(calls))
	for i, c := range calls {
		results[i] = Result{Call: c.ID, Name: c.Name, IsError: true,
			Content: fmt.Sprintf("Not run: this reply had its %d batches of tool calls.", limit)}
	}
	return results
}
