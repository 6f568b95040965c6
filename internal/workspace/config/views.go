package config

import (
	"strings"
	"time"
)

// text, whole, boolean and the like read one value; a wrong type reads as zero.

func text(t Tree, path ...string) string {
	s, _ := at(t, path...).(string)
	return s
}

func whole(t Tree, path ...string) int {
	switch n := at(t, path...).(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

func boolean(t Tree, path ...string) bool {
	b, _ := at(t, path...).(bool)
	return b
}

func float(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func texts(t Tree, path ...string) []string {
	list, _ := unwrap(at(t, path...)).value.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func tables(t Tree, path ...string) []Tree {
	list, _ := unwrap(at(t, path...)).value.([]any)
	var out []Tree
	for _, e := range list {
		if m, ok := e.(Tree); ok {
			out = append(out, m)
		}
	}
	return out
}

// ProviderConfig says how to reach a provider. Keys themselves are never in a
// configuration, only the name of the variable that holds one.
type ProviderConfig struct {
	ID          string
	BaseURL     string
	BaseURLEnv  string // variable that replaces BaseURL when it is set
	KeyEnv      string // variable that holds the key; empty: no key
	AppName     string
	AppReferrer string
}

// Provider reads a provider's settings, with the built-in ones in the gaps.
func Provider(t Tree, id string) ProviderConfig {
	shape := schema().shape.fields["providers"].shape.fields["llm"]
	p := table(fill(shape, defaultsOf(shape), table(t, "providers", "llm")), id)
	return ProviderConfig{
		ID:          id,
		BaseURL:     text(p, "base_url"),
		BaseURLEnv:  text(p, "base_url_env"),
		KeyEnv:      text(p, "api_key_env"),
		AppName:     text(p, "app_name"),
		AppReferrer: text(p, "app_referrer"),
	}
}

// UserName is user.name, or empty.
func UserName(t Tree) string { return text(t, "user", "name") }

// Command is a program with arguments. With Shell, Program is a shell line.
type Command struct {
	Program string
	Args    []string
	Shell   bool
}

// ParseCommand reads a command as configurations write it: a line that is
// split as a shell would (quotes and backslashes, nothing else), or
// {program, args, shell}. It is false for anything else and for no program.
func ParseCommand(v any) (Command, bool) {
	switch v := v.(type) {
	case string:
		words := splitWords(v)
		if len(words) == 0 {
			return Command{}, false
		}
		return Command{Program: words[0], Args: words[1:]}, true
	case Tree:
		c := Command{Program: text(v, "program"), Args: texts(v, "args"), Shell: boolean(v, "shell")}
		return c, c.Program != ""
	}
	return Command{}, false
}

func splitWords(line string) []string {
	var words []string
	var b strings.Builder
	var quote rune
	open, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				b.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if open {
				words = append(words, b.String())
				b.Reset()
				open = false
			}
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}

// EditorConfig says which editor to open: Cmd when it is set, otherwise the
// first of the variables Envs that names an installed program.
type EditorConfig struct {
	Cmd  *Command
	Envs []string
}

// Editor reads the editor's settings of a finalized tree.
func Editor(t Tree) EditorConfig {
	e := EditorConfig{Envs: texts(t, "editor", "envs")}
	if c, ok := ParseCommand(at(t, "editor", "cmd")); ok {
		e.Cmd = &c
	}
	return e
}

// Progress is a waiting line: whether, and after how long.
type Progress struct {
	Show  bool
	Delay time.Duration
}

// StyleConfig says how answers look on a terminal.
type StyleConfig struct {
	WrapWidth        int // columns; 0: never
	TableColumnWidth int
	Theme            string
	HRLine           bool // a rule is drawn as a line, not as it was written
	CodeColor        bool
	Reasoning        string // full, hidden, summary, static, progress, timer; empty: ReasoningLines
	ReasoningLines   int
	Waiting          Progress
}

// Style reads the style of a finalized tree.
func Style(t Tree) StyleConfig {
	s := table(t, "style")
	wait := table(s, "streaming", "progress")
	return StyleConfig{
		WrapWidth:        whole(s, "markdown", "wrap_width"),
		TableColumnWidth: whole(s, "markdown", "table_max_column_width"),
		Theme:            text(s, "markdown", "theme"),
		HRLine:           text(s, "markdown", "hr_style") == "line",
		CodeColor:        boolean(s, "code", "color"),
		Reasoning:        text(s, "reasoning", "display"),
		ReasoningLines:   whole(s, "reasoning", "display"),
		Waiting:          Progress{boolean(wait, "show"), time.Duration(whole(wait, "delay_secs")) * time.Second},
	}
}

// StartLocal tells whether new conversations live in the user directory.
func StartLocal(t Tree) bool { return boolean(t, "conversation", "start_local") }

// DefaultID is what conversation.default_id says, or empty.
func DefaultID(t Tree) string { return text(t, "conversation", "default_id") }

// TitleFromHeading tells whether the first heading of a conversation's first
// request is its title.
func TitleFromHeading(t Tree) bool { return boolean(t, "conversation", "title", "from_heading") }

// Attachment is an entry of conversation.attachments: a URL or path, or a
// type with a path and parameters.
type Attachment struct {
	URL    string
	Type   string
	Path   string
	Params Tree
}

// Attachments reads conversation.attachments in order.
func Attachments(t Tree) []Attachment {
	list, _ := unwrap(at(t, "conversation", "attachments")).value.([]any)
	var out []Attachment
	for _, e := range list {
		switch e := e.(type) {
		case string:
			out = append(out, Attachment{URL: e})
		case Tree:
			out = append(out, Attachment{Type: text(e, "type"), Path: text(e, "path"), Params: table(e, "params")})
		}
	}
	return out
}
