package shell

import "testing"

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `''`,
		"plain":                    `plain`,
		"@dev:model.id=acme/gpt-5": `@dev:model.id=acme/gpt-5`,
		".jp/Zoë/助手":               `.jp/Zoë/助手`,
		"two words":                `'two words'`,
		"it's":                     `'it'\''s'`,
		"'":                        `''\'''`,
		`a\b`:                      `'a\b'`,
		"a\nb":                     "'a\nb'",
		"$HOME":                    `'$HOME'`,
		"~/x":                      `'~/x'`,
		"#1":                       `'#1'`,
		"*.go":                     `'*.go'`,
		"^1^2":                     `'^1^2'`,
		"a;rm -rf .":               `'a;rm -rf .'`,
		"x\xff":                    "'x\xff'",
	} {
		if got := Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
}
