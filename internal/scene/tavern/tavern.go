// Package tavern reads and writes the chats of SillyTavern: a .jsonl file with
// a header and a message on each line, and for a group the definition that
// stands beside it.
//
// Reading forgives what such files really have: no header, blank lines, CRLF,
// a byte order mark, a last line that was cut, dates in many forms, flags and
// numbers in strings. A broken line elsewhere is an error that names it. The
// report says what was decided: who got no card, what was left out.
//
// Fields that we do not know come back on export, and so do lines that were
// hidden from models: those are not part of the scene. What SillyTavern has no
// field for (who left, profiles, the private context) is kept under "jp" in the
// chat's metadata, which it leaves alone.
package tavern

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/lib/literal"
	"jp/internal/scene"
)

// maxTexts is how many lines a chat may have, and how many messages with their
// swipes: a short line costs a hundred times its bytes.
const maxTexts = 250_000

func tooLong() error {
	return fault.New(fault.Invalid, "the chat has more than %d lines or swipes", maxTexts).WithHint("bring it in parts")
}

// Decode reads a chat, and the definition of its group if there is one. chat
// may be empty when there is. Members are matched with cards by the name of
// the picture or of the character, whatever the case. Errors: fault.Invalid
// for what is no chat, is broken, or has more than maxTexts.
func Decode(chat, group []byte, cards []scene.CardBrief) (scene.Transcript, []string, error) {
	d := decoder{cards: cards}
	if err := d.readGroup(group); err != nil {
		return scene.Transcript{}, nil, err
	}
	if err := d.readChat(chat); err != nil {
		return scene.Transcript{}, nil, err
	}
	if d.header == nil && d.lines == nil && d.group == nil {
		return scene.Transcript{}, nil, fault.New(fault.Invalid, "the chat is empty")
	}
	d.readSettings()
	if d.isGroup() {
		d.groupChat()
	} else {
		d.soloChat()
	}
	d.keepAvatars()
	if err := d.readLines(); err != nil {
		return scene.Transcript{}, nil, err
	}
	d.keepExtras()
	return d.t, d.report, nil
}

// decoder is a chat while it is read.
type decoder struct {
	cards  []scene.CardBrief
	header fields
	group  fields
	lines  []fields // messages, without the header
	ours   settings // what an export of ours kept for us
	seats  []*seat
	byName map[string]*seat // lower case
	byFile map[string]*seat
	hidden []json.RawMessage // since the last line that is seen
	keep   extras

	t      scene.Transcript
	report []string
}

// extras are a transcript's Extras.
type extras struct {
	Header  fields              `json:"header,omitempty"`
	Group   fields              `json:"group,omitempty"`
	Avatars map[string][]string `json:"avatars,omitempty"` // pictures by member's name
	Hidden  []json.RawMessage   `json:"hidden,omitempty"`  // lines behind the last one
}

func (d *decoder) say(format string, args ...any) {
	d.report = append(d.report, fmt.Sprintf(format, args...))
}

// readGroup reads the definition of a group.
func (d *decoder) readGroup(raw []byte) error {
	raw = trim(raw)
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &d.group) != nil || d.group == nil {
		return fault.New(fault.Invalid, "the definition of the group is no JSON object")
	}
	if _, ok := d.group["members"]; !ok {
		return fault.New(fault.Invalid, "the definition of the group has no members").
			WithHint("take the file from SillyTavern's folder groups")
	}
	if n := len(list(d.group["members"])); n > scene.MostMembers {
		return fault.New(fault.Invalid, "the group has %d members", n).WithHint("take %d at most", scene.MostMembers)
	}
	return nil
}

