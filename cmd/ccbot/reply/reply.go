package reply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/agent"
	"ccbot/agent/witness"
	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/internal/watch"
	"ccbot/lifecycle/outcome"
	"ccbot/port/talk"
)

// Waiter waits on one machine.
type Waiter struct {
	Dir    string // ccbot's own
	Agents agent.Agents
	Watch  *watch.Watcher
	// Ended waits for the end of an agent. If nil, a bot manages the agents, and their records have
	// their state.
	Ended func(ctx context.Context, agent process.Identity) error
}

// Wait returns the text with which an agent ends its turn about a prompt, as the agent wrote it.
// The error is a sentence for a person if the turn has ended without a text, or if a person has to
// act first.
func (w Waiter) Wait(ctx context.Context, id uuid.UUID, key string) (text string, err error) {
	err = w.until(ctx, id, key, func(now seen) (over bool, err error) {
		text, over, err = now.outcome()
		return over, err
	})
	return text, err
}

// Typed waits until an agent has a prompt. The error is a sentence for a person if that time is
// unknown.
func (w Waiter) Typed(ctx context.Context, id uuid.UUID, key string) error {
	return w.until(ctx, id, key, seen.typed)
}

func (w Waiter) until(ctx context.Context, id uuid.UUID, key string, isOver func(seen) (bool, error)) (err error) {
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	l := looking{Waiter: w, id: id, key: key, changed: make(chan struct{}, 1)}
	l.follow(ctx, g, filepath.Join(w.Dir, "inbox"), key+".json", key+".done")
	l.follow(ctx, g, filepath.Join(w.Dir, "prompts"), prompts.Files(key)...)
	l.follow(ctx, g, filepath.Join(w.Dir, "sessions"), id.String()+".json")
	over := false
	for err == nil && !over {
		select {
		case <-ctx.Done():
			err = ctx.Err()
			continue
		case <-l.changed:
		}
		var now seen
		if now, err = l.readState(ctx, g); err == nil {
			over, err = isOver(now)
		}
	}
	stop()
	_ = g.Wait() // the watches end with the context
	return err
}

// looking is one wait.
type looking struct {
	Waiter
	id      uuid.UUID
	key     string
	changed chan struct{}
	answer  func() (talk.Reply, error) // nil: the prompt is not typed, or its transcript is not there yet
	agent   process.Identity           // whose end and whose presence file are followed
	// since when the agent is seen to do nothing after the prompt was finished; zero: it works
	idle time.Time
	gone atomic.Bool // the agent has ended, by Ended
}

// follow wakes the wait when one of some files of a folder changes.
func (l *looking) follow(ctx context.Context, g *errgroup.Group, dir string, names ...string) {
	folder := l.Watch.Watch(dir, func(name string, _ bool) bool { return slices.Contains(names, name) })
	g.Go(func() error {
		defer folder.Close()
		for {
			if _, err := folder.Wait(ctx); err != nil {
				return nil // the waiter's context has ended as well
			}
			pause.Poke(l.changed)
		}
	})
}

// readState reads the record and the agent's state first: the transcript of an ended session is
// then complete.
func (l *looking) readState(ctx context.Context, g *errgroup.Group) (now seen, err error) {
	if now.record, err = l.record(); err != nil {
		return now, err
	}
	if now.entry, now.finished, err = l.entry(); err != nil {
		return now, err
	}
	l.readAgent(ctx, g, &now)
	if l.answer == nil {
		var path string
		if l.answer, path = now.prompt().Answer(l.Agents.Of(now.record.AgentName), now.record); l.answer != nil {
			l.follow(ctx, g, filepath.Dir(path), filepath.Base(path))
		}
	}
	if l.answer != nil {
		if now.answer, err = l.answer(); err != nil {
			return now, fmt.Errorf("read the answer: %w", err)
		}
	}
	return now, nil
}

// readAgent reads the agent's presence file. Without a bot the record's phase is stale, and only
// the agent itself reports an open dialog.
func (l *looking) readAgent(ctx context.Context, g *errgroup.Group, now *seen) {
	if l.Ended != nil {
		now.record.Phase, now.record.PhaseWhat = "", ""
	}
	if now.record.Binding == nil {
		return
	}
	by := l.Agents.Of(now.record.AgentName)
	if agent := now.record.Binding.Agent; agent != l.agent {
		l.agent = agent
		if by.Presences != nil {
			g.Go(func() error {
				_ = by.Presences.Watch(ctx, l.Watch, slog.New(slog.DiscardHandler), func(pid int) {
					if pid == agent.PID {
						pause.Poke(l.changed)
					}
				})
				return nil // the waiter's context has ended as well
			})
		}
		if l.Ended != nil {
			l.gone.Store(false)
			g.Go(func() error {
				if l.Ended(ctx, agent) == nil {
					l.gone.Store(true)
					pause.Poke(l.changed)
				}
				return nil
			})
		}
	}
	now.gone = l.gone.Load()
	f, err := by.Presence(ctx, l.agent.PID)
	if err != nil || f.ProcStart != l.agent.Start {
		l.idle = time.Time{}
		return // it is not known what the agent does
	}
	if l.Ended != nil && f.Status == witness.Waiting {
		now.asks, now.record.PhaseWhat = true, f.WaitingFor
	}
	if f.Status != witness.Idle || !now.finished {
		l.idle = time.Time{}
		return
	}
	if l.idle.IsZero() {
		l.idle = time.Now()
	}
	now.idle = time.Since(l.idle)
	for _, bound := range []time.Duration{outcome.Settled, outcome.Silence} {
		if now.idle < bound {
			time.AfterFunc(bound-now.idle, func() { pause.Poke(l.changed) })
			return
		}
	}
}

