package exactjson

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMembers(t *testing.T) {
	tests := []struct {
		name, raw string
		keys      []string
		ok        bool
	}{
		{"in their order", `{"b":1,"a":{"x":[]},"c":null}`, []string{"b", "a", "c"}, true},
		{"none", ` { } `, nil, true},
		{"the case counts", `{"a":1,"A":2}`, []string{"a", "A"}, true},
		{"a key twice", `{"a":1,"b":2,"a":3}`, []string{"a", "b", "a"}, false},
		{"a key twice, once escaped", `{"a":1,"\u0061":2}`, []string{"a", "a"}, false},
		{"the key below is another's", `{"a":{"a":1}}`, []string{"a"}, true},
		{"something behind", `{"a":1}{"b":2}`, []string{"a"}, false},
		{"a bracket behind", `{"a":1}}`, []string{"a"}, false},
		{"not closed", `{"a":1`, []string{"a"}, false},
		{"closed by another", `{"a":1]`, []string{"a"}, false},
		{"a key that is no text", `{1:2}`, nil, false},
		{"a list", `[]`, nil, false},
		{"null", `null`, nil, false},
		{"nothing", ``, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, ok := Members(json.RawMessage(tt.raw))
			var keys []string
			for _, m := range list {
				keys = append(keys, m.Key)
			}
			assert.Equal(t, tt.keys, keys)
			assert.Equal(t, tt.ok, ok)
			object, isObject := Object(json.RawMessage(tt.raw))
			assert.Equal(t, tt.ok, isObject)
			assert.Len(t, object, len(keys)*btoi(tt.ok))
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestElementsAndText(t *testing.T) {
	for raw, want := range map[string]bool{`["a",1]`: true, `[]`: true, `null`: false, `{}`: false, `"a"`: false, ``: false} {
		_, ok := Elements(json.RawMessage(raw))
		assert.Equal(t, want, ok, raw)
	}
	for raw, want := range map[string]bool{`"a"`: true, `""`: true, `null`: false, `1`: false, `["a"]`: false, ``: false} {
		_, ok := Text(json.RawMessage(raw))
		assert.Equal(t, want, ok, raw)
	}
	s, _ := Text(json.RawMessage(`"a\u00e9"`))
	assert.Equal(t, "aé", s)
}

// FuzzMembers: an object is one for encoding/json too, with the same values.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":1,"A":{"b":[null]}}`, `{"a":1,"a":2}`, `{"a":1} x`, `[`, "{\"\xff\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		object, ok := Object(raw)
		if !ok {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q is taken for an object: %v", raw, err)
		}
		assert.Equal(t, want, object)
	})
}
