package tavern

import "jp/internal/scene"

// SillyTavern's numbers for who answers.
const (
	natural = 0
	inOrder = 1
	byHand  = 2
	pooled  = 3
)

// SillyTavern's numbers for which cards a prompt has.
const (
	swapCards = 0
	joinCards = 1
	joinAll   = 2 // those of muted members, too
)

// turnModeOf is the reply behaviour that does what a strategy does; the
// Director does what chance did.
func turnModeOf(strategy int) scene.TurnMode {
	switch strategy {
	case inOrder:
		return scene.RoundRobin
	case byHand:
		return scene.Manual
	}
	return scene.Director
}

func strategyOf(m scene.TurnMode) int {
	switch m {
	case scene.RoundRobin:
		return inOrder
	case scene.Manual:
		return byHand
	}
	return natural
}

func contextModeOf(generation int) scene.ContextMode {
	if generation == joinCards || generation == joinAll {
		return scene.Shared
	}
	return scene.Swap
}

// generationOf writes Private as the mode in which the others' cards are
// unseen, too.
func generationOf(m scene.ContextMode) int {
	if m == scene.Shared {
		return joinCards
	}
	return swapCards
}

// turnMode is a mode that exists, or the default.
func turnMode(m scene.TurnMode) scene.TurnMode {
	if m == scene.Manual || m == scene.RoundRobin {
		return m
	}
	return scene.Director
}

// contextMode is a mode that exists, or the default.
func contextMode(m scene.ContextMode) scene.ContextMode {
	if m == scene.Shared || m == scene.Swap {
		return m
	}
	return scene.Private
}

// speakers is a limit within bounds, or the default.
func speakers(n int) int {
	if n < scene.LeastSpeakers || n > scene.MostSpeakers {
		return scene.DefaultSpeakers
	}
	return n
}
