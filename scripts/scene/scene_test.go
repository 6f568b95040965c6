package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func requestOf(texts ...string) *sent {
	s := &sent{request: &request{status: http.StatusOK}, model: "m"}
	roles := []string{"tools", "system", "user", "assistant"}
	for i, text := range texts {
		role := roles[min(i, 2+i%2)]
		s.parts = append(s.parts, part{role, text})
	}
	return s
}

func TestMeter(t *testing.T) {
	for _, c := range []struct {
		name                         string
		first, second                []string
		reusable, oneSlot, again, at int
		elsewhere                    int
		different                    bool
	}{
		{"the same", []string{"tt", "ss", "hi"}, []string{"tt", "ss", "hi"}, 6, 6, 0, 3, 0, false},
		{"another last message", []string{"tt", "ss", "hi", "yes", "abc"}, []string{"tt", "ss", "hi", "yes", "abd"}, 11, 11, 0, 4, 0, false},
		{"one that goes on", []string{"tt", "ss", "hi"}, []string{"tt", "ss", "hi", "yes", "and"}, 6, 6, 0, 3, 0, false},
		{"an old message changed", []string{"tt", "ss", "hi", "yes", "old", "no", "last"}, []string{"tt", "ss", "ho", "yes", "old", "no", "last"}, 5, 5, 8, 2, 0, true},
		{"another system message", []string{"tt", "ss", "hi", "yes", "x"}, []string{"tt", "sx", "hi", "yes", "x"}, 3, 3, 0, 1, 5, true},
		{"other tools", []string{"tt", "ss", "x"}, []string{"uu", "ss", "x"}, 0, 0, 0, 0, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMeter()
			if r := m.measure(requestOf(c.first...)); r.reusable != 0 || r.different {
				t.Fatalf("the first request reuses %d, different %t", r.reusable, r.different)
			}
			r := m.measure(requestOf(c.second...))
			if r.reusable != c.reusable || r.oneSlot != c.oneSlot || r.again != c.again || r.elsewhere != c.elsewhere || r.at != c.at || r.different != c.different {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// One slot holds the request before; a cache of all finds an older one.
func TestMeterBefore(t *testing.T) {
	m := newMeter()
	m.measure(requestOf("t", "aaaa", "x"))
	m.measure(requestOf("t", "bbbb", "x"))
	if r := m.measure(requestOf("t", "aaaa", "y")); r.reusable != 5 || r.oneSlot != 1 {
		t.Errorf("reusable %d, with one slot %d", r.reusable, r.oneSlot)
	}
}

func TestPass(t *testing.T) {
	for body, want := range map[string]string{
		`{"tool_choice":"none"}`: "writer",
		`{}`:                     "writer",
		`{"tool_choice":{"type":"function","function":{"name":"direct_scene"}}}`:                              "director",
		`{"response_format":{"json_schema":{"schema":{"properties":{"moods":{"type":"array"}}}}}}`:            "director",
		`{"response_format":{"json_schema":{"schema":{"properties":{"patches":{}}}}}}`:                        "editor",
		`{"response_format":{"json_schema":{"schema":{"properties":{"changed":{},"sheet":{}}}}}}`:             "sheet",
		`{"response_format":{"json_schema":{"schema":{"properties":{"pace":{"type":["string","null"]}}}}}}`:   "feedback",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"## You are writing as Ada\n\nHi"}]}]}`: "writer",
	} {
		s, err := readRequest(&request{body: []byte(body)})
		if err != nil || s.pass != want {
			t.Errorf("%s: %s, %v", body, s.pass, err)
		}
	}
}

func TestHear(t *testing.T) {
	for _, c := range []struct {
		chunk           string
		in, out, cached int
		kept            bool
	}{
		{`{"usage":{"prompt_tokens":9,"completion_tokens":2}}`, 9, 2, 0, false},
		{`{"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":0}}}`, 9, 2, 0, true},
		{`{"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`, 9, 2, 4, true},
		{`{"timings":{"cache_n":7,"prompt_n":3,"predicted_n":5}}`, 10, 5, 7, true},
		{`[DONE]`, 0, 0, 0, false},
	} {
		var r request
		r.hear([]byte(c.chunk))
		if r.in != c.in || r.out != c.out || r.cached != c.cached || r.kept != c.kept {
			t.Errorf("%s: %+v", c.chunk, r)
		}
	}
}

func TestOutcome(t *testing.T) {
	const stream = "event: speaking_plan\ndata: {\"plan\":[{},{}]}\n\n: keepalive\n\nevent: token\ndata: no JSON\n\n" +
		"id: 4\nevent: speaker_done\ndata: {\"content\":\"x\"}\n\nevent: warning\ndata: {\"headline\":\"h\",\"status\":500}\n\nevent: done\ndata: {\"status\":\"completed\"}\n\n"
	var o outcome
	if err := events(strings.NewReader(stream), o.take); err != nil {
		t.Fatal(err)
	}
	if o.speakers != 2 || o.replies != 1 || o.status != "completed" || len(o.warnings) != 1 || o.failed != "" {
		t.Errorf("got %+v", o)
	}
}

// The stand-in fills what the schema of a forced tool asks for.
func TestFill(t *testing.T) {
	var body asked
	err := json.Unmarshal([]byte(`{
		"tools": [{"function": {"name": "direct_scene", "parameters": {"properties": {"speaking_plan": {}, "weather": {}}}}}],
		"tool_choice": {"function": {"name": "direct_scene"}},
		"messages": [{"content": "Speakers to choose from: ada, bob (Bob B.). Choose whom"}]}`), &body)
	if err != nil {
		t.Fatal(err)
	}
	tool, s := body.forced()
	a := newAnswer(nil, body, 3)
	got := a.fill(s)
	plan, _ := got["speaking_plan"].([]string)
	if tool != "direct_scene" || got["weather"] == "" || len(plan) == 0 {
		t.Errorf("%s: %v", tool, got)
	}
	for _, line := range plan {
		if key, _, _ := strings.Cut(line, " "); key != "ada" && key != "bob" {
			t.Errorf("%q is planned", line)
		}
	}
}
