package pipeline

import (
	"context"
	"slices"

	"jp/internal/kernel/llm"
	"jp/internal/scene"
)

// shown tells whether models are shown files of a type.
func shown(mime string) bool {
	return slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/gif"}, mime)
}

// loadImages reads the pictures of the path once for the whole exchange: every
// speaker is shown the same ones.
func (x *Exchange) loadImages(ctx context.Context) error {
	path := x.turn.history
	if x.turn.asked != nil {
		path = append(path[:len(path):len(path)], *x.turn.asked)
	}
	for _, s := range path {
		for _, u := range s.Uploads {
			if u.ID == 0 || !shown(u.MIME) {
				continue // it was sent just now, and is here already
			}
			_, data, err := x.r.Scenes.Upload(ctx, u.ID)
			if err != nil {
				return err
			}
			x.addImage(s.ID, scene.NewUpload{MIME: u.MIME, Filename: u.Filename, Data: data})
		}
	}
	return nil
}

func (x *Exchange) addImage(message int64, u scene.NewUpload) {
	if x.images == nil {
		x.images = map[int64][]llm.Image{}
	}
	if shown(u.MIME) {
		x.images[message] = append(x.images[message], llm.Image{MediaType: u.MIME, Data: u.Data, Source: u.Filename})
	}
}

func (x *Exchange) imagesOf(message int64) []llm.Image { return x.images[message] }
