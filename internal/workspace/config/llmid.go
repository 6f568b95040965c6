package config

import (
	"slices"
	"strings"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
)

// ModelID names a model of a provider. The name may contain slashes.
type ModelID struct {
	Provider string
	Name     string
}

func (m ModelID) String() string {
	if m == (ModelID{}) {
		return ""
	}
	return m.Provider + "/" + m.Name
}

// Tree is the stored form.
func (m ModelID) Tree() Tree { return Tree{"provider": m.Provider, "name": m.Name} }

// Providers lists the providers that a model id may name.
func Providers() []string {
	return []string{"anthropic", "cerebras", "deepseek", "google", "llamacpp", "offline", "ollama", "openai", "openrouter", "xai"}
}

// ResolveModel reads a model as a person writes it: provider/name, or an alias
// of providers.llm.aliases, which may name another alias. Errors (fault.Config):
// no such alias or provider, characters that no model name has, aliases that
// lead back to themselves.
func ResolveModel(t Tree, text string) (ModelID, error) {
	return resolveModel(table(t, "providers", "llm", "aliases"), text)
}

func resolveModel(aliases Tree, v any) (ModelID, error) {
	var chain []string
	for {
		switch x := v.(type) {
		case Tree:
			p, _ := x["provider"].(string)
			name, _ := x["name"].(string)
			return checkModel(p, name)
		case string:
			if target, ok := aliases[x]; ok && target != nil {
				if i := slices.Index(chain, x); i >= 0 {
					return ModelID{}, cycleError{chain[i:]}
				}
				chain = append(chain, x)
				v = target
				continue
			}
			p, name, ok := strings.Cut(x, "/")
			if !ok {
				return ModelID{}, unknownAlias(aliases, x)
			}
			return checkModel(p, name)
		default:
			return ModelID{}, fault.New(fault.Config, "a model must be an alias, provider/name or {provider, name}")
		}
	}
}

// cycleError says that aliases lead back to themselves, the last to the first.
type cycleError struct{ chain []string }

var _ fault.Coded = cycleError{}

func (e cycleError) Error() string {
	i := slices.Index(e.chain, slices.Min(e.chain)) // the same circle reads the same wherever it was entered
	circle := slices.Concat(e.chain[i:], e.chain[:i+1])
	return "model aliases lead back to themselves: " + strings.Join(circle, " → ")
}
func (e cycleError) FaultCode() fault.Code { return fault.Config }
func (e cycleError) FaultHint() string {
	return "let one of them under providers.llm.aliases name a model as provider/name"
}

func unknownAlias(aliases Tree, name string) error {
	err := fault.New(fault.Config, "no model or alias named %q", name)
	if best, ok := speaker.Nearest(name, keys(aliases)); ok {
		return err.WithHint("did you mean %q?", best)
	}
	return err.WithHint("write it as provider/name, or define it under providers.llm.aliases")
}

func checkModel(provider, name string) (ModelID, error) {
	if !slices.Contains(Providers(), provider) {
		err := fault.New(fault.Config, "no model provider named %q", provider)
		if best, ok := speaker.Nearest(provider, Providers()); ok {
			return ModelID{}, err.WithHint("did you mean %q?", best)
		}
		return ModelID{}, err.WithHint("the providers are %s", strings.Join(Providers(), ", "))
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !modelRune(r) }) {
		return ModelID{}, fault.New(fault.Config, "%q is no model name", name).
			WithHint("a model name holds letters, digits and _ . : / ~ -")
	}
	return ModelID{Provider: provider, Name: name}, nil
}

func modelRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_.:/~-", r)
}

// ResolveAliases replaces every model that an alias or a text names by
// {provider, name}; what cannot be resolved stays. Errors: aliases that lead
// back to themselves.
func ResolveAliases(t Tree) (Tree, error) {
	aliases := table(t, "providers", "llm", "aliases")
	var cycle error
	out := rewrite(schema(), t, func(n *node, v any) any {
		if n.kind != kindModel || v == nil {
			return v
		}
		m, err := resolveModel(aliases, v)
		if c, ok := err.(cycleError); ok && cycle == nil {
			cycle = c
		}
		if err != nil {
			return v
		}
		return m.Tree()
	}).(Tree)
	if cycle != nil {
		return nil, cycle
	}
	return out, nil
}
