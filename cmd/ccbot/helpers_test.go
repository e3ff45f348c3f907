package main

import (
	"ccbot/cmd/ccbot/ccbottest"
	"ccbot/internal/session/sessiontest"
)

// Short names for common helpers.
var (
	one, idOf, noon          = sessiontest.Over, sessiontest.ID, sessiontest.Noon
	stateWith, machine, tree = ccbottest.StateWith, ccbottest.Machine, ccbottest.Tree
	socketDir, refused       = ccbottest.SocketDir, ccbottest.Refused
)

const goodToken, tokenSecret, timeout = ccbottest.GoodToken, ccbottest.TokenSecret, ccbottest.Timeout
