package scene

import (
	"bytes"

	"jp/internal/lib/fault"
)

// PictureType tells what kind of picture data is by its first bytes: image/png,
// image/jpeg, image/webp or image/gif. ok is false for anything else, whatever
// it calls itself: only these are ever shown in a page.
func PictureType(data []byte) (mime string, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png", true
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg", true
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif", true
	case len(data) >= 16 && bytes.HasPrefix(data, []byte("RIFF")) && bytes.HasPrefix(data[8:], []byte("WEBPVP8")):
		return "image/webp", true
	}
	return "", false
}

// setAvatar stores a card's picture under the type that it has.
func setAvatar(tx Tx, card string, a *Avatar) error {
	if a == nil {
		return nil
	}
	mime, ok := PictureType(a.Data)
	if !ok {
		return fault.New(fault.Invalid, "this is no picture that can be shown").
			WithHint("take a PNG, JPEG, WebP or GIF file")
	}
	return tx.Cards.SetAvatar(card, Avatar{MIME: mime, Data: a.Data})
}