// readChat reads the lines of a chat and tells the header from the messages.
func (d *decoder) readChat(raw []byte) error {
	raw = trim(raw)
	if lines := bytes.Count(raw, []byte("\n")); lines > maxTexts {
		return tooLong()
	}
	list := bytes.Split(raw, []byte("\n"))
	for i, text := range list {
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		var line fields
		if err := json.Unmarshal(text, &line); err != nil || line == nil {
			if i == len(list)-1 && (d.header != nil || d.lines != nil) {
				d.say("line %d, the last one, is cut and was left out", i+1)
				return nil
			}
			return fault.New(fault.Invalid, "line %d of the chat is no JSON object", i+1).
				WithHint("a chat of SillyTavern is a .jsonl file: one object on each line")
		}
		_, message := line["mes"]
		switch {
		case message:
			d.lines = append(d.lines, line)
		case d.header == nil && d.lines == nil:
			if !isHeader(line) {
				return fault.New(fault.Invalid, "this is no chat of SillyTavern: line %d is neither a header nor a message", i+1)
			}
			d.header = line
		default:
			d.say("line %d has no message and was left out", i+1)
		}
	}
	return nil
}

func isHeader(line fields) bool {
	return slices.ContainsFunc([]string{"user_name", "character_name", "chat_metadata", "create_date"}, func(name string) bool {
		_, ok := line[name]
		return ok
	})
}

// isGroup tells chats of several characters: those with a definition, those
// whose header names none, and those whose lines say which picture spoke.
func (d *decoder) isGroup() bool {
	if d.group != nil || d.ours.Kind != "" {
		return d.group != nil || d.ours.Kind == scene.Group
	}
	name := text(d.header["character_name"])
	if name != "" && name != unused {
		return false
	}
	if name == unused || slices.ContainsFunc(d.lines, func(l fields) bool { return text(l["original_avatar"]) != "" }) {
		return true
	}
	names := map[string]bool{}
	for _, l := range d.lines {
		if !flag(l["is_user"]) && !flag(l["is_system"]) && !narrated(l) {
			names[strings.ToLower(text(l["name"]))] = true
		}
	}
	return len(names) > 1
}

// unused stands in a group's header for names.
const unused = "unused"

// soloChat reads what a chat with one card says beside its lines.
func (d *decoder) soloChat() {
	c := &d.t.Conversation
	c.Kind, c.CharacterName = scene.Solo, text(d.header["character_name"])
	for _, l := range d.lines {
		if c.CharacterName == "" && !flag(l["is_user"]) && !flag(l["is_system"]) && !narrated(l) {
			c.CharacterName = text(l["name"])
		}
	}
	c.Title = cmp.Or(d.ours.Title, c.CharacterName)
	if card := d.cardOf(d.ours.CardID, c.CharacterName); card != nil {
		c.CardID = &card.ID
	} else {
		d.say("there is no card for %q", c.CharacterName)
	}
}

// keepExtras keeps what the header and the definition say that an export does
// not write by itself.
func (d *decoder) keepExtras() {
	d.keep.Hidden = d.hidden
	d.keep.Header = without(d.header, headerOf(d.t, extras{}))
	if meta := object(d.header["chat_metadata"]); meta != nil {
		delete(meta, ourField)
		delete(meta, "scenario")
		delete(d.keep.Header, "chat_metadata")
		if len(meta) > 0 {
			if d.keep.Header == nil {
				d.keep.Header = fields{}
			}
			d.keep.Header["chat_metadata"] = literal.Must(meta)
		}
	}
	d.keep.Group = without(d.group, groupOf(d.t, d.keep, ""))
	if raw := literal.Must(d.keep); string(raw) != "{}" {
		d.t.Extras = raw
	}
}

// keepAvatars keeps the pictures that are not called what we would call them,
// of members with one name in their order.
func (d *decoder) keepAvatars() {
	d.keep.Avatars = map[string][]string{}
	for _, s := range d.seats {
		if s.file != "" {
			d.keep.Avatars[s.spec.Name] = append(d.keep.Avatars[s.spec.Name], s.file)
		}
	}
	for name, files := range d.keep.Avatars {
		if len(files) == 1 && files[0] == fileName(name) {
			delete(d.keep.Avatars, name)
		}
	}
}
