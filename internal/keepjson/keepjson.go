package keepjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Unknown are fields that were read and have no place in the type.
type Unknown map[string]json.RawMessage

// Marshal writes v, a struct without methods, together with the fields that were unknown when it
// was read.
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
// fields that have no place in it. version is the only "version" of the object
// that this program reads.
func Unmarshal(data []byte, version int, v any) (Unknown, error) {
	members := gjson.ParseBytes(data)
	if !gjson.ValidBytes(data) || !members.IsObject() {
		return nil, cmp.Or(json.Unmarshal(data, v), errors.New("not a JSON object"))
	}
	has, names, unknown := 0, fields(reflect.TypeOf(v).Elem()), Unknown(nil)
	var err error
	members.ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		if name == "version" {
			err = json.Unmarshal([]byte(value.Raw), &has)
		}
		if !slices.Contains(names, name) {
			if unknown == nil {
				unknown = make(Unknown)
			}
			unknown[name] = json.RawMessage(value.Raw)
		}
		return err == nil
	})
	switch {
	case err != nil:
		return nil, err
	case has != version:
		return nil, fmt.Errorf("it has version %d, and this ccbot reads version %d", has, version)
	}
	return unknown, json.Unmarshal(data, v)
}

// known has the result of fields, which costs as much as reading a small object, for each type.
var known sync.Map

// fields returns the JSON names of a struct's fields, those of embedded structs included.
func fields(t reflect.Type) []string {
	if names, ok := known.Load(t); ok {
		return names.([]string)
	}
	names := make([]string, 0, t.NumField())
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	known.Store(t, names)
	return names
}
