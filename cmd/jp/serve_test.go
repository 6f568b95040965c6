package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// visits is a program for scripts: it runs a server, waits until that printed
// its address, does what the lines of the file VISITS say, interrupts it, and
// fails unless it ends with the exit code CODE. Its logs become our errors.
//
//	exec visits CODE VISITS COMMAND [ARG…]
//
// A line of VISITS is one of
//
//	METHOD PATH [Name:value…] [BODY]  a request, without following redirects;
//	                     prints the status, where it leads, the body; in a
//	                     value _ is a space
//	run COMMAND [ARG…]   another program; prints exit code and errors
//
// ADDR in a line is the server's host and port, LAST the id of the row that was
// answered last. What is printed says ADDR, DIR
// and PID for what is another each time.
func visits() {
	args := os.Args[1:]
	if len(args) < 3 {
		fail("usage: visits CODE VISITS COMMAND [ARG…]")
	}
	lines, err := os.ReadFile(args[1])
	if err != nil {
		fail(err)
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fail(err)
	}
	first, err := bufio.NewReader(out).ReadString('\n')
	if u, bad := url.Parse(strings.TrimSpace(first)); err == nil && bad == nil && u.Host != "" {
		if err := visit(cmd.Process.Pid, u.Host, strings.Split(strings.TrimSpace(string(lines)), "\n")); err != nil {
			_ = cmd.Process.Kill()
			fail(err)
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}
	_ = cmd.Wait() // its code is looked at below
	if got := cmd.ProcessState.ExitCode(); strconv.Itoa(got) != args[0] {
		fail(fmt.Sprintf("the exit code is %d, not %s", got, args[0]))
	}
}

func fail(what any) {
	fmt.Fprintln(os.Stderr, "visits:", what)
	os.Exit(1)
}

func visit(pid int, addr string, lines []string) error {
	dir, _ := os.Getwd()
	tidy := strings.NewReplacer(addr, "ADDR", dir, "DIR", "process "+strconv.Itoa(pid), "process PID")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	last := ""
	for _, line := range lines {
		words := strings.Fields(strings.NewReplacer("ADDR", addr, "LAST", last).Replace(line))
		fmt.Println("#", line)
		var text string
		if words[0] == "run" {
			cmd := exec.Command(words[1], words[2:]...)
			said, _ := cmd.CombinedOutput()
			text = fmt.Sprintf("%d\n%s", cmd.ProcessState.ExitCode(), said)
		} else {
			var err error
			if text, err = request(client, addr, words); err != nil {
				return err
			}
		}
		if id := row.FindStringSubmatch(text); id != nil {
			last = id[1]
		}
		fmt.Println(strings.TrimSpace(tidy.Replace(text)))
	}
	return nil
}

// row finds the id of the row that an answer is.
var row = regexp.MustCompile(`\n{"id":"([^"]+)"`)

func request(client *http.Client, addr string, words []string) (string, error) {
	body := ""
	if last := words[len(words)-1]; len(words) > 2 && !strings.Contains(last, ":") || strings.HasPrefix(last, "{") {
		body, words = last, words[:len(words)-1]
	}
	r, err := http.NewRequest(words[0], "http://"+addr+words[1], strings.NewReader(body))
	if err != nil {
		return "", err
	}
	if body != "" && !strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range words[2:] {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.ReplaceAll(value, "_", " "); name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	text := resp.Status
	if to := resp.Header.Get("Location"); to != "" {
		text += " " + to
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return text + " (a page)", nil
	}
	return text + "\n" + string(data), nil
}
