// Package conversation is one conversation as it is stored: a directory with
// the configuration it began with (base_config.json), an ordered log of events
// (events.json) and a few facts about it (metadata.json).
//
// The log is kept as the bytes it was read as. Events are decoded when they
// are looked at and never encoded again, so unknown fields and unknown kinds
// survive in place and saving copies what has not changed. Reading changes no
// file. What older versions of the format lack (ids, a base of its own) is
// derived the same way by every reader and stored at the next save that adds
// something.
//
// A damaged file is an error that names the place, and no file is written
// over, moved or removed because of it. A Stream belongs to one goroutine.
// Keeping other processes out while it is open for writing is the caller's
// part; see package workspace.
package conversation

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/big"
	"time"

	"jp/internal/workspace/config"
)

// Env is what a stream needs of the world.
type Env struct {
	Now  func() time.Time // stamps new events
	Rand io.Reader        // makes ids of new events
}

// Entry is one element of the log, with the fields that any kind may have.
type Entry struct {
	ID          string
	Kind        Kind
	Time        time.Time // zero when it has none or none that can be read
	Participant string
	Request     string // `request_id`
	Raw         []byte // the element as it is stored; must not be changed
}

// Stream is the log and the configuration of one conversation.
type Stream struct {
	env  Env
	id   ID
	path string // of events.json, for errors

	entries   []Entry
	decoded   []*Event // by entry, nil until looked at
	index     map[string]int
	doubled   map[string]bool // ids that more than one loaded entry had
	repairs   []int           // entries whose id is not stored yet
	links     links
	providers map[voice]string
	deltas    []int // entries that are config deltas
	trees     []config.Tree

	baseRaw []byte // what base_config.json holds or is to hold
	splits  bool   // the base is not in a file of its own yet
	// baseless says that there is no base, in no file; an empty one stands in.
	baseless bool

	body   []byte // the log as read or written last, up to the end of its last element
	tail   []byte // what was appended since
	saved  int    // entries that are in the file
	loaded int    // entries that were in it when it was read
	fresh  bool   // never saved
	seen   stamp  // the file as it was read or written last
	cursor cursor // where an entry was looked for last
}

// New returns an empty stream that begins with base, which is stored as it is:
// see config.Snapshot.
func New(id ID, base config.Tree, env Env) (*Stream, error) {
	f := &fields{}
	f.json("base", base)
	if f.err != nil {
		return nil, f.err
	}
	raw := f.b.Bytes()[len(`{"base":`):]
	return &Stream{
		env: env, id: id, fresh: true, splits: true,
		baseRaw: append(pretty(raw, ""), '\n'),
		index:   map[string]int{},
		body:    []byte("["),
	}, nil
}

// Len returns the number of entries.
func (s *Stream) Len() int { return len(s.entries) }

// At returns entry i.
func (s *Stream) At(i int) Entry { return s.entries[i] }

// Index returns the place of the entry with an id. An id that several entries
// had when the stream was loaded leads to the first of them.
func (s *Stream) Index(id string) (int, bool) {
	i, ok := s.index[id]
	return i, ok
}

// Event decodes entry i. Kinds that are not known decode to what Entry says.
// An entry without a kind, or whose fields have the wrong shape, is a *Damage.
// The result is shared and must not be changed.
func (s *Stream) Event(i int) (*Event, error) {
	for len(s.decoded) < len(s.entries) {
		s.decoded = append(s.decoded, nil)
	}
	if s.decoded[i] != nil {
		return s.decoded[i], nil
	}
	ev, err := decode(&s.entries[i])
	if err != nil {
		return nil, s.damage(i, err)
	}
	s.decoded[i] = ev
	return ev, nil
}

