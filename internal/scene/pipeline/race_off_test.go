//go:build !race

package pipeline_test

const raced = false
