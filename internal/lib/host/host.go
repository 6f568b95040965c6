// Package host tells what a host name of a URL says about where it leads, and
// why nobody answered there. It looks at the text alone: no name is resolved,
// and a name that resolves to this machine by somebody's arrangement counts as
// another's.
package host

import (
	"net"
	"strings"
)

// Loopback reports whether a host, as url.URL.Hostname returns it, is this
// machine: localhost, a name below it, or a loopback address.
func Loopback(name string) bool {
	name = strings.ToLower(name)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
