package session

import "ccbot/internal/keepjson"

// errNewer is returned for a record that a newer program wrote. Such a record
// is left alone: neither loaded, nor changed, nor moved.
var errNewer = keepjson.ErrNewer

// plain has Record's fields without its methods, so that the standard encoding
// does the work.
type plain Record

// MarshalJSON writes the record together with the fields it did not know when
// it was read.
func (r Record) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(r), r.unknown) }

// UnmarshalJSON reads a record of this version and keeps the fields it does not
// know. Times must be RFC 3339; anything else is an error, not a zero time.
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
