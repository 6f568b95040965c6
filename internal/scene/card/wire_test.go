package card_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jp/internal/scene/card"
)

// TestAnyCard: whatever stands in whichever field, a card that comes in goes
// out and in again as it is.
func TestAnyCard(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var members []string
		for range rapid.IntRange(0, 6).Draw(rt, "outer fields") {
			members = append(members, member(rt, 3))
		}
		if rapid.Bool().Draw(rt, "nested") {
			members = append(members, `"spec":"chara_card_v3"`, `"data":`+object(rt, 3))
		}
		members = append(members, `"name":"Ada"`, `"personality":""`)
		wire := "{" + strings.Join(members, ",") + "}"
		p, err := card.Decode([]byte(wire), "")
		if err != nil {
			rt.Fatalf("%v\n%s", err, wire)
		}
		if out, err := card.EncodeJSON(p.Card, p.Book); err != nil || len(out) == 0 {
			rt.Fatal(err)
		}
		before := t.Failed()
		if roundTrip(t, p); t.Failed() && !before {
			rt.Fatal(wire)
		}
	})
}

// member is a field: of a card, of what is parked, or of nobody.
func member(t *rapid.T, depth int) string {
	key := rapid.SampledFrom(strings.Fields(`name description personality scenario first_mes mes_example tags
		alternate_greetings extensions extensions orb orb v3 extra outer nickname group_only_greetings assets source
		creation_date char_name char_persona creatorcomment spec_version orb_id data foo foo bar <b> \u00e9`)).Draw(t, "key")
	return `"` + key + `":` + value(t, depth)
}

func object(t *rapid.T, depth int) string {
	var members []string
	for range rapid.IntRange(0, 5).Draw(t, "fields") {
		members = append(members, member(t, depth-1))
	}
	return "{" + strings.Join(members, rapid.SampledFrom([]string{",", " ,\n "}).Draw(t, "comma")) + "}"
}

func value(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	switch {
	case depth > 0 && kind < 3:
		return object(t, depth)
	case depth > 0 && kind == 3:
		return "[" + value(t, depth-1) + ", " + value(t, depth-1) + "]"
	}
	return rapid.SampledFrom([]string{
		`null`, `true`, `1`, `1.50`, `-0`, `1E400`, `""`, `"a"`, `"a, b"`, `[]`, `[ ]`, `{}`, `"\ud800"`, `"\u0000"`, `"<&>"`, `"é\u2028"`,
	}).Draw(t, "scalar")
}
