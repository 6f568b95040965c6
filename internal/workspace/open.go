package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
	"jp/internal/lib/lock"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

// Wait says how to wait for a conversation that another process has open.
type Wait struct {
	For    time.Duration       // below 0 for ever, 0 not at all
	OnWait func(holder string) // called once when there is something to wait for
}

// Conversation is one conversation in memory.
type Conversation struct {
	ID       conversation.ID
	Dir      string // empty when it exists in memory only
	Local    bool
	Archived bool
	Stream   *conversation.Stream // nil when Broken and the log cannot be read
	Meta     *conversation.Meta   // never nil
	// Broken says what cannot be read, or that other folders have the same id
	// and this is the one written last; only Read and Edit return such a
	// conversation. What can be read is set.
	Broken error

	w     *Workspace
	lock  *lock.Lock // nil when it was only read
	title string     // that the directory is named after
}

// Read returns a conversation as it is now, without a lock and not to be
// saved. A damaged one is returned with Broken set. Errors: fault.NotFound and
// fault.Storage.
func (w *Workspace) Read(id conversation.ID) (*Conversation, error) {
	for tries := 0; ; tries++ {
		at, err := w.locate(id)
		if err != nil {
			return nil, err
		}
		c, err := w.load(at)
		// Somebody who changed the title renamed the directory meanwhile.
		if err == nil || tries == 3 || !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
}

func (w *Workspace) load(at found) (*Conversation, error) {
	c := &Conversation{ID: at.id, Dir: at.path, Local: at.local, Archived: at.archived, w: w}
	var err error
	var broken, brokenMeta error
	c.Meta, brokenMeta = conversation.LoadMeta(at.path)
	if c.Meta == nil {
		c.Meta = &conversation.Meta{}
	}
	c.title = c.Meta.Title
	c.Stream, broken = conversation.Load(at.path, at.id, w.streamEnv())
	for _, e := range []error{broken, brokenMeta} {
		if e != nil && fault.CodeOf(e) != fault.Damaged {
			err = e
		}
	}
	c.Broken = cmp.Or(at.twinned(), broken, brokenMeta)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot read conversation %s: %w", at.id, err)
	}
	return c, nil
}

func (w *Workspace) streamEnv() conversation.Env {
	return conversation.Env{Now: w.env.Now, Rand: w.env.Rand}
}

