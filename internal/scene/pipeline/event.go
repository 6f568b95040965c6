package pipeline

import "jp/internal/scene"

// Event is announced to whoever follows an exchange. Data is nil, a string for
// Token alone, or a struct whose JSON is one object. Every struct's JSON also
// gets conversation_id and exchange_id, which the face adds.
type Event struct {
	Name string
	Data any
}

// The names of events, in the order of an exchange. docs/sse.md describes them.
const (
	UserMessageCreated = "user_message_created"
	PhaseStatus        = "phase_status"
	StepStart          = "step_start"
	DirectorStart      = "director_start"
	Reasoning          = "reasoning"
	DirectorDone       = "director_done"
	SpeakingPlan       = "speaking_plan"
	SpeakerStart       = "speaker_start"
	Token              = "token"
	WriterDone         = "writer_done"
	DraftUpdate        = "draft_update"
	WriterRewrite      = "writer_rewrite"
	EditorDone         = "editor_done"
	Feedback           = "feedback"
	SpeakerDone        = "speaker_done"
	SpeakerFailed      = "speaker_failed"
	Warning            = "warning"
	Failed             = "error"
	Done               = "done"
)

// Names returns every name there is, Resync of the stream apart.
func Names() []string {
	return []string{
		UserMessageCreated, PhaseStatus, StepStart, DirectorStart, Reasoning, DirectorDone, SpeakingPlan, SpeakerStart,
		Token, WriterDone, DraftUpdate, WriterRewrite, EditorDone, Feedback, SpeakerDone, SpeakerFailed, Warning, Failed, Done,
	}
}

// CreatedData is that of UserMessageCreated: the text as it was stored.
type CreatedData struct {
	ID      int64  `json:"id"`
	Content string `json:"content"`
}

// PhaseData is that of PhaseStatus: what a workflow does, or why one waits.
type PhaseData struct {
	Channel string `json:"channel"` // workflow:ID, writer, summary
	Label   string `json:"label,omitempty"`
	State   string `json:"state,omitempty"` // running, done
}

// StepData is that of StepStart.
type StepData struct {
	Step string `json:"step"` // writer, sheet_updates
}

// ReasoningData is that of Reasoning.
type ReasoningData struct {
	Pass  string `json:"pass"` // director, writer, editor, summary
	Delta string `json:"delta"`
}

// DirectorData is that of DirectorDone; all of it is empty when no Director ran.
type DirectorData struct {
	ActiveMoods []string       `json:"active_moods"`
	Injection   string         `json:"injection_block"`
	ToolCalls   []ToolCallData `json:"tool_calls"`
	LatencyMS   int64          `json:"agent_latency_ms"`
	ExtraFields map[string]any `json:"extra_fields"`
	Cooldowns   map[string]int `json:"fragment_cooldowns"`
}

// ToolCallData is a structured answer.
type ToolCallData struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// PlanData is that of SpeakingPlan; an empty plan means rest.
type PlanData struct {
	Plan []PlanSlot `json:"plan"`
}

// PlanSlot is a speaker to come.
type PlanSlot struct {
	MemberID string  `json:"member_id"`
	CardID   *string `json:"card_id"`
	Name     string  `json:"name"`
	Cue      string  `json:"cue"`
}

// SpeakerData is that of SpeakerStart. In a solo chat MemberID is nil.
type SpeakerData struct {
	MemberID *string `json:"member_id"`
	CardID   *string `json:"card_id"`
	Name     string  `json:"name"`
	Index    int     `json:"index"`
	Total    int     `json:"total"`
	Cue      string  `json:"cue"`
}

// WriterDoneData is that of WriterDone.
type WriterDoneData struct {
	EditorWillRun bool `json:"editor_will_run"`
}

// DraftData is that of DraftUpdate.
type DraftData struct {
	Draft string `json:"draft"`
}

// RewriteData is that of WriterRewrite: the text that replaces what streamed.
type RewriteData struct {
	RefinedText string `json:"refined_text"`
}

// EditorDoneData is that of EditorDone.
type EditorDoneData struct {
	ToolCalls []ToolCallData `json:"tool_calls"`
}

// FeedbackData is that of Feedback, by fragment.
type FeedbackData struct {
	Values map[string]string `json:"values"`
}

// SpeakerDoneData is that of SpeakerDone: the reply as it is stored.
type SpeakerDoneData struct {
	MessageID  int64             `json:"message_id"`
	ParentID   *int64            `json:"parent_id"`
	TurnIndex  int               `json:"turn_index"`
	MemberID   *string           `json:"member_id"`
	CardID     *string           `json:"card_id"`
	Name       string            `json:"name"`
	Content    string            `json:"content"`
	Incomplete bool              `json:"incomplete"`
	Cut        *scene.Cut        `json:"cut,omitempty"`
	Usage      *scene.CallUsage  `json:"usage,omitempty"`
	Timing     *scene.CallTiming `json:"timing,omitempty"`
}

// SpeakerFailedData is that of SpeakerFailed: nothing was saved.
type SpeakerFailedData struct {
	MemberID *string `json:"member_id"`
	Detail   string  `json:"detail"`
}

// ProblemData is that of Failed and Warning.
type ProblemData struct {
	Headline string `json:"headline"`
	Sentence string `json:"sentence"`
	Kind     string `json:"kind"` // provider, transport, workflow, internal
	// Stage is "saving the message", "setting up", "director pass", "writer
	// pass", "editor pass", "feedback pass", "workflow hook", "saving the reply"
	// or "sheet updates"; beside exchanges "summary pass".
	Stage  string `json:"stage"`
	Status int    `json:"status,omitempty"` // the provider's
	Host   string `json:"host,omitempty"`
	Model  string `json:"model,omitempty"`
	Body   string `json:"body,omitempty"` // the provider's own words, cut short
}

// DoneData is that of Done.
type DoneData struct {
	Status string `json:"status"` // completed, stopped, failed
}
