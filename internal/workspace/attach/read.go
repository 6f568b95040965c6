package attach

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
)

// Read returns the documents that refs name, in order, each file once. named
// are the references a person gave in this run: they may lie outside the
// workspace, and one of them of which nothing can be sent is an error; any
// other is skipped and said to note, and so is every file of a folder or glob
// that cannot be sent. Errors: that, and more than the limits.
func (p Place) Read(refs []Ref, named []Ref, note func(string)) ([]llm.Document, error) {
	r := reader{Place: p, note: note, seen: map[string]bool{}}
	for i, ref := range refs {
		if slices.Contains(refs[:i], ref) {
			continue
		}
		byHand := slices.Contains(named, ref)
		err := r.read(ref, byHand)
		switch _, limit := errors.AsType[overLimit](err); {
		case err == nil:
		case limit:
			return nil, err
		case byHand:
			return nil, fault.New(fault.CodeOf(err), "%s cannot be attached: %w", ref.Pattern, err).WithHint("%s", fault.HintOf(err))
		default:
			note("attachment " + ref.Pattern + " is left out: " + err.Error())
		}
	}
	return r.docs, nil
}

// overLimit is an error of all attachments together.
type overLimit struct{ fault.Coded }

func tooMuch(format string, limit int) error {
	return overLimit{fault.New(fault.Invalid, format, limit).WithHint("name fewer files; `jp c show` lists the attachments")}
}

// reader collects documents.
type reader struct {
	Place
	note  func(string)
	docs  []llm.Document
	seen  map[string]bool // by path without links
	bytes int
}

// read adds what one reference names.
func (r *reader) read(ref Ref, byHand bool) error {
	s, err := r.locate(ref, byHand)
	if err != nil {
		return err
	}
	if !s.inside && !byHand {
		return errOutside
	}
	files, err := s.list()
	if err != nil {
		return err
	}
	if len(files) > MaxFiles {
		return tooMuch("more than %d files are attached", MaxFiles)
	}
	out := leftOut{}
	for _, file := range files {
		err := r.add(s, file, ref.Description)
		if _, limit := errors.AsType[overLimit](err); limit || err != nil && !s.several() {
			return err
		}
		if err != nil {
			out.add(err.Error(), r.source(file))
		}
	}
	if out.files > 0 {
		r.note("attachment " + ref.Pattern + " is sent without " + out.String())
	}
	if out.files == len(files) {
		return fault.New(fault.Invalid, "nothing of it can be sent").
			WithHint("a folder stands for the text files in it; name pictures, or use a glob")
	}
	return nil
}

// add adds one file of a spot. Errors go on after "it ".
func (r *reader) add(s spot, file, description string) error {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fault.New(fault.Storage, "it cannot be read: %w", fault.Reason(err))
	}
	if r.seen[real] {
		return nil
	}
	// A link must not lead further than the folder that a person named.
	if _, ok := under(s.real, real); !ok && !r.holds(real) {
		return errOutside
	}
	data, err := load(real)
	if err != nil {
		return err
	}
	doc := llm.Document{Source: r.source(file)}
	if description != "" {
		doc.Source += " (" + description + ")"
	}
	switch kind := http.DetectContentType(data); {
	case kind == "image/png", kind == "image/jpeg", kind == "image/gif", kind == "image/webp":
		if s.folder {
			return fault.New(fault.Invalid, "it is a picture")
		}
		doc.Image = &llm.Image{MediaType: kind, Data: data, Source: r.source(file)}
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return fault.New(fault.Invalid, "it is neither text nor a picture").
			WithHint("attach text in UTF-8, or a PNG, JPEG, GIF or WebP picture")
	default:
		doc.Text = string(data)
	}
	r.seen[real] = true
	r.docs = append(r.docs, doc)
	r.bytes += len(data)
	if r.bytes > MaxTotal {
		return tooMuch("the attachments are larger than %d MiB together", MaxTotal>>20)
	}
	if len(r.docs) > MaxFiles {
		return tooMuch("more than %d files are attached", MaxFiles)
	}
	return nil
}

// source is how a model is told which file it is.
func (r *reader) source(file string) string {
	if rel, ok := under(r.Root, file); ok {
		file = rel
	}
	return filepath.ToSlash(file)
}

// load reads a regular file of at most MaxFile bytes.
func load(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "it is %s", kind(info.Mode()))
	}
	var f *os.File
	if err == nil {
		// Should a pipe have taken its place, opening it does not wait.
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "it cannot be read: %w", fault.Reason(err))
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errors.New(kind(info.Mode()))
	}
	var data []byte
	if err == nil {
		// A size is only what a file system says: some files have none and never end.
		data, err = io.ReadAll(io.LimitReader(f, MaxFile+1))
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "it cannot be read: %w", fault.Reason(err))
	}
	if len(data) > MaxFile {
		return nil, fault.New(fault.Invalid, "it is larger than %d MiB", MaxFile>>20).
			WithHint("attach the part that matters")
	}
	return data, nil
}

// leftOut is the files of a folder or glob that are not sent, by reason.
type leftOut struct {
	files   int
	reasons []string // in order of first appearance
	names   map[string][]string
}

func (l *leftOut) add(reason, name string) {
	if l.names == nil {
		l.names = map[string][]string{}
	}
	if l.names[reason] == nil {
		l.reasons = append(l.reasons, reason)
	}
	l.names[reason] = append(l.names[reason], name)
	l.files++
}

// String is "a.bin, b.bin and 2 more (it is …)".
func (l *leftOut) String() string {
	const most = 3
	var parts []string
	for _, reason := range l.reasons {
		names := l.names[reason]
		part := strings.Join(names[:min(most, len(names))], ", ")
		if more := len(names) - most; more > 0 {
			part += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, part+" ("+reason+")")
	}
	return strings.Join(parts, "; ")
}
