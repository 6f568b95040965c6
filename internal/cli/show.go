package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

func (a *app) showCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use: "show [TARGET]", Aliases: []string{"s"}, Short: "Say what a conversation is and who is in it",
		Long: targets, Args: between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			ws, c, err := a.reading(args)
			if err != nil {
				return err
			}
			s := a.summary(ws, c)
			if a.json() {
				return a.printJSON(s)
			}
			return s.draw(a, full)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "configuration changes in full")
	return cmd
}

// summary is what `jp c show` says.
type summary struct {
	Title        string            `json:"title,omitempty"`
	ID           string            `json:"id"`
	Events       int               `json:"events"`
	Turns        int               `json:"turns"`
	Participants []participant     `json:"participants"`
	Captured     []participant     `json:"captured"`
	Attachments  []string          `json:"attachments,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	LastEvent    time.Time         `json:"last_event,omitzero"`
	Activated    time.Time         `json:"last_activated,omitzero"`
	Active       bool              `json:"active"`
	Local        bool              `json:"local"`
	Archived     bool              `json:"archived,omitempty"`
	Path         string            `json:"path"`
	Waiting      []string          `json:"waiting,omitempty"`
	Broken       string            `json:"broken,omitempty"`
	Problems     []string          `json:"problems,omitempty"`

	deltas []change
}

type participant struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Label   string `json:"label"`
	Model   string `json:"model,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// change is a configuration change in the log.
type change struct {
	at    time.Time
	delta config.Tree
}

func (a *app) summary(ws *workspace.Workspace, c *workspace.Conversation) *summary {
	active, _ := ws.Active()
	s := &summary{
		Title: c.Meta.Title, ID: c.ID.String(), Labels: c.Meta.Labels, Activated: c.Meta.LastActivatedAt,
		Active: c.ID == active, Local: c.Local, Archived: c.Archived, Path: c.Dir,
		Participants: []participant{}, Captured: []participant{},
	}
	if c.Broken != nil {
		s.Broken = c.Broken.Error()
	}
	if c.Stream == nil {
		return s
	}
	s.read(c.Stream)
	return s
}

func (s *summary) read(stream *conversation.Stream) {
	tree := stream.Config()
	roster := config.Roster(tree)
	for _, name := range roster {
		s.Participants = append(s.Participants, participantOf(tree, name))
	}
	for _, name := range config.Captured(tree) {
		if !slices.Contains(roster, name) {
			s.Captured = append(s.Captured, participantOf(tree, name))
		}
	}
	for _, at := range config.Attachments(tree) {
		text := at.URL
		if text == "" {
			text = at.Type + ":" + at.Path
		}
		s.Attachments = append(s.Attachments, text)
	}
	s.Events, s.Turns = stream.Len(), len(stream.Turns())
	if n := stream.Len(); n > 0 {
		s.LastEvent = stream.At(n - 1).Time
	}
	if reqs := stream.Requests(); len(reqs) > 0 {
		s.Waiting = stream.Waiting(stream.At(reqs[len(reqs)-1]).ID)
	}
	for i := range stream.Len() {
		if stream.At(i).Kind != conversation.ConfigDelta {
			continue
		}
		if ev, err := stream.Event(i); err == nil {
			s.deltas = append(s.deltas, change{ev.Time, ev.Delta})
		}
	}
	for _, err := range stream.Check() {
		s.Problems = append(s.Problems, err.Error())
	}
	if err := config.CheckRoster(tree); err != nil {
		s.Problems = append(s.Problems, err.Error())
	}
}

func participantOf(tree config.Tree, name string) participant {
	as, err := config.ParticipantConfig(tree, name)
	if err != nil {
		return participant{ID: name, Label: name, Problem: err.Error()}
	}
	return participant{ID: name, Name: as.Name, Label: label(as), Model: as.Model.String()}
}

func (m participant) String() string {
	switch {
	case m.Problem != "":
		return m.Label + ": " + m.Problem
	case m.Model == "":
		return m.Label + ", no model"
	}
	return m.Label + ", " + m.Model
}

func (s *summary) draw(a *app, full bool) error {
	d := term.Details{Title: s.Title}
	add := func(label string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			d.Rows = append(d.Rows, term.Detail{Label: label, Values: values})
		}
	}
	members := func(list []participant) (texts []string) {
		for _, m := range list {
			texts = append(texts, m.String())
		}
		return texts
	}
	add("ID", s.ID)
	if s.Broken != "" {
		add("Broken", s.Broken)
	} else {
		add("Participants", append(members(s.Participants), nobody(s.Participants)...)...)
		add("Captured", members(s.Captured)...)
		add("Events", strconv.Itoa(s.Events))
		add("Turns", strconv.Itoa(s.Turns))
		add("Still to answer", strings.Join(s.Waiting, ", "))
		add("Latest event", a.when(s.LastEvent))
	}
	if s.Active {
		add("Last activated", "currently active")
	} else {
		add("Last activated", a.when(s.Activated))
	}
	add("Local", map[bool]string{true: "yes", false: "no"}[s.Local])
	for _, key := range sortedKeys(s.Labels) {
		add("Label "+key, s.Labels[key])
	}
	add("Attachments", s.Attachments...)
	problems := s.Problems
	if more := len(problems) - mostProblems; more > 0 && !full {
		problems = append(problems[:mostProblems:mostProblems], fmt.Sprintf("and %d more (--full shows them)", more))
	}
	add("Problems", problems...)
	for _, ch := range s.deltas {
		text := fold(ch.delta)
		if full {
			text = strings.TrimSpace(string(config.Effective(ch.delta)))
		}
		add("Changed "+clock(ch.at), strings.Split(text, "\n")...)
	}
	add("Path", s.Path)
	return d.Draw(a.out())
}

func nobody(list []participant) []string {
	if len(list) == 0 {
		return []string{"nobody"}
	}
	return nil
}

func (a *app) when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s)", term.Age(t, a.Now()), clock(t))
}

// clock is a time as people write it.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// mostProblems bounds how many of a conversation's problems are shown.
const mostProblems = 10

// foldAt is the size up to which a configuration change is shown whole.
const foldAt = 120

// fold shows a configuration change in a line: whole when it is small,
// otherwise what it touches.
func fold(delta config.Tree) string {
	text := strings.Join(settings(nil, delta), ", ")
	if len(text) <= foldAt {
		return text
	}
	var keys []string
	for _, top := range sortedKeys(delta) {
		sub, ok := delta[top].(config.Tree)
		if !ok {
			keys = append(keys, top)
			continue
		}
		for _, key := range sortedKeys(sub) {
			keys = append(keys, config.JoinKey([]string{top, key}))
		}
	}
	return fmt.Sprintf("%s (%d bytes, --full shows it)", strings.Join(keys, ", "), len(text))
}

// settings lists the values below a key as assignments.
func settings(key []string, value any) (list []string) {
	if tree, ok := value.(config.Tree); ok && len(tree) > 0 {
		for _, k := range sortedKeys(tree) {
			list = append(list, settings(append(slices.Clone(key), k), tree[k])...)
		}
		return list
	}
	return []string{config.JoinKey(key) + " = " + literal(value, "")}
}
