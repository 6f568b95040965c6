package config

import (
	"encoding/json"
	"testing"

	"jp/internal/lib/fault"
)

// FuzzMerge merges and tells apart whatever a stored file may hold: nothing
// panics, inputs stay, and the difference leads from one to the other.
func FuzzMerge(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"assistant":{"name":"a"}}`, `{"assistant":{"name":null,"instructions":{"value":[{"title":"x"}],"dedup":true}}}`},
		{`{"assistant":7}`, `{"assistant":{"system_prompt":{"value":"x","strategy":"append"}}}`},
		{`{"conversation":{"labels":{"value":{"a":"b"},"strategy":"keep"}}}`, `{"conversation":{"labels":{"value":"x"}}}`},
		{`{"template":{"values":{"a":{"value":1,"strategy":"replace"}}}}`, `{"template":{"values":{"a":{"value":[1],"strategy":"prepend"}}}}`},
		{`{"conversation":{"tools":{"*":{"run":"ask"}}}}`, `{"assistants":{"assistant":{},"dev":{"tools":{"a":{"enable":{"state":true}}}}}}`},
		{`{"providers":{"llm":{"aliases":{"a":"b","b":"a"}}}}`, `{"assistant":{"model":{"id":"a"}}}`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var ma, mb map[string]any
		if json.Unmarshal(a, &ma) != nil || json.Unmarshal(b, &mb) != nil || ma == nil || mb == nil {
			return
		}
		lower, upper := Stored(ma), Stored(mb)
		before := canonJSON([]any{lower, upper})
		both := Merge(lower, upper)
		if Diff(both, both) != nil {
			t.Errorf("a tree differs from itself by %s", canonJSON(Diff(both, both)))
		}
		from, to := merged(lower), merged(lower, upper)
		if got := merged(from, Diff(from, to)); !equal(clean(got), clean(to)) {
			t.Errorf("Merge(from, Diff(from, to)) is %s, not %s", canonJSON(got), canonJSON(to))
		}
		Overlay(lower, upper)
		if final, err := Finalize(both); err == nil {
			Snapshot(final)
			Effective(final)
			Style(final)
			Editor(final)
			Attachments(final)
			for _, name := range append(Roster(final), Captured(final)...) {
				if c, err := ParticipantConfig(final, name); err == nil {
					c.SystemParts(true)
				}
			}
		} else if fault.CodeOf(err) != fault.Config {
			t.Errorf("Finalize: %v", err)
		}
		if after := canonJSON([]any{lower, upper}); after != before {
			t.Errorf("an input changed from %s to %s", before, after)
		}
	})
}

// FuzzParseAssignment applies whatever somebody may type: errors carry a code,
// and what is accepted leaves a tree that the schema accepts.
func FuzzParseAssignment(f *testing.F) {
	for _, s := range []string{
		"dev", "@config/dev.toml", "@dev:model.id=gpt", `@dev:{"name":"x"}`, `{"user":{"name":"x"}}`, "assistant.name=x",
		`providers.llm.aliases."gpt-4.1"=openai/x`, "assistant.instructions.0.items+=x", "assistant.tools:={}",
		"assistant.system_prompt+=x", "conversation.labels.a:=null", "conversation.tools.t.enable=on", `a."b=c`, "=:+=",
		"assistant.model.id.name=x", "conversation.participants.0=dev", "assistant.model.parameters.x.y:+=[1]", "inherit=false", "extends=x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAssignment(s)
		if err == nil && a.Path == "" {
			base := Tree{
				Reserved:       Tree{"instructions": []any{Tree{"title": "a"}}, "model": Tree{"id": "ollama/x"}, "tools": Tree{"t": Tree{}}},
				"conversation": Tree{"participants": []any{"dev"}, "labels": Tree{"a": "b"}},
			}
			before := canonJSON(base)
			var after Tree
			if after, err = a.Apply(base); err == nil {
				if bad := (Layer{Tree: after}).check(); bad != nil {
					t.Errorf("it leaves what is refused: %v", bad)
				}
			}
			if canonJSON(base) != before {
				t.Error("the tree changed")
			}
		}
		if code := fault.CodeOf(err); err != nil && code != fault.Usage && code != fault.Config {
			t.Errorf("%s: %v", code, err)
		}
	})
}
