package card

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"jp/internal/lib/fault"
)

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	maxChunks    = 1 << 16
	maxTries     = 8 // of chunks that may hold the card
)

// The keywords of text chunks, in lower case.
const (
	keyV3 = "ccv3"
	keyV2 = "chara"
	keyID = "orb_id"
)

// chunk is one piece of a PNG file.
type chunk struct {
	kind string // four ASCII letters
	data []byte
	raw  []byte // all of it, with length and checksum
}

// chunks splits a PNG file. What is no chunk any more, or only the beginning
// of one, ends it; whole tells whether the file ended with its last chunk.
func chunks(png []byte) (list []chunk, whole bool) {
	rest := png[len(pngSignature):]
	for len(rest) >= 12 && len(list) <= maxChunks {
		size := binary.BigEndian.Uint32(rest)
		kind := string(rest[4:8])
		if uint64(size) > uint64(len(rest)-12) || !isKind(kind) {
			return list, false
		}
		list = append(list, chunk{kind: kind, data: rest[8 : 8+size], raw: rest[:12+size]})
		rest = rest[12+size:]
	}
	return list, len(rest) == 0
}

func isKind(s string) bool {
	for _, c := range []byte(s) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return true
}

// sound tells whether the checksum is right.
func (c chunk) sound() bool {
	end := len(c.raw) - 4
	return crc32.ChecksumIEEE(c.raw[4:end]) == binary.BigEndian.Uint32(c.raw[end:])
}

// keyword is the keyword of a text chunk as it is written.
func (c chunk) keyword() (key string, ok bool) {
	if c.kind != "tEXt" && c.kind != "zTXt" && c.kind != "iTXt" {
		return "", false
	}
	before, _, _ := bytes.Cut(c.data, []byte{0})
	return string(before), true
}

// is tells whether it is the text chunk of a key.
func (c chunk) is(key string) bool {
	k, ok := c.keyword()
	return ok && strings.EqualFold(k, key)
}

var errChunk = errors.New("it is not built as its kind demands")

// text is what a text chunk says.
func (c chunk) text() ([]byte, error) {
	_, body, ok := bytes.Cut(c.data, []byte{0})
	switch {
	case !ok:
		return nil, errChunk
	case c.kind == "tEXt":
		return body, nil
	case c.kind == "zTXt" && len(body) > 0:
		return inflate(body[1:])
	case c.kind == "iTXt" && len(body) > 1:
		compressed := body[0] != 0
		parts := bytes.SplitN(body[2:], []byte{0}, 3) // language, translated keyword, text
		if len(parts) < 3 {
			return nil, errChunk
		}
		if compressed {
			return inflate(parts[2])
		}
		return parts[2], nil
	}
	return nil, errChunk
}

var errLarge = fmt.Errorf("it unpacks to more than %d MB", maxText>>20)

func inflate(data []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, maxText+1))
	if err == nil && len(out) > maxText {
		err = errLarge
	}
	return out, err
}

// payload is the JSON in a card's chunk: base64 in any of its dialects, or
// plain.
func (c chunk) payload() ([]byte, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	if text = bytes.Trim(text, blanks); len(text) > 0 && text[0] == '{' {
		return text, nil
	}
	text = bytes.Map(func(r rune) rune {
		switch {
		case r == '-':
			return '+'
		case r == '_':
			return '/'
		case r == '=' || strings.ContainsRune(blanks, r):
			return -1
		}
		return r
	}, text)
	out, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return nil, errors.New("it is no base64")
	}
	return out, nil
}

// decodePNG reads the card inside a picture: the first good chunk of V3, else
// of V2.
func decodePNG(data []byte, r *report) (Parsed, error) {
	list, whole := chunks(data)
	if len(list) > maxChunks {
		return Parsed{}, fault.New(fault.Invalid, "the picture has more than %d chunks", maxChunks)
	}
	var last error
	tries := 0
	for _, key := range []string{keyV3, keyV2} {
		for _, c := range list {
			if !c.is(key) || tries == maxTries {
				continue
			}
			tries++
			attempt := r.mark()
			p, err := decodeChunk(c, r)
			if err == nil {
				p.Avatar = avatarOf(data)
				if id := idOf(list, r); id != "" {
					p.Card.ID = id
				}
				inspect(list, whole, r)
				return p, nil
			}
			r.reset(attempt)
			r.note("the chunk %s was passed over: %v", key, err)
			last = err
		}
	}
	if last != nil {
		return Parsed{}, fault.New(fault.Invalid, "the picture's card cannot be read: %w; its chunks are %s", last, named(list, whole))
	}
	return Parsed{}, fault.New(fault.Invalid, "the picture holds no character card; its chunks are %s", named(list, whole)).
		WithHint("some sites and programs strip cards from pictures: take the original file")
}

func decodeChunk(c chunk, r *report) (Parsed, error) {
	text, err := c.payload()
	if err != nil {
		return Parsed{}, err
	}
	return decodeText(text, r, nil)
}

// idOf is the id in the first orb_id chunk that has one.
func idOf(list []chunk, r *report) string {
	for _, c := range list {
		if !c.is(keyID) {
			continue
		}
		if text, err := c.text(); err == nil {
			return ownID(strings.Trim(string(text), blanks), r)
		}
	}
	return ""
}

// inspect notes what is wrong with the picture around a good card.
func inspect(list []chunk, whole bool, r *report) {
	unsound := 0
	ended := false
	for _, c := range list {
		if !c.sound() {
			unsound++
		}
		ended = ended || c.kind == "IEND"
	}
	if unsound > 0 {
		r.note("the picture's checksums are wrong (%d)", unsound)
	}
	if !whole && !ended {
		r.note("the picture is cut off, its card is not")
	}
}

// named lists chunks for people: kinds, with a count or their keyword.
func named(list []chunk, whole bool) string {
	const most = 20
	var names []string
	for i := 0; i < len(list) && len(names) < most; {
		n := 1
		name := list[i].kind
		if key, ok := list[i].keyword(); ok {
			name += " " + quoted(key)
		} else {
			for i+n < len(list) && list[i+n].kind == name {
				n++
			}
			if n > 1 {
				name = fmt.Sprintf("%s (%d)", name, n)
			}
		}
		names = append(names, name)
		i += n
	}
	if len(names) == most {
		names = append(names, "…")
	}
	if !whole {
		names = append(names, "and a piece that is cut off or no chunk")
	}
	if len(list) == 0 {
		return "none that can be read"
	}
	return strings.Join(names, ", ")
}

// appendChunk appends a chunk with its checksum.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	start := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
}
