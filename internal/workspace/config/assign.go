package config

import (
	"strings"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
)

// Op is the operator of an assignment.
type Op string

// The operators. Add appends to texts and lists and merges tables.
const (
	OpSet     Op = "="
	OpSetJSON Op = ":="
	OpAdd     Op = "+="
	OpAddJSON Op = ":+="
)

// Assignment is one value of -c, -p or the environment. With Path it names a
// source instead: see Loader.Source. Otherwise Op puts Value at Key; an empty
// Key is the root, or the participant's table.
type Assignment struct {
	Text        string // as it was typed
	Path        string
	Participant string   // of @name:, empty otherwise
	Key         []string // below the participant's table when there is one
	Op          Op
	Value       any // string for OpSet and OpAdd, decoded JSON for the others
}

// ParseAssignment reads the grammar of -c: @name:KEY OP VALUE, @path, {JSON},
// KEY OP VALUE, and a path or name where there is no "=". Errors: fault.Usage.
func ParseAssignment(s string) (Assignment, error) {
	if rest, ok := strings.CutPrefix(s, "@"); ok {
		name, scoped, colon := strings.Cut(rest, ":")
		if colon && speaker.ValidID(name) && (operator(scoped) >= 0 || strings.HasPrefix(scoped, "{")) {
			a, err := parseKeyed(s, scoped)
			a.Participant = name
			return a, err
		}
		if rest == "" {
			return Assignment{}, fault.New(fault.Usage, "-c @: a path is missing")
		}
		return Assignment{Text: s, Path: rest}, nil
	}
	if !strings.HasPrefix(s, "{") && operator(s) < 0 {
		if s == "" {
			return Assignment{}, fault.New(fault.Usage, "-c: a key or a name is missing")
		}
		return Assignment{Text: s, Path: s}, nil
	}
	return parseKeyed(s, s)
}

// parseKeyed reads {JSON} or KEY OP VALUE.
func parseKeyed(typed, s string) (Assignment, error) {
	a := Assignment{Text: typed, Op: OpAddJSON, Value: s}
	if strings.HasPrefix(s, "{") {
		return a.decode()
	}
	i := operator(s)
	key := s[:i]
	a.Value = s[i+1:]
	switch {
	case strings.HasSuffix(key, ":+"), strings.HasSuffix(key, "+:"):
		key = key[:len(key)-2]
	case strings.HasSuffix(key, ":"):
		key, a.Op = key[:len(key)-1], OpSetJSON
	case strings.HasSuffix(key, "+"):
		key, a.Op = key[:len(key)-1], OpAdd
	default:
		a.Op = OpSet
	}
	path, err := SplitKey(strings.TrimSpace(key))
	if err != nil {
		return Assignment{}, fault.New(fault.Usage, "-c %s: %w", typed, err)
	}
	a.Key = path
	return a.decode()
}

// decode reads the value of the JSON operators.
func (a Assignment) decode() (Assignment, error) {
	if a.Op == OpSet || a.Op == OpAdd {
		return a, nil
	}
	v, err := decodeValue(a.Value.(string))
	if err != nil {
		return Assignment{}, fault.New(fault.Usage, "%s: the value is no JSON: %w", a.name(), err).
			WithHint("use = for a plain text")
	}
	a.Value = v
	return a, nil
}

// operator is the index of the first "=" outside quotes, -1 for none.
func operator(s string) int {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '=':
			return i
		}
	}
	return -1
}

// path is the full key, legacy tools under their present one.
func (a Assignment) path() []string {
	if a.Participant != "" {
		return append(keyPath(a.Participant), a.Key...)
	}
	return modernKey(a.Key)
}

// name is how errors call the assignment's place.
func (a Assignment) name() string {
	if p := a.path(); len(p) > 0 {
		return JoinKey(p)
	}
	return a.Text
}

// Apply returns t changed by the assignment. t is not changed. Errors
// (fault.Usage) name the full key: unknown, of another type, an index out of
// range. An assignment of a Path is a defect of the caller: fault.Internal.
func (a Assignment) Apply(t Tree) (Tree, error) {
	layer, err := a.layer(t, Origin{Kind: FromAssignment, Path: a.Text})
	if err != nil {
		return nil, err
	}
	return Merge(t, layer.Tree), nil
}

// Assign lays an assignment on top. Errors as Assignment.Apply.
func (s *Stack) Assign(a Assignment) error {
	return s.assign(a, Origin{Kind: FromAssignment, Path: a.Text})
}

func (s *Stack) assign(a Assignment, o Origin) error {
	layer, err := a.layer(s.Merged(), o)
	if err != nil {
		return err
	}
	return s.Push(layer)
}

// Lay lays the values of -c on a stack, in order. Those that change one
// participant (@name:…) are returned instead: they need to know who was
// captured. Errors: those of ParseAssignment, Source and Push.
func (l *Loader) Lay(s *Stack, values []string) (scoped []Assignment, err error) {
	for _, v := range values {
		a, err := ParseAssignment(v)
		if err != nil {
			return nil, err
		}
		switch {
		case a.Participant != "":
			scoped = append(scoped, a)
		case a.Path != "":
			layers, err := l.Source(s, a.Path)
			if err != nil {
				return nil, err
			}
			if err := push(s, layers); err != nil {
				return nil, err
			}
		default:
			if err := s.Assign(a); err != nil {
				return nil, err
			}
		}
	}
	return scoped, nil
}

// layer is what must be merged over cur.
func (a Assignment) layer(cur Tree, o Origin) (Layer, error) {
	if a.Path != "" {
		return Layer{}, fault.New(fault.Internal, "%s names a source, not a key", a.Text)
	}
	layer := Layer{Origin: o}
	b := builder{op: a.Op, value: a.Value, full: a.path(), origin: o}
	v, err := b.build(schema(), b.full, cur)
	if err != nil {
		return Layer{}, err
	}
	t, ok := v.(Tree)
	if !ok {
		return Layer{}, fault.New(fault.Usage, "%s: the root must be an object", a.Text)
	}
	layer.Tree = moveTools(t, nil)
	if err := layer.check(); err != nil {
		return Layer{}, err
	}
	return layer, nil
}
