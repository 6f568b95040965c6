package httpapi_test

import (
	"slices"
	"strings"
	"sync"
)

// visits are the requests that scripts made and that succeeded.
type visits struct {
	mu      sync.Mutex
	scripts int
	paths   map[string]map[string]bool // method, path
}

var ran = visits{paths: map[string]map[string]bool{}}

func (v *visits) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scripts++
}

func (v *visits) note(method, path string, status int) {
	if status >= 400 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.paths[method] == nil {
		v.paths[method] = map[string]bool{}
	}
	v.paths[method][path] = true
}

// served tells whether a request was answered by the operation at a path with
// {parameters}. A path without parameters at that place belongs to another
// operation, literals before parameters as in http.ServeMux.
func (v *visits) served(method, pattern string, all []string) bool {
	for path := range v.paths[method] {
		if fits(pattern, path) && !slices.ContainsFunc(all, func(other string) bool {
			return other != pattern && fits(other, path) && narrower(other, pattern)
		}) {
			return true
		}
	}
	return false
}

func fits(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

func narrower(a, b string) bool { return strings.Count(a, "{") < strings.Count(b, "{") }
