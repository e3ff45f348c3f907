package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/exactjson"
)

func TestBeginnings(t *testing.T) {
	many := make([]any, 0, 400)
	for i := range 200 {
		many = append(many, fmt.Sprintf("k%03d", i), i)
	}
	for _, tt := range []struct{ name, input, want string }{
		{"short", `{"a":"x","b":[1, {"c":null}]}`, `{"a":"x","b":[1, {"c":null}]}`},
		{"a long text", object("a", strings.Repeat("x", 100), "b", 1), object("a", strings.Repeat("x", 40)+"…", "b", 1)},
		{"half a letter", object("a", strings.Repeat("x", 39)+strings.Repeat("я", 9)), object("a", strings.Repeat("x", 39)+"…")},
		{"a long list", object("a", []string{strings.Repeat("x", 100)}), object("a", `["`+strings.Repeat("x", 38)+"…")},
		{"a key twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"nothing", `{}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Beginnings(json.RawMessage(tt.input), 40)
			assert.Equal(t, tt.want, string(got))
			assert.True(t, json.Valid(got))
		})
	}
	list, ok := exactjson.Members(Beginnings(json.RawMessage(object(many...)), 40))
	assert.True(t, ok)
	assert.Len(t, list, maxFields)
}

// object is a JSON object of keys and values in turn.
func object(pairs ...any) string {
	var b strings.Builder
	b.WriteString("{")
	for i := 0; i < len(pairs); i += 2 {
		value, _ := json.Marshal(pairs[i+1])
		fmt.Fprintf(&b, "%s%q:%s", strings.Repeat(",", min(i, 1)), pairs[i], value)
	}
	return b.String() + "}"
}
