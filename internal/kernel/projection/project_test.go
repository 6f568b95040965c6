package projection_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/projection"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// Each archive holds pairs NAME/lines and NAME/view. A lines file is one or
// more lines "seat ID key=value …" and the history, one line each:
//
//	KIND WHO key=value … : TEXT
//
// WHO is an identifier, "~name" for a human with "+" for blanks, or "-" for
// nobody. TEXT that starts with a quotation mark is a Go string.
func TestProject(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range files {
		ar, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(ar.Files); i += 2 {
			in, want := ar.Files[i], &ar.Files[i+1]
			name, _, _ := strings.Cut(in.Name, "/")
			t.Run(filepath.Base(path)+"/"+name, func(t *testing.T) {
				if in.Name != name+"/lines" || want.Name != name+"/view" {
					t.Fatalf("%s is followed by %s", in.Name, want.Name)
				}
				seats, lines := parse(t, string(in.Data))
				var got strings.Builder
				for _, s := range seats {
					if len(seats) > 1 {
						fmt.Fprintf(&got, "= %s\n", s.Speaker)
					}
					got.WriteString(format(projection.Project(lines, s)))
				}
				if *update {
					want.Data = []byte(got.String())
				}
				if diff := cmp.Diff(string(want.Data), got.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func parse(t *testing.T, in string) (seats []projection.Seat, lines []projection.Line) {
	t.Helper()
	for row := range strings.Lines(in) {
		head, text, _ := strings.Cut(strings.TrimSuffix(row, "\n"), ": ")
		head = strings.TrimSuffix(head, ":")
		words := strings.Fields(head)
		fields := map[string]string{}
		for _, w := range words[2:] {
			k, v, _ := strings.Cut(w, "=")
			fields[k] = v
		}
		if words[0] == "seat" {
			seats = append(seats, projection.Seat{Speaker: words[1], Provider: fields["on"], Answering: fields["answering"],
				Known: strings.FieldsFunc(fields["known"], func(r rune) bool { return r == ',' })})
			continue
		}
		if strings.HasPrefix(text, `"`) {
			var err error
			if text, err = strconv.Unquote(text); err != nil {
				t.Fatalf("%s: %v", row, err)
			}
		}
		lines = append(lines, line(words, fields, text))
	}
	return seats, lines
}

func line(words []string, fields map[string]string, text string) projection.Line {
	l := projection.Line{Kind: projection.Kind(words[0]), Text: text, ID: fields["id"], Answers: fields["re"],
		Provider: fields["on"], Incomplete: has(fields, "partial"), IsError: has(fields, "error")}
	if name, ok := strings.CutPrefix(words[1], "~"); ok {
		l.Human, l.Speaker = true, strings.ReplaceAll(name, "+", " ")
	} else if words[1] != "-" {
		l.Speaker = words[1]
	}
	if v, ok := fields["only"]; ok {
		l.Only = strings.Split(v, ",")
	}
	if v, ok := fields["replay"]; ok {
		l.Replay = map[string]any{"signature": v}
	}
	if v, ok := fields["image"]; ok {
		l.Images = []llm.Image{{MediaType: "image/png", Source: v}}
	}
	if v, ok := fields["call"]; ok {
		l.Call.ID, l.Call.Name, _ = strings.Cut(v, "/")
		if l.Kind == projection.ToolCall && text != "" {
			l.Call.Arguments, l.Text = json.RawMessage(text), ""
		}
	}
	return l
}

func has(m map[string]string, key string) bool { _, ok := m[key]; return ok }

func format(v projection.View) string {
	var b strings.Builder
	if v.Labels != nil {
		fmt.Fprintf(&b, "labels %q own %q\n", v.Labels, v.Own)
	}
	for _, m := range v.Messages {
		fmt.Fprintf(&b, "%s", m.Role)
		if m.Role == llm.RoleTool {
			fmt.Fprintf(&b, " %s/%s", m.ToolCall, m.ToolName)
		}
		if m.IsError {
			b.WriteString(" error")
		}
		fmt.Fprintf(&b, ": %q\n", m.Text)
		if m.Reasoning != "" || m.Replay != nil {
			fmt.Fprintf(&b, "  reasoning %q %v\n", m.Reasoning, m.Replay)
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "  call %s/%s %s\n", c.ID, c.Name, c.Arguments)
		}
		for _, i := range m.Images {
			fmt.Fprintf(&b, "  image %s\n", i.Source)
		}
	}
	return b.String()
}

func TestProjectSharesNothingItChanges(t *testing.T) {
	replay := map[string]any{"signature": "s"}
	lines := []projection.Line{
		{Kind: projection.Request, Human: true, Speaker: "a", Text: "[dev]: x"},
		{Kind: projection.Reasoning, Speaker: "dev", Text: "r", Replay: replay},
		{Kind: projection.Text, Speaker: "dev", Text: "[dev]: y"},
		{Kind: projection.Request, Human: true, Speaker: "b", Text: "z"},
	}
	before := slices.Clone(lines)
	v := projection.Project(lines, projection.Seat{Speaker: "dev"})
	v.Messages[1].Replay["signature"] = "other"
	if diff := cmp.Diff(before, lines); diff != "" || replay["signature"] != "s" {
		t.Errorf("lines changed: %s", diff)
	}
}
