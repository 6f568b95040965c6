package httpapi

import (
	"mime"
	"regexp"
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
	return &File{ContentType: mediaType, Body: data, ContentDisposition: disposition(fileName(name))}
}

// disposition names a file to be saved: in ASCII, and for clients that know
// RFC 8187 as it is called.
func disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '_'
		}
		return r
	}, name)
	head := mime.FormatMediaType("attachment", map[string]string{"filename": ascii})
	if ascii != name {
		head += strings.TrimPrefix(mime.FormatMediaType("attachment", map[string]string{"filename": name}), "attachment")
	}
	return head
}

// fileName makes any text the name of one file, everywhere: without folders,
// control characters, dots and spaces at its ends, and none of the names that
// Windows keeps for devices.
func fileName(text string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar {
			return -1
		}
		if strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, text)
	name = strings.TrimLeft(strings.TrimSpace(name), ". ")
	if runes := []rune(name); len(runes) > 120 {
		name = string(runes[len(runes)-120:])
	}
	name = strings.TrimRight(name, ". ")
	if device.MatchString(name) {
		name = "_" + name
	}
	if name == "" {
		return "file"
	}
	return name
}

// device is what Windows opens a device for, whatever follows the dot.
var device = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)`)
