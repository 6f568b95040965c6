package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// benchmarks run the program itself, in a workspace of their own.
type bench struct {
	bin, root string
	env       []string
}

func newBench(b *testing.B, url string) *bench {
	b.Helper()
	dir := b.TempDir()
	x := &bench{bin: filepath.Join(dir, "jp"), root: filepath.Join(dir, "work")}
	build := exec.Command("go", "build", "-o", x.bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	x.env = append(os.Environ(), "JP_SESSION=bench", "HOME="+dir,
		"JP_USER_DATA_DIR="+filepath.Join(dir, "data"), "JP_GLOBAL_CONFIG_DIR="+filepath.Join(dir, "config"))
	x.write(b, ".jp/.id", "bench\n")
	x.write(b, ".jp/config.toml", fmt.Sprintf("[assistant]\nmodel.id = \"llamacpp/m\"\n[providers.llm.llamacpp]\nbase_url = %q\n[user]\nname = \"bench\"\n", url))
	return x
}

func (x *bench) write(b *testing.B, name, text string) {
	b.Helper()
	path := filepath.Join(x.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (x *bench) jp(b *testing.B, args ...string) {
	b.Helper()
	cmd := exec.Command(x.bin, args...)
	cmd.Dir, cmd.Env = x.root, x.env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("jp %v: %v\n%s", args, err, out)
	}
}

// fill makes n conversations with the base configuration of a real one.
func (x *bench) fill(b *testing.B, n, events int) {
	b.Helper()
	x.jp(b, "q", "--new", "seed")
	dirs, err := filepath.Glob(filepath.Join(x.root, ".jp/conversations/[0-9]*"))
	if err != nil || len(dirs) != 1 {
		b.Fatal(err, dirs)
	}
	base, err := os.ReadFile(filepath.Join(dirs[0], "base_config.json"))
	if err != nil {
		b.Fatal(err)
	}
	log := logOf(events)
	for i := range n {
		dir := fmt.Sprintf(".jp/conversations/%d-a-title-of-some-length", 17700000000+i)
		x.write(b, dir+"/base_config.json", string(base))
		x.write(b, dir+"/events.json", log)
		x.write(b, dir+"/metadata.json", fmt.Sprintf("{\n  \"title\": \"A title of some length\",\n  \"last_activated_at\": \"2026-05-01 12:00:%02d.0\"\n}\n", i%60))
	}
}

func logOf(events int) string {
	var log strings.Builder
	log.WriteString("[\n")
	for i := 0; i < events; i += 3 {
		if i > 0 {
			log.WriteString(",\n")
		}
		text := strings.Repeat("some words of an ordinary answer ", 12)
		fmt.Fprintf(&log, `  {"event_id":"t%06d","timestamp":"2026-05-01 12:00:00.0","type":"turn_start"},
  {"event_id":"r%06d","timestamp":"2026-05-01 12:00:00.0","type":"chat_request","content":"question %d"},
  {"event_id":"a%06d","request_id":"r%06d","participant":"assistant","timestamp":"2026-05-01 12:00:00.0","type":"chat_response","message":%q}`, i, i, i, i, i, text)
	}
	log.WriteString("\n]\n")
	return log.String()
}

// BenchmarkFirstByte is the time from starting the process to the first byte
// of its request: 1,000 conversations, 1,000 events in the active one, which
// starts each run as it was.
func BenchmarkFirstByte(b *testing.B) {
	var arrived atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.CompareAndSwap(0, time.Now().UnixNano())
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	x := newBench(b, server.URL)
	x.fill(b, 1000, 1000)
	active := filepath.Join(x.root, ".jp/conversations/17700000500-a-title-of-some-length/events.json")
	log := logOf(1000)
	x.jp(b, "c", "use", "17700000500")
	var total time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		if err := os.WriteFile(active, []byte(log), 0o644); err != nil {
			b.Fatal(err)
		}
		arrived.Store(0)
		b.StartTimer()
		start := time.Now()
		x.jp(b, "q", "a question")
		total += time.Duration(arrived.Load() - start.UnixNano())
		n++
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(n), "ms-to-first-byte")
}

// BenchmarkChunk is what a streamed chunk of four bytes costs on its way from
// the provider's socket to the terminal, Markdown and colours included: the
// run of a long answer less that of a short one, by the chunks between them.
func BenchmarkChunk(b *testing.B) {
	const chunks = 5000
	piece := []string{"Some", " **w", "ord*", "* an", "d `c", "ode`", " in ", "a se", "nten", "ce.\n", "\n- i", "tem\n", "\n``", "`go\n", "x :=", " 1\n", "```\n", "\n"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		n := 1
		if strings.Contains(string(data), "a long one") {
			n = chunks
		}
		for i := range n {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece[i%len(piece)])
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	x := newBench(b, server.URL)
	x.env = append(x.env, "CLICOLOR_FORCE=1", "TERM=xterm-256color")
	var long, short time.Duration
	n := 0
	for b.Loop() {
		start := time.Now()
		x.jp(b, "q", "--new", "a long one")
		long += time.Since(start)
		start = time.Now()
		x.jp(b, "q", "--new", "a short one")
		short += time.Since(start)
		n++
	}
	b.ReportMetric(float64((long-short).Microseconds())/float64(n)/(chunks-1), "µs/chunk")
}

// BenchmarkList is `jp c ls` with 10,000 conversations: cold without the
// index, warm with it.
func BenchmarkList(b *testing.B) {
	x := newBench(b, "http://127.0.0.1:1")
	x.write(b, ".jp/config.toml", "[assistant]\nmodel.id = \"offline/rehearsal\"\n")
	x.fill(b, 10_000, 30)
	index := func() []string {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(x.root), "data/workspace/*/*index*"))
		if err != nil {
			b.Fatal(err)
		}
		return found
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			for _, f := range index() {
				if err := os.Remove(f); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
			x.jp(b, "c", "ls")
		}
	})
	b.Run("warm", func(b *testing.B) {
		x.jp(b, "c", "ls")
		if len(index()) == 0 {
			b.Fatal("there is no index")
		}
		for b.Loop() {
			x.jp(b, "c", "ls")
		}
	})
}
