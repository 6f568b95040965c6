package pipeline

import (
	"encoding/json"
	"slices"
	"strings"

	"jp/internal/kernel/llm"
	"jp/internal/lib/literal"
)

// Ship returns a request for prose: the lane's tools are sent along where all
// its calls send them, and none may be called. A lane that nothing is forced on
// has no tools.
func Ship(lane Lane, tools []llm.Tool, req llm.Request) llm.Request {
	req.Tools, req.ToolChoice, req.Schema = nil, llm.ToolChoice{}, nil
	if lane.Forcing == ByTool && len(tools) > 0 {
		req.Tools, req.ToolChoice = tools, llm.ToolChoice{Mode: llm.ToolNone}
	}
	return req
}

// Force returns a request for the arguments of one tool. Nothing before the
// trailing message changes; how the answer is to look belongs into that message,
// see Demand.
func Force(lane Lane, tools []llm.Tool, req llm.Request, tool string) llm.Request {
	req = Ship(lane, tools, req)
	if lane.Forcing == BySchema {
		t, _ := toolNamed(tools, tool)
		req.Schema = t.Schema
		return req
	}
	req.ToolChoice = llm.ToolChoice{Mode: llm.ToolNamed, Name: tool}
	return req
}

// Demand is what a trailing message says about the answer that Force forces.
// Where no tools are sent, nothing else tells the model what the fields mean.
func Demand(lane Lane, tool llm.Tool) string {
	data := struct {
		ByTool bool
		Name   string
		Fields []parameter
	}{lane.Forcing == ByTool, tool.Name, parameters(tool)}
	return phrase("demand.txt", data)
}

// Answer finds the arguments of a tool in what a model answered: a call of the
// tool, one written out in <tool_call> tags, or a JSON object or list in the
// text, fenced or not. What is only thought is no answer, nor is a call of
// another tool or what breaks off. args is one JSON object.
func Answer(tool string, calls []llm.ToolCall, text string) (args json.RawMessage, ok bool) {
	for _, c := range calls {
		if c.Name != "" && !sameTool(c.Name, tool) {
			continue
		}
		v, read := readLoose(string(c.Arguments))
		if !read {
			continue
		}
		if args, ok := argumentsIn(v, tool); ok {
			return args, true
		}
	}
	return answerIn(text, tool)
}

// answerIn finds arguments in a text. A call that says which tool it is of goes
// before a bare object, and the last such object is the one that is meant.
func answerIn(text, tool string) (json.RawMessage, bool) {
	found, cut := objectsIn(text)
	for _, tagged := range []bool{true, false} {
		for _, f := range found {
			if f.tagged == tagged && (tagged || isCall(f.value)) {
				if args, ok := argumentsIn(f.value, tool); ok {
					return args, true
				}
			}
		}
	}
	if cut {
		return nil, false
	}
	if v, ok := listIn(text); ok {
		if args, ok := argumentsIn(v, tool); ok {
			return args, true
		}
	}
	for _, f := range slices.Backward(found) {
		if args, ok := argumentsIn(f.value, tool); ok {
			return args, true
		}
	}
	return nil, false
}

// chief returns the field that an answer of a tool cannot do without, empty
// for a tool that has none. A list in place of the whole answer is that field.
func chief(tool string) string {
	switch tool {
	case applyPatch:
		return "patches"
	case rewrite:
		return "rewritten_text"
	case findReplace:
		return "edits"
	case updateSheet:
		return "changed"
	}
	return ""
}

// Names that models give to the parts of a call.
func callNames() []string {
	return []string{"name", "tool", "tool_name", "function", "function_name", "recipient_name"}
}
func callArguments() []string {
	return []string{"arguments", "args", "parameters", "params", "input", "tool_input"}
}

// isCall tells whether v says which tool it calls.
func isCall(v any) bool {
	_, _, ok := callIn(v)
	return ok
}

// callIn takes {"name": …, "arguments": …} apart, also one that lies in
// {"function": …}.
func callIn(v any) (name string, args any, ok bool) {
	o, _ := v.(looseObject)
	if inner, has := o.first("function"); has {
		if _, is := inner.(looseObject); is {
			return callIn(inner)
		}
	}
	args, has := o.first(callArguments()...)
	if !has {
		return "", nil, false
	}
	for _, key := range callNames() {
		if named, _ := o.first(key); named != nil {
			if name, ok = named.(string); ok {
				return name, args, true
			}
		}
	}
	return "", nil, false
}

// argumentsIn returns the arguments of a tool that a value holds, whatever it
// is wrapped in.
func argumentsIn(v any, tool string) (json.RawMessage, bool) {
	for range mostWrapping + 1 {
		inner, wrapped, ok := unwrap(v, tool)
		if !ok {
			return nil, false
		}
		if !wrapped {
			o, is := inner.(looseObject)
			if _, has := o.first(chief(tool)); !is || chief(tool) != "" && !has {
				return nil, false
			}
			return literal.Must(o), true
		}
		v = inner
	}
	return nil, false
}

// unwrap takes one wrapping off: a string that holds JSON, a list of calls, a
// call, the tool's name as the one field. It is not ok for a call of another
// tool and for what can be no arguments.
func unwrap(v any, tool string) (inner any, wrapped, ok bool) {
	switch v := v.(type) {
	case string:
		inner, ok := listIn(v)
		return inner, true, ok
	case []any:
		return unwrapList(v, tool)
	case looseObject:
		if name, args, is := callIn(v); is {
			return args, true, sameTool(name, tool)
		}
		if calls, has := v.first("tool_calls"); has {
			return calls, true, true
		}
		if len(v) == 1 && (sameTool(v[0].name, tool) || slices.Contains(callArguments()[:3], v[0].name)) {
			switch v[0].value.(type) {
			case looseObject, string:
				return v[0].value, true, true
			}
		}
		return v, false, true
	}
	return nil, false, false
}

