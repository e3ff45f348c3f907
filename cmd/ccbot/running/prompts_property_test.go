package running

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"ccbot/bot/inbox"
	"ccbot/internal/disk"
	engine "ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/port/talk"
)

// stores are the chat's and the engine's store of prompts, with an agent, and faults and kills at
// any call on a file.
type stores struct {
	rt      *rapid.T
	dir     string
	p       *prompts
	keys    []string
	typed   map[string]int // how often the agent was typed a prompt
	allowed map[string]int // how often it may be
	dropped map[string]bool
}

var twoSessions = []uuid.UUID{uuid.MustParse("0198f5a1-0000-7000-8000-000000000001"), uuid.MustParse("0198f5a1-0000-7000-8000-000000000002")}

func (s *stores) must(err error) {
	if err != nil {
		s.rt.Fatalf("%v", err)
	}
}

// start opens both stores, as a start does.
func (s *stores) start() {
	in, err := inbox.OpenStore(filepath.Join(s.dir, "inbox"), slog.New(slog.DiscardHandler))
	s.must(err)
	store, err := engine.Open(filepath.Join(s.dir, "prompts"), slog.New(slog.DiscardHandler))
	s.must(err)
	s.p = newPrompts(in, store, slog.New(slog.DiscardHandler))
	s.must(s.p.agree())
}

// faulty runs a step, in which a call on a file may fail, or the program may be killed at one.
func (s *stores) faulty(step func()) {
	at, kills := rapid.IntRange(0, 25).Draw(s.rt, "fault at call"), rapid.Bool().Draw(s.rt, "kills")
	long := rapid.Bool().Draw(s.rt, "for the whole step")
	calls := 0
	end := disk.Fail(func(string, string) error {
		switch calls++; {
		case at == 0 || calls < at || calls > at && !long:
			return nil
		case kills:
			panic(errKilled)
		}
		return syscall.EMFILE
	})
	defer func() {
		end()
		if r := recover(); r != nil {
			if err, is := r.(error); !is || !errors.Is(err, errKilled) {
				panic(r)
			}
			s.start()
		}
	}()
	step()
}

func (s *stores) session() uuid.UUID { return rapid.SampledFrom(twoSessions).Draw(s.rt, "session") }

// next is the next step of a session with a prompt in its queue.
func (s *stores) next(key string, reads bool) {
	q, err := s.p.Prompt(key)
	if err != nil {
		if reads && !errors.Is(err, typing.ErrNoPrompt) {
			s.rt.Fatalf("prompt %s: %v", key, err)
		}
		return
	}
	switch q.State {
	case typing.Held:
		q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
		if s.p.SavePrompt(q) != nil {
			return
		}
		if s.typed[key]++; s.typed[key] > s.allowed[key] {
			s.rt.Fatalf("prompt %s is typed %d times", key, s.typed[key])
		}
		if reads || rapid.Bool().Draw(s.rt, "proven at once") {
			_ = s.p.FinishPrompt(key)
		}
	case typing.Typing:
		if s.typed[key] > 0 && (reads || rapid.Bool().Draw(s.rt, "proven")) {
			_ = s.p.FinishPrompt(key)
			return
		}
		q.State = typing.Unproven
		_ = s.p.SavePrompt(q)
	}
}

// decides is a person's decision about a prompt that the chat asks about.
func (s *stores) decides(key string) {
	e, err := s.p.inbox.Load(key)
	if err != nil || e.State != inbox.Asked {
		return
	}
	if rapid.Bool().Draw(s.rt, "send again") {
		s.allowed[key] = s.typed[key] + 1
		_ = s.p.HoldPrompt(key, s.session())
		return
	}
	s.dropped[key] = true
	_ = s.p.inbox.FinishIn(key, inbox.Asked)
}

func (s *stores) step() {
	what := rapid.SampledFrom([]string{"message", "step", "step", "step", "ask", "decide", "decide", "reopen", "offer", "start"}).Draw(s.rt, "what")
	if what == "message" || len(s.keys) == 0 {
		key := inbox.UpdateKey(int64(len(s.keys) + 1))
		e := inbox.Entry{Key: key, Received: cameIn, Conversation: session.Conversation{ChatID: 7}, Text: "fix it", Class: talk.ClassPlain}
		_, err := s.p.inbox.Add(e)
		s.must(err)
		s.keys, s.allowed[key] = append(s.keys, key), 1
		s.faulty(func() { _ = s.p.HoldPrompt(key, s.session()) })
		return
	}
	key := rapid.SampledFrom(s.keys).Draw(s.rt, "key")
	switch what {
	case "step":
		s.faulty(func() { s.next(key, false) })
	case "ask":
		s.faulty(func() {
			_ = s.p.inbox.Change(key, func(e *inbox.Entry) error {
				if !slices.Contains(queued, e.State) {
					return errUnchanged
				}
				e.State, e.Typing = inbox.Asked, nil
				return nil
			})
		})
	case "decide":
		s.faulty(func() { s.decides(key) })
	case "reopen": // after the agent has put the text back into its box
		if _, err := s.p.inbox.Load(key); errors.Is(err, inbox.ErrNoEntry) && !s.dropped[key] {
			s.faulty(func() { _, _ = s.p.inbox.Reopen(key, inbox.Asked) })
		}
	case "offer": // to any session, while one may have it
		if e, err := s.p.inbox.Load(key); err == nil && slices.Contains(queued, e.State) {
			s.faulty(func() { _ = s.p.HoldPrompt(key, s.session()) })
		}
	case "start":
		s.start()
	}
}

// check wants each prompt typed, dropped, or asked about, when there are no more faults.
func (s *stores) check() {
	if rapid.Bool().Draw(s.rt, "start at the end") {
		s.start()
	}
	for _, key := range s.keys {
		if e, err := s.p.inbox.Load(key); err == nil && e.State == inbox.Accepted { // it is handed on again
			s.must(s.p.HoldPrompt(key, twoSessions[0]))
		}
		for range 3 {
			s.next(key, true)
		}
		e, err := s.p.inbox.Load(key)
		switch {
		case errors.Is(err, inbox.ErrNoEntry):
			if s.typed[key] == 0 && !s.dropped[key] {
				s.rt.Fatalf("prompt %s is lost", key)
			}
			if _, err := s.p.store.Prompt(key); err == nil {
				s.rt.Fatalf("the engine still has prompt %s", key)
			}
		case err != nil:
			s.rt.Fatalf("%v", err)
		case e.State != inbox.Asked && e.State != inbox.Unproven:
			s.rt.Fatalf("prompt %s is left as %s", key, e.State)
		}
	}
}

// Whatever call on a file fails, and wherever ccbot is killed, each prompt is typed once, or a
// person is asked about it.
func TestP4_EveryPromptHasOneOwner(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s := &stores{rt: rt, dir: dir, typed: map[string]int{}, allowed: map[string]int{}, dropped: map[string]bool{}}
		s.start()
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s.step()
		}
		s.check()
	})
}
