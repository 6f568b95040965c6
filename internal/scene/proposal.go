package scene

import "time"

// ProposalStatus is where a sheet proposal stands.
type ProposalStatus string

// The states. A proposal begins pending; stale is what an apply found outdated.
const (
	Pending  ProposalStatus = "pending"
	Applied  ProposalStatus = "applied"
	Rejected ProposalStatus = "rejected"
	Stale    ProposalStatus = "stale"
)

// Proposal is a new private sheet for one member, staged until a person
// decides. At most one per member is pending.
type Proposal struct {
	ID             int64
	ConversationID string
	MemberID       string
	ExchangeID     string
	Base           string // the sheet it was made from
	Sheet          string // the sheet proposed
	Summary        string
	Status         ProposalStatus
	CreatedAt      time.Time
	DecidedAt      *time.Time
}
