package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"jp/internal/lib/atomicfile"
	"jp/internal/lib/fault"
)

// Meta is metadata.json. Fields that are not known are kept where they are.
type Meta struct {
	Title           string
	LastActivatedAt time.Time // zero when unknown
	Labels          map[string]string

	raw   []byte // the file, nil when there was none
	saved []byte // what the fields above looked like then
}

// The fields in the order in which new files hold them.
var metaKeys = []string{"title", "last_activated_at", "labels"}

// LoadMeta reads the metadata of the conversation in dir. Without the file it
// is empty. Errors: *Damage, and those of the file system.
func LoadMeta(dir string) (*Meta, error) {
	path := filepath.Join(dir, MetadataFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		m := &Meta{}
		m.saved = m.encode()
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseMeta(path, data)
}

// ParseMeta reads the contents of a metadata file. Errors: *Damage, with path
// for the place.
func ParseMeta(path string, data []byte) (*Meta, error) {
	if err := checkObject(path, data); err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, byteOrderMark)
	m := &Meta{raw: data}
	for key, value := range members(data) {
		name, _ := unquote(key)
		if err := m.set(name, value); err != nil {
			return nil, &Damage{Path: path, Reason: "`" + name + "`: " + err.Error()}
		}
	}
	m.saved = m.encode()
	return m, nil
}

func (m *Meta) set(key string, value []byte) (err error) {
	if isNull(value) {
		return nil
	}
	switch key {
	case "title":
		return json.Unmarshal(value, &m.Title)
	case "labels":
		return json.Unmarshal(value, &m.Labels)
	case "last_activated_at":
		text, ok := unquote(value)
		if !ok {
			return errors.New("not a text")
		}
		m.LastActivatedAt, err = ParseTime(text)
	}
	return err
}

// values returns the fields that are set, as JSON.
func (m *Meta) values() map[string][]byte {
	v := map[string][]byte{}
	if m.Title != "" {
		v["title"] = quote(m.Title)
	}
	if !m.LastActivatedAt.IsZero() {
		v["last_activated_at"] = quote(FormatTime(m.LastActivatedAt))
	}
	if len(m.Labels) > 0 {
		f := &fields{}
		f.json("", m.Labels)
		v["labels"] = f.b.Bytes()[len(`{"":`):]
	}
	return v
}

// encode writes the fields over those of the file: known ones in their places,
// new ones behind, all others as they are.
func (m *Meta) encode() []byte {
	f := &fields{}
	values := m.values()
	put := func(key string) {
		if v, ok := values[key]; ok {
			f.raw(key, v)
			delete(values, key)
		}
	}
	for key, value := range members(m.raw) {
		name, _ := unquote(key)
		if slices.Contains(metaKeys, name) {
			put(name)
		} else {
			f.raw(name, value)
		}
	}
	for _, key := range metaKeys {
		put(key)
	}
	raw, _ := f.object()
	return append(pretty(raw, ""), '\n')
}

// Save writes the metadata into dir if anything differs from what was read or
// saved last, or the file is gone. Errors: fault.Storage.
func (m *Meta) Save(dir string) error {
	data := m.encode()
	path := filepath.Join(dir, MetadataFile)
	if _, err := os.Lstat(path); bytes.Equal(data, m.saved) && (err == nil || m.raw == nil) {
		return nil
	}
	if err := atomicfile.Write(path, 0o644, data); err != nil {
		return fault.New(fault.Storage, "cannot save %s: %w", path, err)
	}
	m.raw, m.saved = data, data
	return nil
}
