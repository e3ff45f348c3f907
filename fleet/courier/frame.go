package courier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// ErrFrame is returned for bytes that are not a frame of this version.
var ErrFrame = errors.New("not a frame of the courier")

// maxSeq is above each number that an honest end reaches.
const maxSeq = 1 << 62

// frame is a message between the ends: an item, or the answer that an item arrived.
type frame struct {
	V       int    `json:"v"`
	Life    string `json:"life"`              // of the folder of the item's sender
	Seq     uint64 `json:"seq"`               // of the item; counts the items of a life
	Settled uint64 `json:"settled,omitempty"` // all items up to it are over at the sender
	Have    bool   `json:"have,omitempty"`    // the item is at the receiver, who sends this

	body []byte // of an item; follows the JSON and a line feed
}

func (f frame) encode() ([]byte, error) {
	head, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("courier: %w", err)
	}
	return append(append(head, '\n'), f.body...), nil
}

func decode(data []byte) (frame, error) {
	head, body, found := bytes.Cut(data, []byte{'\n'})
	var f frame
	if !found {
		return frame{}, ErrFrame
	}
	if err := json.Unmarshal(head, &f); err != nil {
		return frame{}, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if id, err := uuid.Parse(f.Life); err != nil || id.String() != f.Life || f.V != 1 || f.Seq == 0 || f.Seq > maxSeq || f.Settled >= f.Seq {
		return frame{}, ErrFrame
	}
	f.body = body
	return f, nil
}
