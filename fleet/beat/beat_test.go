package beat_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/fleet/beat"
)

// run checks a host each second and returns the changes by second. Its arguments are the
// seconds of beats, those without a connection of the chat, and those in which the chat is asleep.
func run(seconds int, beats, cut, asleep func(second int) bool) map[int]beat.Change {
	var w beat.Watch
	var shown beat.Shown
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := make(map[int]beat.Change)
	for s := range seconds {
		now := at.Add(time.Duration(s) * time.Second)
		if asleep(s) {
			continue
		}
		w.Connect(now, !cut(s))
		if beats(s) && !cut(s) {
			w.Beat(now)
		}
		if c := shown.Next(w.Check(now)); c != beat.Nothing {
			all[s] = c
		}
	}
	return all
}

func between(from, to int) func(int) bool { return func(s int) bool { return from <= s && s < to } }

func TestChanges(t *testing.T) {
	never := func(int) bool { return false }
	even := func(s int) bool { return s%2 == 0 }
	for _, tt := range []struct {
		name               string
		beats, cut, asleep func(int) bool
		want               map[int]beat.Change
	}{
		{"a host that is there", even, never, never, map[int]beat.Change{}},
		{"a host that never came", never, never, never, map[int]beat.Change{7: beat.Left}},
		{"a host that goes and comes back", func(s int) bool { return even(s) && (s < 11 || s > 31) }, never, never,
			map[int]beat.Change{17: beat.Left, 32: beat.Returned}},
		{"two lost beats", func(s int) bool { return even(s) && s != 12 && s != 14 }, never, never, map[int]beat.Change{}},
		{"the hub is away", even, between(10, 40), never, map[int]beat.Change{}},
		{"a host that goes while the hub is away", func(s int) bool { return even(s) && s < 20 }, between(10, 40), never, map[int]beat.Change{47: beat.Left}},
		{"the chat sleeps", even, never, between(10, 40), map[int]beat.Change{}},
		{"a host that goes while the chat sleeps", func(s int) bool { return even(s) && s < 20 }, never, between(10, 40), map[int]beat.Change{47: beat.Left}},
		{"a host that is away while the hub is", func(s int) bool { return even(s) && (s < 4 || s > 50) }, between(20, 40), never,
			map[int]beat.Change{9: beat.Left, 52: beat.Returned}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, run(60, tt.beats, tt.cut, tt.asleep))
		})
	}
}

func TestZeroWatchIsUnknown(t *testing.T) {
	var w beat.Watch
	assert.Equal(t, beat.Unknown, w.Check(time.Now()))
	assert.True(t, w.LastBeat().IsZero())
}

// A host is away only after Timeout in which the chat was connected and checked.
func TestAwayNeedsListening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w beat.Watch
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var heard time.Duration // connected and checked since the last beat
		connected := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			pause := time.Duration(rapid.IntRange(0, 6000).Draw(t, "pause")) * time.Millisecond
			now = now.Add(pause)
			if connected {
				heard += pause
			}
			if pause > 2*beat.Interval {
				heard = 0
			}
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				w.Beat(now)
				connected, heard = true, 0
			case 1:
				connected = !connected
				w.Connect(now, connected)
				if connected {
					heard = 0
				}
			}
			switch w.Check(now) {
			case beat.Away:
				if !connected || heard < beat.Timeout {
					t.Fatalf("away after %s", heard)
				}
			case beat.Present:
				if !connected || now.Sub(w.LastBeat()) >= beat.Timeout {
					t.Fatal("present without a beat")
				}
			}
		}
	})
}
