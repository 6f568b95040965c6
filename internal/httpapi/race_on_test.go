//go:build race

package httpapi_test

// raced makes the largest test smaller: the race detector costs it much time.
const raced = true
