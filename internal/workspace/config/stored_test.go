package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fixtures is the folder of conversations that the existing tool stored.
func fixtures(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared", "fixtures", "conversations")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no fixtures beside the repository")
	}
	return dir
}

func readJSON(t *testing.T, path string, v any) bool {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

// configs are a conversation's stored base and deltas.
func configs(t *testing.T, dir string) (base map[string]any, deltas []map[string]any) {
	var events []map[string]any
	readJSON(t, filepath.Join(dir, "events.json"), &events)
	split := readJSON(t, filepath.Join(dir, "base_config.json"), &base)
	for i, e := range events {
		if e["type"] != "config_delta" {
			continue
		}
		delta, ok := e["delta"].(map[string]any)
		if !ok { // the oldest files have the keys beside type and timestamp
			delta = maps.Clone(e)
			delete(delta, "type")
			delete(delta, "timestamp")
		}
		if i == 0 && !split {
			base = delta
		} else {
			deltas = append(deltas, delta)
		}
	}
	return base, deltas
}

func TestStoredGenerations(t *testing.T) {
	type read struct {
		Model    string
		Name     string
		Sections int
		Rules    int
		Tools    int
		Deltas   int
	}
	want := map[string]read{
		"17648402467": {Model: "google/gemini-2.5-pro", Rules: 3, Tools: 26},
		"17673969718": {Model: "google/gemini-3-flash-preview", Rules: 3, Tools: 30},
		"17727484633": {Model: "anthropic/claude-opus-4-6", Name: "Software Developer", Sections: 27, Rules: 5, Tools: 35},
		"17758406187": {Model: "anthropic/claude-opus-4-6", Name: "Software Developer", Sections: 34, Rules: 5, Tools: 49},
		"17800836875": {Model: "anthropic/claude-opus-4-8", Name: "Software Architect", Sections: 105, Rules: 23, Tools: 58, Deltas: 2},
	}
	dir := fixtures(t)
	for id, want := range want {
		t.Run(id, func(t *testing.T) {
			paths, _ := filepath.Glob(filepath.Join(dir, id+"*"))
			base, deltas := configs(t, paths[0])
			stream := Stored(base)
			for _, d := range deltas {
				stream = Merge(stream, Stored(d))
			}
			a, err := ParticipantConfig(stream, Roster(stream)[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Ready(); err != nil {
				t.Error(err)
			}
			sub, _ := AssistantTree(stream, a.ID)
			got := read{a.Model.String(), a.Name, len(a.Sections), len(a.Instructions), len(table(sub, "tools")), len(deltas)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkResume(t, stream)
		})
	}
}

// checkResume holds what every stored stream must allow: a resume without a
// difference has no delta, and what is used knows everything that was stored.
func checkResume(t *testing.T, stream Tree) {
	t.Helper()
	if d := Diff(stream, Overlay(Tree{}, stream)); d != nil {
		t.Errorf("a resume without changes stores %s", canonJSON(d))
	}
	f, err := Finalize(stream)
	if err != nil {
		t.Fatal(err)
	}
	if text(f, Reserved, "system_prompt") == "" || at(f, "conversation", "tools") != nil {
		t.Errorf("finalized: %s", canonJSON(f))
	}
	again, err := Finalize(Stored(Snapshot(f)))
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(WithRoster(f, Roster(f)), again); d != nil {
		t.Errorf("a fork's snapshot differs by %s", canonJSON(d))
	}
}

// One small case of every generation that must always be there.
func TestStoredSmall(t *testing.T) {
	cases := map[string]struct{ stored, want string }{
		"aliases and plain lists": {
			`{"assistant":{"system_prompt":"p","instructions":[{"title":"a"}],"model":{"id":"google"}},"providers":{"llm":{"aliases":{"google":"google/gemini"}}},
			  "conversation":{"tools":{"*":{"run":"ask"},"t":{"enable":true}}}}`,
			`{"assistant":{"system_prompt":"p","instructions":[{"title":"a"}],"model":{"id":"google"},"tools":{"*":{"run":"ask"},"t":{"enable":true}}},"providers":{"llm":{"aliases":{"google":"google/gemini"}}}}`,
		},
		"our stub is ignored": {
			`{"assistant":{"tools":{"t":{"run":"skip"}}},"conversation":{"tools":{"*":{"run":"ask"}},"participants":["dev"]}}`,
			`{"assistant":{"tools":{"t":{"run":"skip"}}},"conversation":{"participants":["dev"]}}`,
		},
		"a tool that another reader added is kept": {
			`{"assistant":{"tools":{"t":{"run":"skip"}}},"conversation":{"tools":{"*":{"run":"ask"},"t":{"run":"ask"},"u":{"enable":false}}}}`,
			`{"assistant":{"tools":{"t":{"run":"skip"},"u":{"enable":false}}}}`,
		},
		"empty tools of ours": {
			`{"assistant":{"tools":{}},"conversation":{"tools":{"*":{"run":"ask"}}}}`,
			`{"assistant":{"tools":{}}}`,
		},
		"unknown keys and wrong types stay": {
			`{"future":{"a":[1,2.5,null]},"assistant":7,"conversation":{"tools":"none"}}`,
			`{"future":{"a":[1,2.5,null]},"assistant":7,"conversation":{"tools":"none"}}`,
		},
		"nothing": {`{}`, `{}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var in, want map[string]any
			if err := json.Unmarshal([]byte(c.stored), &in); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			got := Stored(in)
			if diff := cmp.Diff(normalise(want), any(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := Finalize(got); err != nil {
				t.Error(err)
			}
			for _, n := range append(Roster(got), Captured(got)...) {
				if _, err := ParticipantConfig(got, n); err != nil && n == Reserved {
					t.Error(err)
				}
			}
		})
	}
}

func TestReservedCaptureIsKeptIgnoredAndRefused(t *testing.T) {
	stored := Stored(map[string]any{
		"assistants":   map[string]any{Reserved: map[string]any{"name": "X"}, "dev": map[string]any{}},
		"conversation": map[string]any{"participants": []any{Reserved, "dev", "dev"}},
	})
	if at(stored, "assistants", Reserved) == nil {
		t.Error("it was dropped")
	}
	if got := Captured(stored); !slices.Equal(got, []string{"dev"}) {
		t.Errorf("captured: %q", got)
	}
	if got := Roster(stored); !slices.Equal(got, []string{Reserved, "dev"}) {
		t.Errorf("roster: %q", got)
	}
	if a, err := ParticipantConfig(stored, Reserved); err != nil || a.Name != "" {
		t.Errorf("%q answers as %q: %v", Reserved, a.Name, err)
	}
	if CheckRoster(stored) == nil {
		t.Error("a query would run")
	}
}
