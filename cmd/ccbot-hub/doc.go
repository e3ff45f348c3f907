// Command ccbot-hub is the hub through which the chat and the hosts of a fleet send messages to
// each other.
//
//	ccbot-hub [--listen HOST:PORT] [--dir DIR] [--trust FILE] [--max-store MIB]
//	ccbot-hub pin [--dir DIR]
//	ccbot-hub unit
//
// It runs until SIGTERM or SIGINT. FILE has what the hub needs to know of the fleet: it is made by
// the chat's machine, and has no secret. Each flag has a variable of the environment. Exit codes
// are 0 after a clean stop, 1 after a failure, and 2 for wrong usage or configuration.
//
// All but DIR/key.pem may be lost at any time: see package hub.
package main
