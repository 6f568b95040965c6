package httpapi

import (
	"errors"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// option changes an operation before it is registered.
type option func(*huma.Operation)

// Limits of request bodies, in bytes, beside that of files of other programs,
// which is card.MaxFile.
const (
	defaultLimit = 1 << 20
	chatLimit    = 64 << 20 // a chat file or a message with attachments
)

// bodyTime is how long a client may take for each MiB of the largest body that
// an operation takes.
const bodyTime = 20 * time.Second

// limit is the size of the largest body that an operation takes.
func limit(bytes int64) option {
	return func(op *huma.Operation) { op.MaxBodyBytes = bytes }
}

// produces names the media types of an answer that is no JSON. The answer's
// Body is []byte or func(huma.Context).
func produces(types ...string) option {
	return func(op *huma.Operation) {
		content := map[string]*huma.MediaType{}
		for _, t := range types {
			content[t] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
			if !strings.HasPrefix(t, "text/") {
				content[t].Schema.Format = "binary"
			}
		}
		op.Responses["200"] = &huma.Response{Description: http.StatusText(http.StatusOK), Content: content}
	}
}

// answers adds a status without a body to the description.
func answers(code int, why string) option {
	return func(op *huma.Operation) {
		op.Responses[strconv.Itoa(code)] = &huma.Response{Description: why}
	}
}

// limitBody makes the operation's limit inclusive, as people read it: huma
// refuses a body that is as long as its limit.
func limitBody(op *huma.Operation) {
	mib := 1 + time.Duration(op.MaxBodyBytes>>20)
	op.BodyReadTimeout = bodyTime * min(mib, 30)
	op.MaxBodyBytes++
}

// problemResponse describes what errors look like.
func problemResponse(a *api) *huma.Response {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	return &huma.Response{
		Description: "Error",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}
}

// firstStep is the first step of a path.
func firstStep(path string) string {
	step, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return step
}

// ours is the middleware that keeps huma's own manners from clients.
func ours(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if limit := ctx.Operation().MaxBodyBytes - 1; r.ContentLength > limit {
		writeProblem(w, tooLarge(limit))
		return
	} else if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, limit+1)
	}
	next(&answer{call: ctx})
}

func tooLarge(limit int64) *Problem {
	return &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "the body is larger than " + strconv.FormatInt(limit, 10) + " bytes"}
}

// call names huma's context, whose own name is one of its methods, too.
type call huma.Context

// answer is huma's context of one request with our status and content type
// for the errors that huma makes itself.
type answer struct {
	call
	status int // instead of huma's, unless 0
}

// Unwrap lets humago find the request.
func (c *answer) Unwrap() huma.Context { return c.call }

// SetStatus implements huma.Context.
func (c *answer) SetStatus(code int) {
	if c.status != 0 {
		code = c.status
	}
	c.call.SetStatus(code)
}

// SetHeader implements huma.Context.
func (c *answer) SetHeader(name, value string) {
	if name == "Content-Type" && (value == "json" || strings.HasSuffix(value, "+json")) {
		value = "application/json"
	}
	c.call.SetHeader(name, value)
}

// GetMultipartForm implements huma.Context. Files stay in memory: the body's
// limit is the limit, and nothing of a stranger's is put on the disk.
func (c *answer) GetMultipartForm() (*multipart.Form, error) {
	r, _ := humago.Unwrap(c.call)
	err := r.ParseMultipartForm(c.Operation().MaxBodyBytes)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		c.status = http.StatusRequestEntityTooLarge
	}
	return r.MultipartForm, err
}
