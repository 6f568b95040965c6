package scene

import (
	"context"
	"slices"
	"strings"

	"jp/internal/lib/fault"
	"jp/internal/lib/host"
)

// modeChat is the one way in which endpoints are used.
const modeChat = "chat"

// EndpointChange is a partial update of an endpoint. A Key set to "" removes
// it. A URL with another origin removes it too, so that a key only goes where
// it was meant for, unless a new one comes with the change.
type EndpointChange struct {
	URL, Key, Mode, Proxy, Provider Change[string]
	WriterConfig, AgentConfig       Change[*string]
}

// Endpoints returns the stored endpoints in the order they were made in, then
// those of files and environment.
func (s *Service) Endpoints(ctx context.Context) ([]Endpoint, error) {
	return read(ctx, s, func(tx Tx) ([]Endpoint, error) {
		stored, err := tx.Endpoints.All()
		return append(stored, s.Standing...), err
	})
}

// Endpoint returns an endpoint of either sort. Errors: NotFound.
func (s *Service) Endpoint(ctx context.Context, id string) (Endpoint, error) {
	return read(ctx, s, func(tx Tx) (Endpoint, error) { return s.endpoint(tx, id) })
}

func (s *Service) endpoint(tx Tx, id string) (Endpoint, error) {
	if e, ok := s.standing(id); ok {
		return e, nil
	}
	return tx.Endpoints.Get(id)
}

// standing finds an endpoint of files and environment.
func (s *Service) standing(id string) (Endpoint, bool) {
	at := slices.IndexFunc(s.Standing, func(e Endpoint) bool { return e.ID == id })
	if at < 0 {
		return Endpoint{}, false
	}
	return s.Standing[at], true
}

// stored returns an endpoint that can be changed. Errors: NotFound, and Conflict
// for a standing one.
func (s *Service) stored(tx Tx, id string) (Endpoint, error) {
	if e, ok := s.standing(id); ok {
		where := "a configuration file"
		if e.Source == SourceEnv {
			where = "the environment"
		}
		return Endpoint{}, fault.New(fault.Conflict, "the endpoint %q stands in %s", id, where).
			WithHint("change it there, or add one of your own")
	}
	return tx.Endpoints.Get(id)
}

// CreateEndpoint adds an endpoint under a new id with one model config for each
// lane, which are in use at once; it becomes the active one if none is. Errors:
// Invalid for what does not fit.
func (s *Service) CreateEndpoint(ctx context.Context, e Endpoint) (Endpoint, error) {
	return write(ctx, s, func(tx Tx) (_ Endpoint, err error) {
		if err := settleEndpoint(&e); err != nil {
			return Endpoint{}, err
		}
		if e.ID, err = s.newID(); err != nil {
			return Endpoint{}, err
		}
		e.Source, e.WriterConfig, e.AgentConfig = SourceDatabase, nil, nil
		if err := tx.Endpoints.Insert(e); err != nil {
			return Endpoint{}, err
		}
		for _, lane := range []Lane{LaneWriter, LaneAgent} {
			m := DefaultModel(e.ID, lane)
			if m.ID, err = s.newID(); err != nil {
				return Endpoint{}, err
			}
			if err := tx.Models.Insert(m); err != nil {
				return Endpoint{}, err
			}
			*e.inUse(lane) = &m.ID
		}
		if err := tx.Endpoints.Save(e); err != nil {
			return Endpoint{}, err
		}
		return e, activate(tx, e.ID)
	})
}

// inUse is where an endpoint says which config a lane uses.
func (e *Endpoint) inUse(lane Lane) **string {
	if lane == LaneAgent {
		return &e.AgentConfig
	}
	return &e.WriterConfig
}

// activate notes that an endpoint was made, and makes it the active one if there
// is none.
func activate(tx Tx, id string) error {
	set, err := tx.Settings.Get()
	if err != nil {
		return err
	}
	set.Connected = true
	if set.ActiveEndpointID == nil {
		set.ActiveEndpointID = &id
	}
	return tx.Settings.Save(set)
}

