package chattest

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// BashWorld is a world in which a session runs a command of bash mode.
type BashWorld struct {
	*World
	t    *testing.T
	R    session.Record
	Stop func()

	Mu     sync.Mutex
	Screen port.Output // the terminal's content

	looks int // number of checks
}

// InShell runs a test with a session whose transcript begins with these lines.
func InShell(t *testing.T, test func(t *testing.T, s *BashWorld), lines ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &BashWorld{World: NewWorld(t), t: t}
		s.R = s.NewCurrentSession(t, "api", session.Running, TranscriptOf(t, "t.jsonl", lines...))
		s.Records.Change(s.R.ID, func(r *session.Record) { r.Cursors = nil }) // until it ends: a follower needs real time
		s.Lifecycle.OnOutput = func() port.Output {
			s.Mu.Lock()
			defer s.Mu.Unlock()
			s.looks++
			return s.Screen
		}
		s.Follow()
		test(t, s)
		s.Stop()
	})
}

// Follow follows commands until stop.
func (s *BashWorld) Follow() {
	stop := s.Running(s.t)
	s.Stop = func() { assert.NoError(s.t, stop()) }
}

// Types lets the agent have a command of bash mode.
func (s *BashWorld) Types(command string) {
	s.t.Helper()
	e := s.Prompt(s.t, s.R, command, inbox.Typing)
	size := int64(0)
	if info, err := os.Stat(s.R.Cursors[0].Path); err == nil {
		size = info.Size()
	}
	require.NoError(s.t, s.SessionNews(s.t.Context(), s.R, news.Delivered{Prompt: talk.Prompt{Key: e.Key, Text: command, Class: talk.ClassBash,
		Mark: &talk.Mark{At: Started, Path: s.R.Cursors[0].Path, Offset: size}}}))
}

func (s *BashWorld) Shows(now port.Output) {
	s.Mu.Lock()
	s.Screen = now
	s.Mu.Unlock()
	time.Sleep(LookPace)
	s.Sends()
}

// Sends lets the messages go that wait for their turn in the chat.
func (s *BashWorld) Sends() {
	synctest.Wait()
	go s.Telegram.Deliver(s.t.Context())
	synctest.Wait()
}

// As package shell has them.
const (
	firstLook    = time.Second
	LookPace     = 2 * time.Second
	QuietLooks   = 15
	IdleLooks    = 4
	CardGrace    = 2 * time.Second
	ShownCommand = 120
)

// Prints returns the transcript's lines of an ended command.
func Prints(command, out string) string {
	return PromptLine("<bash-input>"+command+"</bash-input>") + PromptLine("<bash-stdout>"+out+"</bash-stdout><bash-stderr></bash-stderr>")
}

func (s *BashWorld) Ends(lines ...string) {
	s.t.Helper()
	Grow(s.t, s.R.Cursors[0], lines...)
	s.Records.Change(s.R.ID, func(r *session.Record) {
		if r.State = session.Completed; len(r.Cursors) == 0 {
			r.Cursors = s.R.Cursors
		}
	})
	s.NewTranscript(s.t, s.Record(s.t, s.R.ID))
	<-s.ReaderOf(s.R)
}

// Forgotten requires that no command is followed.
func (s *BashWorld) Forgotten() {
	s.t.Helper()
	before := s.Looked()
	time.Sleep(time.Hour)
	synctest.Wait()
	assert.Equal(s.t, before, s.Looked(), "nobody looks at its terminal")
}

func (s *BashWorld) Rows(rows ...string) port.Output {
	return port.Output{Runs: true, Lines: rows}
}

// DamsCards lets no card into the chat, as during a retry_after.
func (s *BashWorld) DamsCards(why error) {
	s.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
		if !strings.HasPrefix(m.Text.Text, "$ ") { // not a card, in any of its forms
			return nil
		}
		return why
	}
}

// SlowCards lets cards take a while.
func (s *BashWorld) SlowCards(d time.Duration) {
	s.Telegram.OnSend = func(ctx context.Context, m outbox.Message) error {
		if m.Name != "" {
			time.Sleep(d)
		}
		return nil
	}
}

func (s *BashWorld) Looked() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.looks
}

func (f *fakeSessions) Usage(session.Record) *port.Usage {
	f.wait()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.OnLook.Usage
}

func (f *fakeSessions) PIDs(context.Context, session.Record) []int {
	f.wait()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Processes
}
