package lore

import "strings"

// Pattern returns the expression, in the syntax of package regexp, that a key
// of the form /pattern/flags means, and whether it has that form. It has when
// no bare slash is inside and what follows the last slash can be flags: so
// /etc/passwd and /and/or/ are plain text. Flags that have no meaning here are
// ignored. Whether the expression compiles is another question.
func Pattern(key string) (expr string, ok bool) {
	body, flags, ok := cutPattern(key)
	if !ok {
		return "", false
	}
	expr = strings.ReplaceAll(body, `\/`, "/")
	used := ""
	for _, f := range "ims" {
		if strings.ContainsRune(flags, f) {
			used += string(f)
		}
	}
	if used != "" {
		expr = "(?" + used + ")" + expr
	}
	return expr, true
}

// cutPattern takes a key of the form /body/flags apart.
func cutPattern(key string) (body, flags string, ok bool) {
	end := strings.LastIndexByte(key, '/')
	if end < 2 || key[0] != '/' {
		return "", "", false
	}
	body, flags = key[1:end], key[end+1:]
	if escaped(body) != body || !flagLike(flags) {
		return "", "", false
	}
	return body, flags, true
}

// flagLike tells whether a text can be the flags of a pattern: no letter twice,
// and at most one that is none, as in "gz".
func flagLike(s string) bool {
	known, unknown := 0, 0
	for i, c := range s {
		switch {
		case c < 'a' || c > 'z' || strings.ContainsRune(s[:i], c):
			return false
		case strings.ContainsRune("gimsuy", c):
			known++
		default:
			unknown++
		}
	}
	return unknown <= 1 && unknown <= known
}

// escaped writes a pattern so that it can stand between slashes. A backslash
// at the very end would take the closing slash with it and is doubled.
func escaped(expr string) string {
	var b strings.Builder
	for i := 0; i < len(expr); i++ {
		switch expr[i] {
		case '\\':
			b.WriteByte('\\')
			if i++; i < len(expr) {
				b.WriteByte(expr[i])
			} else {
				b.WriteByte('\\')
			}
		case '/':
			b.WriteString(`\/`)
		default:
			b.WriteByte(expr[i])
		}
	}
	return b.String()
}

// slashed writes a key of a pattern entry the way every reader of books knows
// as a pattern.
func slashed(key string, ignoreCase bool) string {
	if _, ok := Pattern(key); ok {
		return key
	}
	flags := ""
	if ignoreCase {
		flags = "i"
	}
	return "/" + escaped(key) + "/" + flags
}

// bare undoes slashed; keys that it did not write stay as they are.
func bare(key string, ignoreCase bool) string {
	body, _, ok := cutPattern(key)
	if !ok {
		return key
	}
	if plain := strings.ReplaceAll(body, `\/`, "/"); slashed(plain, ignoreCase) == key {
		return plain
	}
	return key
}
