package scene

import (
	"context"
	"strings"
)

// ModelChange is a partial update of a model config; nil means not sent.
type ModelChange struct {
	Model, SystemPrompt                             Change[string]
	Temperature, MinP, TopP, RepetitionPenalty      Change[*float64]
	TopK, MaxTokens, ContextSize                    Change[*int]
	ReasoningEffort, ReasoningParam, ReasoningValue Change[string]
	ExtraHeaders, ExtraBody                         Change[string]
}

// DefaultModel is a config with everything that nobody said.
func DefaultModel(endpoint string, lane Lane) ModelConfig {
	number := func(v float64) *float64 { return &v }
	count := func(v int) *int { return &v }
	return ModelConfig{
		EndpointID: endpoint, Lane: lane,
		Temperature: number(0.8), MinP: number(0), TopK: count(40), TopP: number(0.95),
		RepetitionPenalty: number(1), MaxTokens: count(4096),
	}
}

// Models returns an endpoint's model configs in the order they were made in;
// a standing one has none stored. Errors: NotFound.
func (s *Service) Models(ctx context.Context, endpoint string) ([]ModelConfig, error) {
	return read(ctx, s, func(tx Tx) ([]ModelConfig, error) {
		if _, err := s.endpoint(tx, endpoint); err != nil {
			return nil, err
		}
		return tx.Models.Of(endpoint)
	})
}

// CreateModel adds a config to the endpoint that it names, under a new id. It
// is used at once where its lane has none. Errors: NotFound for the endpoint,
// Conflict for a standing one, Invalid for what does not fit.
func (s *Service) CreateModel(ctx context.Context, m ModelConfig) (ModelConfig, error) {
	return write(ctx, s, func(tx Tx) (ModelConfig, error) {
		e, err := s.stored(tx, m.EndpointID)
		if err != nil {
			return ModelConfig{}, err
		}
		if m.Lane == "" {
			m.Lane = LaneWriter
		}
		if err := checkModel(m); err != nil {
			return ModelConfig{}, err
		}
		if m.ID, err = s.newID(); err != nil {
			return ModelConfig{}, err
		}
		if err := tx.Models.Insert(m); err != nil {
			return ModelConfig{}, err
		}
		if use := e.inUse(m.Lane); *use == nil {
			*use = &m.ID
			return m, tx.Endpoints.Save(e)
		}
		return m, nil
	})
}

// ChangeModel updates a config. Errors: NotFound, Invalid.
func (s *Service) ChangeModel(ctx context.Context, id string, change ModelChange) (ModelConfig, error) {
	return write(ctx, s, func(tx Tx) (ModelConfig, error) {
		m, err := tx.Models.Get(id)
		if err != nil {
			return ModelConfig{}, err
		}
		change.apply(&m)
		if err := checkModel(m); err != nil {
			return ModelConfig{}, err
		}
		return m, tx.Models.Save(m)
	})
}

func (ch ModelChange) apply(m *ModelConfig) {
	ch.Model.apply(&m.Model)
	ch.SystemPrompt.apply(&m.SystemPrompt)
	ch.Temperature.apply(&m.Temperature)
	ch.MinP.apply(&m.MinP)
	ch.TopP.apply(&m.TopP)
	ch.RepetitionPenalty.apply(&m.RepetitionPenalty)
	ch.TopK.apply(&m.TopK)
	ch.MaxTokens.apply(&m.MaxTokens)
	ch.ContextSize.apply(&m.ContextSize)
	ch.ReasoningEffort.apply(&m.ReasoningEffort)
	ch.ReasoningParam.apply(&m.ReasoningParam)
	ch.ReasoningValue.apply(&m.ReasoningValue)
	ch.ExtraHeaders.apply(&m.ExtraHeaders)
	ch.ExtraBody.apply(&m.ExtraBody)
}

// DeleteModel removes a config. Where it was in use the oldest that remains of
// its lane is; members that had it use the scene's. Errors: NotFound.
func (s *Service) DeleteModel(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error {
		m, err := tx.Models.Get(id)
		if err != nil {
			return err
		}
		e, err := tx.Endpoints.Get(m.EndpointID)
		if err != nil {
			return err
		}
		if err := s.unassign(tx, id); err != nil {
			return err
		}
		if err := tx.Models.Delete(id); err != nil {
			return err
		}
		use := e.inUse(m.Lane)
		if *use != nil && **use != id {
			return nil
		}
		*use = nil
		rest, err := tx.Models.Of(e.ID)
		if err != nil {
			return err
		}
		for _, other := range rest {
			if other.Lane == m.Lane {
				*use = &other.ID
				break
			}
		}
		return tx.Endpoints.Save(e)
	})
}

// unassign gives members that had a config of their own the scene's again. It
// is a change of their rosters.
func (s *Service) unassign(tx Tx, model string) error {
	members, err := tx.Members.All()
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for _, m := range members {
		if !same(m.Model, &model) {
			continue
		}
		m.Model = nil
		if err := tx.Members.Save(m); err != nil {
			return err
		}
		if changed[m.ConversationID] {
			continue
		}
		changed[m.ConversationID] = true
		c, err := tx.Conversations.Get(m.ConversationID)
		if err != nil {
			return err
		}
		c.RosterRevision++
		if err := tx.Conversations.Save(c); err != nil {
			return err
		}
	}
	return nil
}

// checkModel refuses a config that no request can be made of.
func checkModel(m ModelConfig) error {
	if m.Lane != LaneWriter && m.Lane != LaneAgent {
		return misfit("role", "%q is no role of a model", m.Lane).hint("use writer or agent")
	}
	for _, p := range []struct {
		field       string
		value       *float64
		least, most float64
	}{
		{"temperature", m.Temperature, 0, 10},
		{"min_p", m.MinP, 0, 1},
		{"top_p", m.TopP, 0, 1},
		{"repetition_penalty", m.RepetitionPenalty, 0, 10},
	} {
		if p.value != nil && !(*p.value >= p.least && *p.value <= p.most) {
			return misfit(p.field, "a %s of %v", p.field, *p.value).hint("take %v to %v, or leave it out", p.least, p.most)
		}
	}
	if m.TopK != nil && *m.TopK < -1 {
		return misfit("top_k", "a top_k of %d", *m.TopK).hint("take 0 or more, or leave it out")
	}
	if m.ContextSize != nil && *m.ContextSize < 1 {
		return misfit("context_size", "a context of %d tokens", *m.ContextSize).hint("take 1 or more, or leave it out")
	}
	if m.MaxTokens != nil && *m.MaxTokens < 1 {
		return misfit("max_tokens", "at most %d tokens", *m.MaxTokens).hint("take 1 or more, or leave it out")
	}
	if err := checkHeaders(m.ExtraHeaders); err != nil {
		return err
	}
	if strings.TrimSpace(m.ExtraBody) == "" {
		return nil
	}
	_, err := asObject("extra_body", []byte(m.ExtraBody))
	return err
}

// checkHeaders refuses lines that are no "Name: value".
func checkHeaders(lines string) error {
	for i, line := range strings.Split(strings.ReplaceAll(lines, "\r\n", "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, _, found := strings.Cut(line, ":")
		if !found || !token(strings.TrimSpace(name)) || !printable(line) {
			return misfit("extra_headers", "line %d is no header", i+1).hint("write lines like X-Title: my title, in ASCII")
		}
	}
	return nil
}

// token tells whether text can be the name of a header.
func token(text string) bool {
	return text != "" && printable(text) && !strings.ContainsAny(text, ` "(),/:;<=>?@[\]{}`)
}
