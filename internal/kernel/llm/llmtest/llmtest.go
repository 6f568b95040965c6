// Package llmtest holds stand-ins for language models and the suite every
// llm.Model passes.
//
// Scripted and Capturing replace a model inside the process. Server replaces a
// provider behind its protocol: a chat-completions server on the loopback
// address whose behaviour is chosen by the name of the model, so that a script
// of command lines can ask for a failure by asking for a model. None of them
// needs a *testing.T; Conformance does.
package llmtest
