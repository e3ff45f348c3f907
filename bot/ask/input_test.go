package ask

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
		{"a long text", object("a", strings.Repeat("x", keptText+60), "b", 1), object("a", strings.Repeat("x", keptText)+"…", "b", 1)},
		{"half a letter", object("a", strings.Repeat("x", keptText-1)+strings.Repeat("я", 9)), object("a", strings.Repeat("x", keptText-1)+"…")},
		{"a long list", object("a", []string{strings.Repeat("x", keptText+60)}), object("a", `["`+strings.Repeat("x", keptText-2)+"…")},
		{"a key twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"nothing", `{}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := beginnings(json.RawMessage(tt.input))
			assert.Equal(t, tt.want, string(got))
			assert.True(t, json.Valid(got))
		})
	}
	list, ok := exactjson.Members(beginnings(json.RawMessage(object(many...))))
	assert.True(t, ok)
	assert.Len(t, list, maxFields)
}
