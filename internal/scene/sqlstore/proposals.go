package sqlstore

import "jp/internal/scene"

type proposals struct{ *session }

var _ scene.Proposals = proposals{}

func proposalShape() shape[scene.Proposal] {
	return shape[scene.Proposal]{"member_sheet_proposals", "proposal", func(p *scene.Proposal) []column {
		return []column{
			{name: "id", field: &p.ID},
			{name: "conversation_id", field: &p.ConversationID},
			{name: "member_id", field: &p.MemberID},
			{name: "exchange_id", field: &p.ExchangeID},
			{name: "base_sheet", field: &p.Base},
			{name: "proposed_sheet", field: &p.Sheet},
			{name: "summary", field: &p.Summary},
			{name: "status", field: &p.Status},
			{name: "created_at", field: moment{&p.CreatedAt}},
			{name: "decided_at", field: moments{&p.DecidedAt}},
		}
	}, nil}
}

// Get implements scene.Proposals.
func (p proposals) Get(id int64) (scene.Proposal, error) {
	return proposalShape().one(p.session, id, "id = $1", id)
}

// Insert implements scene.Proposals.
func (p proposals) Insert(row *scene.Proposal) (err error) {
	row.ID, err = proposalShape().number(p.session, *row)
	return err
}

// Save implements scene.Proposals.
func (p proposals) Save(row scene.Proposal) error {
	return proposalShape().save(p.session, row, row.ID)
}

// Of implements scene.Proposals.
func (p proposals) Of(conversation string, in ...scene.ProposalStatus) ([]scene.Proposal, error) {
	if len(in) == 0 {
		return nil, nil
	}
	args := []any{conversation}
	for _, status := range in {
		args = append(args, status)
	}
	return proposalShape().list(p.session, "FROM member_sheet_proposals WHERE conversation_id = $1 AND status IN ("+
		placeholders(2, len(in))+") ORDER BY created_at DESC, id DESC", args...)
}
