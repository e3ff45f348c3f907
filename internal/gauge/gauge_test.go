package gauge

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGaugesOfMachine(t *testing.T) {
	booted, err := Booted(t.Context())
	require.NoError(t, err)
	assert.True(t, booted.Before(time.Now()), booted)
	again, err := Booted(t.Context())
	require.NoError(t, err)
	assert.WithinDuration(t, booted, again, time.Second, "it does not move")

	memory, err := Memory(t.Context(), os.Getpid())
	require.NoError(t, err)
	assert.Greater(t, memory, uint64(1<<20))
	for _, pid := range []int{0, -1, 1 << 40} {
		_, err := Memory(t.Context(), pid)
		assert.Error(t, err, pid)
	}

	assert.GreaterOrEqual(t, Sum(t.Context(), os.Getpid(), os.Getpid(), -1), memory)
	assert.Zero(t, Sum(t.Context()))

	room, err := Disk(t.Context(), t.TempDir())
	require.NoError(t, err)
	assert.Positive(t, room.Total)
	assert.LessOrEqual(t, room.Free, room.Total)
	_, err = Disk(t.Context(), t.TempDir()+"/none")
	assert.Error(t, err)

	assert.GreaterOrEqual(t, Load(t.Context()), 0.0)
}

func TestRoom(t *testing.T) {
	const gib = 1 << 30
	tests := []struct {
		name      string
		room      Space
		low, high bool
	}{
		{"enough", Space{Free: 50 * gib, Total: 100 * gib}, false, true},
		{"two percent of a large disk", Space{Free: 20 * gib, Total: 1000 * gib}, false, false},
		{"less than that", Space{Free: 20*gib - 1, Total: 1000 * gib}, true, false},
		{"clearly more", Space{Free: 26 * gib, Total: 1000 * gib}, false, true},
		{"a gibibyte of a small disk", Space{Free: gib, Total: 20 * gib}, false, false},
		{"less", Space{Free: gib - 1, Total: 20 * gib}, true, false},
		{"a full disk", Space{Total: 20 * gib}, true, false},
		{"a disk that is smaller than that", Space{Free: gib / 2, Total: gib / 2}, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.low, tt.room.Low())
			assert.Equal(t, tt.high, tt.room.High())
		})
	}
}
