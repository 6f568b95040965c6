package main

import (
	"fmt"
	"strings"
	"time"
)

// play is a scene that is being played.
type play struct {
	options
	server server
	rec    *recorder

	scene    string // path of the conversation
	outcomes []outcome
	began    time.Time
	edited   []string       // messages, as they were
	done     map[string]int // what was done between exchanges
}

// play sets the scene and runs its exchanges.
func (p *play) play(models string) error {
	p.began, p.done = time.Now(), map[string]int{}
	if err := p.choose(models); err != nil {
		return err
	}
	if err := p.furnish(); err != nil {
		return err
	}
	for i := 1; i <= p.exchanges; i++ {
		doings, err := p.between(i)
		if err != nil {
			return fmt.Errorf("before exchange %d: %w", i, err)
		}
		p.rec.begin(exchangeOf{i, doings})
		o, err := p.exchange(i)
		p.outcomes = append(p.outcomes, o)
		if err != nil {
			return fmt.Errorf("exchange %d: %w", i, err)
		}
	}
	return nil
}

// between does what people do to a scene between exchanges, and says what.
func (p *play) between(i int) (doings []string, err error) {
	part := func(n int) int { return p.exchanges*n/10 + 1 }
	do := func(what string, act func() (bool, error)) {
		if err == nil {
			var done bool
			if done, err = act(); done {
				doings = append(doings, what)
				p.done[what]++
			}
		}
	}
	switch i {
	case part(2):
		do("a mute", func() (bool, error) { return p.mute(true) })
	case part(4):
		do("an unmute", func() (bool, error) { return p.mute(false) })
	case part(3), part(8):
		do("an edit", p.edit)
	case part(5):
		do("a wait", p.turn)
		do("a new sheet", p.apply)
	case part(7):
		do("a new sheet", p.apply)
	}
	return doings, err
}

// exchange is a message, and now and then something else.
func (p *play) exchange(i int) (outcome, error) {
	path, err := p.path()
	if err != nil {
		return outcome{}, err
	}
	switch last := len(path) - 1; {
	case i%7 == 0:
		cast, err := p.cast()
		if err != nil {
			return outcome{}, err
		}
		speaker := cast[len(cast)-1]["id"] // whom no mute concerns
		return p.server.exchange(p.scene+"/speak", object{"speaker_member_id": speaker})
	case i%9 == 0 && path[last].Role == "assistant":
		return p.server.exchange(fmt.Sprintf("%s/messages/%d/regenerate", p.scene, path[last].ID), object{})
	}
	return p.server.exchange(p.scene+"/send", object{"content": saying(i)})
}

// message is what is asked of one.
type message struct {
	ID            int64
	Role, Content string
}

func (p *play) path() (path []message, err error) {
	return path, p.server.Call("GET", p.scene+"/messages", nil, &path)
}

func (p *play) cast() (cast []object, err error) {
	return cast, p.server.Call("GET", p.scene+"/members", nil, &cast)
}

// mute mutes the first member, or lets it speak again. One alone is let be.
func (p *play) mute(on bool) (bool, error) {
	cast, err := p.cast()
	if err != nil || len(cast) < 2 {
		return false, err
	}
	for i, m := range cast { // what is not sent of a member is cleared
		cast[i] = object{}
		for _, field := range []string{
			"id", "speaker_key", "character_card_id", "display_name",
			"public_profile_override", "card_sheet_override", "member_kind", "muted",
		} {
			cast[i][field] = m[field]
		}
	}
	cast[0]["muted"] = on
	return true, p.server.Call("PUT", p.scene+"/members", object{"members": cast}, nil)
}

// edit mends a person's message that lies half-way back.
func (p *play) edit() (bool, error) {
	path, err := p.path()
	if err != nil {
		return false, err
	}
	for at := len(path) / 2; at >= 0 && at < len(path); at-- {
		if m := path[at]; m.Role == "user" {
			change := object{"content": strings.TrimSuffix(m.Content, ".") + ", I should say."}
			p.edited = append(p.edited, m.Content)
			return true, p.server.Call("POST", fmt.Sprintf("%s/messages/%d/edit", p.scene, m.ID), change, nil)
		}
	}
	return false, nil
}

// apply takes the newest proposed sheet, if there is one.
func (p *play) apply() (bool, error) {
	var list []struct{ ID int64 }
	err := p.server.Call("GET", p.scene+"/sheet-proposals?status=pending", nil, &list)
	if err != nil || len(list) == 0 {
		return false, err
	}
	return true, p.server.Call("POST", fmt.Sprintf("%s/sheet-proposals/%d/apply", p.scene, list[0].ID), object{}, nil)
}

// turn waits for the minute to turn, unless it has: prompts show the time.
func (p *play) turn() (bool, error) {
	next := p.began.Truncate(time.Minute).Add(time.Minute)
	left := time.Until(next)
	if !p.wait || left < 0 {
		return false, nil
	}
	time.Sleep(left + 100*time.Millisecond)
	return true, nil
}

// object is one as the API takes it.
type object map[string]any

// made creates something and returns its id.
func (p *play) made(path string, body object) (string, error) {
	var row struct{ ID string }
	err := p.server.Call("POST", "/api/"+path, body, &row)
	return row.ID, err
}

// choose makes the model server known to jp, and uses it for everything.
func (p *play) choose(models string) error {
	var e struct {
		ID     string
		Config string `json:"active_model_config_id"`
	}
	body := object{"url": models, "provider": p.provider}
	if p.provider == "openai" || p.provider == "openrouter" {
		body["api_key"] = "kept-by-the-proxy"
	}
	if err := p.server.Call("POST", "/api/endpoints", body, &e); err != nil {
		return err
	}
	config := object{"model_name": p.model}
	if p.maxTokens > 0 {
		config["max_tokens"] = p.maxTokens
	}
	if err := p.server.Call("PUT", "/api/models/"+e.Config, config, nil); err != nil {
		return err
	}
	return p.server.Call("PUT", "/api/settings", object{"active_endpoint_id": e.ID}, nil)
}

// furnish makes the cast, its World and the conversation.
func (p *play) furnish() error {
	var members []object
	for _, one := range people()[:p.members] {
		id, err := p.made("characters", one.card())
		if err != nil {
			return err
		}
		members = append(members, object{"character_card_id": id})
	}
	for _, t := range things() {
		if err := p.server.Call(t.method, "/api/"+t.path, t.body, nil); err != nil {
			return err
		}
	}
	world, err := p.made("worlds", object{"name": "Harrow Sound"})
	if err != nil {
		return err
	}
	for _, e := range lore() {
		if _, err := p.made("worlds/"+world+"/entries", e); err != nil {
			return err
		}
	}
	body := premise()
	body["members"], body["group_context_mode"] = members, p.mode
	id, err := p.made("conversations", body)
	if err != nil {
		return err
	}
	p.scene = "/api/conversations/" + id
	if err := p.server.Call("PUT", p.scene+"/worlds/"+world, object{"enabled": true}, nil); err != nil {
		return err
	}
	return p.server.Call("PUT", p.scene, object{"group_sheet_updates": true}, nil)
}
