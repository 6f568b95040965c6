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

// pictures are what models are shown of messages' files, by message.
type pictures map[int64][]llm.Image

// load reads the pictures of a path once, so that every call that shows it
// shows the same ones.
func (p *pictures) load(ctx context.Context, s *scene.Service, path []scene.Step) error {
	for _, step := range path {
		for _, u := range step.Uploads {
			if u.ID == 0 || !shown(u.MIME) {
				continue // it was sent just now, and is here already
			}
			_, data, err := s.Upload(ctx, u.ID)
			if err != nil {
				return err
			}
			p.add(step.ID, scene.NewUpload{MIME: u.MIME, Filename: u.Filename, Data: data})
		}
	}
	return nil
}

func (p *pictures) add(message int64, u scene.NewUpload) {
	if *p == nil {
		*p = pictures{}
	}
	if shown(u.MIME) {
		(*p)[message] = append((*p)[message], llm.Image{MediaType: u.MIME, Data: u.Data, Source: u.Filename})
	}
}

func (p pictures) of(message int64) []llm.Image { return p[message] }

// loadImages reads the pictures of what the exchange goes on from.
func (x *Exchange) loadImages(ctx context.Context) error {
	path := x.turn.history
	if x.turn.asked != nil {
		path = append(path[:len(path):len(path)], *x.turn.asked)
	}
	return x.images.load(context.WithoutCancel(ctx), x.r.Scenes, path)
}
