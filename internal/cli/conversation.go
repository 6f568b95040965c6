package cli

import (
	"context"

	"github.com/spf13/cobra"

	"jp/internal/lib/fault"
	"jp/internal/term"
	"jp/internal/workspace"
	"jp/internal/workspace/config"
	"jp/internal/workspace/conversation"
)

func (a *app) conversationCommand() *cobra.Command {
	return group("conversation", "List, read and change conversations", []string{"c", "conversations"},
		a.lsCommand(), a.showCommand(), a.printCommand(), a.useCommand(), a.rmCommand(),
		a.pathCommand(), a.editCommand(), a.inviteCommand(), a.uninviteCommand())
}

// conversationID resolves a target: an id, a keyword, or nothing for the
// session's conversation and then conversation.default_id.
func (a *app) conversationID(ws *workspace.Workspace, tree config.Tree, target string) (conversation.ID, error) {
	if target != "" {
		return ws.Resolve(target)
	}
	def := config.DefaultID(tree)
	if _, ok := ws.Active(); ok || def == "ask" {
		def = ""
	}
	return ws.Resolve(def)
}

// targeted is a command's conversation and the workspace it is in.
func (a *app) targeted(args []string) (*workspace.Workspace, conversation.ID, error) {
	ws, err := a.open()
	if err != nil {
		return nil, 0, err
	}
	target := ""
	if len(args) > 0 {
		if target = args[0]; target == "" {
			return nil, 0, emptyTarget()
		}
	}
	id, err := a.conversationID(ws, a.standing(ws), target)
	return ws, id, err
}

// emptyTarget refuses a target that was given and is empty: an unset variable
// of a script must not mean the active conversation.
func emptyTarget() error {
	return fault.New(fault.Usage, "the conversation that is named is empty text").
		WithHint("name it, or leave the argument out for the active one")
}

// reading is a command's conversation as it is now, without a lock.
func (a *app) reading(args []string) (*workspace.Workspace, *workspace.Conversation, error) {
	ws, id, err := a.targeted(args)
	if err != nil {
		return nil, nil, err
	}
	c, err := ws.Read(id)
	return ws, c, err
}

// standing is the configuration of files and environment or, while that
// cannot be read, the built-in one: looking at conversations and mending them
// must work all the same.
func (a *app) standing(ws *workspace.Workspace) config.Tree {
	if a.config != nil {
		return a.config
	}
	base, err := a.base(ws)
	if err == nil {
		a.config, err = config.Finalize(base.Merged())
	}
	if err != nil {
		a.note("the configuration cannot be read: " + err.Error())
		a.config = config.Defaults()
	}
	return a.config
}

// targets explains how conversations are named.
const targets = `A conversation is named by its id (jp-c… or its digits), by the beginning of its
title, or by a word: active, recent (the last one used), newest, session (the
one before in this session).`

func titled(title string) string {
	if title == "" {
		return ""
	}
	return ": " + term.Line(title, 0)
}

// confirm asks a yes-or-no question, which needs a terminal.
func (a *app) confirm(ctx context.Context, question, hint string) (bool, error) {
	if !a.InTTY {
		return false, fault.New(fault.Usage, "this asks a question, and there is no terminal to ask it at").WithHint("%s", hint)
	}
	return a.ask(ctx).Yes(question, false)
}
