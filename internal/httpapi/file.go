package httpapi

import (
	"mime"
	"slices"
	"strings"
	"unicode"
)

// File is the answer of an operation that gives out a file. Such operations
// say what they produce.
type File struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	CacheControl       string `header:"Cache-Control"`
	ETag               string `header:"ETag"`
	Body               []byte
}

// pictures are the media types that a browser may show; anything else that
// somebody stored is only ever downloaded.
var pictures = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// stored is a file that somebody gave us: shown when it is a picture,
// otherwise a download of unknown content.
func stored(name, mediaType string, data []byte) *File {
	if slices.Contains(pictures, mediaType) {
		return &File{ContentType: mediaType, Body: data, ContentDisposition: "inline"}
	}
	return download(name, "application/octet-stream", data)
}

// download is a file to be saved under a name, which may be any text.
func download(name, mediaType string, data []byte) *File {
	return &File{
		ContentType: mediaType, Body: data,
		ContentDisposition: mime.FormatMediaType("attachment", map[string]string{"filename": fileName(name)}),
	}
}

// fileName makes any text the name of one file, without folders, control
// characters or leading dots.
func fileName(text string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return -1
		}
		if strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, text)
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	if runes := []rune(name); len(runes) > 120 {
		name = string(runes[len(runes)-120:])
	}
	if name == "" {
		return "file"
	}
	return name
}
