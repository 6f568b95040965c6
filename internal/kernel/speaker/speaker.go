// Package speaker knows how speakers are named: the grammar of identifiers,
// the labels they carry in a history that several voices share, and how a
// person's text refers to them.
//
// Everything here is a pure function of text, linear in its length, and safe
// on any input: broken UTF-8, hostile names, unclosed code. Offsets are byte
// offsets into the text that was handed in. The package does not know who
// exists; callers compare what it found with their roster.
package speaker

import "strings"

// ValidID tells whether s is an identifier: [A-Za-z_][A-Za-z0-9_-]*.
func ValidID(s string) bool {
	return s != "" && len(ident(s)) == len(s)
}

// ident returns the longest identifier that s starts with, or "".
func ident(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case i > 0 && ('0' <= c && c <= '9' || c == '-'):
		default:
			return s[:i]
		}
	}
	return s
}

// Display is how a speaker is shown to people: "Software Architect
// (@architect)", or the identifier alone when the name adds nothing. The name
// is untrusted text; a terminal filters it where it draws.
func Display(id, name string) string {
	if name = strings.TrimSpace(name); name == "" || name == id {
		return id
	}
	return name + " (@" + id + ")"
}
