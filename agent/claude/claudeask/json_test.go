package claudeask

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/exactjson"
)

func TestBeginnings(t *testing.T) {
	object := func(a string) string { return fmt.Sprintf(`{"a":%q}`, a) }
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%03d":%d`, i, i)
	}
	for _, tt := range []struct{ name, input, want string }{
		{"short", `{"a":"x","b":[1, {"c":null}]}`, `{"a":"x","b":[1, {"c":null}]}`},
		{"a long text", object(strings.Repeat("x", keptText+60)), object(strings.Repeat("x", keptText) + "…")},
		{"half a letter", object(strings.Repeat("x", keptText-1) + strings.Repeat("я", 9)), object(strings.Repeat("x", keptText-1) + "…")},
		{"a long list", `{"a":["` + strings.Repeat("x", keptText+60) + `"]}`, object(`["` + strings.Repeat("x", keptText-2) + "…")},
		{"a key twice", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{"nothing", `{}`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := beginnings(json.RawMessage(tt.input))
			assert.Equal(t, tt.want, string(got))
			assert.True(t, json.Valid(got))
		})
	}
	list, ok := exactjson.Members(beginnings(json.RawMessage("{" + strings.Join(many, ",") + "}")))
	assert.True(t, ok)
	assert.Len(t, list, maxFields)
}
