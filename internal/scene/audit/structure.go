package audit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/internal/scene/prose"
)

const (
	leastBlocks = 3    // a reply with fewer has no structure to repeat
	mostBlocks  = 64   // so many are compared
	similarity  = 0.75 // of two structures that are felt as the same
	sameReplies = 2    // recent replies of one structure make a habit
	recentShape = 5    // replies back that are still in the ear
)

// structure finds a draft that is built, paragraph for paragraph, like replies
// shortly before it. The finding is about the whole.
func structure(t text, recent []string) []hit {
	own := skeleton(t.raw)
	if len(own) < leastBlocks {
		return nil
	}
	same := 0
	for _, reply := range recent[max(0, len(recent)-recentShape):] {
		if other := skeleton(reply); len(other) >= leastBlocks && likeness(own, other) >= similarity {
			same++
		}
	}
	if same < sameReplies {
		return nil
	}
	return []hit{{why: fmt.Sprintf("%d of the last replies are built the same, paragraph for paragraph: %s", same, strings.Join(own, ", "))}}
}

// skeleton describes each paragraph by what it is and about how long.
func skeleton(s string) []string {
	var list []string
	for _, b := range blocks(s) {
		if len(list) == mostBlocks {
			break
		}
		list = append(list, describe(strings.TrimSpace(b)))
	}
	return list
}

func describe(block string) string {
	first, _ := utf8.DecodeRuneInString(block)
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(block, "*_ "))
	switch {
	case strings.HasPrefix(block, "```"), strings.HasPrefix(block, "~~~"):
		return "code"
	case marker(block) != block && first == '#':
		return "heading"
	case marker(block) != block && first == '>':
		return "quoted block"
	case marker(block) != block:
		return "list"
	case strings.Trim(block, "*-_ ") == "":
		return "rule"
	}
	length := "long"
	switch n := Words(block); {
	case n <= 12:
		length = "short"
	case n <= 45:
		length = "middling"
	}
	speech := spoken(block)
	ends := len(speech) > 0 && speech[len(speech)-1].end+utf8.RuneLen(last) >= len(block)
	switch {
	case prose.Closing(first) != "" && ends:
		return length + " speech"
	case prose.Closing(first) != "":
		return length + " speech, then narration"
	case ends:
		return length + " narration, then speech"
	case len(speech) > 0:
		return length + " narration around speech"
	case (first == '*' || first == '_') && !unicode.IsLetter(last):
		return length + " action"
	}
	return length + " narration"
}

// likeness is how much of both is the same in the same order, up to 1.
func likeness(a, b []string) float64 {
	row := make([]int, len(b)+1) // of the longest common subsequence
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}
