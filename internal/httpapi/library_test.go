package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"jp/internal/scene"
)

// ask sends one request, whose body is JSON unless it says otherwise.
func (w *world) ask(t *testing.T, method, path string, body []byte, head ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Host = loopback
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	return answer
}

// want is ask for what has to succeed.
func (w *world) want(t *testing.T, method, path string, body []byte) []byte {
	t.Helper()
	answer := w.ask(t, method, path, body)
	if answer.Code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return answer.Body.Bytes()
}

func freshWorld(t *testing.T) *world {
	t.Helper()
	w, done, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return w
}

// Names are any text; the header of a download holds none of it that could end
// the header, leave the folder or run.
func TestDownloadNames(t *testing.T) {
	w := freshWorld(t)
	for i, name := range []string{
		"Ada", `Who? A/B: "C"`, "CON", "..", "../../etc/passwd", `..\..\x`, "🦊", "Élodie", "助手", ".bashrc", "a;b=c",
		"x\r\nSet-Cookie: a=b", "nul\x00l", "\u202etxt.exe", strings.Repeat("长", 300), strings.Repeat("a", 300), "%0d%0a", "a\u2028b", "x. . ",
	} {
		id := fmt.Sprintf("card-%d", i)
		body, _ := json.Marshal(map[string]string{"id": id, "name": name})
		w.want(t, http.MethodPost, "/api/characters", body)
		for _, ext := range []string{"png", "json"} {
			answer := w.ask(t, http.MethodGet, "/api/characters/"+id+"/export?format="+ext, nil)
			head := answer.Header().Get("Content-Disposition")
			kind, params, err := mime.ParseMediaType(head)
			file := params["filename"]
			switch {
			case answer.Code != http.StatusOK || err != nil || kind != "attachment":
				t.Errorf("%q: %d, %q: %v", name, answer.Code, head, err)
			case strings.ContainsFunc(head, func(r rune) bool { return r < ' ' || r > '~' }):
				t.Errorf("%q: the header is not plain: %q", name, head)
			case !strings.Contains(head, "; filename="):
				t.Errorf("%q: no name for clients that only know ASCII: %q", name, head)
			case !strings.HasSuffix(file, "."+ext) || strings.ContainsFunc(file, unfit) || strings.HasPrefix(file, "."):
				t.Errorf("%q: the file is called %q", name, file)
			}
		}
	}
}

func unfit(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune("/\\:\u202e", r) }

func drawing(w, h int, c color.Color) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			img.Set(x, y, c)
		}
	}
	return img
}

