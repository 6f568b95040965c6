package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// WithFolder runs a script with a folder of its own, which is left behind when it
// fails, for whoever looks into it.
func WithFolder(name string, script func(dir string) error) error {
	dir, err := os.MkdirTemp("", "jp-"+name+"-")
	if err != nil {
		return err
	}
	if err := script(dir); err != nil {
		return fmt.Errorf("%w\nthe data is left in %s", err, dir)
	}
	return os.RemoveAll(dir)
}

// Web is a run of jp serve.
type Web struct {
	URL  string
	HTTP http.Client // that asks it; to be set up before the first request
	cmd  *exec.Cmd
	log  bytes.Buffer
}

// StartWeb runs the jp at binary on a data folder and waits for its address.
// Nothing of the caller's environment reaches it but PATH: no keys, no
// configuration.
func StartWeb(binary, dir string) (*Web, error) {
	w := &Web{cmd: exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--data", dir)}
	w.cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	w.cmd.Stderr = &w.log
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("build jp first: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			w.URL = strings.TrimRight(strings.Fields(lines.Text()[at:])[0], "/")
			return w, nil
		}
	}
	w.Stop()
	return nil, fmt.Errorf("jp serve gave no address:\n%s", w.log.String())
}

// PID is the process.
func (w *Web) PID() int { return w.cmd.Process.Pid }

// Stop lets the server end by itself, and ends it if it does not.
func (w *Web) Stop() {
	_ = w.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(20*time.Second, func() { _ = w.cmd.Process.Kill() })
	_ = w.cmd.Wait()
	late.Stop()
}

// Kill ends the server with nothing put in order.
func (w *Web) Kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// Refusal is an answer that is none of success.
type Refusal struct {
	Request string // method and path
	Status  int
	Body    string
}

func (r Refusal) Error() string { return fmt.Sprintf("%s: status %d: %s", r.Request, r.Status, r.Body) }

// Ask sends a request, with body as JSON unless it is nil. An answer that is
// none of success is a Refusal; another error means that the server is gone.
func (w *Web) Ask(method, path string, body any) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, w.URL+path, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.HTTP.Do(req)
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	detail, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	return nil, Refusal{method + " " + path, res.StatusCode, string(bytes.TrimSpace(detail))}
}

// Call is Ask with the answer read whole, into answer unless that is nil.
func (w *Web) Call(method, path string, body, answer any) error {
	res, err := w.Ask(method, path, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(got, answer)
}
