package config

import (
	"slices"
	"strconv"
	"strings"

	"jp/internal/lib/fault"
)

const envPrefix = "JP_CFG_"

// pushEnv lays the variables JP_CFG_… on top, in the order of their names.
func (l *Loader) pushEnv(s *Stack) error {
	values := map[string]string{} // the last of equal names counts, as for a process
	var names []string
	for _, e := range l.Environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, envPrefix) {
			continue
		}
		if _, twice := values[name]; !twice {
			names = append(names, name)
		}
		values[name] = value
	}
	slices.Sort(names)
	for _, name := range names {
		a, err := parseEnv(name, values[name])
		if err != nil {
			return err
		}
		if err := s.assign(a, Origin{Kind: FromEnv, Path: name}); err != nil {
			return err
		}
	}
	return nil
}

// parseEnv reads one variable. A value that starts with ":" is JSON, with "+"
// is merged, with both is JSON that is merged; a backslash before either makes
// it an ordinary character.
func parseEnv(name, value string) (Assignment, error) {
	words := strings.Split(strings.ToLower(strings.TrimPrefix(name, envPrefix)), "_")
	path, ok := envPath(schema(), words)
	if !ok {
		return Assignment{}, fault.New(fault.Config, "%s names no configuration key", name).
			WithHint("a key's dots become underscores: %sASSISTANT_MODEL_ID", envPrefix)
	}
	a := Assignment{Text: name, Key: path, Op: OpSet, Value: value}
	prefix := value[:len(value)-len(strings.TrimLeft(value, ":+"))]
	switch {
	case strings.HasPrefix(value, ":+") || strings.HasPrefix(value, "+:"):
		a.Op, prefix = OpAddJSON, value[:2]
	case strings.HasPrefix(value, ":"):
		a.Op, prefix = OpSetJSON, value[:1]
	case strings.HasPrefix(value, "+"):
		a.Op, prefix = OpAdd, value[:1]
	}
	rest := value[len(prefix):]
	if strings.HasPrefix(value, `\:`) || strings.HasPrefix(value, `\+`) {
		rest = value[1:]
	}
	a.Value = rest
	a, err := a.decode()
	if err != nil {
		return a, fault.New(fault.Config, "%s: %w", name, err).WithHint(`leave out the ":" in front for a plain text`)
	}
	return a, nil
}

// envPath turns the words of a variable's name into a path. Fields of tables
// take as many words as their longest matching name; keys of maps as few as
// leave a path behind, otherwise all.
func envPath(n *node, words []string) ([]string, bool) {
	if len(words) == 0 {
		return nil, true
	}
	if n.kind == kindUnion {
		if n = n.table(); n == nil {
			return nil, false
		}
	}
	switch n.kind {
	case kindTable:
		for k := len(words); k > 0; k-- {
			name := strings.Join(words[:k], "_")
			if f := n.shape.fields[name]; f != nil {
				if rest, ok := envPath(f, words[k:]); ok {
					return append([]string{name}, rest...), true
				}
			}
		}
		if n.shape.open {
			return []string{strings.Join(words, "_")}, true
		}
	case kindMap, kindLabels:
		for k := 1; k < len(words); k++ {
			if rest, ok := envPath(n.elem, words[k:]); ok {
				return append([]string{strings.Join(words[:k], "_")}, rest...), true
			}
		}
		return []string{strings.Join(words, "_")}, true
	case kindList, kindPlain:
		if _, err := strconv.Atoi(words[0]); err == nil {
			rest, ok := envPath(n.elem, words[1:])
			return append([]string{words[0]}, rest...), ok
		}
	case kindJSON:
		return []string{strings.Join(words, "_")}, true
	}
	return nil, false
}
