package macro

import (
	"crypto/sha256"
	"encoding/binary"
)

// Seeded are dice for a Scope that always show the same: what a macro gives
// depends on the seed, its text and its place among equal ones in its text.
// The rule is fixed for good, since scenes would change with it.
func Seeded(seed string) func(text string, nth int) func(n int) int {
	return func(text string, nth int) func(n int) int {
		h := sha256.New()
		for _, part := range []string{seed, text} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			h.Write([]byte(part))
		}
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(nth)))
		state := binary.BigEndian.Uint64(h.Sum(nil))
		return func(n int) int {
			state += 0x9e3779b97f4a7c15
			return int(mix(state) % uint64(n))
		}
	}
}

// mix is the output function of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