func TestThumbs(t *testing.T) {
	w := freshWorld(t)
	encoded := func(encode func(*bytes.Buffer) error) []byte {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	solid, glass := color.NRGBA{R: 200, A: 255}, color.NRGBA{G: 200, A: 100}
	webp, _ := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	for name, c := range map[string]struct {
		picture       []byte
		format        string
		width, height int
	}{
		"tall":        {encoded(func(b *bytes.Buffer) error { return png.Encode(b, drawing(400, 800, solid)) }), "jpeg", 160, 320},
		"wide":        {encoded(func(b *bytes.Buffer) error { return jpeg.Encode(b, drawing(640, 64, solid), nil) }), "jpeg", 320, 32},
		"line":        {encoded(func(b *bytes.Buffer) error { return png.Encode(b, drawing(2000, 1, solid)) }), "jpeg", 320, 1},
		"small":       {encoded(func(b *bytes.Buffer) error { return gif.Encode(b, drawing(8, 9, solid), nil) }), "jpeg", 8, 9},
		"transparent": {encoded(func(b *bytes.Buffer) error { return png.Encode(b, drawing(640, 640, glass)) }), "png", 320, 320},
		"webp":        {webp, "png", 1, 1},
	} {
		body, _ := json.Marshal(map[string]string{"id": name, "name": name, "avatar_b64": base64.StdEncoding.EncodeToString(c.picture)})
		w.want(t, http.MethodPost, "/api/characters", body)
		if got := w.want(t, http.MethodGet, "/api/characters/"+name+"/avatar", nil); !bytes.Equal(got, c.picture) {
			t.Errorf("%s: the picture came back changed", name)
		}
		cfg, format, err := image.DecodeConfig(bytes.NewReader(w.want(t, http.MethodGet, "/api/characters/"+name+"/avatar/thumb", nil)))
		if err != nil || format != c.format || cfg.Width != c.width || cfg.Height != c.height {
			t.Errorf("%s: the thumb is a %s of %d by %d: %v", name, format, cfg.Width, cfg.Height, err)
		}
		export := w.want(t, http.MethodGet, "/api/characters/"+name+"/export", nil)
		full, _, _ := image.DecodeConfig(bytes.NewReader(c.picture))
		if cfg, format, err := image.DecodeConfig(bytes.NewReader(export)); err != nil || format != "png" || cfg.Width != full.Width {
			t.Errorf("%s: the card is a %s, %d wide: %v", name, format, cfg.Width, err)
		}
	}
}

// A picture that got into the store by another way is not trusted either.
func TestThumbOfBomb(t *testing.T) {
	w := freshWorld(t)
	bomb, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAA6mAAAOpgCAIAAAAPsOIVAAAACElEQVR42gMAAAAAAW/dyZEAAAAASUVORK5CYII=")
	cut := []byte("\x89PNG\r\n\x1a\nno more")
	for id, data := range map[string][]byte{"bomb": bomb, "cut": cut} {
		if _, err := w.scenes.CreateCard(context.Background(), scene.Card{ID: id, Name: id}, &scene.Avatar{Data: data}, nil); err != nil {
			t.Fatal(err)
		}
		if answer := w.ask(t, http.MethodGet, "/api/characters/"+id+"/avatar/thumb", nil); answer.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", id, answer.Code, answer.Body)
		}
	}
}

// C16: many entries come in by one request, and are one change of the World.
func TestLargeLorebook(t *testing.T) {
	w := freshWorld(t)
	var entries []map[string]any
	for i := range 5000 {
		entries = append(entries, map[string]any{"keys": []string{fmt.Sprintf("key %d", i)}, "content": fmt.Sprintf("Text %d", i), "insertion_order": i})
	}
	card, _ := json.Marshal(map[string]any{"name": "Ada", "character_book": map[string]any{"name": "Big", "entries": entries}})
	world := gjson.GetBytes(w.want(t, http.MethodPost, "/api/characters", card), "world_id").String()
	row := gjson.ParseBytes(w.want(t, http.MethodGet, "/api/worlds/"+world, nil))
	list := gjson.ParseBytes(w.want(t, http.MethodGet, "/api/worlds/"+world+"/entries", nil))
	if row.Get("content_revision").Int() != 1 || list.Get("#").Int() != 5000 || list.Get("4999.content").String() != "Text 4999" {
		t.Errorf("revision %s, %s entries, the last %s", row.Get("content_revision"), list.Get("#"), list.Get("4999.content"))
	}
	again := w.want(t, http.MethodPost, "/api/characters", card)
	if got := gjson.GetBytes(again, "world_id").String(); got != world {
		t.Errorf("the second card has the World %s, the first %s", got, world)
	}
}

