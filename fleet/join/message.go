package join

import (
	"encoding/json"
	"errors"
	"fmt"

	"ccbot/fleet/seal"
)

// Errors of Ask, matched with errors.Is.
var (
	// ErrLate is returned if the code is older than TTL, or unknown to the chat.
	ErrLate = errors.New("the code is too old")
	// ErrClock is returned if the hub refuses the code although its time is not over.
	ErrClock = errors.New("the hub refuses the code before its time is over: it is not the hub of this chat, or a clock is wrong, of the hub or of this machine")
	// ErrUsed is returned if another machine has used the code.
	ErrUsed = errors.New("the code was used")
	// ErrRefused is returned if the person did not let the machine in.
	ErrRefused = errors.New("the chat did not let this machine in")
	// ErrProof is returned if the code's secret is wrong.
	ErrProof = errors.New("the code is wrong")
	// ErrNameTaken is returned if another machine took the name.
	ErrNameTaken = errors.New("a machine has this name")
)

// status is the kind of an answer.
type status string

const (
	waiting  status = "waiting"
	admitted status = "admitted"
)

// refusals are the other answers.
var refusals = map[status]error{
	"late": ErrLate, "used": ErrUsed, "refused": ErrRefused, "proof": ErrProof, "name": ErrNameTaken,
}

func statusOf(err error) status {
	for s, e := range refusals {
		if errors.Is(err, e) {
			return s
		}
	}
	return "refused"
}

// request is the message of a machine that joins.
type request struct {
	User  string `json:"user"` // public key
	Proof []byte `json:"proof"`
	Machine
}

// Machine describes a machine to the person.
type Machine struct {
	System string `json:"system"`
	Owner  string `json:"owner"` // the user that runs ccbot there
}

// answer is the reply of the chat.
type answer struct {
	Status status `json:"status"`
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"`
	Chat   string `json:"chat,omitempty"` // name of the chat's machine
	JWT    string `json:"jwt,omitempty"`
}

// publicSize is the length of a public key in its text form.
const publicSize = 56

// wrap seals a request. The public key of the sender precedes it, because the chat does not know
// it yet.
func wrap(key seal.Key, chat string, r request) ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	sealed, err := key.SealFor(chat, data)
	if err != nil {
		return nil, err
	}
	return append([]byte(key.Public()), sealed...), nil
}

func unwrap(key seal.Key, data []byte) (from string, r request, err error) {
	if len(data) < publicSize {
		return "", request{}, seal.ErrSender
	}
	from = string(data[:publicSize])
	plain, err := key.OpenFrom(from, data[publicSize:])
	if err != nil {
		return "", request{}, err
	}
	if err := json.Unmarshal(plain, &r); err != nil {
		return "", request{}, fmt.Errorf("join: read a request: %w", err)
	}
	return from, r, nil
}
