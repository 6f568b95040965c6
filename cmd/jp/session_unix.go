//go:build unix

package main

import "golang.org/x/sys/unix"

// sessionID tells terminals apart; 0 is none.
func sessionID() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}
