package query

import (
	"errors"
	"fmt"
	"io/fs"

	"jp/internal/kernel/speaker"
	"jp/internal/lib/fault"
	"jp/internal/lib/shell"
	"jp/internal/workspace/attach"
	"jp/internal/workspace/config"
)

// Flag is an assistant-scoped flag: it changes the configuration of the one
// participant that is asked.
type Flag struct {
	Name  string // long form, as `--model`
	Value string // as typed; empty for a flag without one
	// Assign is the assignment below the participant's key, as
	// `model.id=gpt`; of a --param it is built from the value.
	Assign string
}

// flags applies assistant-scoped flags to the single responder.
func (st *setup) flags(flags []Flag) error {
	if len(flags) == 0 {
		return nil
	}
	if len(st.responders) > 1 {
		return st.ambiguous(flags[0])
	}
	for _, f := range flags {
		a, err := config.ParseAssignment("@" + st.responders[0] + ":" + f.Assign)
		if err != nil {
			return err
		}
		if st.tree, err = a.Apply(st.tree); err != nil {
			return err
		}
	}
	return nil
}

func (st *setup) ambiguous(f Flag) error {
	name := st.responders[0]
	for _, r := range st.responders {
		if r != config.Reserved {
			name = r
			break
		}
	}
	flag := f.Name
	if f.Value != "" {
		flag += " " + shell.Quote(f.Value)
	}
	way := fmt.Sprintf("`-c %s`", shell.Quote("@"+name+":"+f.Assign))
	if !st.resuming { // --resume takes no --at
		way = fmt.Sprintf("`--at %s %s` or %s", name, flag, way)
	}
	return fault.New(fault.Usage, "`%s` is ambiguous for a broadcast request", f.Name).WithHint("use %s", way)
}

// attach adds what -a and `file:` name to the conversation's attachments. What
// lies outside the workspace is sent in this run and not kept: others who have
// the conversation lack the file, or have another at its place.
func (st *setup) attach(in Input) error {
	var keep []attach.Ref
	for _, typed := range in.Attach {
		ref, err := st.Place.Typed(typed)
		if err != nil {
			return err
		}
		inside, err := st.Place.Look(ref)
		if err != nil {
			return unattached(typed, err)
		}
		st.named = append(st.named, ref)
		if inside {
			keep = append(keep, ref)
		}
	}
	// Only what a person typed: piped text must not choose files to send.
	for _, path := range speaker.Files(in.Text) {
		ref, err := st.Place.Typed("file:" + path)
		if err != nil {
			continue
		}
		inside, err := st.Place.Look(ref)
		switch {
		case err != nil && (inside || fault.CodeOf(err) == fault.NotFound): // a word of prose must not stop a query
			st.Notes("file:" + path + " is read as text: " + err.Error())
		case !inside:
			st.Notes("file:" + path + " is read as text: it lies outside the workspace; attach it with -a " + shell.Quote(path))
		default:
			st.named, keep = append(st.named, ref), append(keep, ref)
		}
	}
	have := map[string]bool{}
	for _, v := range config.Attachments(st.tree) {
		if ref, reason := stored(v); reason == "" {
			have[ref.String()] = true
		}
	}
	for _, ref := range keep {
		if have[ref.String()] {
			continue
		}
		have[ref.String()] = true
		st.tree = config.Merge(st.tree, config.Tree{"conversation": config.Tree{"attachments": []any{ref.String()}}})
	}
	return nil
}

// unattached is the error for a reference of which nothing can be sent.
func unattached(typed string, err error) error {
	const here = "paths are relative to the working directory"
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "there is no file %s to attach", typed).WithHint(here)
	}
	hint := fault.HintOf(err)
	if hint == "" && fault.CodeOf(err) == fault.NotFound {
		hint = here
	}
	return fault.New(fault.CodeOf(err), "%s cannot be attached: %w", typed, err).WithHint("%s", hint)
}

// stored reads an attachment of the configuration; reason says why it is one
// that we do not read.
func stored(a config.Attachment) (ref attach.Ref, reason string) {
	if a.URL != "" {
		return attach.Stored(a.URL)
	}
	if a.Type != "file" {
		return attach.Ref{}, a.Type + " attachments are not read: " + a.Path
	}
	description, _ := a.Params["description"].(string)
	return attach.Ref{Pattern: a.Path, Description: description}, ""
}
