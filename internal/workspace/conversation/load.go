package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
	"jp/internal/workspace/config"
)

// The files of a conversation's directory.
const (
	EventsFile   = "events.json"
	BaseFile     = "base_config.json"
	MetadataFile = "metadata.json"
)

// stamp tells whether a file is the one that was read.
type stamp struct{ info fs.FileInfo }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info}
}

func (a stamp) same(b stamp) bool {
	if a.info == nil || b.info == nil {
		return a.info == b.info
	}
	return os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// Load reads the log and the base configuration of the conversation in dir,
// whatever version of the format it is in. Only the oldest have no file for the
// base, which is then the first entry of a log without ids; in any other log
// the file is missing, and with it who takes part. Errors: *Damage, and those
// of the file system.
func Load(dir string, id ID, env Env) (*Stream, error) {
	s := &Stream{env: env, id: id, path: filepath.Join(dir, EventsFile)}
	s.seen = stampOf(s.path)
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, dirErr := os.Stat(dir); dirErr == nil {
			return nil, &Damage{Path: s.path, Missing: true}
		}
	}
	if err != nil {
		return nil, err
	}
	basePath := filepath.Join(dir, BaseFile)
	base, err := os.ReadFile(basePath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		base = nil
	case err != nil:
		return nil, err
	default:
		if err := checkObject(basePath, base); err != nil {
			return nil, err
		}
	}
	if err := s.read(data, base); err != nil {
		return nil, err
	}
	if s.baseless {
		return nil, &Damage{Path: basePath, Missing: true}
	}
	return s, nil
}

// Parse reads a stream from the contents of its files; base is nil when there
// is no such file, and empty then unless it is in the log. Errors: *Damage,
// with path for the place.
func Parse(path string, events, base []byte, id ID, env Env) (*Stream, error) {
	s := &Stream{env: env, id: id, path: path}
	if base != nil {
		basePath := filepath.Join(filepath.Dir(path), BaseFile)
		if err := checkObject(basePath, base); err != nil {
			return nil, err
		}
	}
	if err := s.read(events, base); err != nil {
		return nil, err
	}
	return s, nil
}

// Check reports whether data may stand in the file of this name in a
// conversation's directory. Errors: *Damage, with path for the place.
func Check(path string, data []byte) error {
	switch filepath.Base(path) {
	case MetadataFile:
		_, err := ParseMeta(path, data)
		return err
	case BaseFile:
		if err := checkObject(path, data); err != nil {
			return err
		}
		var base map[string]any
		err := unmarshal(bytes.TrimPrefix(data, byteOrderMark), &base)
		if err == nil {
			err = config.CheckForm(config.Stored(base))
		}
		if err != nil {
			return &Damage{Path: path, Reason: err.Error()}
		}
		return nil
	}
	s, err := Parse(path, data, nil, 0, Env{})
	if err != nil {
		return err
	}
	return cmp.Or(s.Check()...)
}

func (s *Stream) read(data, base []byte) error {
	data = bytes.TrimPrefix(data, byteOrderMark)
	entries, end, err := split(data)
	if err != nil {
		return placed(s.path, data, err)
	}
	s.entries, s.body, s.baseRaw = entries, data[:end:end], bytes.TrimPrefix(base, byteOrderMark)
	skip := s.splitBase()
	s.identify(skip)
	for i := range s.entries {
		if s.entries[i].Kind == ConfigDelta {
			s.deltas = append(s.deltas, i)
		}
	}
	s.saved, s.loaded = len(s.entries), len(s.entries)
	return nil
}

// split finds the elements of the array, with the fields that any kind has,
// and the end of the last of them.
func split(data []byte) (entries []Entry, end int, err error) {
	if err := checkUTF8(data); err != nil {
		return nil, 0, err
	}
	s := &scanner{data: data}
	if s.peek() != '[' {
		return nil, 0, s.fail("a list of events is expected")
	}
	end = s.pos + 1
	names := interner{}
	entries = make([]Entry, 0, len(data)/512)
	err = s.array(0, func() error {
		if s.peek() != '{' {
			return s.fail("an event is expected, an object")
		}
		start := s.pos
		var e Entry
		err := s.object(1, func(key, value []byte) error {
			e.header(key, value, names)
			return nil
		})
		if err != nil {
			return err
		}
		end = s.pos
		e.Raw = data[start:end:end]
		entries = append(entries, e)
		return nil
	})
	if err == nil {
		err = s.end()
	}
	return entries, end, err
}

