package config

// WithoutParticipants returns t without the roster and the captures. Outside
// of a conversation these are only what a new one begins with.
func WithoutParticipants(t Tree) Tree {
	return without(without(t, "conversation", "participants"), "assistants")
}

// SetsParticipants tells whether t holds a roster or captures.
func SetsParticipants(t Tree) bool {
	return at(t, "conversation", "participants") != nil || at(t, "assistants") != nil
}
