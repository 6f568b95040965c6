package pipeline

import (
	"bytes"
	"embed"
	"strings"
	"text/template"

	"jp/internal/lib/literal"
	"jp/internal/scene/macro"
	"jp/internal/scene/prompt"
)

//go:embed texts
var textFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(v any) string { return string(literal.Must(v)) },
	"join": strings.Join,
}).ParseFS(textFiles, "texts/*"))

// firstText is the first of texts that says something, "" when none does.
func firstText(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}

// phrase renders one of the texts for models: texts/NAME, a template, without
// the line end it stops with. What it is given stands in it as it is.
func phrase(name string, data any) string {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		panic("pipeline: " + err.Error())
	}
	return strings.TrimRight(b.String(), "\n")
}

// resolve replaces macros of what people wrote for the whole scene.
func (x *Exchange) resolve(text string) string { return resolved(x.frame, text) }

// resolved is the same for a frame, which calls beside exchanges have, too.
func resolved(frame *prompt.Scene, text string) string {
	return macro.Resolve(text, frame.SceneScope())
}
