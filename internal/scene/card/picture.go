package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"jp/internal/scene"
)

const (
	mimePNG  = "image/png"
	mimeJPEG = "image/jpeg"
	mimeGIF  = "image/gif"
	mimeWebP = "image/webp"
)

// maxPixels is the size of the largest picture that is converted.
const maxPixels = 64 << 20

// mimeOf is the type of picture that data begins like, or empty.
func mimeOf(data []byte) string {
	head := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(head, pngSignature):
		return mimePNG
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return mimeJPEG
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return mimeGIF
	case len(head) == 12 && head[:4] == "RIFF" && head[8:] == "WEBP":
		return mimeWebP
	}
	return ""
}

// avatarOf is a picture as an avatar, nil when it is of no kind that avatars
// may be.
func avatarOf(data []byte) *scene.Avatar {
	if mime := mimeOf(data); mime != "" && len(data) <= MaxFile {
		return &scene.Avatar{MIME: mime, Data: data}
	}
	return nil
}

// EncodePNG writes a card into its avatar, as V3 and V2 and with its id. The
// image data of a PNG stays as it is; JPEG and GIF are converted; where there
// is no picture, or none that the standard library reads, a plain one is drawn.
// Errors: as of EncodeJSON.
func EncodePNG(c scene.Card, a *scene.Avatar, book *scene.Book) ([]byte, error) {
	v3, err := encode(c, book, true)
	if err != nil {
		return nil, err
	}
	v2, err := encode(c, book, false)
	if err != nil {
		return nil, err
	}
	out := []byte(pngSignature)
	list, _ := chunks(canvas(c.Name, a))
	for _, c := range list {
		if !c.is(keyV3) && !c.is(keyV2) && !c.is(keyID) && c.kind != "IEND" {
			out = append(out, c.raw...)
		}
	}
	out = appendCard(out, keyV2, v2)
	out = appendCard(out, keyV3, v3)
	if idShape.MatchString(c.ID) {
		out = appendChunk(out, "tEXt", []byte(keyID+"\x00"+c.ID))
	}
	return appendChunk(out, "IEND", nil), nil
}

func appendCard(out []byte, key string, text []byte) []byte {
	return appendChunk(out, "tEXt", base64.StdEncoding.AppendEncode([]byte(key+"\x00"), text))
}

// canvas is a PNG file for a card.
func canvas(name string, a *scene.Avatar) []byte {
	if a == nil {
		return drawn(name)
	}
	switch mimeOf(a.Data) {
	case mimePNG:
		if list, _ := chunks(a.Data); len(list) > 1 && list[0].kind == "IHDR" {
			return a.Data
		}
	case mimeJPEG:
		if out := converted(a.Data, jpeg.DecodeConfig, jpeg.Decode); out != nil {
			return out
		}
	case mimeGIF:
		if out := converted(a.Data, gif.DecodeConfig, gif.Decode); out != nil {
			return out
		}
	}
	return drawn(name)
}

// converted is a picture as PNG, nil when it cannot be read or is too large to
// be tried.
func converted(data []byte, config func(io.Reader) (image.Config, error), decode func(io.Reader) (image.Image, error)) []byte {
	size, err := config(bytes.NewReader(data))
	if err != nil || size.Width < 1 || size.Height < 1 || size.Width > maxPixels/size.Height {
		return nil
	}
	img, err := decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return encoded(img)
}

func encoded(img image.Image) []byte {
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
		return nil
	}
	return b.Bytes()
}

// drawn is a plain picture in a colour that follows from the name.
func drawn(name string) []byte {
	const width, height = 256, 384
	sum := sha256.Sum256([]byte(name))
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{
		color.RGBA{R: 64 + sum[0]/2, G: 64 + sum[1]/2, B: 64 + sum[2]/2, A: 255},
	})
	return encoded(img)
}
