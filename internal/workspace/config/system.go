package config

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed defaults/tool_usage.toml
var toolUsageText string

// SystemParts renders what the model is told before the conversation, part by
// part: the system prompt, then sections, instructions and, when a tool is
// enabled, how to use tools, sorted by position, in that order within one.
// Parts without content are left out. The bytes are a contract.
func (a Assistant) SystemParts(toolsEnabled bool) []string {
	sections := slices.Clone(a.Sections)
	for _, i := range a.Instructions {
		sections = append(sections, i.section())
	}
	if toolsEnabled {
		sections = append(sections, toolUsage().section())
	}
	slices.SortStableFunc(sections, func(a, b Section) int { return a.Position - b.Position })
	var parts []string
	if strings.TrimSpace(a.SystemPrompt) != "" {
		parts = append(parts, a.SystemPrompt)
	}
	for _, s := range sections {
		if strings.TrimSpace(s.Content) != "" {
			parts = append(parts, s.render())
		}
	}
	return parts
}

func toolUsage() Instruction {
	var m map[string]any
	if err := toml.Unmarshal([]byte(toolUsageText), &m); err != nil {
		panic("config: defaults/tool_usage.toml: " + err.Error())
	}
	return instruction(normalise(m).(Tree))
}

// section is the instruction as a section: description, items, examples.
func (i Instruction) section() Section {
	var blocks []string
	if d := strings.TrimSpace(i.Description); d != "" {
		blocks = append(blocks, d)
	}
	if len(i.Items) > 0 {
		blocks = append(blocks, "- "+strings.Join(i.Items, "\n- "))
	}
	if len(i.Examples) > 0 {
		blocks = append(blocks, "**Examples**")
	}
	for _, e := range i.Examples {
		blocks = append(blocks, e.render())
	}
	return Section{Content: strings.Join(blocks, "\n\n"), Tag: "instruction", Title: i.Title, Position: i.Position}
}

func (e Example) render() string {
	if e.Text != "" {
		return e.Text
	}
	var lines []string
	for _, l := range []struct{ label, text string }{{"Good", e.Good}, {"Bad", e.Bad}, {"Reason", e.Reason}} {
		if l.text != "" {
			lines = append(lines, l.label+": "+l.text)
		}
	}
	return strings.Join(lines, "\n")
}

// render puts the content between tags, below a heading, or bare.
func (s Section) render() string {
	switch {
	case s.Tag != "" && s.Title != "":
		return "<" + s.Tag + ` title="` + attribute(s.Title) + "\">\n" + cdata(s.Content) + "\n</" + s.Tag + ">"
	case s.Tag != "":
		return "<" + s.Tag + ">\n" + cdata(s.Content) + "\n</" + s.Tag + ">"
	case s.Title != "":
		return "# " + s.Title + "\n\n" + s.Content
	}
	return strings.TrimSpace(s.Content)
}

func attribute(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(s)
}

// cdata keeps markup in content from being read as the section's own.
func cdata(s string) string {
	if !strings.ContainsAny(s, "<>&") {
		return s
	}
	return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
}
