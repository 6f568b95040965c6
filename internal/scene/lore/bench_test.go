package lore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"jp/internal/scene"
	"jp/internal/scene/lore"
)

// library makes entries of words that texts are made of, too.
func library(n int, change func(i int, e *scene.Entry)) ([]scene.World, []scene.Entry) {
	r := rand.New(rand.NewPCG(1, 2))
	entries := make([]scene.Entry, n)
	for i := range entries {
		e := scene.NewEntry()
		e.ID, e.WorldID, e.Name = fmt.Sprint(i), "w", fmt.Sprint("entry ", i)
		e.Keys = []string{word(r) + word(r), word(r) + " " + word(r)}
		e.Content = prose(r, 200)
		if change != nil {
			change(i, &e)
		}
		entries[i] = e
	}
	return []scene.World{{ID: "w"}}, entries
}

func word(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString([]string{"ba", "ro", "den", "mir", "el", "tha", "ka", "sun", "or", "li", "ves", "gon", "ar", "is", "tu", "nal"}[r.IntN(16)])
	}
	return b.String()
}

func prose(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(word(r))
		b.WriteString([]string{" ", " ", " ", ", ", ".\n"}[r.IntN(5)])
	}
	return b.String()[:size]
}

func messages() []string {
	r := rand.New(rand.NewPCG(3, 4))
	list := make([]string, 6)
	for i := range list {
		list[i] = prose(r, 4<<10)
	}
	return list
}

func BenchmarkCompile(b *testing.B) {
	for name, change := range books() {
		worlds, entries := library(10_000, change)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lore.Compile(worlds, entries)
			}
		})
	}
}

// BenchmarkSelect: 10,000 entries over 6 messages of 4 kB.
func BenchmarkSelect(b *testing.B) {
	for name, change := range books() {
		worlds, entries := library(10_000, change)
		b.Run(name, selecting(lore.Compile(worlds, entries), messages()))
	}
	for name, letter := range map[string]rune{"Cyrillic": 'а', "Han": '一'} {
		write := func(text string) string {
			return strings.Map(func(r rune) rune {
				if r < 'a' || r > 'z' {
					return r
				}
				return letter + r - 'a'
			}, text)
		}
		worlds, entries := library(10_000, func(_ int, e *scene.Entry) { e.Keys = []string{write(e.Keys[0]), write(e.Keys[1])} })
		texts := messages()
		for i := range texts {
			texts[i] = write(texts[i][:len(texts[i])/len(string(letter))])
		}
		b.Run(name, selecting(lore.Compile(worlds, entries), texts))
	}
	worlds, entries := library(10_000, nil)
	worlds[0].Recursive = true
	b.Run("recursive", selecting(lore.Compile(worlds, entries), messages()))
}

func selecting(x *lore.Index, texts []string) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		var s lore.Selection
		for b.Loop() {
			s = x.Select(texts, nil)
		}
		b.ReportMetric(float64(len(s.Keyword)), "hits")
	}
}

func books() map[string]func(int, *scene.Entry) {
	return map[string]func(int, *scene.Entry){
		"literal":  nil,
		"case":     func(i int, e *scene.Entry) { e.CaseInsensitive = i%2 == 0 },
		"patterns": func(i int, e *scene.Entry) { e.Regex, e.Keys = true, []string{`\b` + e.Keys[0] + `(s|es)?\b`} },
	}
}
