//go:build !race

package sqlstore

const raced = false
