package port

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/address"
	"ccbot/port/talk"
)

// A turn belongs to the place in which its prompt was written, in whatever file and folder it stands.
func TestPlaceOfTurn(t *testing.T) {
	const alice, bob, group = 1, 2, -3
	in := func(chat int64) address.Conversation { return address.Conversation{ChatID: chat} }
	at := func(path string, offset int64) talk.Cursor { return talk.Cursor{Path: path, Offset: offset} }
	moved := Session{Conversation: in(group), Cursors: []talk.Cursor{at("/p/old.jsonl", 5), at("/p/new.jsonl", 0)},
		Earlier: []talk.Shown{{Until: at("/p/old.jsonl", 20), In: in(alice)}, {Until: at("/p/new.jsonl", 30), In: in(bob)}}}
	for name, tt := range map[string]struct {
		turn talk.Cursor
		want int64
	}{
		"before the first move":              {at("/p/old.jsonl", 10), alice},
		"after it":                           {at("/p/old.jsonl", 20), bob},
		"after a /clear":                     {at("/p/new.jsonl", 0), bob},
		"after the second move":              {at("/p/new.jsonl", 30), group},
		"in a file that was moved":           {at("/worktree/old.jsonl", 10), alice},
		"in a file that the chat has passed": {at("/p/older.jsonl", 10), alice},
	} {
		assert.Equal(t, in(tt.want), moved.PlaceOf(tt.turn), name)
	}
	assert.Equal(t, in(group), Session{Conversation: in(group)}.PlaceOf(at("/p/new.jsonl", 1)))
}
