package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image"
	_ "image/gif" // decodes avatars
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // decodes avatars

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

const (
	// mostPixels bounds what decoding a picture may cost: up to 8 bytes each.
	mostPixels = 16 << 20
	// thumbSide is the longer side of a thumbnail, in pixels.
	thumbSide = 320
	// thumbsAtOnce bounds how many pictures are decoded at a time.
	thumbsAtOnce = 2
)

func (a *api) avatars() {
	turns := make(chan struct{}, thumbsAtOnce)
	route(a, http.MethodGet, "/characters/{id}/avatar", "get-avatar", "Get a character's picture",
		func(ctx context.Context, in *pictureInput) (*pictureFile, error) {
			avatar, err := a.Scenes.Avatar(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return in.serve("", avatar, func(v scene.Avatar) (scene.Avatar, error) { return v, nil })
		}, produces(pictures...), answers(http.StatusNotModified, "The client has it"))
	route(a, http.MethodGet, "/characters/{id}/avatar/thumb", "get-avatar-thumb", "Get a character's picture in small",
		func(ctx context.Context, in *pictureInput) (*pictureFile, error) {
			avatar, err := a.Scenes.Avatar(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return in.serve("thumb", avatar, func(v scene.Avatar) (scene.Avatar, error) {
				select {
				case turns <- struct{}{}:
					defer func() { <-turns }()
				case <-ctx.Done():
					return v, ctx.Err()
				}
				return thumb(v)
			})
		}, produces("image/png", "image/jpeg"), answers(http.StatusNotModified, "The client has it"))
}

type pictureInput struct {
	ByID
	IfNoneMatch string `header:"If-None-Match"`
}

type pictureFile struct {
	Status             int
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	CacheControl       string `header:"Cache-Control"`
	ETag               string `header:"ETag"`
	Body               []byte
}

// serve answers with a form of the picture, or that the client has it. The
// tag is that of the picture, so that nothing is drawn to find out.
func (in pictureInput) serve(form string, avatar scene.Avatar, draw func(scene.Avatar) (scene.Avatar, error)) (*pictureFile, error) {
	sum := sha256.Sum256(append([]byte(form+"\n"), avatar.Data...))
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	out := &pictureFile{Status: http.StatusNotModified, ETag: tag, CacheControl: "private, max-age=300"}
	if !matches(in.IfNoneMatch, tag) {
		drawn, err := draw(avatar)
		if err != nil {
			return nil, err
		}
		file := stored("avatar", drawn.MIME, drawn.Data)
		out.Status, out.Body = http.StatusOK, file.Body
		out.ContentType, out.ContentDisposition = file.ContentType, file.ContentDisposition
	}
	return out, nil
}

// matches tells whether an If-None-Match header names the tag.
func matches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == tag || candidate == "*" {
			return true
		}
	}
	return false
}

// picture decodes an avatar as JSON carries it; nil for none. What it is, the
// bytes tell: a declared type is not believed.
func picture(b64 string) (*scene.Avatar, error) {
	if b64 == "" {
		return nil, nil
	}
	if _, data, ok := strings.Cut(b64, ";base64,"); ok && strings.HasPrefix(b64, "data:") {
		b64 = data
	}
	data, err := base64.StdEncoding.DecodeString(b64)
	if err != nil {
		return nil, misfit("this is not base64", "body", "avatar_b64")
	}
	kind, err := measured(data)
	if err != nil {
		return nil, misfit(sentence(err), "body", "avatar_b64")
	}
	return &scene.Avatar{MIME: kind, Data: data}, nil
}

// measured returns the media type of a picture that can be shown, without
// decoding it: a small file may claim to be huge.
func measured(data []byte) (string, error) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	kind := "image/" + format
	switch {
	case err != nil || !slices.Contains(pictures, kind):
		return "", fault.New(fault.Invalid, "this is no PNG, JPEG, WebP or GIF picture")
	case cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > mostPixels/cfg.Height:
		return "", fault.New(fault.Invalid, "this picture is too large").WithHint("at most %d megapixels", mostPixels>>20)
	}
	return kind, nil
}

// thumb draws a picture so small that a list can show many: a PNG if it is
// transparent anywhere, else a JPEG.
func thumb(v scene.Avatar) (scene.Avatar, error) {
	if _, err := measured(v.Data); err != nil {
		return v, err
	}
	full, _, err := image.Decode(bytes.NewReader(v.Data))
	if err != nil {
		return v, fault.New(fault.Invalid, "this picture is damaged")
	}
	small := image.NewNRGBA(fitted(full.Bounds()))
	draw.CatmullRom.Scale(small, small.Bounds(), full, full.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	v.MIME, err = "image/png", nil
	if small.Opaque() {
		v.MIME, err = "image/jpeg", jpeg.Encode(&out, small, &jpeg.Options{Quality: 85})
	} else {
		err = png.Encode(&out, small)
	}
	v.Data = out.Bytes()
	return v, err
}

// fitted is the largest rectangle of the same shape within a thumbnail's
// sides, never larger than the picture.
func fitted(r image.Rectangle) image.Rectangle {
	w, h := r.Dx(), r.Dy()
	if long := max(w, h); long > thumbSide {
		w, h = max(1, w*thumbSide/long), max(1, h*thumbSide/long)
	}
	return image.Rect(0, 0, w, h)
}
