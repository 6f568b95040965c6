package cli

import (
	"cmp"
	"maps"
	"slices"

	"jp/internal/kernel/llm"
	"jp/internal/kernel/llm/chat"
	"jp/internal/kernel/llm/rehearsal"
	"jp/internal/lib/fault"
	"jp/internal/workspace/config"
)

// rehearse is the provider id of the embedded model.
const rehearse = "offline"

// model returns the model that an assistant is configured for. Nothing is
// sent, but a key that is missing or a parameter that cannot be sent shows here.
func (a *app) model(tree config.Tree, as config.Assistant) (llm.Model, error) {
	id := as.Model
	if err := supported(id); err != nil {
		return nil, err
	}
	if id.Provider == rehearse {
		return rehearsal.New(cmp.Or(as.Name, as.ID)), nil
	}
	dialect, _ := chat.DialectOf(id.Provider)
	p := config.Provider(tree, id.Provider)
	if base := a.Getenv(p.BaseURLEnv); p.BaseURLEnv != "" && base != "" {
		p.BaseURL = base
		if p.KeyEnv == "" { // it was kept from a conversation's server, which is not asked now
			p.KeyEnv = config.Provider(config.Tree{}, id.Provider).KeyEnv
		}
	}
	cfg := chat.Config{
		Provider:  id.Provider,
		BaseURL:   p.BaseURL,
		KeyEnv:    p.KeyEnv,
		Headers:   map[string]string{},
		Dialect:   dialect,
		Transport: a.HTTP,
	}
	if p.KeyEnv != "" {
		cfg.Key = a.Getenv(p.KeyEnv)
	}
	if p.AppName != "" {
		cfg.Headers["X-Title"] = p.AppName
	}
	if p.AppReferrer != "" {
		cfg.Headers["HTTP-Referer"] = p.AppReferrer
	}
	if err := cmp.Or(cfg.Check(), fixed(as)); err != nil {
		return nil, err
	}
	return chat.New(cfg), nil
}

// fixed refuses parameters that would replace what every request is made of.
// One that is null is not set.
func fixed(as config.Assistant) error {
	for _, name := range slices.Sorted(maps.Keys(as.Params.Extra)) {
		if as.Params.Extra[name] != nil && chat.Fixed(name) {
			key := as.ExtraKey(name)
			return fault.New(fault.Config, "%s.%s is no parameter: jp writes this field of a request itself", config.Key(as.ID), key).
				WithHint("leave it out; one that is stored goes with `-c @%s:%s:=null`", as.ID, key)
		}
	}
	return nil
}

// supported refuses models that we have no wire to.
func supported(id config.ModelID) error {
	if id.Provider == rehearse && id.Name != "rehearsal" {
		return fault.New(fault.Config, "the only offline model is offline/rehearsal, not %s", id)
	}
	if _, ok := chat.DialectOf(id.Provider); !ok && id.Provider != rehearse {
		return fault.New(fault.Config, "models of %s cannot be used yet", id.Provider).
			WithHint("use openai, openrouter, ollama or llamacpp; any compatible server is openai with providers.llm.openai.base_url")
	}
	return nil
}
