package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// statuses maps fault codes to statuses; what is not listed is 500.
var statuses = map[fault.Code]int{
	fault.Usage:    http.StatusBadRequest,
	fault.Invalid:  http.StatusBadRequest,
	fault.Config:   http.StatusBadRequest,
	fault.NotFound: http.StatusNotFound,
	fault.Conflict: http.StatusConflict,
	fault.Busy:     http.StatusConflict,
	fault.Provider: http.StatusBadGateway,
}

// Problem is the body of every error: a sentence, or for a body that does not
// fit a list of what is wrong where.
type Problem struct {
	Status int    `json:"-"`
	Detail any    `json:"detail"`
	Code   string `json:"code,omitempty" doc:"busy while an exchange holds the conversation"`
}

// Misfit is one thing that is wrong with a request.
type Misfit struct {
	Loc []any  `json:"loc"` // body, query or path, then the field's path
	Msg string `json:"msg"`
}

func (p *Problem) Error() string  { s, _ := p.Detail.(string); return s }
func (p *Problem) GetStatus() int { return p.Status }

var _ huma.StatusError = (*Problem)(nil)

// refuse turns an error into what the client gets: of a field that does not
// fit, where it is. What is no fault of the client is logged and not told.
func (a *api) refuse(ctx context.Context, err error) error {
	if f, ok := errors.AsType[*scene.FieldError](err); ok {
		return misfit(sentence(f), "body", f.Field)
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	code := fault.CodeOf(err)
	if code == fault.Interrupted { // by who asked, or by who ends the server
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "this was broken off and nothing of it was saved: do it again"}
	}
	status, ok := statuses[code]
	if !ok {
		a.Log.ErrorContext(ctx, "request failed", "code", string(code), "error", err)
		if code == fault.Storage {
			return &Problem{Status: http.StatusInsufficientStorage, Detail: "jp cannot write to its disk and nothing of this was saved: make room there and try again; the log says more"}
		}
		return &Problem{Status: http.StatusInternalServerError, Detail: "jp could not do this; its log says why"}
	}
	p := &Problem{Status: status, Detail: sentence(err)}
	if code == fault.Busy {
		p.Code = string(code)
	}
	return p
}

// sentence is an error with what can be done about it.
func sentence(err error) string {
	if hint := fault.HintOf(err); hint != "" {
		return err.Error() + ": " + hint
	}
	return err.Error()
}

// misfit is a 422 that only the code behind the schema can find.
func misfit(msg string, loc ...any) error {
	return &Problem{Status: http.StatusUnprocessableEntity, Detail: []Misfit{{Loc: loc, Msg: msg}}}
}

// detail gives huma's own errors the shape of ours. A body that cannot be read
// as JSON, that says it is something else, or that is missing, does not fit
// either: 422.
func detail(ctx huma.Context, _ string, v any) (any, error) {
	e, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	status := e.Status
	if c, ok := ctx.(*answer); ok {
		if status == http.StatusBadRequest || status == http.StatusInternalServerError || status == http.StatusUnsupportedMediaType {
			c.status = http.StatusUnprocessableEntity
		}
		if c.status != 0 {
			status = c.status
		}
	}
	if status == http.StatusRequestEntityTooLarge {
		return tooLarge(ctx.Operation().MaxBodyBytes - 1), nil
	}
	if status != http.StatusUnprocessableEntity {
		return &Problem{Status: status, Detail: e.Detail}, nil
	}
	if e.Status == http.StatusUnsupportedMediaType {
		return &Problem{Status: status, Detail: unread(ctx.Operation())}, nil
	}
	list := []Misfit{}
	for _, d := range e.Errors {
		list = append(list, Misfit{Loc: location(d.Location), Msg: d.Message})
	}
	if len(list) == 0 {
		list = append(list, Misfit{Loc: []any{"body"}, Msg: e.Detail})
	}
	return &Problem{Status: status, Detail: list}, nil
}

// unread is what is said of a body of a type that the operation does not read.
func unread(op *huma.Operation) []Misfit {
	types := slices.Sorted(maps.Keys(op.RequestBody.Content))
	return []Misfit{{Loc: []any{"header", "Content-Type"}, Msg: "send the body as " + strings.Join(types, " or ")}}
}

// writeProblem answers with an error where huma does not.
func writeProblem(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// location cuts "body.members[2].muted" into its steps.
func location(path string) []any {
	loc := []any{}
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if n, err := strconv.Atoi(step); err == nil {
			loc = append(loc, n)
		} else {
			loc = append(loc, step)
		}
	}
	return loc
}
