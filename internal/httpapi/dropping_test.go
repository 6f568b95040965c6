package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"jp/internal/lib/sse"
	"jp/internal/scene"
)

// dropping is a client that goes away after some writes.
type dropping struct {
	*httptest.ResponseRecorder
	left  int
	leave func()
}

func (d *dropping) Write(p []byte) (int, error) {
	if d.left--; d.left == 0 {
		d.leave()
	}
	return d.ResponseRecorder.Write(p)
}

// TestDroppingClients runs 200 exchanges, 20 at a time, whose clients go at
// random: each exchange has one reply of each member of its plan, and no reply
// is lost, stored twice, or of another conversation.
func TestDroppingClients(t *testing.T) {
	scenes, rounds := 20, 10
	if raced {
		rounds = 2
	}
	w := freshWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	w.player.answers = map[string][][]string{}
	names := []string{"Ada", "Bea", "Cyd"}
	for i := range scenes * rounds {
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		plan, err := json.Marshal(names[:1+random.IntN(3)])
		if err != nil {
			t.Fatal(err)
		}
		w.player.answers["director"] = append(w.player.answers["director"], []string{`call:{"speaking_plan":` + string(plan) + `}`})
		for j := range 3 {
			w.player.answers["writer"] = append(w.player.answers["writer"], []string{fmt.Sprintf("This is line %d.", 3*i+j)})
		}
	}
	var all sync.WaitGroup
	replies := make([][]string, scenes)
	for i := range scenes {
		seed := rand.New(rand.NewPCG(3, uint64(i)))
		all.Go(func() { replies[i] = w.dropped(t, rounds, seed) })
	}
	all.Wait()
	stored := slices.Sorted(slices.Values(slices.Concat(replies...)))
	if n := len(slices.Compact(slices.Clone(stored))); n != len(stored) {
		t.Errorf("%d of %d replies are stored twice", len(stored)-n, len(stored))
	}
	written := 0
	for _, s := range w.player.sent {
		if s.Pass == "writer" {
			written++
		}
	}
	if len(stored) != written || written < scenes*rounds {
		t.Errorf("%d replies were written and %d are stored", written, len(stored))
	}
}

// dropped plays exchanges in a conversation of its own, looks at what each of
// them left, and returns the replies.
func (w *world) dropped(t *testing.T, rounds int, random *rand.Rand) (replies []string) {
	c, err := w.scenes.CreateConversation(context.Background(), scene.NewConversation{
		Kind: scene.Group, TurnMode: scene.Director, Members: []scene.MemberSpec{{Name: "Ada"}, {Name: "Bea"}, {Name: "Cyd"}},
	})
	if err != nil {
		t.Error(err)
		return nil
	}
	path := "/api/conversations/" + c.ID
	var planned [][]string // by exchange
	for i := range rounds {
		ctx, leave := context.WithCancel(context.Background())
		client := &dropping{ResponseRecorder: httptest.NewRecorder(), left: 1 + random.IntN(20), leave: leave}
		r := httptest.NewRequest(http.MethodPost, path+"/send", strings.NewReader(fmt.Sprintf(`{"content":"Round %d"}`, i))).WithContext(ctx)
		r.Host = loopback
		r.Header.Set("Content-Type", "application/json")
		w.handler.ServeHTTP(client, r)
		leave()
		whole := w.ask(t, http.MethodGet, path+"/events", nil) // to its end
		var plan []string
		for e, err := range sse.Read(whole.Body, 0) {
			if err == nil && e.Type == "speaking_plan" {
				for _, m := range gjson.Get(e.Data, "plan.#.member_id").Array() {
					plan = append(plan, m.String())
				}
			}
		}
		planned = append(planned, plan)
	}
	stored, err := w.scenes.Messages(context.Background(), c.ID, nil, 0)
	if err != nil {
		t.Error(err)
	}
	var spoke [][]string
	for _, m := range stored {
		if m.Role == scene.RoleUser {
			spoke = append(spoke, nil)
			continue
		}
		spoke[len(spoke)-1] = append(spoke[len(spoke)-1], *m.SpeakerID)
		replies = append(replies, m.Content)
	}
	if diff := cmp.Diff(planned, spoke); diff != "" {
		t.Errorf("who spoke in each exchange (-plan +stored)\n%s", diff)
	}
	return replies
}
