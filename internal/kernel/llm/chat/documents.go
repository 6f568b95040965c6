package chat

import (
	"fmt"
	"strings"

	"jp/internal/kernel/llm"
)

// documents writes the text documents as XML, or "" when there are none. The
// index counts images too. If one content needs CDATA all get it, so that the
// model sees one form.
func documents(docs []llm.Document) string {
	cdata, any := false, false
	for _, d := range docs {
		if d.Image == nil {
			any = true
			cdata = cdata || strings.ContainsAny(d.Text, "<>")
		}
	}
	if !any {
		return ""
	}
	var out strings.Builder
	out.WriteString("<documents>\n")
	for i, d := range docs {
		if d.Image != nil {
			continue
		}
		content := escape(d.Text)
		if cdata {
			content = "<![CDATA[" + strings.ReplaceAll(d.Text, "]]>", "]]]]><![CDATA[>") + "]]>"
		}
		fmt.Fprintf(&out, "  <document>\n    <index>%d</index>\n    <source>%s</source>\n    <content>%s</content>\n  </document>\n", i, escape(d.Source), content)
	}
	out.WriteString("</documents>")
	return out.String()
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

func documentImages(docs []llm.Document) []llm.Image {
	var out []llm.Image
	for _, d := range docs {
		if d.Image == nil {
			continue
		}
		image := *d.Image
		if image.Source == "" {
			image.Source = d.Source
		}
		out = append(out, image)
	}
	return out
}
