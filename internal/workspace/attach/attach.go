// Package attach turns the references of a conversation's attachments into
// the documents that are sent with a request.
//
// A reference is a path or glob, kept as `file:` text; its content is read
// anew for every query and never stored. Only files are read: references of
// other kinds that other tools stored (commands, URLs) are skipped with a
// note, since a conversation that came with a pull must not be able to run
// something. For the same reason a file outside the workspace is read only in
// the run in which a person named it.
package attach

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"jp/internal/kernel/llm"
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

// String is the stored form, which Parse reads back.
func (r Ref) String() string {
	s := "file:" + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", " ", "%20").Replace(r.Pattern)
	if r.Description != "" {
		s += "?description=" + url.QueryEscape(r.Description)
	}
	return s
}

// Typed reads a reference that a person typed (an argument of -a or the path
// of a `file:` in a query): a path or glob relative to the working directory,
// or a `file:` URL. Errors: fault.Usage for another scheme or an empty path.
func (p Place) Typed(s string) (Ref, error) {
	raw, isURL := strings.CutPrefix(s, "file:")
	ref := Ref{Pattern: raw}
	if isURL {
		path, query, _ := strings.Cut(raw, "?")
		if v, err := url.ParseQuery(query); err == nil && v.Has("description") {
			ref = Ref{Pattern: path, Description: v.Get("description")}
		}
		ref.Pattern = strings.TrimPrefix(ref.Pattern, "//")
	} else if scheme, _, ok := strings.Cut(s, "://"); ok {
		return Ref{}, fault.New(fault.Usage, "cannot attach %s: only files can be attached, not %q", s, scheme).
			WithHint("save it to a file and attach that")
	}
	if strings.TrimSpace(ref.Pattern) == "" {
		return Ref{}, fault.New(fault.Usage, "an attachment needs a path")
	}
	path := ref.Pattern
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, path)
	}
	path = filepath.Clean(path)
	if rel, ok := under(p.Root, path); ok {
		path = rel
	}
	ref.Pattern = filepath.ToSlash(path)
	return ref, nil
}

// Inside tells whether every file the reference names lies in the workspace
// once links are resolved. A reference that names no file is inside.
func (p Place) Inside(r Ref) bool {
	files, err := p.expand(r)
	if err != nil {
		return true
	}
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return false
	}
	for _, f := range files {
		real, err := filepath.EvalSymlinks(f)
		if err != nil {
			return false
		}
		if _, ok := under(root, real); !ok {
			return false
		}
	}
	return true
}

// Exists tells whether the reference names at least one file.
func (p Place) Exists(r Ref) bool {
	files, err := p.expand(r)
	return err == nil && len(files) > 0
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

// Read returns the documents that refs name, in order, each file once. named
// are the references a person gave in this run: they may lie outside the
// workspace, and one of them that names nothing is an error (fault.NotFound);
// any other that cannot be read is skipped and said to note.
func (p Place) Read(refs []Ref, named []Ref, note func(string)) ([]llm.Document, error) {
	var docs []llm.Document
	seen := map[string]bool{}
	total := 0
	for _, ref := range refs {
		byHand := slices.Contains(named, ref)
		files, err := p.expand(ref)
		if err == nil && len(files) == 0 {
			err = fault.New(fault.NotFound, "no file matches %s", ref.Pattern)
		}
		if err == nil && !byHand && !p.Inside(ref) {
			err = fault.New(fault.Invalid, "it lies outside the workspace (attach it again with -a to send it)")
		}
		for _, f := range files {
			if err != nil {
				break
			}
			if seen[f] {
				continue
			}
			seen[f] = true
			if len(seen) > MaxFiles {
				return nil, fault.New(fault.Invalid, "more than %d files are attached", MaxFiles).
					WithHint("name fewer files; `jp c show` lists the attachments")
			}
			var doc llm.Document
			doc, err = p.read(f, ref)
			total += len(doc.Text)
			if err == nil {
				docs = append(docs, doc)
			}
		}
		if err != nil && byHand {
			return nil, err
		}
		if err != nil {
			note("attachment " + ref.Pattern + " is left out: " + err.Error())
		}
		if total > MaxTotal {
			return nil, fault.New(fault.Invalid, "the attachments are larger than %d MiB together", MaxTotal>>20).
				WithHint("name fewer files")
		}
	}
	return docs, nil
}

func (p Place) read(path string, ref Ref) (llm.Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return llm.Document{}, fault.New(fault.Storage, "cannot read %s: %w", path, reason(err))
	}
	if info.Size() > MaxFile {
		return llm.Document{}, fault.New(fault.Invalid, "%s is larger than %d MiB", path, MaxFile>>20).
			WithHint("attach the part that matters")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return llm.Document{}, fault.New(fault.Storage, "cannot read %s: %w", path, reason(err))
	}
	source := path
	if rel, ok := under(p.Root, path); ok {
		source = filepath.ToSlash(rel)
	}
	doc := llm.Document{Source: source}
	if ref.Description != "" {
		doc.Source += " (" + ref.Description + ")"
	}
	switch kind := http.DetectContentType(data); {
	case kind == "image/png", kind == "image/jpeg", kind == "image/gif", kind == "image/webp":
		doc.Image = &llm.Image{MediaType: kind, Data: data, Source: source}
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return llm.Document{}, fault.New(fault.Invalid, "%s is neither text nor a picture", source).
			WithHint("attach text in UTF-8, or a PNG, JPEG, GIF or WebP picture")
	default:
		doc.Text = string(data)
	}
	return doc, nil
}

// expand lists the regular files a reference names, sorted. A directory names
// the files below it, dot entries apart.
func (p Place) expand(r Ref) ([]string, error) {
	pattern := filepath.FromSlash(r.Pattern)
	base := p.Root
	if filepath.IsAbs(pattern) {
		// Other tools store root-relative paths with a leading slash.
		if _, err := os.Stat(pattern); err != nil {
			if _, err := os.Stat(filepath.Join(p.Root, pattern)); err == nil {
				pattern = filepath.Join(p.Root, pattern)
			}
		}
		base = ""
	}
	full := filepath.Join(base, pattern)
	info, err := os.Stat(full)
	switch {
	case err == nil && info.IsDir():
		return walk(full)
	case err == nil:
		return []string{full}, nil
	case !strings.ContainsAny(r.Pattern, "*?[{"):
		return nil, nil
	}
	dir, glob := doublestar.SplitPattern(filepath.ToSlash(full))
	names, err := doublestar.Glob(os.DirFS(dir), glob, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, fault.New(fault.Invalid, "cannot read the pattern %s: %w", r.Pattern, err)
	}
	sort.Strings(names)
	for i, n := range names {
		names[i] = filepath.Join(dir, n)
	}
	return names, nil
}

func walk(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type().IsRegular():
			files = append(files, path)
		}
		if len(files) > MaxFiles {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil, fault.New(fault.Storage, "cannot read %s: %w", dir, reason(err))
	}
	return files, nil
}

// under returns path relative to root when it lies in it.
func under(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// reason drops the path from a file error: the sentence names it already.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
