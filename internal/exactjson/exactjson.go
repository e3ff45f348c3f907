// Package exactjson reads JSON by exact keys, as JavaScript does: a Go struct would take "Command"
// for "command". An object with a duplicate key is rejected, because readers differ in which value
// counts. It checks nothing below the level that it reads.
package exactjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Member is one member of an object.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the members of an object in their order. It returns false if raw is not an
// object, has trailing data or has a duplicate key; the list then ends where reading stopped and
// includes duplicates.
func Members(raw json.RawMessage) (list []Member, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	seen, distinct := make(map[string]bool), true
	for dec.More() {
		key, err := dec.Token()
		name, isText := key.(string)
		var value json.RawMessage
		if err != nil || !isText || dec.Decode(&value) != nil {
			return list, false
		}
		distinct = distinct && !seen[name]
		seen[name] = true
		list = append(list, Member{Key: name, Value: value})
	}
	_, end := dec.Token()
	_, behind := dec.Token()
	return list, distinct && end == nil && errors.Is(behind, io.EOF)
}

// Object are the members of an object by their keys; false as for Members.
func Object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	list, ok := Members(raw)
	if !ok {
		return nil, false
	}
	object := make(map[string]json.RawMessage, len(list))
	for _, m := range list {
		object[m.Key] = m.Value
	}
	return object, true
}

// Elements returns the elements of an array. It returns false for null.
func Elements(raw json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err == nil && list != nil
}

// Text returns the value of a string. It returns false for null.
func Text(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}
