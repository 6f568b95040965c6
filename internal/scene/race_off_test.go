//go:build !race

package scene_test

const raced = false
