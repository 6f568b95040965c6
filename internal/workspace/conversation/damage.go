package conversation

import (
	"bytes"
	"fmt"
	"path/filepath"

	"jp/internal/lib/fault"
	"jp/internal/lib/shell"
)

// Damage is the error of a file that cannot be read as what it should be.
// Nothing writes to such a file. Its code is fault.Damaged.
type Damage struct {
	Path   string
	Offset int64  // bytes before the place
	Line   int    // 1-based; 0 when the damage has no place
	Reason string // e.g. "unexpected end of file"
	// Missing says that the file is not there. It has no place and no Reason.
	Missing bool
	// Conflict says that the file holds Git's conflict markers.
	Conflict bool
}

var _ fault.Coded = (*Damage)(nil)

func (d *Damage) Error() string {
	switch {
	case d.Missing:
		return d.Path + " is missing"
	case d.Line == 0:
		return fmt.Sprintf("%s is damaged: %s", d.Path, d.Reason)
	case d.Conflict:
		return fmt.Sprintf("%s:%d: %s", d.Path, d.Line, d.Reason)
	default:
		return fmt.Sprintf("%s:%d: damaged at byte %d: %s", d.Path, d.Line, d.Offset, d.Reason)
	}
}

// FaultCode implements fault.Coded.
func (d *Damage) FaultCode() fault.Code { return fault.Damaged }

// FaultHint implements fault.Coded.
func (d *Damage) FaultHint() string {
	if d.Conflict {
		return "a Git merge is unfinished, and its lines mix both sides' entries: take one side whole for the conversation's folder (`git checkout --ours -- DIR` or `--theirs`), then `git add` it"
	}
	edit := "--" + editFlag(d.Path)
	if id, ok := DirID(filepath.Base(filepath.Dir(d.Path))); ok {
		edit += " " + id.String()
	}
	return fmt.Sprintf("nothing was changed; repair it with `jp c edit %s`, or restore it with `git checkout -- %s`", edit, shell.Quote(d.Path))
}

func editFlag(path string) string {
	switch filepath.Base(path) {
	case MetadataFile:
		return "metadata"
	case BaseFile:
		return "base-config"
	default:
		return "events"
	}
}

// damageAt places a syntax error, and prefers Git's explanation to the
// parser's: no line of JSON can begin like a conflict marker.
func damageAt(path string, data []byte, offset int, reason string) *Damage {
	if d := Conflict(path, data); d != nil {
		return d
	}
	return &Damage{Path: path, Offset: int64(offset), Line: lineAt(data, offset), Reason: reason}
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}

// Conflict returns the damage of a file with one of Git's conflict markers at
// the beginning of a line, nil for others.
func Conflict(path string, data []byte) *Damage {
	for off := 0; off < len(data); {
		line := data[off:]
		next := len(data)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], off+i+1
		}
		for _, m := range [...]string{"<<<<<<<", "=======", ">>>>>>>"} {
			rest, ok := bytes.CutPrefix(line, []byte(m))
			if ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\r') {
				return &Damage{Path: path, Offset: int64(off), Line: lineAt(data, off), Conflict: true,
					Reason: "the file holds the conflict markers of a Git merge"}
			}
		}
		off = next
	}
	return nil
}