// unwrapList takes the tool's call out of a list of calls; any other list is
// the chief field, or a plan.
func unwrapList(list []any, tool string) (inner any, wrapped, ok bool) {
	calls := false
	for _, e := range list {
		name, _, is := callIn(e)
		if calls = calls || is; is && sameTool(name, tool) {
			return e, true, true
		}
	}
	field := chief(tool)
	if tool == directScene {
		field = speakingPlan
	}
	if calls || field != "patches" && field != "edits" && field != speakingPlan {
		return nil, false, false
	}
	return looseObject{{field, list}}, false, true
}

// sameTool tells whether a model meant tool by name: "functions.direct_scene",
// "Direct-Scene".
func sameTool(name, tool string) bool {
	name = name[strings.LastIndexAny(name, ".:/")+1:]
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	return strings.EqualFold(plain.Replace(name), plain.Replace(tool))
}

// foundObject is an object in a text, tagged when it stands in <tool_call>.
type foundObject struct {
	value  any
	tagged bool
}

// mostTag is as long as a tag may be, in bytes.
const mostTag = 200

// tag reads the tag that s begins with: "think", "/tool_call", "function=x".
func tag(s string) (name string, length int) {
	head := s[:min(len(s), mostTag)]
	end := strings.IndexByte(head, '>')
	if !strings.HasPrefix(head, "<") || end < 0 {
		return "", 0
	}
	return head[1:end], end + 1
}

// isTag tells whether a tag, of either side, has one of names.
func isTag(tag string, names ...string) bool {
	tag = strings.TrimPrefix(tag, "/")
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(tag, n) })
}

func isThought(tag string) bool {
	return isTag(tag, "think", "thinking", "thought", "thoughts", "reasoning")
}

// objectsIn returns the JSON objects in a text that are not part of a thought,
// in order. cut tells that the text breaks off within one.
func objectsIn(text string) (found []foundObject, cut bool) {
	tagged := false
	r := looseReader{text: text}
	for at := 0; ; {
		next := strings.IndexAny(text[at:], "<{")
		if next < 0 {
			return found, false
		}
		if at += next; text[at] == '{' {
			r.at = at
			v, end := r.value(0)
			switch end {
			case complete:
				found = append(found, foundObject{v, tagged})
			case cutOff:
				return found, true
			}
			at = max(r.at, at+1)
			continue
		}
		name, length := tag(text[at:])
		switch {
		case isThought(name):
			end, opened := thought(text[at:])
			if !opened { // a template began the thought
				found, tagged = nil, false
			}
			at += end
		case isTag(name, "tool_call", "tool_calls", "function_call"):
			tagged = name[0] != '/'
			at += length
		case strings.HasPrefix(name, "function="):
			call, end := functionIn(text[at:])
			if call != nil {
				found = append(found, foundObject{call, true})
			}
			at += end
		default:
			at++
		}
	}
}

// thought is the length of the thought that s begins with, up to behind its
// last tag. opened is false for a closing tag alone. A thought that is not
// closed takes all that follows.
func thought(s string) (length int, opened bool) {
	name, length := tag(s)
	if name[0] == '/' {
		return length, false
	}
	closing := "</" + name + ">"
	for at := length; ; {
		i := strings.Index(s[at:], "</")
		if i < 0 {
			return len(s), true
		}
		at += i
		if len(s)-at >= len(closing) && strings.EqualFold(s[at:at+len(closing)], closing) {
			return at + len(closing), true
		}
		at += len("</")
	}
}

// functionIn reads <function=name><parameter=a>text</parameter>…</function>,
// which some models write out. It returns nil for one that holds JSON, and for
// one that breaks off.
func functionIn(s string) (call any, length int) {
	name, length := tag(s)
	args := looseObject{}
	rest := strings.TrimLeft(s[length:], " \t\r\n")
	if !strings.HasPrefix(rest, "<parameter=") {
		return nil, length
	}
	for {
		after, ok := strings.CutPrefix(rest, "<parameter=")
		if !ok {
			break
		}
		field, after, named := strings.Cut(after, ">")
		value, after, closed := strings.Cut(after, "</parameter>")
		if !named || !closed {
			return nil, len(s)
		}
		args = append(args, looseField{strings.TrimSpace(field), parameterValue(value)})
		rest = strings.TrimLeft(after, " \t\r\n")
	}
	if !strings.HasPrefix(rest, "</function>") {
		return nil, len(s)
	}
	return looseObject{{"name", strings.TrimPrefix(name, "function=")}, {"arguments", args}}, len(s) - len(rest)
}

// parameterValue is a list, an object or a constant if it is written as one.
func parameterValue(text string) any {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\n"), "\n")
	switch v, ok := readLoose(text); v.(type) {
	case string, json.Number:
	default:
		if ok {
			return v
		}
	}
	return text
}

// withoutThought is a text without what a model thought before its answer or
// within it.
func withoutThought(text string) string {
	var b strings.Builder
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			b.WriteString(text[at:])
			return b.String()
		}
		b.WriteString(text[at : at+next])
		at += next
		if name, _ := tag(text[at:]); !isThought(name) {
			b.WriteByte('<')
			at++
			continue
		}
		end, opened := thought(text[at:])
		if !opened {
			b.Reset()
		}
		at += end
	}
}

// unfenced is what stands in the fence that text consists of, or text.
func unfenced(text string) string {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "```")
	if !ok {
		return text
	}
	inner, ok = strings.CutSuffix(inner, "```")
	_, body, lines := strings.Cut(inner, "\n")
	if !ok || !lines {
		return text
	}
	return body
}
