package hooks

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

const sessionID = "19700a32-a03e-4de9-a340-67e13a1f5792"

var errRefused = errors.New("refused")

// sink notes the prompts it takes and refuses what refuse says.
type sink struct {
	refuse func(e hookwire.Event, try int) error

	mu    sync.Mutex
	tries map[string]int
	taken []string
	news  chan struct{} // one for each event taken
}

func newSink(refuse func(hookwire.Event, int) error) *sink {
	return &sink{refuse: refuse, tries: map[string]int{}, news: make(chan struct{}, 1000)}
}

func (s *sink) HookEvent(_ context.Context, e hookwire.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[e.Prompt]++
	if s.refuse != nil {
		if err := s.refuse(e, s.tries[e.Prompt]); err != nil {
			return err
		}
	}
	s.taken = append(s.taken, e.Prompt)
	s.news <- struct{}{}
	return nil
}

func (s *sink) have() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.taken...)
}

// put writes an event of a launch; the prompt names it.
func put(t *testing.T, dir, launch, prompt string, when time.Time) {
	t.Helper()
	require.NoError(t, hookwire.WriteEvent(dir, hookwire.Event{
		Version: 1, Name: hookwire.Stop, Received: when, Launch: launch, SessionID: sessionID, Prompt: prompt,
	}))
}

func newEvents(t *testing.T, s Sink) (*Events, string) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	e := NewEvents(dir, s, watchtest.Run(t, watch.New(log)), log)
	e.retries = retrySchedule{first: time.Millisecond, most: 2 * time.Millisecond, failures: 4}
	return e, dir
}

func left(t *testing.T, dir, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// running runs e until the test has ended.
func running(t *testing.T, e *Events) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
}

func TestDrain_InOrderAndGone(t *testing.T) {
	s := newSink(nil)
	e, dir := newEvents(t, s)
	now := time.Now()
	for _, i := range []int{3, 1, 2} {
		put(t, dir, "l"+strconv.Itoa(i%2), strconv.Itoa(i), now.Add(time.Duration(i)))
	}
	require.NoError(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"1", "2", "3"}, s.have())
	assert.Empty(t, left(t, dir, "events"))
	require.NoError(t, e.Drain(t.Context()))
	assert.Len(t, s.have(), 3)
}

func TestDrain_NoFolder(t *testing.T) {
	e, dir := newEvents(t, newSink(nil))
	require.NoError(t, e.Drain(t.Context()))
	assert.Empty(t, left(t, dir, "."))
}

func TestDrain_RefusedHoldsItsLaunchOnly(t *testing.T) {
	s := newSink(func(e hookwire.Event, try int) error {
		if e.Prompt == "a1" && try == 1 {
			return errRefused
		}
		return nil
	})
	e, dir := newEvents(t, s)
	now := time.Now()
	for i, prompt := range []string{"a1", "a2", "b1", "a3", "b2"} {
		put(t, dir, prompt[:1], prompt, now.Add(time.Duration(i)))
	}
	require.ErrorIs(t, e.Drain(t.Context()), errRefused)
	assert.Equal(t, []string{"b1", "b2"}, s.have())
	assert.Len(t, left(t, dir, "events"), 3)
	require.NoError(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"b1", "b2", "a1", "a2", "a3"}, s.have())
	assert.Empty(t, left(t, dir, "events"))
}

func TestP8_RefusedEventSurvivesARestart(t *testing.T) {
	e, dir := newEvents(t, newSink(func(hookwire.Event, int) error { return errRefused }))
	put(t, dir, "a", "a1", time.Now())
	require.Error(t, e.Drain(t.Context()))

	again := newSink(nil)
	require.NoError(t, NewEvents(dir, again, nil, slog.New(slog.DiscardHandler)).Drain(t.Context()))
	assert.Equal(t, []string{"a1"}, again.have())
}

func TestDrain_BotStopIsNotFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newSink(func(hookwire.Event, int) error { cancel(); return context.Canceled })
	e, dir := newEvents(t, s)
	e.retries.failures = 1
	put(t, dir, "a", "a1", time.Now())
	require.ErrorIs(t, e.Drain(ctx), context.Canceled)
	assert.Len(t, left(t, dir, "events"), 1)
	assert.Empty(t, left(t, dir, "quarantine"))
}

func TestRun_Delivers(t *testing.T) {
	s := newSink(nil)
	e, dir := newEvents(t, s)
	now := time.Now()
	put(t, dir, "a", "before", now)
	running(t, e)
	<-s.news
	put(t, dir, "a", "after", now.Add(1))
	<-s.news
	assert.Equal(t, []string{"before", "after"}, s.have())
}

func TestRun_RetriesWithoutNews(t *testing.T) {
	s := newSink(func(_ hookwire.Event, try int) error {
		if try < 4 {
			return errRefused
		}
		return nil
	})
	e, dir := newEvents(t, s)
	put(t, dir, "a", "a1", time.Now())
	running(t, e)
	<-s.news
	assert.Equal(t, []string{"a1"}, s.have())
	assert.Empty(t, left(t, dir, "quarantine"))
}

