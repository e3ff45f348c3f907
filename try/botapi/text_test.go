package botapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrepare(t *testing.T) {
	tests := []struct {
		name, text string
		entities   []Entity
		want       string
		moved      []Entity
	}{
		{"trimmed", "  a b \n", nil, "a b", nil},
		{"tab becomes a blank", "a\tb\r\nc", nil, "a b\nc", nil},
		{"entities move with what is dropped", " \r\n\u202eab c", []Entity{{Type: "bold", Offset: 4, Length: 2}}, "ab c", []Entity{{Type: "bold", Offset: 0, Length: 2}}},
		{"not trimmed into an entity", "  ab", []Entity{{Type: "code", Offset: 1, Length: 3}}, " ab", []Entity{{Type: "code", Offset: 0, Length: 3}}},
		{"cut at the end", "ab  ", []Entity{{Type: "bold", Offset: 1, Length: 3}}, "ab", []Entity{{Type: "bold", Offset: 1, Length: 1}}},
		{"nothing left of it", "ab  ", []Entity{{Type: "bold", Offset: 2, Length: 2}}, "ab", nil},
		{"detected kinds cannot be given", "ab", []Entity{{Type: "bot_command", Offset: 0, Length: 2}}, "ab", nil},
		{"no link in code", "https://a.example", []Entity{{Type: "code", Offset: 0, Length: 17}}, "https://a.example", []Entity{{Type: "code", Offset: 0, Length: 17}}},
		{"link in bold", "https://a.example", []Entity{{Type: "bold", Offset: 0, Length: 17}}, "https://a.example", []Entity{{Type: "bold", Offset: 0, Length: 17}, {Type: "url", Offset: 0, Length: 17}}},
		{"path is no command", "see /etc/passwd and a/b", nil, "see /etc/passwd and a/b", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, entities, refusal := prepare(tt.text, tt.entities)
			require.Nil(t, refusal)
			assert.Equal(t, tt.want, text)
			assert.Equal(t, tt.moved, entities)
		})
	}
}

func TestOnlyTheFirstHundredEntitiesStay(t *testing.T) {
	text, list := "", []Entity{}
	for i := range 150 {
		text += "x "
		list = append(list, Entity{Type: "bold", Offset: 2 * i, Length: 1})
	}
	_, kept, refusal := prepare(text, list)
	require.Nil(t, refusal)
	assert.Len(t, kept, maxEntities)
}

func FuzzPrepare(f *testing.F) {
	f.Add("a 🙂 /b", `[{"type":"bold","offset":0,"length":3}]`)
	f.Add(" \r\n x\t", `[{"type":"pre","offset":1,"length":5},{"type":"blockquote","offset":0,"length":6}]`)
	f.Fuzz(func(t *testing.T, text, list string) {
		entities, refusal := params{fields: map[string]string{"entities": list}}.entities("entities")
		if refusal != nil {
			return
		}
		text, entities, refusal = prepare(text, entities)
		if refusal != nil {
			return
		}
		starts, end := boundaries(text)
		for _, e := range entities {
			require.True(t, e.Offset >= 0 && e.Length > 0 && e.Offset+e.Length <= end, "%+v in %q", e, text)
			require.True(t, starts[e.Offset] && starts[e.Offset+e.Length], "%+v in %q", e, text)
		}
	})
}

func FuzzKeyboard(f *testing.F) {
	f.Add(`{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}`)
	f.Add(`{"inline_keyboard":null}`)
	f.Fuzz(func(t *testing.T, markup string) {
		raw, keyboard, refusal := params{fields: map[string]string{"reply_markup": markup}}.keyboard()
		if refusal != nil || keyboard == nil {
			return
		}
		require.True(t, json.Valid(raw))
		for _, row := range keyboard {
			for _, b := range row {
				require.NotEmpty(t, b.Text)
				require.LessOrEqual(t, len(b.Data), 64)
			}
		}
	})
}
