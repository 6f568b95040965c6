package catalog_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"jp/internal/kernel/llm/catalog"
)

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &net{texts: map[string]string{
			"127.0.0.1:8080": `{"default_generation_settings":{"n_ctx":8192,"params":{}},"total_slots":1}`,
			"none.example":   `{"default_generation_settings":{}}`,
			"below.example":  `{"default_generation_settings":{"n_ctx":-1}}`,
			"html.example":   `<html>`,
			"404.example":    "404",
			"hang.example":   "hang",
		}}
		for base, want := range map[string]int{
			"http://127.0.0.1:8080/v1": 8192, "http://127.0.0.1:8080/v1/": 8192, "http://127.0.0.1:8080": 8192,
			"https://none.example/v1": 0, "https://below.example/v1": 0, "https://html.example/v1": 0,
			"https://404.example/v1": 0, "https://hang.example/v1": 0, "https://gone.example/v1": 0, "nonsense": 0,
		} {
			if got := catalog.Context(t.Context(), n, base, ""); got != want {
				t.Errorf("%s holds %d, want %d", base, got, want)
			}
		}
		n.asked = nil
		catalog.Context(t.Context(), n, "http://far.example/v1", "secret")
		catalog.Context(t.Context(), n, "https://near.example/x/v1", "secret")
		if diff := cmp.Diff([]string{"https://near.example/x/props"}, n.asked); diff != "" {
			t.Errorf("a key goes to (-want +got):\n%s", diff)
		}
	})
}
