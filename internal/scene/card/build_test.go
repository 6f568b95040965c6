package card_test

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/tools/txtar"
)

// A case describes a file line by line in its section "file"; the other
// sections are what goes into it:
//
//	name "a name.png"            the file's name
//	json card.json [encoding]    the file is this JSON; bom, utf16le, utf16be, utf16le-bare
//	text "quoted"                the file is this text
//	png                          begins a picture: its IHDR
//	IDAT, IEND                   the rest of the picture
//	tEXt KEY card.json [how]     a text chunk, also zTXt, iTXt and iTXt-z; how: plain, url, wrapped, badcrc
//	cut N                        takes N bytes off the end
//	zip ["prefix"]               begins an archive
//	file "path" section          a file in it; section may be png or bomb
func build(t testing.TB, arc *txtar.Archive) (data []byte, name string) {
	t.Helper()
	b := &builder{t: t, sections: map[string][]byte{}}
	for _, f := range arc.Files {
		b.sections[f.Name] = f.Data
	}
	name = "some card.png"
	for line := range strings.Lines(string(b.sections["file"])) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "name" {
			name = b.unquote(rest)
			continue
		}
		b.line(word, rest)
	}
	if b.zip != nil {
		if err := b.zip.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.out.Bytes(), name
}

type builder struct {
	t        testing.TB
	sections map[string][]byte
	out      bytes.Buffer
	zip      *zip.Writer
}

func (b *builder) line(word, rest string) {
	args := strings.Fields(rest)
	switch word {
	case "json":
		b.out.Write(inEncoding(bytes.TrimSuffix(b.section(args[0]), []byte("\n")), args[1:]))
	case "text":
		b.out.WriteString(b.unquote(rest))
	case "png":
		b.out.Write(plainPNG()[:8+25])
	case "IDAT":
		pic := plainPNG()
		b.out.Write(pic[8+25 : len(pic)-12])
	case "IEND":
		b.out.Write(chunkOf("IEND", nil))
	case "tEXt", "zTXt", "iTXt", "iTXt-z":
		b.out.Write(textChunk(word, args[0], b.section(args[1]), args[2:]))
	case "cut":
		n, err := strconv.Atoi(rest)
		if err != nil {
			b.t.Fatal(err)
		}
		b.out.Truncate(b.out.Len() - n)
	case "zip":
		if rest != "" {
			b.out.WriteString(b.unquote(rest))
		}
		b.zip = zip.NewWriter(&b.out)
	case "file":
		at := strings.LastIndex(rest, " ")
		b.add(b.unquote(rest[:at]), rest[at+1:])
	default:
		b.t.Fatalf("the case has a line %q", word)
	}
}

func (b *builder) section(name string) []byte {
	data, ok := b.sections[name]
	if !ok {
		b.t.Fatalf("the case has no section %s", name)
	}
	return data
}

func (b *builder) unquote(s string) string {
	out, err := strconv.Unquote(s)
	if err != nil {
		b.t.Fatalf("%s: %v", s, err)
	}
	return out
}

// add writes a file into the archive.
func (b *builder) add(path, section string) {
	w, err := b.zip.Create(path)
	if err != nil {
		b.t.Fatal(err)
	}
	data := b.sections[section]
	switch section {
	case "png":
		data = plainPNG()
	case "bomb":
		data = make([]byte, 33<<20)
	}
	if _, err := w.Write(data); err != nil {
		b.t.Fatal(err)
	}
}

func inEncoding(text []byte, how []string) []byte {
	if len(how) == 0 {
		return text
	}
	if how[0] == "bom" {
		return append([]byte("\xef\xbb\xbf"), text...)
	}
	var order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	} = binary.LittleEndian
	if how[0] == "utf16be" {
		order = binary.BigEndian
	}
	var out []byte
	if how[0] != "utf16le-bare" {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(string(text))) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// textChunk is a text chunk with a card as programs write it.
func textChunk(kind, key string, text []byte, how []string) []byte {
	style := fmt.Sprint(how)
	switch {
	case strings.Contains(style, "url"):
		text = []byte(base64.RawURLEncoding.EncodeToString(text))
	case strings.Contains(style, "wrapped"):
		code := base64.StdEncoding.EncodeToString(text)
		text = []byte(code[:20] + "\n" + code[20:] + "\n")
	case !strings.Contains(style, "plain"):
		text = []byte(base64.StdEncoding.EncodeToString(text))
	}
	body := []byte(key + "\x00")
	switch kind {
	case "tEXt":
		body = append(body, text...)
	case "zTXt":
		body = append(append(body, 0), deflated(text)...)
	case "iTXt":
		body = append(append(body, "\x00\x00en\x00Figur\x00"...), text...)
	case "iTXt-z":
		body = append(append(body, "\x01\x00\x00\x00"...), deflated(text)...)
	}
	c := chunkOf(kind[:4], body)
	if strings.Contains(style, "badcrc") {
		c[len(c)-1] ^= 1
	}
	return c
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

func chunkOf(kind string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

func plainPNG() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func plainJPEG() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// chunksOf reads a picture's chunks without the package's help: kinds, and the
// text chunks by key.
func chunksOf(t testing.TB, data []byte) (kinds []string, texts map[string]string, image []byte) {
	t.Helper()
	texts = map[string]string{}
	for rest := data[8:]; len(rest) > 0; {
		size := binary.BigEndian.Uint32(rest)
		kind, body := string(rest[4:8]), rest[8:8+size]
		if got, want := binary.BigEndian.Uint32(rest[8+size:]), crc32.ChecksumIEEE(rest[4:8+size]); got != want {
			t.Errorf("%s: checksum %x, want %x", kind, got, want)
		}
		if kind == "tEXt" {
			key, text, _ := strings.Cut(string(body), "\x00")
			if _, twice := texts[key]; twice {
				t.Errorf("two chunks %s", key)
			}
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil && key != "orb_id" {
				text = string(plain)
			}
			texts[key] = text
			kind += " " + key
		} else {
			image = append(image, rest[:12+size]...)
		}
		kinds = append(kinds, kind)
		rest = rest[12+size:]
	}
	return kinds, texts, image
}
