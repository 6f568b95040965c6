package tavern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"jp/internal/lib/fault"
	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// EncodeChat writes a transcript as a .jsonl file. Decode reads the same from
// it, together with EncodeGroup's for a group. Errors: fault.Invalid when what
// was kept is no JSON object.
func EncodeChat(t scene.Transcript) ([]byte, error) {
	keep, err := kept(t)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	write := func(raw json.RawMessage) { b.Write(append(slices.Clip(raw), '\n')) }
	write(literal.Must(headerOf(t, keep)))
	pictures := files(t, keep)
	for i, line := range t.Lines {
		var old fields
		if len(line.Extras) > 0 && json.Unmarshal(line.Extras, &old) != nil {
			return nil, fault.New(fault.Invalid, "what was kept with message %d is no JSON object", i+1)
		}
		if line.Chosen < 0 || line.Chosen >= len(line.Variants) {
			return nil, fault.New(fault.Invalid, "message %d has no text", i+1)
		}
		for _, hidden := range list(old[hiddenField]) {
			write(literal.Must(hidden))
		}
		write(literal.Must(overlay(lineOf(t, line, pictures), old, line)))
	}
	for _, hidden := range keep.Hidden {
		write(literal.Must(hidden))
	}
	return b.Bytes(), nil
}

// overlay puts what was kept of a line over what we write, unless it is out of
// date.
func overlay(f, old fields, line scene.TranscriptLine) fields {
	for name, raw := range old {
		switch {
		case name == hiddenField:
		case name == "send_date" && stale(raw, line.At):
		case name == "swipe_info" && len(list(raw)) != len(line.Variants):
		default:
			f[name] = raw
		}
	}
	return f
}

// stale tells whether a date that was kept is another one than that of the
// line. One that could not be read is as good as any.
func stale(raw json.RawMessage, at time.Time) bool {
	was := when(raw)
	return !was.Equal(at) && (!was.IsZero() || text(raw) == "")
}

// EncodeGroup writes the definition of a group. chat is the name of the chat's
// file without .jsonl, or empty for that of an imported definition, which keeps
// its own id. Errors:
// fault.Conflict for a solo chat; as of EncodeChat.
func EncodeGroup(t scene.Transcript, chat string) ([]byte, error) {
	if t.Conversation.Kind != scene.Group {
		return nil, fault.New(fault.Conflict, "%q is no group", t.Conversation.Title)
	}
	keep, err := kept(t)
	if err != nil {
		return nil, err
	}
	return literal.Must(groupOf(t, keep, chat)), nil
}

func kept(t scene.Transcript) (keep extras, err error) {
	if len(t.Extras) > 0 && json.Unmarshal(t.Extras, &keep) != nil {
		return keep, fault.New(fault.Invalid, "what was kept with %q is no JSON object", t.Conversation.Title)
	}
	return keep, nil
}

// headerOf is the first line of a chat.
func headerOf(t scene.Transcript, keep extras) fields {
	c := t.Conversation
	f := fields{
		"user_name": literal.Must(unused), "character_name": literal.Must(unused),
		"create_date": literal.Must(created(t)),
	}
	if c.Kind != scene.Group {
		f["character_name"], f["user_name"] = literal.Must(c.CharacterName), literal.Must(userName(t))
	}
	for name, raw := range keep.Header {
		f[name] = raw
	}
	meta := object(keep.Header["chat_metadata"])
	if meta == nil {
		meta = fields{}
	}
	if c.Scenario != "" {
		meta["scenario"] = literal.Must(c.Scenario)
	}
	meta[ourField] = literal.Must(settingsOf(t, keep))
	f["chat_metadata"] = literal.Must(meta)
	return f
}

// userName is who wrote last.
func userName(t scene.Transcript) string {
	for _, line := range slices.Backward(t.Lines) {
		if line.Role == scene.RoleUser && line.Author != "" {
			return line.Author
		}
	}
	return "User"
}