func TestRun_PoisonousEventGoesAside(t *testing.T) {
	tests := []struct {
		name   string
		poison func(hookwire.Event, int) error
		reason string
	}{
		{"error", func(hookwire.Event, int) error { return errRefused }, "refused"},
		{"panic", func(hookwire.Event, int) error { panic("boom") }, "panic: boom"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSink(func(e hookwire.Event, try int) error {
				if e.Prompt == "poison" {
					return tt.poison(e, try)
				}
				return nil
			})
			e, dir := newEvents(t, s)
			now := time.Now()
			put(t, dir, "a", "poison", now)
			put(t, dir, "a", "later", now.Add(1))
			running(t, e)
			<-s.news // the later one of the same launch
			assert.Equal(t, []string{"later"}, s.have())
			s.mu.Lock()
			assert.Equal(t, 4, s.tries["poison"])
			s.mu.Unlock()
			aside := left(t, dir, "quarantine")
			require.Len(t, aside, 2)
			reason, err := os.ReadFile(filepath.Join(dir, "quarantine", aside[1]))
			require.NoError(t, err)
			assert.Contains(t, string(reason), tt.reason)
		})
	}
}

func TestDrain_UnreadableGoesAsideAtOnce(t *testing.T) {
	s := newSink(nil)
	e, dir := newEvents(t, s)
	put(t, dir, "a", "good", time.Now())
	events := filepath.Join(dir, "events")
	require.NoError(t, os.WriteFile(filepath.Join(events, "0-broken.json"), []byte(`{"version":`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(events, "1-huge.json"), []byte(strings.Repeat(" ", hookwire.MaxEvent+1)), 0o600))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(events, "2-link.json")))
	require.NoError(t, os.WriteFile(filepath.Join(events, ".writing"), nil, 0o600))
	require.NoError(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"good"}, s.have())
	assert.Equal(t, []string{".writing"}, left(t, dir, "events"))
	assert.Equal(t, []string{
		"events-0-broken.json", "events-0-broken.json.reason", "events-1-huge.json", "events-1-huge.json.reason",
		"events-2-link.json", "events-2-link.json.reason",
	}, left(t, dir, "quarantine"))
}

func TestDrain_UnmovableFileDelaysNoOther(t *testing.T) {
	s := newSink(nil)
	e, dir := newEvents(t, s)
	put(t, dir, "a", "good", time.Now())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "events", "0-broken.json"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "quarantine"), nil, 0o600)) // not a folder
	require.Error(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"good"}, s.have())
	assert.Equal(t, []string{"0-broken.json"}, left(t, dir, "events"))
}

func TestDrain_DropsAndCountsOldEvents(t *testing.T) {
	s := newSink(nil)
	e, dir := newEvents(t, s)
	var said strings.Builder
	e.log = slog.New(slog.NewTextHandler(&said, nil))
	now := time.Now()
	put(t, dir, "a", "old", now.Add(-keepEvents-time.Minute))
	put(t, dir, "a", "older", now.Add(-2*keepEvents))
	put(t, dir, "a", "young", now.Add(-keepEvents+time.Hour))
	stale, fresh := filepath.Join(dir, "events", ".stale"), filepath.Join(dir, "events", ".fresh")
	for _, path := range []string{stale, fresh} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	require.NoError(t, os.Chtimes(stale, now, now.Add(-2*keepTemporary)))
	require.NoError(t, e.Drain(t.Context()))
	assert.Equal(t, []string{"young"}, s.have())
	assert.Contains(t, said.String(), "hook_events_dropped count=2 ", "a half-written one is no event")
	assert.Equal(t, []string{".fresh"}, left(t, dir, "events"))
}

func TestRefusedEventIsRetriedLater(t *testing.T) {
	e := NewEvents(t.TempDir(), nil, nil, nil)
	now := time.Now()
	e.now = func() time.Time { return now }
	for cause, want := range map[error][]time.Duration{
		errRefused:     {1, 2, 4, 8, 16, 32, 60, 60},
		syscall.EMFILE: {1, 2, 4, 5, 5, 5, 5, 5},
	} {
		e.failing = map[string]*failing{}
		var got []time.Duration
		for range want {
			e.postponeLocked("a", "of a launch", cause)
			got = append(got, e.failing["a"].due.Sub(now)/time.Second)
		}
		assert.Equal(t, want, got)
	}
}

func TestBindings(t *testing.T) {
	dir := t.TempDir()
	bindings, errs := Bindings(dir)
	assert.Empty(t, bindings)
	assert.Empty(t, errs)

	want := hookwire.Binding{Version: 1, Boot: "ab", PID: 5, Start: 7, SessionID: sessionID}
	_, err := hookwire.WriteBinding(dir, want)
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(dir, "bindings", want.Name()))
	require.NoError(t, err)
	// of another process
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bindings", "ab-6-7.json"), data, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bindings", "broken.json"), []byte("{"), 0o600))
	bindings, errs = Bindings(dir)
	assert.Equal(t, []hookwire.Binding{want}, bindings)
	require.Len(t, errs, 2)
	for _, err := range errs {
		assert.ErrorIs(t, err, hookwire.ErrMalformed)
	}
}
