package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/color"
	_ "image/gif"  // decodes avatars
	_ "image/jpeg" // decodes avatars
	"image/png"

	_ "golang.org/x/image/webp" // decodes avatars

	"jp/internal/scene"
)

// maxPixels is the size of the largest picture that is converted.
const maxPixels = 64 << 20

// avatarOf is a picture as an avatar, nil when it is of no kind that avatars
// may be.
func avatarOf(data []byte) *scene.Avatar {
	if mime, ok := scene.PictureType(data); ok && len(data) <= MaxFile {
		return &scene.Avatar{MIME: mime, Data: data}
	}
	return nil
}

// EncodePNG writes a card into its avatar, as V3 and V2 and with its id. The
// image data of a PNG stays as it is; JPEG, GIF and WebP are converted; where
// there is no picture, or none that can be read, a plain one is drawn.
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
	if bytes.HasPrefix(a.Data, []byte(pngSignature)) {
		if list, _ := chunks(a.Data); len(list) > 1 && list[0].kind == "IHDR" {
			return a.Data
		}
	}
	if out := converted(a.Data); out != nil {
		return out
	}
	return drawn(name)
}

// converted is a picture as PNG, nil when it cannot be read or is too large to
// be tried.
func converted(data []byte) []byte {
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || size.Width < 1 || size.Height < 1 || size.Width > maxPixels/size.Height {
		return nil
	}
	img, _, err := image.Decode(bytes.NewReader(data))
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