// A limit is told, not cut off.
func TestTooLargeImport(t *testing.T) {
	w := freshWorld(t)
	answer := w.ask(t, http.MethodPost, "/api/characters/import", bytes.Repeat([]byte(" "), 65<<20))
	if answer.Code != http.StatusRequestEntityTooLarge || !gjson.GetBytes(answer.Body.Bytes(), "detail").Exists() {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// S21: a chosen endpoint that a file or the environment no longer has is not
// taken for a fresh installation.
func TestVanishedEndpoint(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "standing.json")
	if err := os.WriteFile(file, []byte(`[{"ID":"env:x","Source":"env","URL":"https://x.example/v1","Key":"k"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	w, done, err := newWorld(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.want(t, http.MethodPut, "/api/settings", []byte(`{"active_endpoint_id":"env:x"}`))
	done()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if w, done, err = newWorld(dir); err != nil {
		t.Fatal(err)
	}
	defer done()
	set := gjson.ParseBytes(w.want(t, http.MethodGet, "/api/settings", nil))
	if set.Get("rehearsing").Bool() || set.Get("active_endpoint_id").String() != "env:x" || set.Get("endpoint_url").Type != gjson.Null {
		t.Errorf("%s", set.Raw)
	}
}

// The card and the lorebook that a widely used program ships come in whole,
// go out and come in again as the same.
func TestShippedCard(t *testing.T) {
	w := freshWorld(t)
	first := w.importFile(t, shipped(t, "seraphina.png"), "photo.txt")
	if first.Get("name").String() != "Seraphina" || first.Get("exists").Bool() || first.Get("avatar_mime").String() != "image/png" {
		t.Fatalf("%.300s", first.Raw)
	}
	id := gjson.GetBytes(w.want(t, http.MethodPost, "/api/characters", []byte(first.Raw)), "id").String()
	for _, format := range []string{"png", "json"} {
		export := w.want(t, http.MethodGet, "/api/characters/"+id+"/export?format="+format, nil)
		second := w.importFile(t, export, "x")
		if !second.Get("exists").Bool() || second.Get("id").String() != id {
			t.Errorf("%s: it is not known again: %s", format, second.Get("id"))
		}
		if diff := cmp.Diff(cardOf(first), cardOf(second)); diff != "" {
			t.Errorf("%s: (-first +second)\n%s", format, diff)
		}
		w.want(t, http.MethodPut, "/api/characters/"+id, []byte(second.Raw))
		if again := w.want(t, http.MethodGet, "/api/characters/"+id+"/export?format="+format, nil); format == "json" && !bytes.Equal(again, export) {
			t.Errorf("%s: an update by its own export changed it", format)
		}
	}
}

// cardOf is what of an import must not change on the way.
func cardOf(r gjson.Result) map[string]any {
	m, _ := r.Value().(map[string]any)
	for _, passing := range []string{"exists", "report", "avatar_b64", "avatar_mime", "source_format"} {
		delete(m, passing)
	}
	return m
}

func TestShippedLorebook(t *testing.T) {
	w := freshWorld(t)
	file := shipped(t, "eldoria-lorebook.json")
	made := gjson.ParseBytes(w.want(t, http.MethodPost, "/api/worlds/import", file))
	if want := gjson.GetBytes(file, "entries.@values.#").Int(); made.Get("imported").Int() != want || want == 0 {
		t.Errorf("%s of %d entries", made.Get("imported"), want)
	}
	id := made.Get("id").String()
	export := w.want(t, http.MethodGet, "/api/worlds/"+id+"/export", nil)
	for uid, entry := range gjson.GetBytes(file, "entries").Map() {
		for field, want := range entry.Map() {
			got := gjson.GetBytes(export, "entries."+uid+"."+field)
			if diff := cmp.Diff(want.Value(), got.Value()); diff != "" {
				t.Errorf("entry %s, %s (-file +export):\n%s", uid, field, diff)
			}
		}
	}
	if again := gjson.GetBytes(w.want(t, http.MethodPost, "/api/worlds/import", export), "id").String(); again != id {
		t.Error("its own export is another World")
	}
}

func (w *world) importFile(t *testing.T, data []byte, name string) gjson.Result {
	t.Helper()
	const edge = "----------0123456789"
	form := "--" + edge + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n" + string(data) + "\r\n--" + edge + "--\r\n"
	answer := w.ask(t, http.MethodPost, "/api/characters/import", []byte(form), "Content-Type", "multipart/form-data; boundary="+edge)
	if answer.Code != http.StatusOK {
		t.Fatalf("import: %d %s", answer.Code, answer.Body)
	}
	return gjson.ParseBytes(answer.Body.Bytes())
}

// shipped reads a fixture beside the repository.
func shipped(t *testing.T, name string) []byte {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above")
		}
		dir = filepath.Dir(dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "..", "shared", "fixtures", "cards", name))
	if err != nil {
		t.Skipf("the shared fixture %s is not here", name)
	}
	return data
}
