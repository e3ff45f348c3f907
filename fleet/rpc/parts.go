package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ccbot/fleet/rights"
)

const (
	partSize = rights.MaxPayload - 16<<10 // leaves room for a head and a seal
	maxParts = 64
	// MostBytes is the size of the largest envelope.
	MostBytes = maxParts * partSize
	headSize  = 4 // the number of the part, and of all parts
)

// ErrTooLarge is returned for an envelope with more than MostBytes.
var ErrTooLarge = fmt.Errorf("larger than %d bytes", MostBytes)

var errPart = errors.New("not a part of the message")

// split returns the bodies of the messages that carry data.
func split(data []byte) (parts [][]byte, err error) {
	n := max(1, (len(data)+partSize-1)/partSize)
	if n > maxParts {
		return nil, ErrTooLarge
	}
	for i := range n {
		body := binary.BigEndian.AppendUint16(nil, uint16(i)) //nolint:gosec // below maxParts
		body = binary.BigEndian.AppendUint16(body, uint16(n)) //nolint:gosec // at most maxParts
		parts = append(parts, append(body, data[i*partSize:min(len(data), (i+1)*partSize)]...))
	}
	return parts, nil
}

// assembly collects the parts of one envelope, in any order.
type assembly struct {
	parts   [][]byte
	missing int
}

// add takes a part, and returns the whole when no part is missing.
func (a *assembly) add(body []byte) (whole []byte, complete bool, err error) {
	if len(body) < headSize || len(body) > headSize+partSize {
		return nil, false, errPart
	}
	i, n := int(binary.BigEndian.Uint16(body)), int(binary.BigEndian.Uint16(body[2:]))
	if a.parts == nil && n > 0 && n <= maxParts {
		a.parts, a.missing = make([][]byte, n), n
	}
	if n != len(a.parts) || i >= n || a.parts[i] != nil {
		return nil, false, errPart
	}
	a.parts[i] = body[headSize:]
	if a.missing--; a.missing > 0 {
		return nil, false, nil
	}
	for _, part := range a.parts {
		whole = append(whole, part...)
	}
	return whole, true, nil
}
