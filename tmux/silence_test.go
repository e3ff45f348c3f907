package tmux

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server is the far end of a connection, which answers when the test lets it.
type server struct {
	*connection
	markers chan string // of the calls that were sent
	out     io.Writer
	changes atomic.Int64

	mu    sync.Mutex
	heard []bool // calls of silence
}

func inSilence(t *testing.T, test func(t *testing.T, s *server)) {
	synctest.Test(t, func(t *testing.T) {
		commands, in := io.Pipe()
		out, answers := io.Pipe()
		s := &server{markers: make(chan string, 20), out: answers}
		go func() {
			for sent := bufio.NewScanner(commands); sent.Scan(); {
				if marker, ok := strings.CutPrefix(sent.Text(), "display-message -p "); ok {
					s.markers <- marker
				}
			}
		}()
		s.connection = newConnection(func() { s.changes.Add(1) }, func(is bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.heard = append(s.heard, is)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = s.write(ctx, in) }()
		go func() { _ = s.read(out) }()
		test(t, s)
		s.alarm.Stop()
		cancel()
		answers.Close()
		in.Close()
		synctest.Wait()
	})
}

func (s *server) said() []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// ask sends a call, and returns its end.
func (s *server) ask(timeout time.Duration) chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		_, err := s.do(ctx, newCall(func(string) string { return "list-panes" }))
		done <- err
	}()
	synctest.Wait()
	return done
}

func (s *server) answer(t *testing.T) {
	require.NotEmpty(t, s.markers)
	fmt.Fprintf(s.out, "%%begin 1 1 1\n%s\n%%end 1 1 1\n", <-s.markers)
	synctest.Wait()
}

func TestP6_OpenCallIsTheProbe(t *testing.T) {
	inSilence(t, func(t *testing.T, s *server) {
		done := s.ask(answerTimeout)
		assert.False(t, s.silent())
		err := <-done
		require.ErrorIs(t, err, ErrSilent)
		require.ErrorIs(t, err, ErrLost)
		assert.True(t, s.silent())
		time.Sleep(silenceNotice - answerTimeout - 1)
		synctest.Wait()
		assert.Empty(t, s.said())
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []bool{true}, s.said())
		s.answer(t)
		assert.Equal(t, []bool{true, false}, s.said())
		assert.EqualValues(t, 1, s.changes.Load())
		assert.False(t, s.silent())
	})
}

func TestSlowServerIsNotSilent(t *testing.T) {
	inSilence(t, func(t *testing.T, s *server) {
		var all []chan error
		for range 10 {
			all = append(all, s.ask(time.Minute))
		}
		for _, done := range all {
			time.Sleep(answerTimeout - 1)
			assert.False(t, s.silent())
			s.answer(t)
			require.NoError(t, <-done)
		}
		assert.NotContains(t, s.said(), true)
		assert.Zero(t, s.changes.Load())
	})
}

func TestStoppedCallerProvesNoSilence(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.NotErrorIs(t, unanswered(ctx, ErrLost), ErrSilent)
}

func TestWaitForEarlierIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, leavesAfter := 0, 3
		p := place{control: "ccbot-ctl-x", cfg: Config{Runs: func(_ context.Context, argv []string) bool {
			require.Contains(t, argv, "ccbot-ctl-x")
			asked++
			return asked <= leavesAfter
		}}}
		require.NoError(t, p.waitForEarlier(t.Context()))
		assert.Equal(t, 4, asked)
		asked, leavesAfter = 0, 1000
		require.NoError(t, p.waitForEarlier(t.Context()), "one that stays is not waited for")
		assert.Less(t, asked, 1000)
	})
}
