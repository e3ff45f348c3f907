package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/uuid"
)

// Version is the version of the envelopes that this program writes.
const Version = 1

// Envelope is one message between two machines.
type Envelope struct {
	V    int    `json:"v"`
	Kind string `json:"kind"`           // of a call: interface and method, "Starter.Start"; of news: News
	From string `json:"from,omitempty"` // the machine that sends it
	To   string `json:"to,omitempty"`   // the machine that it is for: no other one makes its call
	// Session is the session of a call, or of news; nil: the call is about its machine, or about
	// several sessions there.
	Session uuid.UUID `json:"session,omitzero"`
	ID      string    `json:"id"` // the answer to an envelope has the same
	// Body has the arguments of a call by name, or the results of an answer in order.
	Body  json.RawMessage `json:"body,omitempty"`
	Error *Error          `json:"error,omitempty"` // of an answer; nil: the call has succeeded
}

// Encode returns the bytes of an envelope.
func Encode(e Envelope) ([]byte, error) { return json.Marshal(e) }

// Decode reads an envelope. Unknown fields are ignored; another version is an error.
func Decode(data []byte) (e Envelope, err error) {
	if err := checkLists(data); err != nil { // an error has lists, too
		return Envelope{}, fmt.Errorf("envelope: %w", err)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return Envelope{}, fmt.Errorf("envelope: %w", err)
	}
	if e.V != Version {
		return Envelope{}, fmt.Errorf("envelope of version %d", e.V)
	}
	return e, nil
}

// answer returns the answer to an envelope.
func (e Envelope) answer(results []any, failed error) Envelope {
	a := Envelope{V: Version, Kind: e.Kind, From: e.To, To: e.From, Session: e.Session, ID: e.ID, Error: encodeError(failed)}
	body, err := json.Marshal(results)
	if err != nil {
		a.Error = encodeError(fmt.Errorf("results of %s: %w", e.Kind, err))
		return a
	}
	a.Body = body
	return a
}

// results reads the results of an answer. With an error they are zero.
func (e Envelope) results(to []any) error {
	if e.Body == nil {
		return nil
	}
	err := checkLists(e.Body)
	if err == nil {
		read := slices.Clone(to) // a list with more entries would get a longer one
		err = json.Unmarshal(e.Body, &read)
	}
	for _, result := range to {
		if err == nil {
			err = checkBounds(reflect.ValueOf(result))
		}
	}
	if err == nil {
		return nil
	}
	for _, result := range to {
		reflect.ValueOf(result).Elem().SetZero()
	}
	return fmt.Errorf("results of %s: %w", e.Kind, err)
}
