package pipeline

import (
	"context"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

// turn is what an exchange answers, and from where in the tree.
type turn struct {
	exchange  string            // id to go on with; empty makes a new one
	user      *scene.NewMessage // to store first
	asked     *scene.Step       // the user message that is answered, once stored
	history   []scene.Step      // what stands before the trailing message
	message   string            // what the first speaker is told
	parent    *int64            // of the first reply
	index     int               // its turn_index
	pin       *string           // the speaker, when it is fixed
	recorded  bool              // … by the message that is written again
	steered   bool              // message is a steer and no person's
	direction string            // to store with the reply
	replaces  *int64            // the reply that is written again
	newest    bool              // it ends the visible branch
}

// rewind finds the turn.
func (x *Exchange) rewind(ctx context.Context) (turn, error) {
	switch x.ask.Kind {
	case Send:
		return x.sent()
	case Continue:
		return x.continued()
	case Speak:
		return x.picked()
	case ForkEdit:
		return x.forked(ctx)
	}
	return x.again(ctx)
}

// sent answers a new message at the end of the visible branch.
func (x *Exchange) sent() (turn, error) {
	if strings.TrimSpace(x.ask.Content) == "" && len(x.ask.Uploads) == 0 {
		return turn{}, fault.New(fault.Invalid, "the message is empty").WithHint("write something, attach a picture, or let a member speak")
	}
	t := turn{history: x.snap.Path, message: x.ask.Content, pin: x.pin()}
	t.user = &scene.NewMessage{
		Role: scene.RoleUser, Content: x.ask.Content, Uploads: x.ask.Uploads, Author: x.snap.UserName(),
		Parent: scene.To(x.snap.Conversation.ActiveLeaf),
	}
	return t, nil
}

// pin is the member that the request picked. A solo chat has nobody to pick.
func (x *Exchange) pin() *string {
	if !x.group() || x.ask.Pin == nil || *x.ask.Pin == "" {
		return nil
	}
	return x.ask.Pin
}

// continued answers the user message that the visible branch ends in.
func (x *Exchange) continued() (turn, error) {
	path := x.snap.Path
	if len(path) == 0 || path[len(path)-1].Role != scene.RoleUser {
		return turn{}, fault.New(fault.Invalid, "there is no message to answer: the conversation does not end with one of yours").
			WithHint("send a message, or let a member speak")
	}
	last := path[len(path)-1]
	t := turn{history: path[:len(path)-1], message: last.Content, asked: &last, parent: &last.ID, index: last.TurnIndex + 1, pin: x.pin()}
	if last.ExchangeID != nil {
		t.exchange = *last.ExchangeID
	}
	return t, nil
}

// picked lets one member speak without a word of a person.
func (x *Exchange) picked() (turn, error) {
	if !x.group() {
		return turn{}, fault.New(fault.Conflict, "this is no group: nobody can be picked to speak")
	}
	if x.pin() == nil {
		return turn{}, fault.New(fault.Invalid, "nobody is picked to speak")
	}
	t := turn{history: x.snap.Path, pin: x.pin(), parent: x.snap.Conversation.ActiveLeaf}
	if n := len(x.snap.Path); n > 0 {
		t.index = x.snap.Path[n-1].TurnIndex + 1
	}
	return t, nil
}

// forked asks anew beside an older message of a person, with its uploads.
func (x *Exchange) forked(ctx context.Context) (turn, error) {
	target, before, err := x.target(ctx)
	if err != nil {
		return turn{}, err
	}
	if target.Role != scene.RoleUser {
		return turn{}, fault.New(fault.Conflict, "only a message of yours can be asked anew")
	}
	if strings.TrimSpace(x.ask.Content) == "" && len(x.ask.Uploads)+len(target.Uploads) == 0 {
		return turn{}, fault.New(fault.Invalid, "the message is empty")
	}
	uploads := x.ask.Uploads
	for _, u := range target.Uploads {
		full, data, err := x.r.Scenes.Upload(ctx, u.ID)
		if err != nil {
			return turn{}, err
		}
		uploads = append(uploads, scene.NewUpload{MIME: full.MIME, Filename: full.Filename, Data: data})
	}
	index := target.TurnIndex
	t := turn{history: before, message: x.ask.Content, pin: x.pin()}
	t.user = &scene.NewMessage{
		Role: scene.RoleUser, Content: x.ask.Content, Uploads: uploads, Author: x.snap.UserName(),
		Parent: scene.To(target.ParentID), TurnIndex: &index,
	}
	return t, nil
}

// again writes a reply anew, by the speaker that is recorded on it.
func (x *Exchange) again(ctx context.Context) (turn, error) {
	target, before, err := x.target(ctx)
	if err != nil {
		return turn{}, err
	}
	switch {
	case target.Role != scene.RoleAssistant:
		return turn{}, fault.New(fault.Conflict, "only a reply can be written again")
	case target.ParentID == nil:
		return turn{}, fault.New(fault.Conflict, "an opening answers nothing, so it cannot be written again")
	case x.group() && target.SpeakerID == nil:
		return turn{}, fault.New(fault.Conflict, "nobody of the cast said this, so it cannot be written again")
	}
	t := turn{
		history: before, parent: target.ParentID, index: target.TurnIndex,
		pin: target.SpeakerID, recorded: true, replaces: &target.ID,
	}
	if target.ExchangeID != nil {
		t.exchange = *target.ExchangeID
	}
	switch {
	case x.ask.Kind == SuperRegenerate:
		t.steered, t.message = true, phrase("super_steer.txt", nil)
	case x.ask.Kind == MagicRewrite && strings.TrimSpace(x.ask.Direction) == "":
		return turn{}, fault.New(fault.Invalid, "the direction is empty").WithHint("say how the reply should be different")
	case x.ask.Kind == MagicRewrite:
		t.steered, t.direction = true, x.ask.Direction
	case target.Direction != "":
		t.steered, t.direction = true, target.Direction
	}
	if t.direction != "" {
		t.message = phrase("magic_steer.txt", t.direction)
	}
	if t.steered {
		t.history = append(t.history, target)
		return t, nil
	}
	if n := len(before); n > 0 && before[n-1].Role == scene.RoleUser {
		last := before[n-1]
		t.history, t.message, t.asked = before[:n-1], last.Content, &last
	}
	return t, nil
}

// goBack makes the snapshot one of the branch that is answered: who spoke last
// there, and what the Director went on from before the exchange.
func (x *Exchange) goBack(ctx context.Context) error {
	t := &x.turn
	path := x.snap.Path
	t.newest = t.replaces != nil && len(path) > 0 && path[len(path)-1].ID == *t.replaces
	x.snap.Path = t.history
	if x.ask.Kind != ForkEdit && t.replaces == nil {
		return nil // it goes on where the visible branch ends
	}
	past := t.history
	if t.steered {
		past = past[:len(past)-1]
	}
	for len(past) > 0 && t.exchange != "" && past[len(past)-1].ExchangeID != nil && *past[len(past)-1].ExchangeID == t.exchange {
		past = past[:len(past)-1]
	}
	var leaf *int64
	if n := len(past); n > 0 {
		leaf = &past[n-1].ID
	}
	d, err := x.r.Scenes.DirectorAt(ctx, x.ask.Conversation, leaf)
	x.snap.Director = d
	return err
}

// target returns the message that was named, and what leads to it.
func (x *Exchange) target(ctx context.Context) (scene.Step, []scene.Step, error) {
	path, err := x.r.Scenes.PathTo(ctx, x.ask.Conversation, x.ask.Message)
	if err != nil {
		return scene.Step{}, nil, err
	}
	return path[len(path)-1], path[:len(path)-1], nil
}

// open stores what the exchange begins with.
func (x *Exchange) open(ctx context.Context) error {
	x.path, x.parent, x.index = x.turn.history, x.turn.parent, x.turn.index
	if x.turn.user == nil {
		return nil
	}
	n := *x.turn.user
	n.ExchangeID, n.Once, n.PinPersona = &x.id, x.once(), true
	m, err := x.r.Scenes.Append(context.WithoutCancel(ctx), x.ask.Conversation, n)
	if err != nil {
		return err
	}
	x.turn.message = m.Content // its macros are rolled now
	x.turn.asked = &scene.Step{Message: m, Branches: 1}
	for _, u := range n.Uploads {
		x.turn.asked.Uploads = append(x.turn.asked.Uploads, scene.Upload{MessageID: m.ID, MIME: u.MIME, Filename: u.Filename, Size: len(u.Data)})
		x.images.add(m.ID, u)
	}
	x.parent, x.index = &m.ID, m.TurnIndex+1
	x.say(UserMessageCreated, CreatedData{ID: m.ID, Content: m.Content})
	return nil
}

// once is the client's key, for the first row that is stored.
func (x *Exchange) once() *scene.Once {
	o := x.ask.Once
	x.ask.Once = nil
	if o != nil {
		o.ExchangeID = x.id
	}
	return o
}
