package macro

import (
	"strconv"
	"strings"
)

// Bounds of a roll. More dice than anybody throws are a mistake, or an attempt
// to keep the program busy.
const (
	mostDice  = 1000
	mostSides = 1_000_000
	mostBonus = 1_000_000
)

// roll writes the sum of the dice that spec ("::2d6+1") asks for, of the macro
// text[i:end].
func (p *inliner) roll(i, end int, spec string) bool {
	count, sides, bonus, ok := dice(spec)
	if !ok || !p.throw(i, end) {
		return false
	}
	sum := bonus
	for range count {
		sum += 1 + p.dice(sides)
	}
	return p.write(strconv.Itoa(sum))
}

// dice reads the arguments of a roll; ok is false when they are none, or out
// of bounds.
func dice(spec string) (count, sides, bonus int, ok bool) {
	if !strings.HasPrefix(spec, ":") || len(spec) > 64 {
		return 0, 0, 0, false
	}
	spec = strings.TrimPrefix(strings.TrimPrefix(spec, ":"), ":")
	spec = strings.ToLower(strings.ReplaceAll(spec, " ", ""))
	n, m, found := strings.Cut(spec, "d")
	if !found {
		return 0, 0, 0, false
	}
	if n == "" {
		n = "1"
	}
	sign := 1
	m, k, found := strings.Cut(strings.Replace(m, "-", "+-", 1), "+")
	if !found {
		k = "0"
	}
	if strings.HasPrefix(k, "-") {
		sign, k = -1, k[1:]
	}
	count, okN := number(n, 1, mostDice)
	sides, okM := number(m, 1, mostSides)
	bonus, okK := number(k, 0, mostBonus)
	return count, sides, sign * bonus, okN && okM && okK
}

// number reads digits between two bounds.
func number(s string, least, most int) (int, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= least && n <= most
}
