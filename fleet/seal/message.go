package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"ccbot/fleet/life"
)

// Errors of Open, matched with errors.Is.
var (
	// ErrSender is returned if the peer did not seal the data, or the data was changed since.
	ErrSender = errors.New("not sealed by the peer")
	// ErrAddress is returned for a message that is for another end, or that this end sealed.
	ErrAddress = errors.New("addressed to another end")
	// ErrEpoch is returned for a message of an earlier epoch, and by Seal before the first epoch.
	ErrEpoch = errors.New("of an earlier epoch")
	// ErrReplay is returned for a message that was opened before, or that is too late to know.
	ErrReplay = errors.New("opened before")
	// ErrLife is returned for a message of another start than the followed one, or for another one than this start. It
	// may have begun an epoch.
	ErrLife = errors.New("of another start of the folder")
	// ErrVersion is returned for a message of a form that this program does not know.
	ErrVersion = errors.New("of an unknown version")
)

// Version is the version of the form of messages.
const Version = 1

// Kinds of messages that say something about the life of their sender.
const (
	Hello = "hello" // the first message of a host's process
	Beat  = "beat"
	Bye   = "bye" // the last message
)

// ChatName is the address of the chat. The address of a host is its id.
const ChatName = "chat"

// Message is the content of a seal. From, To, Epoch, Seq, Heard, Life and Peer are filled in
// by Seal.
type Message struct {
	V     int    `json:"v"`
	Kind  string `json:"kind"`
	From  string `json:"from"`
	To    string `json:"to"`
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`          // counts the sealed messages of From in the epoch
	ID    string `json:"id,omitempty"` // the request that the message is or answers
	// Heard is the highest Seq that From has opened in the epoch. Earlier programs write none.
	Heard *uint64 `json:"heard,omitempty"`
	// Life is the start of From, and Peer the start of To that From follows. Earlier programs write none.
	Life life.Life `json:"life,omitzero"`
	Peer life.Life `json:"peer,omitzero"`

	// Late reports that the message may be older than MaxAge. Open fills it in.
	Late bool   `json:"-"`
	Body []byte `json:"-"` // follows the JSON as it is
}

// encode returns the plain form of a message: its JSON, a line feed, its body.
func (m Message) encode() ([]byte, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append(append(head, '\n'), m.Body...), nil
}

// decode reads the plain form. Unknown fields are ignored: a newer end may add some.
func decode(data []byte) (Message, error) {
	head, body, found := bytes.Cut(data, []byte{'\n'})
	if !found {
		return Message{}, fmt.Errorf("%w: no head", ErrVersion)
	}
	var m Message
	if err := json.Unmarshal(head, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrVersion, err)
	}
	if m.V != Version {
		return Message{}, fmt.Errorf("%w: %d", ErrVersion, m.V)
	}
	m.Body, m.Life, m.Peer = body, m.Life.Bounded(), m.Peer.Bounded()
	return m, nil
}
