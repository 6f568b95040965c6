// Package attach turns the references of a conversation's attachments into
// the documents that are sent with a request.
//
// A reference is a path or glob, kept as `file:` text; its content is read
// anew for every query and never stored. A folder stands for the texts below
// it, a glob for the texts and pictures it matches; neither reaches entries
// that begin with a dot unless it names them. What such a reference holds
// besides is left out with a note; a file named by itself that cannot be sent
// is an error in the run that names it.
//
// Only regular files are ever opened, and never more of one is read than may
// be sent. References of other kinds that other tools stored (commands, URLs)
// are skipped with a note, since a conversation that came with a pull must not
// be able to run something. For the same reason a file outside the workspace
// is read only in the run in which a person named it, or the folder it is in:
// links are resolved before anything is opened.
package attach

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"jp/internal/lib/fault"
)

// Limits of one query's attachments.
const (
	MaxFile  = 4 << 20  // bytes of one file
	MaxTotal = 32 << 20 // bytes of all
	MaxFiles = 500
)

// Place is where references are looked up.
type Place struct {
	Root string // workspace root, absolute
	Dir  string // working directory, absolute
}

// Ref names attachments. The zero value names none.
type Ref struct {
	Pattern     string // slash path or glob; relative to the root, or absolute
	Description string
}

// String is the stored form, which Stored reads back.
func (r Ref) String() string {
	s := "file:" + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", " ", "%20").Replace(r.Pattern)
	if r.Description != "" {
		s += "?description=" + url.QueryEscape(r.Description)
	}
	return s
}

// Stored reads the stored text of a reference: a URL, or a bare path. It is
// a reason instead for what we do not read.
func Stored(s string) (ref Ref, reason string) {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || strings.ContainsAny(scheme, "/.*") {
		return Ref{Pattern: s}, ""
	}
	if scheme != "file" {
		return Ref{}, scheme + " attachments are not read: " + s
	}
	path, query, _ := strings.Cut(rest, "?")
	path = strings.TrimPrefix(path, "//")
	if p, err := url.PathUnescape(path); err == nil {
		path = p
	}
	ref = Ref{Pattern: path}
	if v, err := url.ParseQuery(query); err == nil {
		ref.Description = v.Get("description")
	}
	return ref, ""
}

// Typed reads a reference that a person typed (an argument of -a or the path
// of a `file:` in a query): a path or glob relative to the working directory,
// or a `file:` URL, whose %XX stand for characters where there is no file of
// that very name. Errors: fault.Usage for another scheme, and for a path that
// is empty or not in UTF-8.
func (p Place) Typed(s string) (Ref, error) {
	path, isURL := strings.CutPrefix(s, "file:")
	var ref Ref
	if isURL {
		before, query, _ := strings.Cut(path, "?")
		if v, err := url.ParseQuery(query); err == nil && v.Has("description") {
			path, ref.Description = before, v.Get("description")
		}
		path = strings.TrimPrefix(path, "//")
	} else if scheme, _, ok := strings.Cut(s, "://"); ok {
		return Ref{}, fault.New(fault.Usage, "cannot attach %s: only files can be attached, not %q", s, scheme).
			WithHint("save it to a file and attach that")
	}
	if strings.TrimSpace(path) == "" {
		return Ref{}, fault.New(fault.Usage, "an attachment needs a path")
	}
	if !utf8.ValidString(path) {
		return Ref{}, fault.New(fault.Usage, "cannot attach %q: its name is not in UTF-8", path).WithHint("rename it")
	}
	if plain, err := url.PathUnescape(path); isURL && err == nil && !exists(p.from(path)) {
		path = plain
	}
	dir := p.Dir
	if isGlob(path) && !exists(p.from(path)) {
		dir = escapeGlob(dir) // what is typed may be a glob, where one is standing is none
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	for _, root := range []string{p.Root, escapeGlob(p.Root)} {
		if rel, ok := under(root, path); ok {
			path = rel
			break
		}
	}
	ref.Pattern = filepath.ToSlash(path)
	return ref, nil
}

// from is a typed path as an absolute one.
func (p Place) from(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Dir, path)
}

func isGlob(path string) bool { return strings.ContainsAny(path, "*?[{") }

// escapeGlob makes a path a glob that matches it alone.
func escapeGlob(path string) string {
	var out strings.Builder
	for _, c := range []byte(path) {
		if strings.IndexByte(`*?[]{}\`, c) >= 0 {
			out.WriteByte('\\')
		}
		out.WriteByte(c)
	}
	return out.String()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// under returns path relative to root when it lies in it.
func under(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}
