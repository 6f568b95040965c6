//go:build race

package pipeline_test

// raced makes the largest tests smaller: the race detector costs them minutes.
const raced = true
