package running

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"ccbot/bot/inbox"
	"ccbot/internal/disk"
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
	text    map[string]string // by the last edit that was answered; none if the answer failed
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
	s.p, err = connected(in, s.dir)
	s.must(err)
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
		s.types(q)
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

// edits is a person's edit of a prompt that waits: the engine's, then the chat's.
func (s *stores) edits(key string) {
	q, err := s.p.Prompt(key)
	if err != nil || q.State != typing.Held {
		return
	}
	q.Text += "!"
	n, err := s.p.inbox.NextNumber()
	if err != nil {
		return
	}
	delete(s.text, key)
	if s.p.held.Reword(key, n, q.Text, q.Class) != nil {
		return
	}
	if s.p.inbox.Change(key, func(e *inbox.Entry) error { e.Text = q.Text; return nil }) == nil {
		s.text[key] = q.Text
	}
}

// takesBack is the end of a prompt that waits, by the one who has sent it.
func (s *stores) takesBack(key string) {
	q, err := s.p.Prompt(key)
	if err != nil || q.State != typing.Held {
		return
	}
	s.dropped[key] = true // a kill may come after the outcome
	if n, err := s.p.inbox.NextNumber(); err == nil {
		_ = s.p.held.Withdraw(key, n)
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
		_ = hold(s.p, key, s.session())
		return
	}
	s.dropped[key] = true
	_ = s.p.inbox.FinishIn(key, inbox.Asked)
}

func (s *stores) step() {
	what := rapid.SampledFrom([]string{"message", "step", "step", "step", "ask", "decide", "decide", "reopen", "offer", "edit", "edit", "take back", "refused", "late", "start"}).Draw(s.rt, "what")
	if what == "message" || len(s.keys) == 0 {
		key := inbox.UpdateKey(int64(len(s.keys) + 1))
		e := inbox.Entry{Key: key, Received: cameIn, Conversation: session.Conversation{ChatID: 7}, Text: "fix it", Class: talk.ClassPlain}
		_, err := s.p.inbox.Add(e)
		s.must(err)
		s.keys, s.allowed[key] = append(s.keys, key), 1
		s.faulty(func() { _ = hold(s.p, key, s.session()) })
		return
	}
	key := rapid.SampledFrom(s.keys).Draw(s.rt, "key")
	switch what {
	case "step":
		s.faulty(func() { s.next(key, false) })
	case "ask":
		s.faulty(func() {
			_ = s.p.inbox.Change(key, func(e *inbox.Entry) error {
				if !e.State.IsOffered() {
					return inbox.ErrUnchanged
				}
				e.State, e.Typing = inbox.Asked, nil
				return nil
			})
		})
	case "decide":
		s.faulty(func() { s.decides(key) })
	case "edit":
		s.faulty(func() { s.edits(key) })
	case "take back":
		s.faulty(func() { s.takesBack(key) })
	case "reopen": // after the agent has put the text back into its box
		if _, err := s.p.inbox.Load(key); errors.Is(err, inbox.ErrNoEntry) && !s.dropped[key] {
			s.faulty(func() { _, _ = s.p.inbox.Reopen(key, inbox.Asked) })
		}
	case "offer": // to any session, while one may have it
		if e, err := s.p.inbox.Load(key); err == nil && e.State.IsOffered() {
			s.faulty(func() { _ = hold(s.p, key, s.session()) })
		}
	case "refused", "late": // by a session that has just ended; after the chat has taken the prompt back
		if e, err := s.p.inbox.Load(key); err == nil && (e.State == inbox.Accepted || e.State == inbox.Asked) {
			if e.State == inbox.Asked {
				s.allowed[key] = s.typed[key] + 1
			}
			if what == "late" {
				s.late(key)
				return
			}
			s.faulty(func() {
				no := refusing{queue{s.p, new(typing.Prompt), rapid.Bool().Draw(s.rt, "not held")}}
				_ = s.p.offers(no).Queue(context.Background(), s.session(), key)
			})
		}
	case "start":
		s.start()
	}
}

// late offers a prompt that the chat takes back before the engine has answered.
func (s *stores) late(key string) {
	p := s.p
	defer func() {
		if s.p != p { // killed
			_ = recover()
		}
	}()
	_ = p.offers(slow{s, p, queue{p, new(typing.Prompt), false}}).Queue(context.Background(), s.session(), key)
}

// slow is an engine that types a prompt a while after it was offered.
type slow struct {
	*stores
	p *prompts
	queue
}

func (s slow) Queue(_ context.Context, session uuid.UUID, o talk.Offer) error {
	q, err := s.p.Accept(o, session)
	if err != nil {
		return err
	}
	s.during(func() {
		_ = s.p.inbox.Change(o.Key, func(e *inbox.Entry) error { e.State = inbox.Asked; return nil })
	})
	if rapid.Bool().Draw(s.rt, "a step comes first") {
		s.during(func() { _, _ = s.p.Prompt(o.Key) })
	}
	s.during(func() {
		q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
		if err = s.p.SavePrompt(q); err == nil {
			s.types(q)
		}
	})
	return err
}

func (s slow) Keep(ctx context.Context, session uuid.UUID, o talk.Offer) error {
	return s.Queue(ctx, session, o)
}

// during is faulty for a part of a step: a kill ends all of it.
func (s slow) during(step func()) {
	if s.faulty(step); s.stores.p != s.p {
		panic(errKilled)
	}
}

// types has the agent get a prompt.
func (s *stores) types(q typing.Prompt) {
	if text := s.text[q.Key]; q.Text == "" || text != "" && text != q.Text {
		s.rt.Fatalf("prompt %s is typed as %q, and is edited as %q", q.Key, q.Text, text)
	}
	if s.typed[q.Key]++; s.typed[q.Key] > s.allowed[q.Key] {
		s.rt.Fatalf("prompt %s is typed %d times", q.Key, s.typed[q.Key])
	}
}

// check wants each prompt typed, dropped, or asked about, when there are no more faults.
func (s *stores) check() {
	if rapid.Bool().Draw(s.rt, "start at the end") {
		s.start()
	}
	s.must(s.p.held.Repeat())
	for _, key := range s.keys {
		if e, err := s.p.inbox.Load(key); err == nil && e.State == inbox.Accepted { // it is handed on again
			if err := hold(s.p, key, twoSessions[0]); !errors.Is(err, typing.ErrNoPrompt) { // it may be typed
				s.must(err)
			}
		}
		for range 3 {
			s.next(key, true)
		}
		s.must(s.p.held.Repeat())
		e, err := s.p.inbox.Load(key)
		switch {
		case errors.Is(err, inbox.ErrNoEntry):
			if s.typed[key] == 0 && !s.dropped[key] {
				s.rt.Fatalf("prompt %s is lost", key)
			}
			if _, err := s.p.held.Files.Prompt(key); err == nil {
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
		s := &stores{rt: rt, dir: dir, typed: map[string]int{}, allowed: map[string]int{}, dropped: map[string]bool{}, text: map[string]string{}}
		s.start()
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s.step()
		}
		s.check()
	})
}
