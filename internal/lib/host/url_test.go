package host

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]URL{
		"http://localhost/v1":         {Scheme: "http", Name: "localhost", Port: "80"},
		"HTTPS://API.Example.com/v1":  {Scheme: "https", Name: "api.example.com", Port: "443"},
		"https://api.example.com:443": {Scheme: "https", Name: "api.example.com", Port: "443"},
		"http://[::1]:8080/v1":        {Scheme: "http", Name: "::1", Port: "8080"},
		"socks5://127.0.0.1":          {Scheme: "socks5", Name: "127.0.0.1"},
		"http://me:secret@h/v1?key=x": {Scheme: "http", Name: "h", Port: "80", Login: true, Rest: true},
		"http://h/v1#":                {Scheme: "http", Name: "h", Port: "80", Rest: true},
		"http://h:80/?":               {Scheme: "http", Name: "h", Port: "80", Rest: true},
		"":                            {},
		"localhost:8080":              {},
		"//":                          {},
		"http://":                     {},
		"http://:8080/v1":             {},
		"http://h:99999":              {},
		"http://h:port":               {},
		"http://a b/":                 {},
		"http://h/\x00":               {},
		"http://h\r\nX-Header: y/":    {},
		"javascript:alert(1)":         {},
		"file:///etc/passwd":          {},
	} {
		got, ok := Parse(text)
		if ok != (want != URL{}) || ok && got != want {
			t.Errorf("Parse(%q) = %+v, %v", text, got, ok)
		}
	}
	a, _ := Parse("https://h/v1")
	b, _ := Parse("https://H:443/other")
	c, _ := Parse("http://h:443/v1")
	if a.Origin() != b.Origin() || a.Origin() == c.Origin() {
		t.Errorf("origins %q %q %q", a.Origin(), b.Origin(), c.Origin())
	}
}
