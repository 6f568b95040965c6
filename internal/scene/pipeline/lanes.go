package pipeline

import (
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/scene"
	"jp/internal/scene/prompt"
)

// lanes are the models of an exchange. With one lane the Writer's model does
// the agent's work, too.
type lanes struct {
	writer, agent Lane
	members       map[string]Lane // writers of members with a model of their own
}

// openLanes opens every model that the exchange may need, so that one that
// cannot be opened is told before anything is asked.
func (x *Exchange) openLanes() (lanes, error) { return x.r.open(x.snap) }

func (r *Runner) open(snap scene.Snapshot) (l lanes, err error) {
	if l.writer, err = r.lane(snap, snap.Settings.ActiveEndpointID, scene.LaneWriter); err != nil {
		return l, err
	}
	if l.agent = l.writer; !snap.Settings.AgentSameAsWriter {
		if l.agent, err = r.agent(snap); err != nil {
			return l, err
		}
	}
	l.members = map[string]Lane{}
	for _, m := range snap.Eligible() {
		if m.Model == nil {
			continue
		}
		own, err := r.model(snap, *m.Model)
		if err != nil {
			return l, err
		}
		own.SystemPrompt = l.writer.SystemPrompt // the body is the scene's
		l.members[m.ID] = own
	}
	return l, nil
}

// agent opens the lane that does the agent's work.
func (r *Runner) agent(snap scene.Snapshot) (Lane, error) {
	set := snap.Settings
	if set.AgentSameAsWriter {
		return r.lane(snap, set.ActiveEndpointID, scene.LaneWriter)
	}
	l, err := r.lane(snap, set.AgentEndpointID, scene.LaneAgent)
	l.own = true
	return l, err
}

// lane opens the model in use of an endpoint.
func (r *Runner) lane(snap scene.Snapshot, endpoint *string, lane scene.Lane) (Lane, error) {
	if snap.Settings.Rehearses(snap.Endpoints) {
		return r.Models.Rehearsal("Rehearsal"), nil
	}
	e, err := chosenEndpoint(snap, endpoint)
	if err != nil {
		return Lane{}, err
	}
	id := e.WriterConfig
	if lane == scene.LaneAgent {
		id = e.AgentConfig
	}
	if id == nil && e.Source != scene.SourceDatabase {
		return Lane{}, fault.New(fault.Config, "no model of %s is named, which files and environment set up", e.URL).
			WithHint("name it as the assistant's model in the configuration file and start jp anew, or add the server in the settings")
	}
	if id == nil {
		return Lane{}, fault.New(fault.Config, "the endpoint %s has no model chosen", e.URL).WithHint("choose one in the settings")
	}
	return r.model(snap, *id)
}

// chosenEndpoint is the one in use, or says why there is none.
func chosenEndpoint(snap scene.Snapshot, id *string) (scene.Endpoint, error) {
	e, ok := scene.InUse(snap.Endpoints, id)
	switch {
	case ok:
		return e, nil
	case len(snap.Endpoints) == 0:
		return e, fault.New(fault.Config, "no model server is connected").WithHint("add one in the settings")
	case id == nil:
		return e, fault.New(fault.Config, "no model server is chosen").WithHint("choose one in the settings")
	}
	return e, fault.New(fault.Config, "the model server that was chosen is not there any more").WithHint("choose another in the settings")
}

// model opens a model config, stored or of a standing endpoint.
func (r *Runner) model(snap scene.Snapshot, id string) (Lane, error) {
	for _, m := range snap.Models {
		if m.ID != id {
			continue
		}
		e, err := chosenEndpoint(snap, &m.EndpointID)
		if err != nil {
			return Lane{}, err
		}
		if strings.TrimSpace(m.Model) == "" {
			return Lane{}, fault.New(fault.Config, "no model of %s is chosen", e.URL).WithHint("name one in the settings")
		}
		lane, err := r.Models.Open(e, m)
		lane.SystemPrompt = m.SystemPrompt
		return lane, err
	}
	return Lane{}, fault.New(fault.Config, "the model %q is not there any more", id).WithHint("choose another")
}

// of is the Writer's lane of a speaker.
func (l lanes) of(speaker string) Lane {
	if own, ok := l.members[speaker]; ok {
		return own
	}
	return l.writer
}

// apart tells whether a speaker's Writer is in another lane than the agent.
func (l lanes) apart(speaker string) bool {
	_, own := l.members[speaker]
	return l.agent.own || own
}

// prompt is the lane's whole system prompt in a scene.
func (l Lane) prompt(frame *prompt.Scene) string {
	kind := scene.LaneWriter
	if l.own {
		kind = scene.LaneAgent
	}
	return frame.LanePrompt(kind, l.SystemPrompt)
}
