package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"jp/internal/httpapi"
	"jp/internal/lib/fault"
	"jp/internal/lib/host"
	"jp/internal/lib/lock"
	"jp/internal/scene"
	"jp/internal/scene/pipeline"
	"jp/internal/scene/sample"
	"jp/internal/scene/sqlstore"
)

const (
	tokenVariable = "JP_TOKEN"
	lastWords     = 20 * time.Second       // for exchanges to save what they have
	lastAnswers   = 500 * time.Millisecond // for requests to be answered
	lastGoodbye   = 5 * time.Second        // for everything else
)

// serving is what `jp serve` was called with.
type serving struct {
	addr, data, tokenFile string
	open                  bool
	allowHosts            []string
	token                 string
	log                   *slog.Logger
}

func (a *app) serveCommand() *cobra.Command {
	s := serving{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve group chats over HTTP",
		Long: `Serve group chats over HTTP: a cast of characters that speaks with the models you connect.

The address is printed once it answers; logs go to stderr, as JSON with -F json.
Without a token only this machine is answered. One is set by the variable
JP_TOKEN or a file; programs send it as "Authorization: Bearer TOKEN", people
type it once. An interrupt saves what is being written and ends the server.`,
		Args:        between(0, 0),
		Annotations: map[string]string{changes: "yes"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), s) },
	}
	f := cmd.Flags()
	f.StringVar(&s.addr, "addr", "127.0.0.1:8787", "`host:port` to listen on; port 0 takes a free one")
	f.StringVar(&s.data, "data", "", "`folder` of the database, instead of scenes in the user's data folder")
	f.BoolVar(&s.open, "open", false, "open the page in a browser")
	f.StringVar(&s.tokenFile, "token-file", "", "`file` that holds the token to ask for; wins over "+tokenVariable)
	f.StringArrayVar(&s.allowHosts, "allow-host", nil, "another `name` by which this server may be addressed; repeatable")
	return cmd
}

// serve runs until ctx is done, which is no failure.
func (a *app) serve(ctx context.Context, s serving) (err error) {
	if s.token, err = a.token(s.tokenFile); err != nil {
		return err
	}
	if err = s.checkAddress(); err != nil {
		return err
	}
	standing, err := a.endpoints()
	if err != nil {
		return err
	}
	s.log = a.logger()
	dir, err := a.dataFolder(s.data)
	if err != nil {
		return err
	}
	held, err := a.holdFolder(ctx, dir, s.addr)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, held.Release()) }()
	// Before the store is made: the start that makes it is the first.
	ln, err := s.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }()
	store, err := sqlstore.Open(ctx, filepath.Join(dir, "scenes.db"))
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, store.Close()) }()
	scenes := scene.New(scene.Config{Store: store, Now: a.Now, Rand: a.Rand, Standing: standing})
	if store.Fresh() {
		if err := sample.Install(ctx, scenes); err != nil {
			return err
		}
	}
	return a.answer(ctx, s, ln, scenes)
}

// answer serves on a listener until ctx is done.
func (a *app) answer(ctx context.Context, s serving, ln net.Listener, scenes *scene.Service) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	srv := &http.Server{
		Handler: httpapi.New(httpapi.Config{
			Scenes: scenes, Runner: a.runner(s, scenes), Version: version, Log: s.log, HTTP: a.HTTP,
			Token: s.token, AllowHosts: s.allowHosts, Rand: a.Rand, Now: a.Now,
		}),
		// No WriteTimeout: an event stream lasts as long as its exchange.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	if err := a.announce(ctx, s, address(ln.Addr())); err != nil {
		cut()
		_ = srv.Close()
		return err
	}
	select {
	case err := <-ended:
		return fault.New(fault.Internal, "the server ended: %w", err)
	case <-ctx.Done():
	}
	s.log.Info("stopping")
	return stop(context.WithoutCancel(ctx), srv, scenes, cut)
}

// runner makes the casts of scenes speak.
func (a *app) runner(s serving, scenes *scene.Service) *pipeline.Runner {
	return &pipeline.Runner{Scenes: scenes, Models: &models{http: a.HTTP, now: a.Now}, Now: a.Now, Log: s.log}
}

// stop lets the exchanges save what they have and requests be answered; the
// streams that are still open then are cut.
func stop(ctx context.Context, srv *http.Server, scenes *scene.Service, cut func()) error {
	saving, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	err := scenes.Close(saving)
	if err != nil {
		err = fault.New(fault.Storage, "not every reply could be saved: %w", err)
	}
	defer time.AfterFunc(lastAnswers, cut).Stop()
	leaving, cancel := context.WithTimeout(ctx, lastGoodbye)
	defer cancel()
	if srv.Shutdown(leaving) != nil {
		_ = srv.Close()
	}
	return err
}

