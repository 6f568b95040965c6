package httpapi

import (
	"context"
	"net/http"

	"jp/internal/scene"
)

// Proposal is a new private sheet for a member, waiting for a person.
type Proposal struct {
	ID             int64                `json:"id"`
	ConversationID string               `json:"conversation_id"`
	MemberID       string               `json:"member_id"`
	ExchangeID     string               `json:"exchange_id"`
	Base           string               `json:"base_sheet" doc:"The sheet it was made from"`
	Sheet          string               `json:"proposed_sheet"`
	Summary        string               `json:"summary"`
	Status         scene.ProposalStatus `json:"status" enum:"pending,applied,rejected,stale"`
	CreatedAt      string               `json:"created_at"`
	DecidedAt      *string              `json:"decided_at"`
}

func proposal(p scene.Proposal) Proposal {
	row := Proposal{
		ID: p.ID, ConversationID: p.ConversationID, MemberID: p.MemberID, ExchangeID: p.ExchangeID,
		Base: p.Base, Sheet: p.Sheet, Summary: p.Summary, Status: p.Status, CreatedAt: stamp(p.CreatedAt),
	}
	if p.DecidedAt != nil {
		at := stamp(*p.DecidedAt)
		row.DecidedAt = &at
	}
	return row
}

func (a *api) sheets() {
	const all = "/conversations/{cid}/sheet-proposals"
	route(a, http.MethodGet, all, "list-sheet-proposals", "List sheet proposals, newest first", a.listProposals)
	route(a, http.MethodPost, all+"/{pid}/apply", "apply-sheet-proposal", "Write a proposal into its member's sheet", decide(a.Scenes.ApplyProposal))
	route(a, http.MethodPost, all+"/{pid}/reject", "reject-sheet-proposal", "Turn a proposal down", decide(a.Scenes.RejectProposal))
}

type listProposals struct {
	ConversationPath
	Status string `query:"status" doc:"review (the default: pending and stale), all, pending, applied, rejected or stale"`
}

func (a *api) listProposals(ctx context.Context, in *listProposals) (*body[[]Proposal], error) {
	list, err := a.Scenes.Proposals(ctx, in.ID, in.Status)
	return results(list, err, proposal)
}

type pid struct {
	ConversationPath
	Proposal int64 `path:"pid"`
}

// decide serves one of the two decisions about a proposal.
func decide(how func(context.Context, string, int64) (scene.Proposal, error)) func(context.Context, *pid) (*body[Proposal], error) {
	return func(ctx context.Context, in *pid) (*body[Proposal], error) {
		p, err := how(ctx, in.ID, in.Proposal)
		return &body[Proposal]{proposal(p)}, err
	}
}