func (l *looking) record() (r session.Record, err error) {
	err = l.read("sessions", l.id.String()+".json", &r)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the session has been forgotten")
	}
	return r, err
}

// entry is the prompt, and whether the inbox has finished it: it was delivered then, or taken back.
func (l *looking) entry() (e inbox.Entry, finished bool, err error) {
	err = l.read("inbox", l.key+".json", &e)
	if errors.Is(err, fs.ErrNotExist) {
		finished = true
		err = l.read("inbox", l.key+".done", &e)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the prompt is no longer known")
	}
	if p, known := prompts.Look(filepath.Join(l.Dir, "prompts"), l.key, prompts.Number(e.Number)); known && err == nil {
		e.Typing, e.Reported = p.Mark, p.Waits
		if !finished && e.State == inbox.Held {
			e.State = inbox.State(p.State)
		}
	}
	return e, finished, err
}

func (l *looking) read(folder, name string, into any) error {
	data, err := spool.Folder{Path: filepath.Join(l.Dir, folder)}.Read(name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	return err
}

// seen is the state that one read has found.
type seen struct {
	record   session.Record
	entry    inbox.Entry
	finished bool // the inbox has no more to do for the prompt
	answer   talk.Reply
	// How the agent is, by the kernel and by its presence file. All zero: it works, or nothing is
	// known.
	gone bool          // it has ended; no bot updates the record
	asks bool          // a dialog is open; no bot updates the record
	idle time.Duration // idle time since the prompt was finished
}

// typed decides whether the agent has the prompt. It is pure.
func (s seen) typed() (over bool, err error) {
	if s.finished && s.entry.Typing != nil {
		return true, nil
	}
	if _, over, err = s.outcome(); err == nil && len(s.entry.Reported) > 0 {
		return true, fmt.Errorf("%s does not take the prompt now; the prompt stays in the queue, and is sent once ccbot runs", s.record.Name)
	}
	return over, err
}

func (s seen) prompt() outcome.Prompt { return PromptOf(s.entry, s.finished) }

// PromptOf is a prompt of the inbox as the outcome of its turn needs it. finished reports that the
// inbox has no more to do for it.
func PromptOf(e inbox.Entry, finished bool) outcome.Prompt {
	return outcome.Prompt{Text: e.Text, Class: e.Class, Mark: e.Typing, Finished: finished,
		Unproven: e.State == inbox.Unproven, Undecided: e.State == inbox.Asked}
}

// outcome decides whether a wait has ended, and what a person reads then. It is pure.
func (s seen) outcome() (text string, over bool, err error) {
	name := s.record.Name
	o := outcome.Seen{State: s.record.State, Phase: talk.Phase(s.record.Phase), Prompt: s.prompt(), Answer: s.answer,
		Gone: s.gone, Asks: s.asks, Idle: s.idle}.Outcome()
	switch o.Kind {
	case outcome.Open:
		return "", false, nil
	case outcome.Answered:
		return o.Text, true, nil
	case outcome.Textless:
		err = fmt.Errorf("%s has ended the turn without a text", name)
	case outcome.Stopped:
		err = fmt.Errorf("the turn of %s was stopped", name)
	case outcome.Failed:
		err = fmt.Errorf("the turn of %s has failed: %s", name, o.Failure.Text)
	case outcome.Withdrawn:
		err = errors.New("the prompt was taken out of the queue")
	case outcome.Unproven:
		err = fmt.Errorf("it is not proven that %s has got the prompt: the chat asks what to do", name)
	case outcome.Undecided:
		err = errors.New("the prompt waits for an answer in the chat")
	case outcome.SessionEnded:
		err = fmt.Errorf("%s has ended (%s) without an answer", name, s.record.State)
	case outcome.AgentEnded:
		err = fmt.Errorf("the agent of %s has ended, and has not answered", name)
	case outcome.Asks:
		err = fmt.Errorf("%s asks for something%s: answer in the chat, or at its window, `ccbot attach %s`",
			name, terminal.Words(" (", s.record.PhaseWhat, ")"), terminal.ShellWord(name))
	case outcome.CommandDone:
		err = fmt.Errorf("%s has done %s, which prints nothing", name, s.entry.Text)
	case outcome.IdleAgain:
		err = fmt.Errorf("%s is idle again, and the end of its answer was not seen: look at its window, `ccbot attach %s`", name, terminal.ShellWord(name))
	}
	return "", true, err
}
