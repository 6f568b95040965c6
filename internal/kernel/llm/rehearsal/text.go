package rehearsal

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// text makes a string: the word, shaped by pattern, format and length.
func text(s object, word string, variant int) (any, bool) {
	least, ok := atLeast(s, "minLength")
	most := int(min(number(s["maxLength"], maxCount), maxCount))
	if !ok || least > most {
		return nil, false
	}
	if pattern, has := s["pattern"].(string); has {
		return matching(pattern, least, most)
	}
	if format, has := s["format"].(string); has {
		if sample := formatted(format, variant); sample != "" {
			return sample, true
		}
	}
	out, tail := []rune(word), []rune(nil)
	if variant > 0 {
		tail = []rune(fmt.Sprintf(" %d", variant+1))
		tail = tail[max(0, len(tail)-most):]
	}
	out = append(out[:min(len(out), most-len(tail))], tail...)
	for len(out) < least {
		out = append(out, '.')
	}
	return string(out), true
}

// formatted is an example of a format, or "".
func formatted(format string, variant int) string {
	day := variant%28 + 1
	switch format {
	case "date":
		return fmt.Sprintf("2026-01-%02d", day)
	case "date-time":
		return fmt.Sprintf("2026-01-%02dT12:00:00Z", day)
	case "time":
		return fmt.Sprintf("12:00:%02dZ", day)
	case "email":
		return fmt.Sprintf("rehearsal%d@example.org", variant)
	case "uri", "url":
		return fmt.Sprintf("https://example.org/%d", variant)
	case "uuid":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", variant)
	}
	return ""
}

// matching makes a string that a simple pattern matches, false when it finds
// none of a length within the bounds.
func matching(pattern string, least, most int) (any, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, false
	}
	matches, err := regexp.Compile(pattern)
	if err != nil {
		return nil, false
	}
	for more := 0; more <= least; more++ {
		var out strings.Builder
		example(&out, tree, more)
		s := out.String()
		if n := len([]rune(s)); n < least && !strings.HasSuffix(pattern, "$") {
			s += strings.Repeat("x", least-n)
		}
		if n := len([]rune(s)); n >= least && n <= most && matches.MatchString(s) {
			return s, true
		}
	}
	return nil, false
}

// example writes a string that re matches, with each repetition repeated up to
// more times beyond what it needs.
func example(out *strings.Builder, re *syntax.Regexp, more int) {
	low, high := 1, 1
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
		return
	case syntax.OpCharClass:
		out.WriteRune(member(re.Rune))
		return
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('x')
		return
	case syntax.OpAlternate:
		example(out, re.Sub[0], more)
		return
	case syntax.OpStar:
		low, high = 0, more
	case syntax.OpPlus:
		high = 1 + more
	case syntax.OpQuest:
		low, high = 0, min(1, more)
	case syntax.OpRepeat:
		low, high = re.Min, re.Max
		if high < 0 {
			high = low + more
		}
	}
	for range min(high, low+more) {
		for _, sub := range re.Sub {
			example(out, sub, more)
		}
	}
}

// member is a rune of a class, a printable one if there is one.
func member(ranges []rune) rune {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < ranges[i]+128; r++ {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < ranges[i]+128; r++ {
			if unicode.IsPrint(r) {
				return r
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
