//go:build race

package sqlstore

// raced makes the largest tests smaller: the race detector costs them minutes.
const raced = true
