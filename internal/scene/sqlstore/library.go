package sqlstore

import "jp/internal/scene"

func personaShape() shape[scene.Persona] {
	return shape[scene.Persona]{"user_personas", "persona", func(p *scene.Persona) []column {
		return []column{
			{name: "id", field: &p.ID},
			{name: "name", field: &p.Name},
			{name: "description", field: &p.Description},
			{name: "avatar_color", field: &p.Color},
			{name: "created_at", field: moment{&p.CreatedAt}},
			{name: "updated_at", field: moment{&p.UpdatedAt}},
		}
	}, nil}
}

func moodShape() shape[scene.Mood] {
	return shape[scene.Mood]{"mood_fragments", "mood", func(m *scene.Mood) []column {
		return []column{
			{name: "id", field: &m.ID},
			{name: "label", field: &m.Label},
			{name: "description", field: &m.Description},
			{name: "prompt_text", field: &m.Prompt},
			{name: "negative_prompt", field: &m.NegativePrompt},
			{name: "enabled", field: &m.Enabled},
			{name: "cooldown_turns", field: &m.Cooldown},
		}
	}, nil}
}

func fragmentShape() shape[scene.Fragment] {
	return shape[scene.Fragment]{"interactive_fragments", "fragment", func(f *scene.Fragment) []column {
		return []column{
			{name: "id", field: &f.ID},
			{name: "label", field: &f.Label},
			{name: "description", field: &f.Description},
			{name: "field_type", field: &f.Type},
			{name: "required", field: &f.Required},
			{name: "enabled", field: &f.Enabled},
			{name: "injection_label", field: &f.Heading},
			{name: "sort_order", field: &f.Order},
			{name: "cooldown_turns", field: &f.Cooldown},
			{name: "options", field: verbatim{&f.Options}},
		}
	}, nil}
}

func phraseShape() shape[scene.Phrase] {
	return shape[scene.Phrase]{"phrase_bank", "phrase", func(p *scene.Phrase) []column {
		return []column{
			{name: "id", field: &p.ID},
			{name: "kind", field: &p.Kind},
			{name: "variants", field: list{&p.Variants}},
			{name: "pattern", field: &p.Pattern},
		}
	}, nil}
}
