package wire

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// TestP8_LongListsTakeNoMemory: two bytes of an answer would take the size of a session.
func TestP8_LongListsTakeNoMemory(t *testing.T) {
	for name, body := range map[string]string{
		"sessions": "[[" + strings.Repeat("{},", 300_000) + "{}]]",
		"names":    `[[{"FormerNames":[` + strings.Repeat(`"",`, 300_000) + `""]}]]`,
		"quotes":   `[[{"Name":"a\\","FormerNames":[` + strings.Repeat(`"\"",`, 300_000) + `""]}]]`,
		"deep":     "[" + strings.Repeat(`[{"a":`, 300_000) + "1",
	} {
		t.Run(name, func(t *testing.T) {
			c := &Client{From: "chat", To: "B", Context: t.Context(), Transport: func(context.Context, Envelope) (Envelope, error) {
				return Envelope{V: Version, Body: json.RawMessage(body)}, nil
			}}
			all, err := c.Machine().Records.List()
			require.Error(t, err)
			assert.Empty(t, all)
		})
	}
	r := Reader{Chat: chatFunc(func(port.Session) {})}
	body := `{"of":"Renamed","session":{"Cursors":[` + strings.Repeat("{},", maxEntries) + "{}]}}"
	assert.NotNil(t, r.Answer(t.Context(), Envelope{V: Version, Kind: newsKind, Body: json.RawMessage(body)}).Error)
	_, err := Decode([]byte(`{"v":1,"error":{"refusal":{"code":"writers","writers":[` + strings.Repeat("{},", maxEntries) + `{}]}}}`))
	require.ErrorIs(t, err, errEntries)

	allowed := make([]port.Session, maxEntries)
	data, err := json.Marshal([]any{allowed})
	require.NoError(t, err)
	require.NoError(t, checkLists(data))
	text, err := json.Marshal([]any{port.Session{ID: uuid.New(), Name: strings.Repeat(`,["`, maxEntries)}})
	require.NoError(t, err)
	require.NoError(t, checkLists(text), "a text is no list")
}

// TestP8_LargeObjectsTakeNoMemory: each entry of a map would take the size of a status.
func TestP8_LargeObjectsTakeNoMemory(t *testing.T) {
	of := func(entries int) []byte {
		all := make(map[uuid.UUID]port.Status)
		for range entries {
			all[uuid.New()] = port.Status{}
		}
		data, err := json.Marshal([]any{all})
		require.NoError(t, err)
		return data
	}
	inspect := func(body []byte) (map[uuid.UUID]port.Status, error) {
		c := &Client{From: "chat", To: "B", Context: t.Context(), Transport: func(context.Context, Envelope) (Envelope, error) {
			return Envelope{V: Version, Body: body}, nil
		}}
		return c.Machine().Sessions.Inspect(t.Context())
	}
	all, err := inspect(of(maxMembers))
	require.NoError(t, err)
	assert.Len(t, all, maxMembers)
	all, err = inspect(of(maxMembers + 1))
	require.ErrorIs(t, err, errEntries)
	assert.Empty(t, all)
}

// TestLongErrorIsCut: a person reads it.
func TestLongErrorIsCut(t *testing.T) {
	long := strings.Repeat("é", mostError)
	e := Error{Text: long, Refusal: &refusal.Error{Code: refusal.FileUnreadable, Reason: long}, Reason: long}
	err := e.decode()
	assert.Len(t, err.Error(), mostError)
	assert.Len(t, refusal.In(err).Reason, mostError)
	e.Refusal.Reason = strings.Repeat("é", mostError/2) + "é"
	assert.True(t, utf8.ValidString(refusal.In(e.decode()).Reason))
}

type chatFunc func(port.Session)

func (f chatFunc) SessionNews(_ context.Context, s port.Session, _ news.News) error {
	f(s)
	return nil
}
