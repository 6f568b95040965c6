package sqlstore

import (
	"encoding/json"

	"jp/internal/lib/fault"
	"jp/internal/scene"
)

type settings struct{ *session }

var _ scene.Singleton = settings{}

// Get implements scene.Singleton. What a document of an older version does not
// name has its default; what it names is taken whole, maps too.
func (s settings) Get() (scene.Settings, error) {
	var out scene.Settings
	merged := map[string]json.RawMessage{}
	defaults, err := json.Marshal(scene.DefaultSettings())
	if err == nil {
		err = json.Unmarshal(defaults, &merged)
	}
	if err != nil {
		return out, fault.New(fault.Internal, "the default settings are no JSON: %w", err)
	}
	err = s.query("settings", "SELECT document FROM settings WHERE id = 1", nil, func(scan func(...any) error) error {
		return scan(document{&merged})
	})
	if err != nil {
		return out, err
	}
	whole, err := json.Marshal(merged)
	if err == nil {
		err = json.Unmarshal(whole, &out)
	}
	if err != nil {
		return out, unreadable("setting", err)
	}
	return out, nil
}

// Save implements scene.Singleton.
func (s settings) Save(row scene.Settings) error {
	_, err := s.exec("settings", `INSERT INTO settings (id, document) VALUES (1, $1)
		ON CONFLICT (id) DO UPDATE SET document = excluded.document`, document{&row})
	return err
}
