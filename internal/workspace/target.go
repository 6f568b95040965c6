package workspace

import (
	"cmp"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/workspace/conversation"
)

// Resolve finds the conversation that a person named: an id in any of its
// forms; `.` or active; r, recent or last (the latest Activity); n or newest
// (created last); s, session or previous (the session's previous one); or the
// beginning of a title, as directories write it, if only one conversation that
// is not archived has it. Errors: fault.NotFound, fault.Invalid for a
// beginning that several share, fault.Storage.
func (w *Workspace) Resolve(target string) (conversation.ID, error) {
	switch strings.ToLower(target) {
	case "", ".", "active":
		return pick(w.Active)("no conversation is active in this session",
			"start one with `jp q --new \"…\"`, or go on with the latest: `jp c use newest` (`jp c ls` lists them)")
	case "s", "session", "prev", "previous":
		return pick(w.Previous)("this session had no other conversation before", "`jp c ls` lists them all")
	case "r", "recent", "last", "last-activated":
		return w.latest(func(a, b Item) int { return a.Activity().Compare(b.Activity()) })
	case "n", "newest", "last-created":
		return w.latest(func(a, b Item) int { return cmp.Compare(a.ID, b.ID) })
	}
	if id, err := conversation.ParseID(target); err == nil {
		if _, err = w.locate(id); err == nil || strings.HasPrefix(target, "jp-c") {
			return id, err
		}
	}
	return w.titled(target) // which may begin with a number, too
}

func pick(find func() (conversation.ID, bool)) func(message, hint string) (conversation.ID, error) {
	return func(message, hint string) (conversation.ID, error) {
		if id, ok := find(); ok {
			return id, nil
		}
		return 0, fault.New(fault.NotFound, "%s", message).WithHint("%s", hint)
	}
}

// latest returns the last in an order; of equals that is the one created last.
func (w *Workspace) latest(order func(a, b Item) int) (conversation.ID, error) {
	items, err := w.List()
	if err != nil {
		return 0, err
	}
	best := -1
	for i, item := range items {
		if !item.Archived && (best < 0 || order(item, items[best]) >= 0) {
			best = i
		}
	}
	if best < 0 {
		return 0, fault.New(fault.NotFound, "there are no conversations yet").WithHint("start one with `jp q --new`")
	}
	return items[best].ID, nil
}

func (w *Workspace) titled(prefix string) (conversation.ID, error) {
	want := conversation.Slug(prefix)
	hits := map[conversation.ID]bool{}
	var hit conversation.ID
	for _, p := range w.places() {
		if p.archived {
			continue
		}
		list, err := folders(p.dir)
		if err != nil {
			return 0, err
		}
		for _, name := range list {
			_, title, _ := strings.Cut(name, "-")
			if id, ok := conversation.DirID(name); ok && want != "" && strings.HasPrefix(title, want) {
				hits[id], hit = true, id
			}
		}
	}
	switch len(hits) {
	case 1:
		return hit, nil
	case 0:
		return 0, fault.New(fault.NotFound, "there is no conversation %q", prefix).
			WithHint("name it by its id or the beginning of its title; `jp c ls` lists them")
	}
	return 0, fault.New(fault.Invalid, "%d conversations have titles that begin with %q", len(hits), prefix).
		WithHint("name it by its id; `jp c ls` lists them")
}
