package tavern

import (
	"encoding/json"
	"slices"

	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// hiddenField keeps hidden lines with the line that they stand before.
const hiddenField = "jp_hidden"

// readLines reads the messages. Those that models never saw (SillyTavern's own
// notices, and what a person hid) are no part of the scene and wait for an
// export with the next line.
func (d *decoder) readLines() error {
	hidden, undated, texts, pictures := 0, 0, 0, files(d.t, d.keep)
	for _, l := range d.lines {
		if flag(l["is_system"]) {
			d.hidden = append(d.hidden, literal.Must(l))
			hidden++
			continue
		}
		line := d.line(l)
		if texts += len(line.Variants); texts > maxTexts {
			return tooLong()
		}
		if line.At.IsZero() {
			undated++
		}
		kept := without(l, lineOf(d.t, line, pictures))
		for _, known := range []string{"mes", "is_user", "is_system", "swipes", "swipe_id"} {
			delete(kept, known)
		}
		if len(d.hidden) > 0 {
			if kept == nil {
				kept = fields{}
			}
			kept[hiddenField] = literal.Must(d.hidden)
			d.hidden = nil
		}
		if len(kept) > 0 {
			line.Extras = literal.Must(kept)
		}
		d.t.Lines = append(d.t.Lines, line)
	}
	if hidden > 0 {
		d.say("lines hidden from models are no part of the scene, but of an export: %d", hidden)
	}
	if undated > 0 {
		d.say("lines without a date that can be read: %d", undated)
	}
	return nil
}

// line reads one message.
func (d *decoder) line(l fields) scene.TranscriptLine {
	line := scene.TranscriptLine{Role: scene.RoleAssistant, Member: -1, At: when(l["send_date"])}
	if flag(l["is_user"]) {
		line.Role, line.Author = scene.RoleUser, text(l["name"])
	} else if s := d.speaker(l); s != nil {
		line.Member = s.place
	}
	mes := text(l["mes"])
	line.Variants = texts(l["swipes"])
	if n, ok := number(l["swipe_id"]); ok && n >= 0 && n < len(line.Variants) {
		line.Chosen = n
	} else if line.Chosen = slices.Index(line.Variants, mes); line.Chosen < 0 {
		line.Variants = append(line.Variants, mes)
		line.Chosen = len(line.Variants) - 1
	}
	// What a person edited is in mes first.
	line.Variants[line.Chosen] = mes
	return line
}

// lineOf is a message as an export writes it, without what was kept. pictures
// are those of the members.
func lineOf(t scene.Transcript, line scene.TranscriptLine, pictures []string) fields {
	name := line.Author
	f := fields{}
	if line.Role != scene.RoleUser {
		name = t.Conversation.CharacterName
		if m, ok := memberOf(t, line.Member); ok {
			name = m.Name
			file := pictures[line.Member]
			f["original_avatar"] = literal.Must(file)
			f["force_avatar"] = literal.Must(thumbnail(file))
		}
	}
	f["name"] = literal.Must(name)
	f["is_user"] = literal.Must(line.Role == scene.RoleUser)
	f["is_system"] = literal.Must(false)
	f["mes"] = literal.Must(line.Variants[line.Chosen])
	f["extra"] = json.RawMessage("{}")
	if !line.At.IsZero() {
		f["send_date"] = literal.Must(stamp(line.At))
	}
	if line.Role != scene.RoleUser || len(line.Variants) > 1 {
		f["swipes"], f["swipe_id"] = literal.Must(line.Variants), literal.Must(line.Chosen)
	}
	return f
}

// memberOf is the member or former member at a place.
func memberOf(t scene.Transcript, place int) (scene.MemberSpec, bool) {
	active := len(t.Conversation.Members)
	switch {
	case place < 0 || place >= active+len(t.Former):
		return scene.MemberSpec{}, false
	case place < active:
		return t.Conversation.Members[place], true
	}
	return t.Former[place-active], true
}