// created is when the chat began, in the form of SillyTavern's file names.
func created(t scene.Transcript) string {
	var at time.Time
	if len(t.Lines) > 0 {
		at = t.Lines[0].At.UTC()
	}
	if at.IsZero() {
		at = time.Unix(0, 0).UTC()
	}
	return fmt.Sprintf("%d-%d-%d@%02dh%02dm%02ds%03dms", at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond()/1e6)
}

// settingsOf is what SillyTavern has no field for.
func settingsOf(t scene.Transcript, keep extras) settings {
	c := t.Conversation
	s := settings{Kind: c.Kind, Title: c.Title, CardID: c.CardID, PostHistory: c.PostHistory}
	if c.Kind != scene.Group {
		return s
	}
	s.CardID, s.TurnMode, s.MaxSpeakers, s.ContextMode = nil, c.TurnMode, c.MaxSpeakers, c.ContextMode
	for i, file := range files(t, keep) {
		m, _ := memberOf(t, i)
		s.Members = append(s.Members, part{
			File: file, Key: m.Key, Name: m.Name, CardID: m.CardID, Profile: m.PublicProfile, Sheet: m.Sheet,
			Kind: m.Kind, Muted: m.Muted, Former: i >= len(c.Members),
		})
	}
	return s
}

// groupOf is the definition of a group.
func groupOf(t scene.Transcript, keep extras, chat string) fields {
	c := t.Conversation
	members, muted := []string{}, []string{}
	for i, file := range files(t, keep)[:len(c.Members)] {
		members = append(members, file)
		if c.Members[i].Muted {
			muted = append(muted, file)
		}
	}
	f := fields{
		"id": literal.Must(chat), "chat_id": literal.Must(chat), "chats": literal.Must([]string{chat}),
		"name": literal.Must(c.Title), "members": literal.Must(members), "disabled_members": literal.Must(muted),
		"activation_strategy": literal.Must(strategyOf(c.TurnMode)), "generation_mode": literal.Must(generationOf(c.ContextMode)),
		"allow_self_responses": literal.Must(false), "auto_mode_delay": literal.Must(5), "fav": literal.Must(false),
		"avatar_url": literal.Must(""), "hideMutedSprites": literal.Must(true), "past_metadata": json.RawMessage("{}"),
	}
	for name, raw := range keep.Group {
		if raw = current(c, name, raw, chat); raw != nil {
			f[name] = raw
		}
	}
	return f
}

// current is what was kept of a definition's field, brought up to date; nil
// when only we know what it says now.
func current(c scene.NewConversation, name string, raw json.RawMessage, chat string) json.RawMessage {
	n, isNumber := number(raw)
	switch name {
	case "name", "members", "disabled_members":
		return nil
	case "activation_strategy":
		if !isNumber || turnModeOf(n) != c.TurnMode {
			return nil
		}
	case "generation_mode":
		if !isNumber || generationOf(contextModeOf(n)) != generationOf(c.ContextMode) {
			return nil
		}
	case "chat_metadata":
		if meta := object(raw); meta != nil && text(meta["scenario"]) != c.Scenario {
			meta["scenario"] = literal.Must(c.Scenario)
			return literal.Must(meta)
		}
	case "chat_id":
		if chat != "" {
			return nil
		}
	case "chats":
		if all := texts(raw); chat != "" && !slices.Contains(all, chat) {
			return literal.Must(append(all, chat))
		}
	}
	return raw
}

// files are the pictures of the members and of the former ones, each its own.
func files(t scene.Transcript, keep extras) []string {
	var out []string
	taken, next, named := map[string]bool{}, map[string]int{}, map[string]int{}
	for i := range len(t.Conversation.Members) + len(t.Former) {
		m, _ := memberOf(t, i)
		file := fileName(m.Name)
		if n, kept := named[m.Name], keep.Avatars[m.Name]; n < len(kept) {
			file = kept[n]
		}
		named[m.Name]++
		for plain := stem(file); taken[file]; {
			next[plain]++
			file = fmt.Sprintf("%s%d.png", plain, next[plain])
		}
		taken[file] = true
		out = append(out, file)
	}
	return out
}

// thumbnail is where SillyTavern's page finds a picture.
func thumbnail(file string) string { return "/thumbnail?type=avatar&file=" + url.PathEscape(file) }