// Open locks a conversation and returns it as it is then. Close gives the lock
// back. Errors: fault.NotFound, fault.Busy when the wait is over, ctx's cause,
// fault.Damaged, also for an entry that cannot be understood (nobody's words
// may be missing from a request without notice), fault.Storage.
func (w *Workspace) Open(ctx context.Context, id conversation.ID, wait Wait) (*Conversation, error) {
	c, err := w.Edit(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	if c.Broken == nil {
		c.Broken = cmp.Or(c.Stream.Check()...)
	}
	if c.Broken != nil {
		c.Close()
		return nil, c.Broken
	}
	return c, nil
}

// Edit is Open for repair: a damaged conversation is returned with Broken set.
func (w *Workspace) Edit(ctx context.Context, id conversation.ID, wait Wait) (*Conversation, error) {
	if w.env.NoPersist {
		return w.Read(id)
	}
	if _, err := w.locate(id); err != nil { // before a lock file is made for a typing error
		return nil, err
	}
	l, err := w.acquire(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	at, err := w.locate(id) // it may have been renamed or removed meanwhile
	if err == nil {
		_ = atomicfile.Sweep(at.path) // leftovers of a killed process; they are in nobody's way
		var c *Conversation
		if c, err = w.load(at); err == nil {
			c.lock = l
			return c, nil
		}
	}
	_ = l.Release()
	return nil, err
}

func (w *Workspace) acquire(ctx context.Context, id conversation.ID, wait Wait) (*lock.Lock, error) {
	path := filepath.Join(w.scratch("locks"), id.String()+".lock")
	l, err := lock.Acquire(ctx, path, lock.Options{
		Wait: wait.For, OnWait: wait.OnWait, Note: w.env.Command, Pid: w.env.Pid, Now: w.env.Now,
	})
	if err == nil {
		return l, nil
	}
	if held, ok := errors.AsType[*lock.Held](err); ok {
		return nil, fault.New(fault.Busy, "conversation %s is %w", id, held).
			WithHint("wait for it to finish, or wait longer with `--wait DURATION`")
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return nil, err
	}
	return nil, fault.New(fault.Storage, "cannot lock conversation %s: %w", id, err)
}

// Save writes what changed: metadata, configuration, events. Each file is
// replaced whole or not at all, and what the call saved survives a crash after
// it returns. After a change of title the directory is renamed. Without a lock
// (NoPersist) nothing happens. Errors: fault.Damaged when the conversation is
// Broken or somebody damaged its files meanwhile, fault.Storage.
func (c *Conversation) Save(context.Context) error {
	if c.lock == nil {
		return nil
	}
	if c.Broken != nil {
		return c.Broken
	}
	if !isDir(c.Dir) {
		if err := c.recover(); err != nil {
			return err
		}
	}
	if err := c.Meta.Save(c.Dir); err != nil {
		return err
	}
	if err := c.Stream.Save(c.Dir); err != nil {
		return err
	}
	c.rename()
	return nil
}

// recover finds the directory again, or makes it anew when it is gone: a
// checkout of another branch must not lose an answer.
func (c *Conversation) recover() error {
	if at, err := c.w.locate(c.ID); err == nil {
		c.Dir = at.path
		return nil
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fault.New(fault.Storage, "cannot save conversation %s: %w", c.ID, err)
	}
	return nil
}

// rename names the directory after the title. Everything is found by the
// number in front, so a name that cannot be had is no failure.
func (c *Conversation) rename() {
	if c.Meta.Title == c.title {
		return
	}
	c.title = c.Meta.Title
	to := filepath.Join(filepath.Dir(c.Dir), c.ID.DirName(c.title))
	if to != c.Dir && os.Rename(c.Dir, to) == nil {
		c.Dir = to
		_ = atomicfile.SyncDir(filepath.Dir(to))
	}
}

// Replace makes data the contents of one of the conversation's files, after
// checking that it may be. c is not read anew. Errors: fault.Damaged, with the
// place in data; fault.Storage; fault.Invalid without a lock.
func (c *Conversation) Replace(file string, data []byte) error {
	path := filepath.Join(c.Dir, file)
	if err := conversation.Check(path, data); err != nil {
		return err
	}
	if c.lock == nil {
		return fault.New(fault.Invalid, "conversation %s is open for reading only", c.ID)
	}
	if err := atomicfile.Write(path, 0o644, data); err != nil {
		return fault.New(fault.Storage, "cannot save %s: %w", path, err)
	}
	if file != conversation.MetadataFile {
		return nil
	}
	meta, err := conversation.ParseMeta(path, data)
	if err != nil {
		return err
	}
	c.Meta = meta
	c.rename()
	return nil
}

// Close gives the lock back. What was not saved is lost. It may be called
// twice.
func (c *Conversation) Close() error {
	if c.lock == nil {
		return nil
	}
	err := c.lock.Release()
	c.lock = nil
	return err
}

// Spec is a conversation to be created.
type Spec struct {
	Base   config.Tree // stored as it is: see config.Snapshot
	Events []conversation.Event
	Title  string
	Local  bool
}

// Create makes a new conversation and returns it open. It appears with all of
// spec in it or not at all. Its id is the current tenth of a second, or the
// next one that is free. With NoPersist it exists in memory only. Errors:
// fault.Storage, ctx's cause.
func (w *Workspace) Create(ctx context.Context, spec Spec) (*Conversation, error) {
	now := w.env.Now()
	id, l := conversation.NewID(now), (*lock.Lock)(nil)
	if !w.env.NoPersist {
		var err error
		if id, l, err = w.claim(ctx, id); err != nil {
			return nil, err
		}
	}
	c, err := w.create(id, spec, now, l)
	if err != nil && l != nil {
		_ = l.Release()
	}
	return c, err
}

// claim finds the first free id from the given one on and locks it.
func (w *Workspace) claim(ctx context.Context, id conversation.ID) (conversation.ID, *lock.Lock, error) {
	for ; ; id++ {
		l, err := w.acquire(ctx, id, Wait{})
		if fault.CodeOf(err) == fault.Busy && err != nil {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		_, err = w.locate(id)
		if fault.CodeOf(err) == fault.NotFound && err != nil {
			return id, l, nil
		}
		_ = l.Release()
		if err != nil {
			return 0, nil, err
		}
	}
}

func (w *Workspace) create(id conversation.ID, spec Spec, now time.Time, l *lock.Lock) (*Conversation, error) {
	s, err := conversation.New(id, spec.Base, w.streamEnv())
	if err != nil {
		return nil, err
	}
	for _, ev := range spec.Events {
		if _, err := s.Append(ev); err != nil {
			return nil, err
		}
	}
	c := &Conversation{ID: id, Local: spec.Local, Stream: s, w: w, lock: l, title: spec.Title,
		Meta: &conversation.Meta{Title: spec.Title, LastActivatedAt: now}}
	if l == nil {
		return c, nil
	}
	dir := w.home(spec.Local)
	if spec.Local {
		if err := w.makeSilo(conversationsDir); err != nil {
			return nil, fault.New(fault.Storage, "cannot create a local conversation: %w", err).WithHint("%s", fault.HintOf(err))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fault.New(fault.Storage, "cannot create a conversation: %w", err)
	}
	w.sweep(dir)
	c.Dir = filepath.Join(dir, id.DirName(spec.Title))
	err = atomicfile.WriteDir(c.Dir, func(tmp string) error {
		if err := c.Meta.Save(tmp); err != nil {
			return err
		}
		return s.Save(tmp)
	})
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot create a conversation: %w", err)
	}
	return c, nil
}

// sweep removes what killed processes left of conversations that they were
// creating or removing. Whoever still works on one holds its lock.
func (w *Workspace) sweep(dir string) {
	list, _ := folders(dir)
	for _, name := range list {
		target, ok := atomicfile.IsTemp(name)
		id, isID := conversation.DirID(target)
		if ok && isID && lock.Free(filepath.Join(w.scratch("locks"), id.String()+".lock")) {
			_ = os.RemoveAll(filepath.Join(dir, name))
		}
	}
}

// Remove deletes a conversation and the copies of it in the user's data
// directory that hold nothing it lacks. Other copies, which were ignored, are
// returned: they stay, and are the conversation from now on. Errors: those of
// Open, but of fault.Damaged only that of a conversation in several folders,
// since nothing is deleted that nobody saw; fault.Invalid with NoPersist.
func (w *Workspace) Remove(ctx context.Context, id conversation.ID, wait Wait) (kept []string, err error) {
	if err := w.env.Writable(); err != nil {
		return nil, err
	}
	if _, err := w.locate(id); err != nil {
		return nil, err
	}
	l, err := w.acquire(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	defer l.Release()
	it, err := w.locate(id)
	if err == nil {
		err = it.twinned()
	}
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, copy := range it.copies {
		if n, err := unshared(it, copy); n > 0 || err != nil {
			kept = append(kept, copy)
		} else {
			gone = append(gone, copy)
		}
	}
	for _, path := range append(gone, it.path) {
		if err := atomicfile.RemoveDir(path); err != nil {
			return nil, fault.New(fault.Storage, "cannot remove conversation %s: %w", id, err)
		}
	}
	return kept, nil
}
