// Package loopback recognises the hosts that are this machine.
//
// It promises that a host which IsHost accepts is reached without a network. It resolves no name,
// because the address could change before the next lookup.
package loopback
