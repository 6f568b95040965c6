package sample

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// palette is the colours of a portrait, as #rrggbb.
type palette struct {
	Back  string `json:"back"`
	Light string `json:"light"` // of the lamp behind
	Coat  string `json:"coat"`
	Skin  string `json:"skin"`
	Hair  string `json:"hair"`
}

// side is the width and height of a portrait, in pixels.
const side = 256

// portrait draws a head and shoulders before a lamp, as a PNG. It has no
// features, so that everybody may imagine them.
func portrait(p palette) ([]byte, error) {
	shapes := []struct {
		colour string
		inside func(x, y float64) float64 // distance from the edge in pixels, negative inside
	}{
		{p.Back, func(x, y float64) float64 { return -1 }},
		{p.Light, disc(178, 74, 46)},
		{p.Hair, disc(128, 112, 62)},
		{p.Coat, disc(128, 280, 104)},
		{p.Skin, func(x, y float64) float64 { return max(math.Abs(x-128)-20, math.Abs(y-166)-26) }},
		{p.Skin, disc(128, 122, 47)},
		{p.Hair, func(x, y float64) float64 { return max(disc(128, 112, 62)(x, y), -disc(146, 150, 66)(x, y)) }},
	}
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for _, s := range shapes {
		c, err := parse(s.colour)
		if err != nil {
			return nil, err
		}
		for y := range side {
			for x := range side {
				// Half a pixel on both sides of an edge is mixed.
				cover := min(max(0.5-s.inside(float64(x)+0.5, float64(y)+0.5), 0), 1)
				img.SetRGBA(x, y, mix(img.RGBAAt(x, y), c, cover))
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

func disc(cx, cy, r float64) func(x, y float64) float64 {
	return func(x, y float64) float64 { return math.Hypot(x-cx, y-cy) - r }
}

func parse(s string) (color.RGBA, error) {
	c := color.RGBA{A: 255}
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return c, fmt.Errorf("%q is no colour: %w", s, err)
	}
	return c, nil
}

// mix lays b over a.
func mix(a, b color.RGBA, cover float64) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*cover)) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}
