// Command scene plays a scene of some exchanges against jp serve and tells how
// much of what its model was sent the model had read before: what a server
// with a prompt cache need not read again.
//
// The model is a stand-in of this program, whose answers depend on nothing but
// their number, or any server that speaks chat completions. Between it and jp
// stands a proxy that keeps what passes. jp is known by its command line and
// its HTTP API alone.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/scripts/harness"
)

// options are the flags.
type options struct {
	jp, server, model, keyEnv, provider, mode, dump string
	exchanges, members, maxTokens                   int
	wait                                            bool
}

func main() {
	var o options
	flag.StringVar(&o.jp, "jp", "bin/jp", "the program to try")
	flag.StringVar(&o.server, "server", "", "base URL of a model server, up to and including /v1; none is a stand-in")
	flag.StringVar(&o.model, "model", "", "the model's name at the server")
	flag.StringVar(&o.keyEnv, "key-env", "", "environment variable that holds the server's key")
	flag.StringVar(&o.provider, "provider", "", "openai, openrouter, llamacpp or ollama; none is told from the URL")
	flag.StringVar(&o.mode, "mode", "private", "character context: private, shared or swap")
	flag.IntVar(&o.exchanges, "n", 20, "exchanges to play")
	flag.IntVar(&o.members, "members", 4, "members of the cast")
	flag.IntVar(&o.maxTokens, "max-tokens", 0, "most tokens of an answer; 0 is jp's default")
	flag.StringVar(&o.dump, "dump", "", "file to write the requests to, one a line")
	flag.BoolVar(&o.wait, "wait", true, "half-way, wait for the clock's minute to turn")
	flag.Parse()
	if err := o.check(); err != nil {
		fmt.Fprintln(os.Stderr, "scene:", err)
		os.Exit(2)
	}
	if err := harness.WithFolder("scene", func(dir string) error { return run(o, dir) }); err != nil {
		fmt.Fprintln(os.Stderr, "scene:", err)
		os.Exit(1)
	}
}

func (o *options) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("what is %q", flag.Arg(0))
	case !slices.Contains([]string{"private", "shared", "swap"}, o.mode):
		return fmt.Errorf("there is no mode %q", o.mode)
	case o.exchanges < 1:
		return errors.New("-n begins at 1")
	case o.members < 1 || o.members > len(people()):
		return fmt.Errorf("-members is 1 to %d", len(people()))
	case o.server != "" && o.model == "":
		return errors.New("-server needs -model")
	case o.keyEnv != "" && os.Getenv(o.keyEnv) == "":
		return fmt.Errorf("%s is not set", o.keyEnv)
	}
	if o.server == "" {
		o.model = "stand-in"
		return nil
	}
	u, err := url.Parse(o.server)
	if err != nil || u.Host == "" || !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		return fmt.Errorf("%q is no base URL that ends in /v1", o.server)
	}
	o.server = strings.TrimRight(o.server, "/")
	if o.provider == "" {
		o.provider = providerOf(u)
	}
	return nil
}

// providerOf does what jp would, which sees the proxy's URL alone.
func providerOf(u *url.URL) string {
	switch {
	case u.Host == "api.openai.com":
		return "openai"
	case u.Host == "openrouter.ai":
		return "openrouter"
	case u.Port() == "11434":
		return "ollama"
	case u.Port() == "8080":
		return "llamacpp"
	}
	return ""
}

// pathOf is the path of a base URL that was checked.
func pathOf(base string) string {
	u, _ := url.Parse(base)
	return u.Path
}

func run(o options, dir string) error {
	target := o.server
	if target == "" {
		standIn, err := listen(newStandIn())
		if err != nil {
			return err
		}
		defer standIn.Close()
		target = standIn.url + "/v1"
	}
	rec, err := newRecorder(target, os.Getenv(o.keyEnv))
	if err != nil {
		return err
	}
	proxy, err := listen(rec)
	if err != nil {
		return err
	}
	defer proxy.Close()
	binary, err := filepath.Abs(o.jp)
	if err != nil {
		return err
	}
	web, err := harness.StartWeb(binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer web.Stop()
	began := time.Now()
	p := play{options: o, server: server{web}, rec: rec}
	err = p.play(proxy.url + pathOf(target))
	p.report(os.Stdout, time.Since(began))
	if o.dump != "" {
		err = errors.Join(err, rec.dump(o.dump))
	}
	return err
}
