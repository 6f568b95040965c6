package host

import "testing"

func TestLoopback(t *testing.T) {
	for name, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "llm.localhost": true, "127.0.0.1": true, "127.8.8.8": true,
		"::1": true, "::ffff:127.0.0.1": true,
		"": false, "notlocalhost": false, "localhost.example.com": false, "127.0.0.1.example.com": false,
		"0.0.0.0": false, "10.0.0.1": false, "::2": false,
	} {
		if got := Loopback(name); got != want {
			t.Errorf("Loopback(%q) = %v", name, got)
		}
	}
}
