// Package term draws exchange events on a terminal and asks questions. It is
// the only package that knows colours and width.
//
// Guaranteed: output is append-only, but for one line of a live terminal that
// says who is being waited for; every text that did not come from us passes
// Filter or Line before it is written; where colour is off no escape sequence
// is written at all; a pipe gets the model's own Markdown and nothing else.
// What is written depends on the text alone, never on how it was cut into
// chunks.
//
// Refused: drawing again with cursor movements, reading the environment, the
// clock or a terminal that was not handed in.
package term
