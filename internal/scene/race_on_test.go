//go:build race

package scene_test

// raced makes the largest tests smaller: the race detector costs them minutes.
const raced = true
