// Package card reads and writes the files in which people pass characters
// around: PNG pictures with a card inside, JSON in the Tavern and Pygmalion
// shapes, and CharX archives.
//
// Decode goes by a file's content and never by its name. It takes what it can
// and tells in the report what it coerced, left out or keeps without using it;
// it refuses only what holds no card, is larger than the limits, or nests too
// deeply. Names and texts are data: none becomes a path, nothing is fetched.
// What a card says beyond the fields of scene.Card is parked in the extensions
// at orb.v3, orb.extra and orb.outer, value by value as it was spelled, and
// EncodeJSON and EncodePNG put it back where it stood. What they write, Decode
// reads as the same card; ids of rows, times and the card's own settings here
// (world, persona, slots) are not written. The same card gives the same bytes.
package card

import (
	"bytes"
	"crypto/sha256"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// MaxFile is the size of the largest file that Decode takes, in bytes.
const MaxFile = 64 << 20

const (
	maxText   = 32 << 20  // of a card's JSON where it is compressed, in bytes
	maxImage  = 32 << 20  // of a picture inside an archive or a data URI, in bytes
	maxDepth  = 256       // of nested lists and objects in a card
	maxValues = 1_000_000 // of lists and objects in a card
)

// Parsed is a card as a file holds it.
type Parsed struct {
	Card   scene.Card // without times; ID is the file's own, else made from its bytes
	Avatar *scene.Avatar
	Book   *scene.Book // nil when the card carries none
	Report []string    // what was coerced, left out or kept unused, a line each
}

// Decode reads a character card from a file. filename only names a card that
// has no name itself. Errors: Invalid.
func Decode(data []byte, filename string) (Parsed, error) {
	if len(data) > MaxFile {
		return Parsed{}, fault.New(fault.Invalid, "the file has more than %d MB", MaxFile>>20)
	}
	r := &report{}
	p, err := decode(data, r)
	if err != nil {
		return Parsed{}, err
	}
	if p.Card.ID == "" {
		p.Card.ID = hashID(data)
	}
	if !visible(p.Card.Name) {
		p.Card.Name = stem(filename)
		r.note("name: it was empty, so the file's name %s was taken", quoted(p.Card.Name))
	}
	p.Report = r.finish()
	return p, nil
}

// decode tells the kinds of files apart.
func decode(data []byte, r *report) (Parsed, error) {
	kind, picture := scene.PictureType(data)
	switch {
	case kind == "image/png":
		p, err := decodePNG(data, r)
		if err != nil && isZip(data) {
			return decodeCharX(data, r)
		}
		return p, err
	case looksLikeText(data):
		return decodeText(data, r, nil)
	case isZip(data):
		return decodeCharX(data, r)
	case picture:
		return Parsed{}, fault.New(fault.Invalid, "the file is a picture of the type %s, and only PNG pictures carry cards", kind).
			WithHint("many programs save such a card as PNG or JSON, too")
	}
	return Parsed{}, fault.New(fault.Invalid, "the file is no character card: it is neither a PNG picture nor JSON nor a CharX archive")
}

// hashID is a UUID (version 8) of a file's bytes: the same file is the same
// card.
func hashID(data []byte) string {
	sum := sha256.Sum256(data)
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// idShape is what an id from a file may look like: ids stand in addresses.
var idShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// visible tells whether a name can be seen.
func visible(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) })
}

// stem is a file's name without folders, on any system, and without its type.
func stem(filename string) string {
	name := filename[strings.LastIndexAny(filename, `/\`)+1:]
	if ext := path.Ext(name); len(ext) <= len(".charx") && !strings.Contains(ext, " ") {
		name = strings.TrimSuffix(name, ext)
	}
	name = strings.ToValidUTF8(name, "\uFFFD")
	if !visible(name) {
		return "Unnamed"
	}
	return name
}

// isZip tells whether there is the end of an archive's directory: what stands
// before the archive may be anything.
func isZip(data []byte) bool { return bytes.Contains(data, []byte("PK\x05\x06")) }
