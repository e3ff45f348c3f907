package alias

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
)

// open reads the table of a folder, as each start does.
func open(t *testing.T, dir string) *Table {
	t.Helper()
	table, err := Open(spool.Folder{Path: dir, MaxSize: 1 << 20}, spool.Loader{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return table
}

func TestTableIgnoresOrderOfNews(t *testing.T) {
	type news [2]int64
	const a, b, c = int64(-1), int64(-100), int64(-200)
	tests := []struct {
		name string
		news []news
		want [][]int64
	}{
		{"nothing", nil, nil},
		{"one", []news{{a, b}}, [][]int64{{a, b}}},
		{"told in both chats", []news{{a, b}, {a, b}}, [][]int64{{a, b}}},
		{"a chain", []news{{a, b}, {b, c}}, [][]int64{{a, b, c}}},
		{"a chain, the later news first", []news{{b, c}, {a, b}}, [][]int64{{a, b, c}}},
		{"a chain, all told twice", []news{{b, c}, {a, b}, {b, c}, {a, b}}, [][]int64{{a, b, c}}},
		{"the first of a chain once more", []news{{a, b}, {b, c}, {a, b}}, [][]int64{{a, b, c}}},
		{"two groups", []news{{-3, -300}, {a, b}}, [][]int64{{-3, -300}, {a, b}}},
		{"nonsense", []news{{a, a}, {0, b}, {a, 0}}, nil},
		{"a private chat", []news{{1, b}, {a, 1}}, nil},
		{"a circle", []news{{a, b}, {b, a}}, [][]int64{{a, b}}},
		{"a long circle", []news{{a, b}, {b, c}, {c, a}}, [][]int64{{a, b, c}}},
		{"two become one", []news{{a, c}, {b, c}}, [][]int64{{a, c}}},
		{"one becomes two", []news{{a, b}, {a, c}}, [][]int64{{a, b}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			table := open(t, dir)
			for _, n := range tt.news {
				require.NoError(t, table.Note(n[0], n[1]))
				assert.Equal(t, table.Moved(), open(t, dir).Moved(), "it is on disk when Note returns")
			}
			assert.Equal(t, tt.want, table.Moved())
		})
	}
}

func TestMessageNumbersOfChatsDiffer(t *testing.T) {
	var table Table
	require.NoError(t, table.Note(-1, -100))
	require.NoError(t, table.Note(-100, -200))
	seen := map[int]int64{}
	for _, chat := range []int64{-1, -100, -200} {
		for _, message := range []int{1, 77, 1<<31 - 1} {
			place, inside := table.In(chat, message)
			assert.Equal(t, int64(-1), place)
			assert.NotContains(t, seen, inside)
			seen[inside] = chat
			again, same := table.In(place, inside)
			assert.Equal(t, []any{place, inside}, []any{again, same}, "what is inside stays as it is")
			to, out := table.Out(place, inside)
			assert.Equal(t, int64(-200), to)
			if chat != -200 {
				message = 0
			}
			assert.Equal(t, message, out)
			assert.Equal(t, message == 0, table.Lost(place, inside))
			assert.Equal(t, message == 0, table.Lost(chat, inside))
		}
	}
	for _, none := range []int{0, -1} {
		to, out := table.Out(-1, none)
		assert.Equal(t, []any{int64(-200), none}, []any{to, out})
		assert.False(t, table.Lost(-1, none))
		_, in := table.In(-200, none)
		assert.Equal(t, none, in)
	}
	place, inside := table.In(5, 77)
	assert.Equal(t, []any{int64(5), 77}, []any{place, inside})
	assert.False(t, table.Lost(5, 77))
}

func TestToldSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	table := open(t, dir)
	require.NoError(t, table.Note(-1, -100))
	assert.False(t, table.IsReported(-100))
	require.NoError(t, table.NoteReported(-100))
	assert.True(t, open(t, dir).IsReported(-100))
	assert.False(t, open(t, dir).IsReported(-1))
}

func TestDamagedTableIsReplaced(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":     "{",
		"a circle":    `{"version":1,"groups":[[-1,-2,-1],[],[-3]]}`,
		"other types": `{"version":1,"groups":{},"reported":{}}`,
		"empty":       "",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), []byte(data), 0o600))
		table := open(t, dir)
		assert.LessOrEqual(t, len(table.Numbers(-1)), 2, name)
		require.NoError(t, table.Note(-7, -8))
		assert.Equal(t, []int64{-7, -8}, open(t, dir).Numbers(-8), name)
	}
}

func TestNoteFailsWithoutDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chats")
	table := open(t, dir)
	require.NoError(t, os.WriteFile(dir, nil, 0o600), "a file is in the way")
	require.Error(t, table.Note(-1, -100))
	assert.Equal(t, []int64{-1}, table.Numbers(-1), "nothing is sent to the new chat before")
	assert.Error(t, table.NoteReported(-100))
}
