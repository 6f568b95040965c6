package card_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"jp/internal/scene"
	"jp/internal/scene/card"
)

// TestEncodePNG: the picture stays, the old card goes, and three chunks stand
// before the end, whatever the avatar is.
func TestEncodePNG(t *testing.T) {
	plainGIF := func(width, height int) []byte {
		var b bytes.Buffer
		if err := gif.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black}), nil); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	webp, _ := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	end := []byte("\x00\x00\x00\x00IEND\xaeB`\x82")
	old := bytes.TrimSuffix(plainPNG(), end)
	for _, key := range []string{"Chara", "ccv3", "orb_id", "Comment"} {
		old = append(old, textChunk("tEXt", key, []byte("old"), []string{"plain"})...)
	}
	for _, kind := range []string{"zTXt", "iTXt", "iTXt-z"} {
		old = append(old, textChunk(kind, "chara", []byte("old"), nil)...)
	}
	old = append(old, end...)
	large := plainPNG()[:8+25]
	for _, c := range []struct {
		name   string
		avatar *scene.Avatar
		size   image.Point
		kinds  string
	}{
		{"PNG", &scene.Avatar{MIME: "image/png", Data: plainPNG()}, image.Pt(3, 2), "IHDR IDAT"},
		{"PNG with a card", &scene.Avatar{MIME: "image/png", Data: old}, image.Pt(3, 2), "IHDR IDAT tEXt Comment"},
		{"PNG that says JPEG", &scene.Avatar{MIME: "image/jpeg", Data: plainPNG()}, image.Pt(3, 2), "IHDR IDAT"},
		{"PNG without a picture", &scene.Avatar{MIME: "image/png", Data: large}, image.Pt(256, 384), "IHDR PLTE IDAT"},
		{"JPEG", &scene.Avatar{MIME: "image/jpeg", Data: plainJPEG()}, image.Pt(3, 2), "IHDR IDAT"},
		{"JPEG, cut off", &scene.Avatar{MIME: "image/jpeg", Data: plainJPEG()[:40]}, image.Pt(256, 384), "IHDR PLTE IDAT"},
		{"GIF", &scene.Avatar{MIME: "image/gif", Data: plainGIF(3, 2)}, image.Pt(3, 2), "IHDR PLTE IDAT"},
		{"GIF of 65 million pixels", &scene.Avatar{MIME: "image/gif", Data: plainGIF(8192, 8193)}, image.Pt(256, 384), "IHDR PLTE IDAT"},
		{"WebP", &scene.Avatar{MIME: "image/webp", Data: webp}, image.Pt(1, 1), "IHDR IDAT"},
		{"WebP, cut off", &scene.Avatar{MIME: "image/webp", Data: []byte("RIFF\x04\x00\x00\x00WEBPVP8 ")}, image.Pt(256, 384), "IHDR PLTE IDAT"},
		{"none", nil, image.Pt(256, 384), "IHDR PLTE IDAT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := scene.Card{ID: "ada-1", Name: "Ada", Extensions: json.RawMessage(`{"orb":{"v3":{"nickname":"A"}}}`)}
			out, err := card.EncodePNG(in, c.avatar, nil)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := card.EncodePNG(in, c.avatar, nil); err != nil || !bytes.Equal(out, again) {
				t.Error("the same card gives other bytes")
			}
			img, err := png.Decode(bytes.NewReader(out))
			if err != nil || img.Bounds().Size() != c.size {
				t.Errorf("the picture: %v, want %v", err, c.size)
			}
			kinds, texts, _ := chunksOf(t, out)
			if want := c.kinds + " tEXt chara tEXt ccv3 tEXt orb_id IEND"; strings.Join(kinds, " ") != want {
				t.Errorf("chunks %s, want %s", kinds, want)
			}
			wire, _ := card.EncodeJSON(in, nil)
			if texts["ccv3"] != string(wire) || texts["orb_id"] != "ada-1" {
				t.Errorf("ccv3 %s\norb_id %s", texts["ccv3"], texts["orb_id"])
			}
		})
	}
}

