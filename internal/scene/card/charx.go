package card

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// maxEntries is how many files an archive may hold.
const maxEntries = 10_000

// cardFile is where an archive keeps its card.
const cardFile = "card.json"

var errTooLarge = errors.New("it is too large")

// decodeCharX reads an archive: its card, and of its assets the picture.
func decodeCharX(data []byte, r *report) (Parsed, error) {
	if bytes.Count(data, []byte("PK\x01\x02")) > maxEntries {
		return Parsed{}, fault.New(fault.Invalid, "the archive holds more than %d files", maxEntries)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return Parsed{}, fault.New(fault.Invalid, "the archive cannot be read: %w", err)
	}
	files := map[string]*zip.File{}
	var names []string
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if !inside(f.Name) {
			r.note("the archive's file %s was left out: its path leads out of the archive", quoted(f.Name))
			continue
		}
		if files[f.Name] == nil {
			files[f.Name] = f
			names = append(names, f.Name)
		}
	}
	if files[cardFile] == nil {
		return Parsed{}, fault.New(fault.Invalid, "the archive holds no %s; its files are %s", cardFile, listed(names))
	}
	text, err := unzip(files[cardFile], maxText)
	if err != nil {
		return Parsed{}, fault.New(fault.Invalid, "the archive's %s cannot be read: %w", cardFile, err)
	}
	taken := ""
	p, err := decodeText(text, r, func(name string) ([]byte, error) {
		if files[name] == nil {
			return nil, errors.New("the archive has no such file")
		}
		taken = name
		return unzip(files[name], maxImage)
	})
	if err != nil {
		return Parsed{}, err
	}
	if p.Avatar == nil {
		taken = ""
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == cardFile || name == taken })
	if len(names) > 0 {
		r.note("assets were left out: %s", listed(names))
	}
	return p, nil
}

// inside tells whether a path stays in its archive, on any system.
func inside(name string) bool {
	clean := strings.ReplaceAll(name, `\`, "/")
	if path.IsAbs(clean) || strings.Contains(clean, ":") || strings.Contains(clean, "\x00") {
		return false
	}
	return !slices.Contains(strings.Split(clean, "/"), "..")
}

// unzip reads one file up to a limit. What the archive says about its size is
// not believed.
func unzip(f *zip.File, limit int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(out)) > limit {
		err = errTooLarge
	}
	return out, err
}

// icon is the picture that a card names as its main icon. Nothing is fetched.
func (in *reader) icon() *scene.Avatar {
	items, _ := parseList(in.raw("assets", ""))
	var first, main string
	for _, item := range items {
		asset, _, _ := parseObject(item)
		if word(asset, "type") != "icon" {
			continue
		}
		uri := word(asset, "uri")
		if first == "" {
			first = uri
		}
		if main == "" && word(asset, "name") == "main" {
			main = uri
		}
	}
	if main == "" {
		main = first
	}
	if main == "" || strings.HasPrefix(main, "ccdefault:") {
		return nil
	}
	data, err := in.asset(main)
	avatar := avatarOf(data)
	switch {
	case err != nil:
		in.report.note("assets: the icon %s was left out: %v", quoted(main), err)
	case avatar == nil:
		in.report.note("assets: the icon %s was left out: it is no PNG, JPEG, GIF or WebP picture", quoted(main))
	}
	return avatar
}

func word(o object, key string) string {
	if raw := o.get(key); kindOf(raw) == '"' {
		return unquote(raw)
	}
	return ""
}

// asset reads what a URI names: a file of the archive, or data in the URI.
func (in *reader) asset(uri string) ([]byte, error) {
	for _, scheme := range []string{"embeded://", "embedded://"} { // the first is how the specification spells it
		if name, ok := strings.CutPrefix(uri, scheme); ok && in.open != nil {
			return in.open(name)
		}
	}
	if rest, ok := strings.CutPrefix(uri, "data:"); ok {
		head, body, _ := strings.Cut(rest, ",")
		if strings.HasSuffix(head, ";base64") && len(body) <= maxImage {
			return base64.StdEncoding.DecodeString(body)
		}
	}
	return nil, errors.New("only pictures that come with the card are read")
}

// opener reads a file that came with a card.
type opener func(name string) ([]byte, error)
