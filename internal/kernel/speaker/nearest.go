package speaker

import "strings"

// Distance is the number of characters to insert, delete, replace or swap with
// their neighbour to get from a to b.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, above, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(s); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(t)]
}

// Nearest returns the known name that somebody who wrote name most likely
// meant: the closest one, the first of equals, case ignored, and none when
// more than a third of it would have to change.
func Nearest(name string, known []string) (string, bool) {
	folded := strings.ToLower(name)
	length := len([]rune(folded))
	best, nearest := min(max(1, length/3), length-1)+1, ""
	for _, k := range known {
		if abs(len(k)-len(name)) > 4*best {
			continue // cannot be near, and may be long
		}
		if d := Distance(folded, strings.ToLower(k)); d < best {
			best, nearest = d, k
		}
	}
	return nearest, nearest != ""
}

func abs(n int) int { return max(n, -n) }
