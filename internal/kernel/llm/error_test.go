package llm_test

import (
	"fmt"
	"testing"

	"jp/internal/kernel/llm"
	"jp/internal/lib/fault"
)

func TestKinds(t *testing.T) {
	retryable := map[llm.Kind]bool{
		llm.NoKey: false, llm.Denied: false, llm.NoModel: false, llm.Rejected: false,
		llm.RateLimited: true, llm.Overloaded: true, llm.Unreachable: true, llm.TimedOut: true, llm.Broken: true,
		llm.TooLong: false, llm.Empty: false, llm.Overfull: false,
	}
	for kind, want := range retryable {
		e := &llm.Error{Kind: kind, Provider: "p", Message: "m", Hint: "h"}
		if e.Retryable() != want {
			t.Errorf("%s: retryable is %t", kind, e.Retryable())
		}
		code := fault.Provider
		if kind == llm.NoKey {
			code = fault.Config
		}
		if wrapped := fmt.Errorf("dev: %w", e); fault.CodeOf(wrapped) != code || fault.HintOf(wrapped) != "h" {
			t.Errorf("%s: code %s, hint %q", kind, fault.CodeOf(wrapped), fault.HintOf(wrapped))
		}
		if e.Error() != "p: m" {
			t.Errorf("%s: %s", kind, e)
		}
	}
}
