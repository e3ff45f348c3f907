// Package jsonrpc calls a server by JSON-RPC over a WebSocket at a Unix socket.
//
// A server may send requests and notifications at any time. Those that arrive while a call waits
// for its response are kept for Next, in order.
//
// It checks no versions and repeats no call: after an error the caller knows nothing of the call.
package jsonrpc