// Check decodes everything and returns what is wrong, in order. Whoever shows
// the stream to a model asks first: entries that are damaged are not among its
// lines.
func (s *Stream) Check() []error {
	var errs []error
	for i := range s.entries {
		if _, err := s.Event(i); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (s *Stream) damage(i int, err error) error {
	d := &Damage{Path: s.path, Reason: fmt.Sprintf("entry %d: %v", i+1, err)}
	if at, ok := s.place(i); ok {
		d.Offset, d.Line = int64(at.offset), at.line+1
	}
	return d
}

// cursor is where an entry begins in the log.
type cursor struct{ entry, offset, line int }

// place finds entry i in the log as it was read; ok is false for those appended
// since. It goes on from where it was last, so that a walk over all entries
// reads the log once.
func (s *Stream) place(i int) (at cursor, ok bool) {
	if at = s.cursor; at.entry > i {
		at = cursor{}
	}
	for ; ; at.entry++ {
		raw := s.entries[at.entry].Raw
		n := bytes.Index(s.body[at.offset:], raw)
		if n < 0 {
			return cursor{}, false
		}
		at.line += bytes.Count(s.body[at.offset:at.offset+n], []byte("\n"))
		at.offset += n
		if at.entry == i {
			s.cursor = at
			return at, true
		}
		at.line += bytes.Count(raw, []byte("\n"))
		at.offset += len(raw)
	}
}

// Append adds an event to the end and returns its id. An empty ID gets a
// random one, a zero Time the current one. It is in the file after the next
// Save. Errors: an ID that is taken, a kind of which none are written, values
// that are not JSON, a random source that fails.
func (s *Stream) Append(ev Event) (string, error) {
	if ev.Time.IsZero() {
		ev.Time = s.env.Now()
	}
	if _, taken := s.index[ev.ID]; taken {
		return "", fmt.Errorf("event id %q is taken", ev.ID)
	}
	for ev.ID == "" {
		id, err := randomID(s.env.Rand)
		if err != nil {
			return "", err
		}
		if _, taken := s.index[id]; !taken && !s.doubled[id] {
			ev.ID = id
		}
	}
	raw, err := encode(&ev)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", ev.Kind, err)
	}
	e := Entry{ID: ev.ID, Kind: ev.Kind, Time: ev.Time.UTC(), Participant: ev.Participant, Request: ev.Request}
	e.Raw = pretty(raw, "  ")
	s.add(e)
	return ev.ID, nil
}

// add puts an entry that has its id behind the others.
func (s *Stream) add(e Entry) {
	if len(s.entries) > 0 {
		s.tail = append(s.tail, ',')
	}
	s.tail = append(s.tail, "\n  "...)
	s.tail = append(s.tail, e.Raw...)
	s.index[e.ID] = len(s.entries)
	if e.Kind == ConfigDelta {
		s.deltas = append(s.deltas, len(s.entries))
	}
	s.entries = append(s.entries, e)
}

const idLength, idDigits = 7, "0123456789abcdefghijklmnopqrstuvwxyz"

func randomID(r io.Reader) (string, error) {
	id := make([]byte, 0, idLength)
	var b [1]byte
	for len(id) < idLength {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return "", fmt.Errorf("event id: %w", err)
		}
		if b[0] < 252 { // the last whole multiple of 36: every digit equally likely
			id = append(id, idDigits[b[0]%36])
		}
	}
	return string(id), nil
}

// derivedID makes the id that every clone gives to the same entry.
func derivedID(conv ID, position int, raw []byte, taken func(string) bool) string {
	space := new(big.Int).Exp(big.NewInt(36), big.NewInt(idLength), nil)
	for n := 0; ; n++ {
		h := sha256.New()
		fmt.Fprintf(h, "%d\x00%d\x00%d\x00", int64(conv), position, n)
		h.Write(raw)
		v := new(big.Int).SetBytes(h.Sum(nil))
		text := v.Mod(v, space).Text(36)
		id := string(bytes.Repeat([]byte("0"), idLength-len(text))) + text
		if !taken(id) {
			return id
		}
	}
}
