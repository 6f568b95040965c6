package conversation

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"jp/internal/workspace/config"
)

// The table in docs/performance.md: 100,000 events, about 60 MB.
const benchEvents = 100_000

// bigLog writes a conversation of the benchmark's size into a new directory.
func bigLog(b *testing.B) (dir string, size int64) {
	b.Helper()
	dir = b.TempDir()
	s, err := New(17000000000, config.Tree{"conversation": config.Tree{"participants": []any{"dev"}}}, testEnv())
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("A line of an answer, with \"quotes\" and\nbreaks. ", 7)
	request := ""
	for i := range benchEvents {
		ev := Event{ID: fmt.Sprintf("e%06d", i), Kind: ChatResponse, Form: Message, Content: text, Participant: "dev", Request: request}
		switch i % 20 {
		case 0:
			ev = Event{ID: ev.ID, Kind: TurnStart}
		case 1:
			ev = Event{ID: ev.ID, Kind: ChatRequest, Content: text, Author: "jean"}
			request = ev.ID
		case 2, 4, 6:
			ev.Kind, ev.CallID, ev.Name, ev.Arguments = ToolCallRequest, ev.ID, "fs_read_file", []byte(`{"path":"internal/x.go"}`)
		case 3, 5, 7:
			ev.Kind, ev.CallID, ev.Content = ToolCallResponse, fmt.Sprintf("e%06d", i-1), text+text
		}
		if _, err := s.Append(ev); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Save(dir); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, EventsFile))
	if err != nil {
		b.Fatal(err)
	}
	return dir, info.Size()
}

// BenchmarkLoad reports, beside the time, the memory that one load takes from
// the system as a multiple of the file.
func BenchmarkLoad(b *testing.B) {
	dir, size := bigLog(b)
	b.SetBytes(size)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := Load(dir, 17000000000, testEnv())
	if err != nil || s.Len() != benchEvents {
		b.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	for b.Loop() {
		if _, err := Load(dir, 17000000000, testEnv()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(size), "allocated/file")
}

// BenchmarkLines is what a projection needs on top of loading, the first time.
func BenchmarkLines(b *testing.B) {
	dir, size := bigLog(b)
	b.SetBytes(size)
	for b.Loop() {
		b.StopTimer()
		s, err := Load(dir, 17000000000, testEnv())
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		s.Lines()
	}
}

// BenchmarkSave adds one answer to the big log and, in turn so that both meet
// the same disk, writes, syncs and renames as many bytes without looking at
// them. It reports the ratio of the two medians.
func BenchmarkSave(b *testing.B) {
	dir, size := bigLog(b)
	data, err := os.ReadFile(filepath.Join(dir, EventsFile))
	if err != nil {
		b.Fatal(err)
	}
	s, err := Load(dir, 17000000000, testEnv())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	var saves, bare []time.Duration
	for b.Loop() {
		at := time.Now()
		if _, err := s.Append(Event{Kind: ChatResponse, Form: Message, Content: "An answer.", Participant: "dev"}); err != nil {
			b.Fatal(err)
		}
		if err := s.Save(dir); err != nil {
			b.Fatal(err)
		}
		saves = append(saves, time.Since(at))
		b.StopTimer()
		at = time.Now()
		bareWrite(b, filepath.Join(dir, "bare"), data)
		bare = append(bare, time.Since(at))
		b.StartTimer()
	}
	slices.Sort(saves)
	slices.Sort(bare)
	b.ReportMetric(float64(saves[len(saves)/2])/float64(bare[len(bare)/2]), "save/bare")
}

func bareWrite(b *testing.B, path string, data []byte) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	f.Close()
	if err := os.Rename(f.Name(), path); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFirstSave stores the ids that an older log of this size lacks.
func BenchmarkFirstSave(b *testing.B) {
	dir, size := bigLog(b)
	path := filepath.Join(dir, EventsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	old := bytes.ReplaceAll(data, []byte(`"event_id"`), []byte(`"former_id"`))
	b.SetBytes(size)
	for b.Loop() {
		b.StopTimer()
		if err := os.WriteFile(path, old, 0o600); err != nil {
			b.Fatal(err)
		}
		s, err := Load(dir, 17000000000, testEnv())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Append(Event{Kind: TurnStart}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := s.Save(dir); err != nil {
			b.Fatal(err)
		}
	}
}
