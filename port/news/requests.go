package news

import "ccbot/port/talk"

// News of requests come from the hooks that wait, and not from the worker of their session.
type (
	// Requested reports that the hook of a permission request waits. It is sent again after the hook
	// has redialled. On the chat's own machine an error leaves the request to its terminal.
	Requested struct {
		Piece
		talk.Request
		Project []talk.Answerer // settings of the project that may answer before a person
	}
	// RequestLeft reports that the hook of a Requested request has gone without an answer.
	RequestLeft struct {
		Piece
		Request string // id
	}
)
