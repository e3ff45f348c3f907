package apianswer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseAcceptsTelegramsJSONOnly(t *testing.T) {
	tests := []struct {
		name, body string
		want       Answer
		err        error
		unknown    bool
	}{
		{name: "result", body: `{"ok":true,"result":[]}`, want: Answer{Result: []byte("[]")}},
		{name: "401", body: `{"ok":false,"error_code":401,"description":"Unauthorized"}`, want: Answer{Code: 401, Description: "Unauthorized"}, unknown: true},
		{name: "404", body: `{"ok":false,"error_code":404,"description":"Not Found"}`, want: Answer{Code: 404, Description: "Not Found"}, unknown: true},
		{name: "429", body: `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":7}}`,
			want: Answer{Code: 429, Description: "Too Many Requests", RetryAfter: 7}},
		{name: "empty", body: "", err: ErrForeign},
		{name: "page", body: "<html>404</html>", err: ErrForeign},
		{name: "JSON and a page", body: `{"ok":false,"error_code":401,"description":"x"}<html>`, err: ErrForeign},
		{name: "half", body: `{"ok":true,"result":[`, err: ErrForeign},
		{name: "number", body: "404", err: ErrForeign},
		{name: "null", body: "null", err: ErrForeign},
		{name: "JSON of a gateway", body: `{"error_code":401,"description":"no route"}`, err: ErrForeign},
		{name: "code only", body: `{"ok":false,"error_code":401}`, err: ErrForeign},
		{name: "description only", body: `{"ok":false,"description":"Unauthorized"}`, err: ErrForeign},
		{name: "yes without a result", body: `{"ok":true}`, err: ErrForeign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.body))
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.unknown, got.UnknownToken())
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, body := range []string{`{"ok":true,"result":1}`, `{"ok":false,"error_code":401,"description":"x"}`, "null", ""} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := Parse(body)
		if err == nil && a.Result == nil {
			assert.NotZero(t, a.Code)
			assert.NotEmpty(t, a.Description)
		}
	})
}