// interner shares the few strings that all entries repeat.
type interner map[string]string

func (m interner) string(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if s, ok := m[string(raw)]; ok {
		return s
	}
	s, _ := unquote(raw)
	if len(m) < 4096 {
		m[string(raw)] = s
	}
	return s
}

func (e *Entry) header(key, value []byte, names interner) {
	switch {
	case keyIs(key, "event_id"):
		e.ID, _ = unquote(value)
	case keyIs(key, "request_id"):
		e.Request = names.string(value)
	case keyIs(key, "participant"):
		e.Participant = names.string(value)
	case keyIs(key, "type"):
		e.Kind = Kind(names.string(value))
	case keyIs(key, "timestamp"):
		if s, ok := unquote(value); ok {
			e.Time, _ = ParseTime(s)
		}
	}
}

// splitBase takes the base configuration of older versions out of the log,
// where it is the first element, and returns how many elements that were.
func (s *Stream) splitBase() int {
	var base []byte
	if len(s.entries) > 0 && s.entries[0].Kind == ConfigDelta {
		base = firstDelta(s.entries[0].Raw)
	}
	switch {
	case s.baseRaw != nil && (base == nil || !sameJSON(base, s.baseRaw)):
		return 0
	case s.baseRaw == nil && (base == nil || s.identified()):
		s.baseRaw, s.splits, s.baseless = []byte("{}\n"), true, true
		return 0
	case s.baseRaw == nil:
		s.baseRaw = append(pretty(base, ""), '\n')
	}
	// With both there, a save was cut short between the two files.
	s.splits = true
	s.entries = s.entries[1:]
	return 1
}

// identified reports whether any entry has an id: then the log was written
// since bases have a file of their own.
func (s *Stream) identified() bool {
	return slices.ContainsFunc(s.entries, func(e Entry) bool { return e.ID != "" })
}

// firstDelta returns the configuration in a first element: its `delta`, or
// what stands flattened beside the fields of an event; nil when it has none.
func firstDelta(raw []byte) []byte {
	flat := &fields{}
	for key, value := range members(raw) {
		switch {
		case keyIs(key, "delta") && value[0] != '{':
			return nil
		case keyIs(key, "delta"):
			return value
		case keyIs(key, "type"), keyIs(key, "timestamp"), keyIs(key, "event_id"):
		default:
			name, _ := unquote(key)
			flat.raw(name, value)
		}
	}
	base, _ := flat.object()
	return base
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// identify gives an id to each entry that has none or another's; offset is the
// place of the first entry in the file.
func (s *Stream) identify(offset int) {
	s.index = make(map[string]int, len(s.entries))
	for i := range s.entries {
		id := s.entries[i].ID
		if _, taken := s.index[id]; taken {
			if s.doubled == nil {
				s.doubled = map[string]bool{}
			}
			s.doubled[id] = true
		} else if id != "" {
			s.index[id] = i
			continue
		}
		s.repairs = append(s.repairs, i)
	}
	for _, i := range s.repairs {
		e := &s.entries[i]
		e.ID = derivedID(s.id, i+offset, e.Raw, func(id string) bool { _, taken := s.index[id]; return taken })
		s.index[e.ID] = i
	}
}

// Save writes what was appended since the last save into the files in dir, the
// configuration before the log. When somebody else changed the log meanwhile
// (an editor, a Git checkout), what was appended goes behind what is there now,
// even if what it refers to is gone. A file that disappeared is written anew.
// On an error the files are as they were, and Save may be called again. Errors:
// *Damage of what is there now, and fault.Storage.
func (s *Stream) Save(dir string) error {
	if !s.fresh && s.saved == len(s.entries) {
		return nil
	}
	s.path = filepath.Join(dir, EventsFile)
	if !s.fresh {
		if err := s.follow(dir); err != nil {
			return err
		}
	}
	log := s.contents()
	basePath := filepath.Join(dir, BaseFile)
	if _, err := os.Lstat(basePath); s.splits || errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Write(basePath, 0o644, s.baseRaw); err != nil {
			return fault.New(fault.Storage, "cannot save %s: %w", basePath, err)
		}
		s.splits = false
	}
	if err := atomicfile.Write(s.path, 0o644, log...); err != nil {
		return fault.New(fault.Storage, "cannot save %s: %w", s.path, err)
	}
	s.seen = stampOf(s.path)
	s.saved, s.fresh = len(s.entries), false
	return nil
}

