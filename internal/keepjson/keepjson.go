package keepjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// ErrNewer is returned for an object that a newer program wrote. Such a file is
// to be left alone: neither used, nor changed, nor moved.
var ErrNewer = errors.New("written by a newer ccbot")

// Unknown are fields that were read and have no place in the type.
type Unknown map[string]json.RawMessage

// Marshal writes v, a struct without methods of its own, together with the
// fields that were unknown when it was read.
func Marshal(v any, unknown Unknown) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil || len(unknown) == 0 {
		return data, err
	}
	all := maps.Clone(unknown)
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// Unmarshal reads an object into the struct that v points to, and returns the
// fields that have no place in it. version is the only one that this program
// reads: a higher "version" in the object is ErrNewer, a lower one another error.
func Unmarshal(data []byte, version int, v any) (Unknown, error) {
	var members Unknown
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, err
	}
	has := 0
	if told := members["version"]; told != nil {
		if err := json.Unmarshal(told, &has); err != nil {
			return nil, err
		}
	}
	if has > version {
		return nil, fmt.Errorf("version %d: %w", has, ErrNewer)
	}
	if has < version {
		return nil, fmt.Errorf("version %d is not read any more: this ccbot has version %d", has, version)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, err
	}
	for _, name := range fields(reflect.TypeOf(v).Elem()) {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil, nil // an empty map keeps its room
	}
	return maps.Clone(members), nil
}

// fields are the JSON names of a struct's fields.
func fields(t reflect.Type) []string {
	names := make([]string, 0, t.NumField())
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
