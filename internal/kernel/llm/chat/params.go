package chat

import (
	"encoding/json"
	"slices"

	"jp/internal/kernel/llm"
)

type tool struct {
	Type     string   `json:"type"`
	Function toolSpec `json:"function"`
}

type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitempty"`
}

type namedTool struct {
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

// tools are the definitions and the value of tool_choice.
func (c Config) tools(req llm.Request) ([]tool, any, error) {
	offered, choice := req.Tools, any(string(req.ToolChoice.Mode))
	switch req.ToolChoice.Mode {
	case "":
		choice = string(llm.ToolAuto)
	case llm.ToolNamed:
		at := slices.IndexFunc(offered, func(t llm.Tool) bool { return t.Name == req.ToolChoice.Name })
		if at < 0 {
			return nil, nil, c.refuse("the tool "+req.ToolChoice.Name+" is demanded but not offered", "enable it, or set another tool_choice")
		}
		named := namedTool{Type: "function"}
		named.Function.Name = req.ToolChoice.Name
		choice = named
		if c.Dialect.narrow {
			offered, choice = offered[at:at+1], string(llm.ToolRequired)
		}
	}
	var out []tool
	for _, t := range offered {
		spec := toolSpec{t.Name, t.Description, t.Schema, t.Strict}
		if len(spec.Parameters) == 0 {
			spec.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, tool{"function", spec})
	}
	return out, choice, nil
}

type templateArgs struct {
	Thinking bool `json:"enable_thinking"`
}

// spec is OpenRouter's reasoning object.
type spec struct {
	Enabled   bool   `json:"enabled,omitempty"`
	Effort    string `json:"effort,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Exclude   bool   `json:"exclude,omitempty"`
}

// think says how long the model may think, in the dialect's words. Auto is
// the model's own default, so where there is a word for it it is said, and
// elsewhere nothing is.
func (d Dialect) think(p llm.Params) []field {
	unset := p.Reasoning == llm.EffortUnset && p.Budget == 0
	off := p.Reasoning == llm.EffortOff && p.Budget == 0
	switch d.thinking {
	case templateSwitch:
		format := "deepseek"
		if unset || off {
			format = "none"
		}
		return []field{{"reasoning_format", format}, {"chat_template_kwargs", templateArgs{format != "none"}}}
	case openaiEffort, ollamaEffort:
		if word := d.effort(p); word != "" {
			return []field{{"reasoning_effort", word}}
		}
	case reasoningSpec:
		s := spec{Exclude: p.HideThought || off}
		switch {
		case p.Budget > 0:
			s.MaxTokens = p.Budget
		case p.Reasoning == llm.EffortAuto:
			s.Enabled = true
		default:
			s.Effort = d.effort(p)
		}
		if s != (spec{}) {
			return []field{{"reasoning", s}}
		}
	}
	return nil
}

// effort is the dialect's word for an effort, or "" for none. A budget of
// tokens, where only efforts are known, becomes the effort nearest to it.
func (d Dialect) effort(p llm.Params) string {
	e := p.Reasoning
	switch {
	case p.Budget > 8192:
		e = llm.EffortHigh
	case p.Budget > 1024:
		e = llm.EffortMedium
	case p.Budget > 0:
		e = llm.EffortLow
	}
	lowest, highest := "minimal", "xhigh"
	if d.thinking == ollamaEffort {
		lowest, highest = "low", "high"
	}
	switch e {
	case llm.EffortOff:
		return "none"
	case llm.EffortXLow:
		return lowest
	case llm.EffortLow, llm.EffortMedium, llm.EffortHigh:
		return string(e)
	case llm.EffortXHigh, llm.EffortMax:
		return highest
	}
	return ""
}
