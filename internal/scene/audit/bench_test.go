package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"jp/internal/scene"
	"jp/internal/scene/audit"
)

// prose makes n words that read like a reply, different for each seed.
func prose(n, seed int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i%90 == 89:
			b.WriteString("end.\n\n")
		case i%13 == 12:
			b.WriteString("stop. ")
		case i%7 == 3:
			b.WriteString("the ")
		default:
			fmt.Fprintf(&b, "w%dx ", (i*i+seed*7919)%(600+seed))
		}
	}
	return b.String()
}

func replies(n, words int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prose(words, i+1)
	}
	return list
}

func large() []scene.Phrase {
	var list []scene.Phrase
	for i := range 500 {
		list = append(list, scene.Phrase{Kind: scene.LiteralPhrase, Variants: []string{fmt.Sprintf("w%dx the phrase", i), fmt.Sprintf("a w%dx", i)}})
	}
	for i := range 10 {
		list = append(list, scene.Phrase{Kind: scene.RegexPhrase, Pattern: fmt.Sprintf(`\bw%d\w+ (the|a) w\d+`, i)})
	}
	return list
}

func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name           string
		draft, replies int
	}{{"draft 500 of 500", 500, 500}, {"draft 2000 of 300", 2000, 300}, {"draft 2000 of 2000", 2000, 2000}, {"draft 20000 of 2000", 20000, 2000}} {
		in := audit.Input{Draft: prose(c.draft, 0), Recent: replies(20, c.replies), Quoted: prose(200, 3)}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				audit.Run(in)
			}
		})
		in.Phrases = large()
		b.Run(c.name+" with a large bank", func(b *testing.B) {
			for b.Loop() {
				audit.Run(in)
			}
		})
	}
}

// Texts that are all one thing: ten times the text must take about ten times
// as long.
func BenchmarkHostile(b *testing.B) {
	for _, unit := range []string{"`", "``` `", "a.", "? ", "\"", "* ", "http://", "1. ", "not ", "彼", ".1 ", "\n", "x", "…!", "it is not a, "} {
		for _, n := range []int{2_000, 20_000} {
			text := strings.Repeat(unit, n)
			in := audit.Input{Draft: text, Recent: []string{text, text}, Quoted: text, Phrases: bank()}
			b.Run(fmt.Sprintf("%q %d", unit, n), func(b *testing.B) {
				for b.Loop() {
					audit.Run(in)
				}
			})
		}
	}
}
