package loopback

import "net"

// IsHost reports whether a host, without its port, is localhost or a loopback address.
func IsHost(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }
