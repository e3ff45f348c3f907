package wire

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// TestP9_ValuesThatNoMachineHas: the chat takes none of them, as an answer or as news.
func TestP9_ValuesThatNoMachineHas(t *testing.T) {
	long, huge := strings.Repeat("x", mostName+1), strings.Repeat("x", mostPath+1)
	for name, v := range map[string]any{
		"name":           port.Session{Name: long},
		"former name":    []port.Session{{FormerNames: []string{"api", long}}},
		"key":            port.Session{Prompts: []string{long}},
		"folder":         port.Session{Dir: huge},
		"cursor":         port.Session{Cursors: []talk.Cursor{{Path: long}}},
		"place":          talk.Item{Next: talk.Cursor{Offset: -1}},
		"part":           talk.Cursor{Part: -1},
		"ticket":         folders.File{Ticket: folders.Ticket(huge)},
		"size":           folders.File{Size: -1},
		"process":        []port.Writer{{Process: port.Process{ID: port.ID(huge)}}},
		"cost":           talk.Report{Spans: []talk.Span{{All: talk.Sum{Cost: -1}}}},
		"tokens":         talk.Sum{Input: -1},
		"sum":            talk.Sum{Cost: 1e300},
		"day":            talk.Report{Days: []float64{1, -1}},
		"context":        &port.Usage{Context: 1e300},
		"records":        news.Start{Messages: 1 << 40},
		"below zero":     news.Start{Unreadable: -1},
		"status":         map[uuid.UUID]port.Status{{}: {Usage: &port.Usage{Cost: -1e300}}},
		"in a map":       map[uuid.UUID]port.Usage{{}: {Model: long}},
		"embedded":       news.Held{Prompt: talk.Prompt{Key: long}},
		"moment":         folders.Changes{Of: folders.Since(huge)},
		"loop":           news.Looped{Loop: port.Loop{Used: port.LoopUsed{Cost: -1}}},
		"picture":        talk.Item{Images: []talk.Image{{Length: -1}}},
		"shown use":      talk.Limit{Percent: 1e300},
		"in an argument": &talk.Mark{Path: huge},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, checkBounds(reflect.ValueOf(v)), errBounds) })
	}
	for _, v := range []any{port.Session{Name: long[1:], Dir: huge[1:], Exit: &port.Exit{Status: -1}}, port.Dialog{Selected: -1}, port.Usage{Context: -1},
		port.CheckResult{Exit: -1}, talk.Sum{Cost: 1e9}, talk.Prompt{Text: huge}, news.Start{Unreadable: 3}} {
		require.NoError(t, checkBounds(reflect.ValueOf(v)))
	}

	windows := []port.Window{{Pane: port.Pane{Name: strings.Repeat("é", mostName)}, Others: []port.Process{{Program: huge}}}}
	require.NoError(t, checkBounds(reflect.ValueOf(&windows)))
	assert.Equal(t, strings.Repeat("é", mostName/2), windows[0].Name)
	assert.Len(t, windows[0].Others[0].Program, mostName)

	answer := func(body string) error {
		c := &Client{From: "chat", To: "B", Context: t.Context(), Transport: func(context.Context, Envelope) (Envelope, error) {
			return Envelope{V: Version, Body: json.RawMessage(body)}, nil
		}}
		r, err := c.Machine().Sessions.Spent(t.Context(), 0)
		if err != nil {
			assert.Zero(t, r)
		}
		return err
	}
	require.NoError(t, answer(`[{"Days":[1]}]`))
	require.ErrorIs(t, answer(`[{"Days":[-1]}]`), errBounds)
	r := Reader{Chat: chatFunc(func(port.Session) { t.Error("it has reached the chat") })}
	for _, body := range []string{`{"of":"Start","news":{"Unreadable":1e15}}`, `{"of":"Renamed","session":{"Name":"` + long + `"}}`} {
		data, err := Encode(Envelope{V: Version, Kind: newsKind, Body: json.RawMessage(body)})
		require.NoError(t, err)
		require.ErrorIs(t, r.Take(t.Context(), data), ErrUnread)
	}
}

// TestP8_MirrorKeepsSessionsItAskedFor: an answer with another session fills no memory.
func TestP8_MirrorKeepsSessionsItAskedFor(t *testing.T) {
	asked := uuid.New()
	m := &mirror{Client: &Client{Context: t.Context(), Transport: func(context.Context, Envelope) (Envelope, error) {
		body, err := json.Marshal([]any{port.Session{ID: uuid.New(), State: port.StateRunning}, true})
		return Envelope{V: Version, Body: body}, err
	}}}
	for range 3 {
		s, ok := m.Get(asked)
		assert.True(t, ok)
		assert.Equal(t, asked, s.ID)
		assert.Equal(t, port.StateUnknown, s.State)
	}
	assert.Empty(t, m.known)
}

// TestBoundedFieldsExist reads the tables of fields.
func TestBoundedFieldsExist(t *testing.T) {
	for _, table := range []map[reflect.Type][]string{names, paths, foreign} {
		for of, all := range table {
			for _, name := range all {
				_, ok := of.FieldByName(name)
				assert.True(t, ok, "%s.%s", of, name)
			}
		}
	}
}
