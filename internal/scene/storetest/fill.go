package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"jp/internal/scene"
)

// at is a time, n microseconds after the first.
func at(n int) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(n) * time.Microsecond)
}

// filled is a row in which every field says something, so that a field that a
// store forgets is found. Rows of different turns differ in every field but
// flags.
func filled[T any](turn int) T {
	var row T
	fill(reflect.ValueOf(&row).Elem(), "", turn)
	return row
}

func fill(v reflect.Value, name string, turn int) {
	switch to := v.Addr().Interface().(type) {
	case *time.Time:
		*to = at(turn)
		return
	case *json.RawMessage:
		*to = json.RawMessage(fmt.Sprintf(`{ "%s":[%d , 1e400] }`, name, turn)) // verbatim: spaces, and what no number holds
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name, turn)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, turn)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), name+"[0]", turn)
		fill(v.Index(1), name+"[1]", turn)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{name, "turn"} {
			to := reflect.New(v.Type().Elem()).Elem()
			fill(to, key, turn)
			if to.Kind() == reflect.Bool {
				to.SetBool(key == name || turn == 1)
			}
			v.SetMapIndex(reflect.ValueOf(key), to)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d", name, turn))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(int64(turn) + 1) // fits every range
	case reflect.Int64:
		v.SetInt(1<<62 + int64(turn))
	case reflect.Float64:
		v.SetFloat(float64(turn) + 0.1)
	default:
		panic("fill does not know " + v.Type().String())
	}
}

// The rows that others refer to.
func group(id string) scene.Conversation {
	return scene.Conversation{
		ID: id, Kind: scene.Group, Title: "The inn", TurnMode: scene.Manual, MaxSpeakers: 3, ContextMode: scene.Private,
		CreatedAt: at(0), UpdatedAt: at(0), AccessedAt: at(0), Revision: 1, RosterRevision: 1,
	}
}

func solo(id string, card *string) scene.Conversation {
	c := group(id)
	c.Kind, c.CardID = scene.Solo, card
	return c
}

func member(id, conversation string, order int) scene.Member {
	return scene.Member{
		ID: id, ConversationID: conversation, Key: "key-" + id, Name: "Name " + id,
		Kind: scene.Character, Order: order, Active: true,
	}
}

func message(conversation string, parent *int64) scene.Message {
	return scene.Message{ConversationID: conversation, ParentID: parent, Role: scene.RoleAssistant, Content: "Well.", CreatedAt: at(0)}
}

func proposal(conversation, member string, status scene.ProposalStatus, n int) scene.Proposal {
	return scene.Proposal{ConversationID: conversation, MemberID: member, Sheet: "s", Status: status, CreatedAt: at(n)}
}

func card(id, name string) scene.Card {
	return scene.Card{ID: id, Name: name, CreatedAt: at(0), UpdatedAt: at(0)}
}

func world(id string) scene.World {
	return scene.World{ID: id, Name: "World " + id, CreatedAt: at(0), UpdatedAt: at(0)}
}

func entry(id, world string, order int) scene.Entry {
	return scene.Entry{ID: id, WorldID: world, Name: "Entry " + id, Order: order, CreatedAt: at(0), UpdatedAt: at(0)}
}

func persona(id string) scene.Persona {
	return scene.Persona{ID: id, Name: "Persona " + id, CreatedAt: at(0), UpdatedAt: at(0)}
}

func model(id, endpoint string) scene.ModelConfig {
	return scene.ModelConfig{ID: id, EndpointID: endpoint, Lane: scene.LaneWriter, Model: "m"}
}
