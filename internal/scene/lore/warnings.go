package lore

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"jp/internal/scene"
)

// Warnings says, a sentence each, which keys of an entry cannot be used and
// why: expressions that our engine, RE2, does not run. They are kept, for
// programs that can.
func Warnings(e scene.Entry) []string {
	var warnings []string
	for _, key := range slices.Concat(e.Keys, e.SecondaryKeys) {
		expr, ok := expression(e, key)
		if !ok {
			continue
		}
		if _, _, err := compile(expr); err != nil {
			warnings = append(warnings, fmt.Sprintf("the key %q %s, so it never matches", key, whyNot(err)))
		}
	}
	return warnings
}

// whyNot says what is wrong with an expression.
func whyNot(err error) string {
	e, ok := errors.AsType[*syntax.Error](err)
	switch {
	case !ok:
		return "is no regular expression"
	case e.Code == syntax.ErrInvalidPerlOp, e.Code == syntax.ErrInvalidEscape,
		strings.HasPrefix(e.Expr, "(?<=") || strings.HasPrefix(e.Expr, "(?<!"):
		return "uses look-around, a back-reference or other syntax that is not supported here"
	case e.Code == syntax.ErrLarge || e.Code == syntax.ErrNestingDepth || e.Code == syntax.ErrInvalidRepeatSize:
		return "is too large an expression"
	}
	return fmt.Sprintf("is no regular expression (%s)", e.Code)
}
