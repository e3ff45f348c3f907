package session

import (
	"errors"

	"ccbot/internal/keepjson"
)

// errNewer means that a newer program wrote the record. Such a record is left alone: it is neither
// loaded, nor changed, nor moved.
var errNewer = keepjson.ErrNewer

// plain has Record's fields without its methods, so that the standard encoding does the work.
type plain Record

// MarshalJSON writes the record together with the fields that were unknown when the record was
// read. A record without its history is refused: the history would be lost.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.short {
		return nil, errors.New("the record is here without its history")
	}
	return keepjson.Marshal(plain(r), r.unknown)
}

// UnmarshalJSON reads a record of this version and keeps unknown fields. Times must be RFC 3339;
// any other form is an error, not a zero time.
func (r *Record) UnmarshalJSON(data []byte) error {
	var p plain
	unknown, err := keepjson.Unmarshal(data, Version, &p)
	if err != nil {
		return err
	}
	p.unknown = unknown
	*r = Record(p)
	r.inUTC()
	return r.check()
}