// ChangeEndpoint updates an endpoint. Errors: NotFound, Invalid for what does
// not fit, Conflict for a standing one.
func (s *Service) ChangeEndpoint(ctx context.Context, id string, change EndpointChange) (Endpoint, error) {
	return write(ctx, s, func(tx Tx) (Endpoint, error) {
		e, err := s.stored(tx, id)
		if err != nil {
			return Endpoint{}, err
		}
		before, _ := host.Parse(e.URL)
		change.URL.apply(&e.URL)
		change.Mode.apply(&e.Mode)
		change.Provider.apply(&e.Provider)
		change.Proxy.apply(&e.Proxy)
		if err := settleEndpoint(&e); err != nil {
			return Endpoint{}, err
		}
		if now, _ := host.Parse(e.URL); now.Origin() != before.Origin() {
			e.Key = ""
		}
		change.Key.apply(&e.Key)
		if err := checkKey(e.Key); err != nil {
			return Endpoint{}, err
		}
		change.WriterConfig.apply(&e.WriterConfig)
		change.AgentConfig.apply(&e.AgentConfig)
		if err := checkInUse(tx, e); err != nil {
			return Endpoint{}, err
		}
		return e, tx.Endpoints.Save(e)
	})
}

// checkInUse refuses configs of other endpoints and lanes.
func checkInUse(tx Tx, e Endpoint) error {
	for _, lane := range []Lane{LaneWriter, LaneAgent} {
		id := *e.inUse(lane)
		if id == nil {
			continue
		}
		m, known, err := lookup(tx.Models.Get(*id))
		if err != nil {
			return err
		}
		if !known || m.EndpointID != e.ID || m.Lane != lane {
			return fault.New(fault.Invalid, "this endpoint has no %s model %q", lane, *id)
		}
	}
	return nil
}

// DeleteEndpoint removes an endpoint with its model configs. Settings that name
// it name none; members that had one of its models use the scene's. Errors:
// NotFound, Conflict for a standing one.
func (s *Service) DeleteEndpoint(ctx context.Context, id string) error {
	return s.Store.Update(ctx, func(tx Tx) error {
		if _, err := s.stored(tx, id); err != nil {
			return err
		}
		models, err := tx.Models.Of(id)
		if err != nil {
			return err
		}
		for _, m := range models {
			if err := s.unassign(tx, m.ID); err != nil {
				return err
			}
		}
		if err := tx.Endpoints.Delete(id); err != nil {
			return err
		}
		return forget(tx, id, func(set *Settings) []**string {
			return []**string{&set.ActiveEndpointID, &set.AgentEndpointID}
		})
	})
}

// settleEndpoint refuses an endpoint that cannot be called, and writes its URL
// the way that paths are added to it.
func settleEndpoint(e *Endpoint) error {
	e.URL = strings.TrimRight(strings.TrimSpace(e.URL), "/")
	u, ok := host.Parse(e.URL)
	switch {
	case !ok || u.Scheme != "http" && u.Scheme != "https":
		return misfit("url", "this is no http or https URL").hint("take one like http://localhost:8080/v1")
	case u.Login:
		return misfit("url", "the URL holds a name or a password").hint("give the key in its own field")
	case u.Rest:
		return misfit("url", "the URL has more than a path").hint("leave out what begins with ? or #")
	}
	if e.Mode == "" {
		e.Mode = modeChat
	}
	if e.Mode != modeChat {
		return misfit("completion_mode", "%q is no mode", e.Mode).hint("use chat")
	}
	if e.Provider != "" && !slices.Contains(Providers(), e.Provider) {
		return misfit("provider", "%q is no provider", e.Provider).
			hint("use %s, or leave it out", strings.Join(Providers(), ", "))
	}
	if err := checkProxy(e.Proxy); err != nil {
		return err
	}
	return checkKey(e.Key)
}

// checkProxy refuses what no connection can be made through.
func checkProxy(proxy string) error {
	if proxy == "" {
		return nil
	}
	u, ok := host.Parse(proxy)
	if !ok || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return misfit("proxy", "this is no proxy that can be used").
			hint("take an http, https or socks5 URL like socks5://localhost:1080")
	}
	return nil
}

// checkKey refuses a key that cannot stand in a header.
func checkKey(key string) error {
	if !printable(key) {
		return misfit("api_key", "the key has characters that no header can hold")
	}
	return nil
}

// printable tells whether text is ASCII without control characters.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