// announce says where the server is, on stdout, and opens it if asked to.
func (a *app) announce(ctx context.Context, s serving, url string) error {
	s.log.Info("serving", "url", url, "token", s.token != "")
	if a.json() {
		if err := a.printJSON(map[string]string{"url": url}); err != nil {
			return err
		}
	} else {
		a.printf("%s\n", url)
	}
	if s.open {
		if err := a.browse(ctx, url); err != nil {
			a.note("no browser could be opened: " + err.Error())
		}
	}
	return nil
}

// address is the URL of what listens at an address; everywhere is here, too.
func address(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return "http://" + at.String() + "/"
	}
	name := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		name = "localhost"
	}
	return "http://" + net.JoinHostPort(name, fmt.Sprint(tcp.Port)) + "/"
}

// token is the token that is asked for; empty when there is none. Errors:
// fault.Usage for a file that cannot be read or holds none, and for a token
// that no header can carry.
func (a *app) token(file string) (string, error) {
	token, from := a.Getenv(tokenVariable), tokenVariable
	if file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(a.Dir, file)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fault.New(fault.Usage, "the token cannot be read from %s: %w", file, fault.Reason(err)).
				WithHint("make one with `openssl rand -hex 24 > FILE`")
		}
		token, from = string(data), file
		if strings.TrimSpace(token) == "" {
			return "", fault.New(fault.Usage, "there is no token in %s", file).WithHint("make one with `openssl rand -hex 24 > FILE`")
		}
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fault.New(fault.Usage, "the token in %s has a space or another character that no header can carry", from).
			WithHint("use letters and digits")
	}
	return token, nil
}

// checkAddress refuses an address that is none, and one that others reach
// while nobody has to show a token. A host that is named counts as allowed.
func (s *serving) checkAddress() error {
	name, _, err := net.SplitHostPort(s.addr)
	if err != nil {
		return fault.New(fault.Usage, "--addr %q is no address to listen on", s.addr).WithHint("take HOST:PORT, like 127.0.0.1:8787")
	}
	if !host.Loopback(name) && s.token == "" {
		return s.exposed()
	}
	if ip := net.ParseIP(name); name != "" && (ip == nil || !ip.IsUnspecified()) {
		s.allowHosts = append(s.allowHosts, name)
	}
	return nil
}

func (s *serving) exposed() error {
	return fault.New(fault.Usage, "without a token, --addr %s would let everybody in who reaches this machine", s.addr).
		WithHint("set one with --token-file or %s, or stay at 127.0.0.1", tokenVariable)
}

// listen opens the address. Errors: fault.Busy when somebody has it,
// fault.Usage for one that cannot be had.
func (s *serving) listen(ctx context.Context) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fault.New(fault.Busy, "something else listens on %s already", s.addr).
			WithHint("if it is another jp, use that one; otherwise take another port, or a free one with --addr 127.0.0.1:0")
	}
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fault.New(fault.Usage, "cannot listen on %s: %w", s.addr, err).WithHint("take HOST:PORT, like 127.0.0.1:8787")
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); s.token == "" && (!ok || !tcp.IP.IsLoopback()) {
		_ = ln.Close() // the name only looked like this machine's
		return nil, s.exposed()
	}
	return ln, nil
}

// dataFolder makes the folder of the database, for the user alone.
func (a *app) dataFolder(dir string) (string, error) {
	switch {
	case dir == "":
		user := a.places().DataDir()
		if user == "" {
			return "", fault.New(fault.Usage, "there is no folder for data: neither HOME nor JP_USER_DATA_DIR is set").WithHint("name one with --data")
		}
		dir = filepath.Join(user, "scenes")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(a.Dir, dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.New(fault.Storage, "cannot make the folder %s: %w", dir, fault.Reason(err)).WithHint("name another with --data")
	}
	return dir, nil
}

// holdFolder keeps other servers out of the folder.
func (a *app) holdFolder(ctx context.Context, dir, addr string) (*lock.Lock, error) {
	l, err := lock.Acquire(ctx, filepath.Join(dir, "lock"), lock.Options{
		Wait: a.waiting, Note: "jp serve --addr " + addr, Pid: a.Pid, Now: a.Now,
	})
	if held, ok := errors.AsType[*lock.Held](err); ok {
		return nil, fault.New(fault.Busy, "the scenes in %s are %w", dir, held).
			WithHint("use that server, stop it, or serve another folder with --data")
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot use the folder %s: %w", dir, fault.Reason(err)).WithHint("look at its permissions, or name another with --data")
	}
	return l, nil
}

// logger writes to stderr: lines of key=value, or JSON with -F json.
func (a *app) logger() *slog.Logger {
	var w io.Writer = a.Stderr
	opt := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.quiet {
		opt.Level = slog.LevelWarn
	}
	if a.json() {
		return slog.New(slog.NewJSONHandler(w, opt))
	}
	return slog.New(slog.NewTextHandler(w, opt))
}
