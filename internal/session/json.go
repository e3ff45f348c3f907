package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// ErrNewer is returned for a record that a newer program wrote. Such a record
// is left alone: neither loaded, nor changed, nor moved.
var ErrNewer = errors.New("the record was written by a newer ccbot")

// plain has Record's fields without its methods, so that the standard encoding
// does the work.
type plain Record

// known are the JSON names of Record's fields.
var known = fieldNames(reflect.TypeFor[Record]())

func fieldNames(t reflect.Type) map[string]bool {
	names := make(map[string]bool, t.NumField())
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			names[name] = true
		}
	}
	return names
}

// MarshalJSON writes the record together with the fields it did not know when
// it was read.
func (r Record) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(plain(r))
	if err != nil || len(r.unknown) == 0 {
		return data, err
	}
	merged := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &merged); err != nil {
		return nil, err
	}
	for name, value := range r.unknown {
		if !known[name] {
			merged[name] = value
		}
	}
	return json.Marshal(merged)
}

// UnmarshalJSON reads a record and keeps the fields it does not know. Times
// must be RFC 3339; anything else is an error, not a zero time.
func (r *Record) UnmarshalJSON(data []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if head.Version > Version {
		return fmt.Errorf("version %d: %w", head.Version, ErrNewer)
	}
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	all := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for name, value := range all {
		if known[name] {
			continue
		}
		if p.unknown == nil {
			p.unknown = make(map[string]json.RawMessage)
		}
		p.unknown[name] = value
	}
	*r = Record(p)
	return r.check()
}