// contents returns the log as it is to be written, in pieces.
func (s *Stream) contents() [][]byte {
	s.rebuild()
	if len(s.entries) == 0 {
		return [][]byte{[]byte("[]\n")}
	}
	return [][]byte{s.body, s.tail, []byte("\n]\n")}
}

// follow catches up with a log that is no longer the one that was read.
func (s *Stream) follow(dir string) error {
	now := stampOf(s.path)
	if s.seen.same(now) {
		return nil
	}
	if now.info == nil { // gone, perhaps with its directory: write it anew
		s.splits = true
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fault.New(fault.Storage, "cannot save %s: %w", s.path, err)
		}
		return nil
	}
	other, err := Load(dir, s.id, s.env)
	if d, ok := errors.AsType[*Damage](err); ok && d.Missing {
		if err := atomicfile.Write(d.Path, 0o644, s.baseRaw); err != nil {
			return fault.New(fault.Storage, "cannot save %s: %w", d.Path, err)
		}
		other, err = Load(dir, s.id, s.env)
	}
	if _, ok := errors.AsType[*Damage](err); err != nil && !ok {
		return fault.New(fault.Storage, "cannot save %s: %w", s.path, err)
	}
	if err != nil {
		return err
	}
	for _, e := range s.entries[s.saved:] {
		if _, there := other.index[e.ID]; !there {
			other.add(e)
		}
	}
	*s = *other
	return nil
}

// rebuild lays the log out anew when that takes more than appending: ids of
// repaired entries are to be stored, or the base moves to its own file.
func (s *Stream) rebuild() {
	if s.fresh || len(s.repairs) == 0 && !s.splits {
		return
	}
	size := 2
	for i := range s.entries {
		size += len(s.entries[i].Raw) + 40
	}
	body := append(make([]byte, 0, size), '[')
	next := 0
	for i := range s.entries {
		e := &s.entries[i]
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, "\n  "...)
		start := len(body)
		if next < len(s.repairs) && s.repairs[next] == i {
			next++
			body = appendWithID(body, e.Raw, e.ID)
		} else {
			body = append(body, e.Raw...)
		}
		e.Raw = body[start:len(body):len(body)]
	}
	s.body, s.tail, s.repairs, s.cursor = body, nil, nil, cursor{}
}

// appendWithID appends an object with its id replaced, or put first, in the
// layout it has.
func appendWithID(dst, raw []byte, id string) []byte {
	done := 0
	s := &scanner{data: raw}
	_ = s.object(0, func(key, value []byte) error {
		if keyIs(key, "event_id") {
			dst = append(dst, raw[done:s.pos-len(value)]...)
			dst = append(dst, quote(id)...)
			done = s.pos
		}
		return nil
	})
	if done > 0 {
		return append(dst, raw[done:]...)
	}
	first := 1
	for first < len(raw) && raw[first] != '"' && raw[first] != '}' {
		first++
	}
	dst = append(dst, raw[:first]...)
	dst = append(dst, `"event_id":`...)
	if first > 1 {
		dst = append(dst, ' ')
	}
	dst = append(dst, quote(id)...)
	if raw[first] == '"' {
		dst = append(dst, ',')
		dst = append(dst, raw[1:first]...)
	}
	return append(dst, raw[first:]...)
}
