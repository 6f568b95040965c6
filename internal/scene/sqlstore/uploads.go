package sqlstore

import (
	"maps"
	"slices"

	"jp/internal/scene"
)

type uploads struct{ *session }

var _ scene.Uploads = uploads{}

func uploadShape() shape[scene.Upload] {
	return shape[scene.Upload]{"user_attachments", "attachment", func(u *scene.Upload) []column {
		return []column{
			{name: "id", field: &u.ID},
			{name: "message_id", field: &u.MessageID},
			{name: "mime_type", field: &u.MIME},
			{name: "filename", field: &u.Filename},
			{name: "size", field: &u.Size},
			{name: "created_at", field: moment{&u.CreatedAt}},
		}
	}, nil}
}

// Insert implements scene.Uploads.
func (u uploads) Insert(row scene.Upload, data []byte) (int64, error) {
	row.Size = len(data)
	id, err := uploadShape().number(u.session, row)
	if err != nil {
		return 0, err
	}
	_, err = u.exec("attachment", "INSERT INTO user_attachment_contents (attachment_id, data) VALUES ($1, $2)", id, blob(data))
	return id, err
}

// blob is data as a value that is not NULL.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// Content implements scene.Uploads.
func (u uploads) Content(id int64) (scene.Upload, []byte, error) {
	row, err := uploadShape().one(u.session, id, "id = $1", id)
	if err != nil {
		return scene.Upload{}, nil, err
	}
	var data []byte
	err = u.query("attachment", "SELECT data FROM user_attachment_contents WHERE attachment_id = $1", []any{id},
		func(scan func(...any) error) error { return scan(&data) })
	return row, data, err
}

// batch is how many messages are asked about at once.
const batch = 500

// Copy implements scene.Uploads.
func (u uploads) Copy(messages map[int64]int64) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(messages)), batch) {
		found, err := uploadShape().list(u.session,
			"FROM user_attachments WHERE message_id IN ("+placeholders(1, len(ids))+") ORDER BY id", anys(ids)...)
		if err != nil {
			return err
		}
		for _, old := range found {
			if err := u.copy(old, messages[old.MessageID]); err != nil {
				return err
			}
		}
	}
	return nil
}

// copy gives a message its own copy of a file.
func (u uploads) copy(row scene.Upload, message int64) error {
	old := row.ID
	row.MessageID = message
	id, err := uploadShape().number(u.session, row)
	if err != nil {
		return err
	}
	_, err = u.exec("attachment", `INSERT INTO user_attachment_contents (attachment_id, data)
		SELECT $1, data FROM user_attachment_contents WHERE attachment_id = $2`, id, old)
	return err
}