// TestImageUntouched: what is no text keeps its bytes, also in chunks that
// nobody knows and with checksums that are wrong.
func TestImageUntouched(t *testing.T) {
	pic := plainPNG()
	end := len(pic) - 12
	strange := slices.Concat(pic[:33], chunkOf("prVt", []byte("own data")), pic[33:])
	out, err := card.EncodePNG(scene.Card{Name: "Ada"}, &scene.Avatar{Data: strange}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, texts, image := chunksOf(t, out); !bytes.Equal(append([]byte(pic[:8:8]), image...), strange) || len(texts) != 2 {
		t.Errorf("the image has other bytes, or there are other texts than two: %q", texts)
	}
	broken := bytes.Clone(pic)
	broken[end-1] ^= 1
	if out, err = card.EncodePNG(scene.Card{Name: "Ada"}, &scene.Avatar{Data: broken}, nil); err != nil || !bytes.HasPrefix(out, broken[:end]) {
		t.Error("a chunk with a wrong checksum was changed")
	}
}

// TestShapes: the V3 object has everything that V3 demands; the V2 object has
// nothing that is V3's, and a program that knows only V2 loses nothing.
func TestShapes(t *testing.T) {
	in, err := card.Decode([]byte(`{"spec":"chara_card_v3","data":{"name":"Ada","nickname":"A","assets":[],"foo":[1.0],"extensions":{"v":1}},"bar":2}`), "")
	if err != nil {
		t.Fatal(err)
	}
	out, err := card.EncodePNG(in.Card, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, texts, _ := chunksOf(t, out)
	fields := func(text string) (spec string, keys []string) {
		var wire struct {
			Spec string
			Data map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &wire); err != nil {
			t.Fatal(err)
		}
		for k := range wire.Data {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return wire.Spec, keys
	}
	v2 := strings.Fields("alternate_greetings character_version creator creator_notes description extensions first_mes foo mes_example name personality post_history_instructions scenario system_prompt tags")
	v3 := append(slices.Clone(v2), "assets", "group_only_greetings", "nickname")
	slices.Sort(v3)
	for key, want := range map[string][]string{"chara": v2, "ccv3": v3} {
		spec, keys := fields(texts[key])
		if diff := cmp.Diff(want, keys); diff != "" || spec != "chara_card_v"+key[len(key)-1:] && key == "ccv3" || spec == "" {
			t.Errorf("%s: %s (-want +got):\n%s", key, spec, diff)
		}
	}
	old, err := card.Decode([]byte(texts["chara"]), "")
	if err != nil {
		t.Fatal(err)
	}
	want := in.Card
	want.Format = "tavern_v2"
	if diff := cmp.Diff(want, old.Card); diff != "" {
		t.Errorf("through V2 (-before +after):\n%s", diff)
	}
}

// TestTexts: any text in any field goes out and comes in as it is, and so does
// any value of somebody else's extension.
func TestTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string { return strings.ToValidUTF8(rapid.String().Draw(t, label), "?") }
		list := func(label string) (out []string) {
			for range rapid.IntRange(0, 3).Draw(t, label) {
				out = append(out, text(label))
			}
			return out
		}
		foreign, err := json.Marshal(map[string]any{text("key") + "x": text("value"), "n": json.Number("1.50")})
		if err != nil {
			t.Fatal(err)
		}
		want := scene.Card{
			ID: rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:-]{0,20}`).Draw(t, "id"), Name: "A" + text("name"),
			Description: text("description"), Personality: text("personality"), Scenario: text("scenario"),
			FirstMessage: text("first"), Examples: text("examples"), CreatorNotes: text("notes"),
			SystemPrompt: text("system"), PostHistory: text("post"), Tags: list("tags"), Creator: text("creator"),
			Version: text("version"), Greetings: list("greetings"), Format: "tavern_v3",
			Extensions: json.RawMessage(`{"vendor":` + string(foreign) + `}`),
		}
		for _, encode := range []func() ([]byte, error){
			func() ([]byte, error) { return card.EncodeJSON(want, nil) },
			func() ([]byte, error) { return card.EncodePNG(want, &scene.Avatar{Data: plainPNG()}, nil) },
		} {
			file, err := encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := card.Decode(file, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Card); diff != "" || got.Report != nil {
				t.Fatalf("%q (-want +got):\n%s", got.Report, diff)
			}
		}
	})
}
