package reply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/inbox"
	"ccbot/bot/port/phase"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/internal/transcript"
	"ccbot/internal/watch"
)

// Waiter waits on one machine.
type Waiter struct {
	Dir      string // ccbot's own
	Projects string // Claude Code's folder of transcripts
	Watch    *watch.Room
}

// Wait gives the text with which an agent ends its turn about a prompt, as the agent wrote it. The error is a
// sentence for a person where the turn has ended without one, or where a person has to do something first.
func (w Waiter) Wait(ctx context.Context, id uuid.UUID, key string) (text string, err error) {
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	l := looking{Waiter: w, id: id, key: key, changed: make(chan struct{}, 1)}
	l.follow(ctx, g, filepath.Join(w.Dir, "inbox"), key+".json", key+".done")
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
		if now, err = l.look(ctx, g); err == nil {
			text, over, err = now.outcome()
		}
	}
	stop()
	_ = g.Wait() // the watches end with the context
	if l.answer != nil {
		_ = l.answer.Close() // it was only read
	}
	return text, err
}

// looking is one wait.
type looking struct {
	Waiter
	id      uuid.UUID
	key     string
	changed chan struct{}
	answer  *transcript.Reply // nil: the prompt is not typed, or its transcript is not there yet
}

// follow has a look taken when one of some files of a folder changes.
func (l *looking) follow(ctx context.Context, g *errgroup.Group, dir string, names ...string) {
	folder := l.Watch.Watch(dir, func(name string, _ bool) bool { return slices.Contains(names, name) })
	g.Go(func() error {
		defer folder.Close()
		for {
			if _, err := folder.Wait(ctx); err != nil {
				return nil // whoever waits is told by the context
			}
			pause.Poke(l.changed)
		}
	})
}

// look reads the record first: what the transcript has of a session that is over is all of it.
func (l *looking) look(ctx context.Context, g *errgroup.Group) (now seen, err error) {
	if now.record, err = l.record(); err != nil {
		return now, err
	}
	if now.entry, now.finished, err = l.entry(); err != nil {
		return now, err
	}
	if mark := now.entry.Typing; l.answer == nil && mark != nil && now.finished {
		path := cmp.Or(mark.Path, l.transcriptOf(now.record, mark.Claude))
		if path != "" {
			l.answer = transcript.ReplyTo(path, mark.Offset, mark.At, now.entry.Text)
			l.follow(ctx, g, filepath.Dir(path), filepath.Base(path))
		}
	}
	if l.answer != nil {
		if err := l.answer.Read(); err != nil {
			return now, fmt.Errorf("read the answer: %w", err)
		}
		now.answer = *l.answer
	}
	return now, nil
}

// transcriptOf is the transcript of a conversation that had none when the prompt was typed; empty: it is not there.
func (l *looking) transcriptOf(r session.Record, claude uuid.UUID) string {
	for _, c := range slices.Backward(r.Cursors) {
		if claude == uuid.Nil || filepath.Base(c.Path) == claude.String()+".jsonl" {
			return c.Path
		}
	}
	path, _ := transcript.Find(l.Projects, cmp.Or(claude, r.ClaudeSessionID)) // else the record will say
	return path
}

func (l *looking) record() (r session.Record, err error) {
	data, err := spool.Folder{Path: filepath.Join(l.Dir, "sessions")}.Read(l.id.String() + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return r, errors.New("the session is forgotten by now")
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// entry is the prompt, and whether the inbox has finished it: it was delivered then, or taken back.
func (l *looking) entry() (e inbox.Entry, finished bool, err error) {
	folder := spool.Folder{Path: filepath.Join(l.Dir, "inbox")}
	data, err := folder.Read(l.key + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		finished = true
		data, err = folder.Read(l.key + ".done")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return e, true, errors.New("nothing is known of the prompt any more")
	}
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	return e, finished, err
}

// seen is what one look has shown.
type seen struct {
	record   session.Record
	entry    inbox.Entry
	finished bool // the inbox has no more to do for the prompt
	answer   transcript.Reply
}

// outcome decides whether a wait is over. It is pure.
func (s seen) outcome() (text string, over bool, err error) {
	name := s.record.Name
	switch {
	case s.answer.Over == transcript.EndedTurn && len(s.answer.Texts) > 0:
		return strings.Join(s.answer.Texts, "\n\n"), true, nil
	case s.answer.Over == transcript.EndedTurn:
		return "", true, fmt.Errorf("%s has ended the turn without a text", name)
	case s.answer.Over == transcript.StoppedTurn:
		return "", true, fmt.Errorf("the turn of %s was stopped", name)
	case s.answer.Over == transcript.FailedTurn:
		return "", true, fmt.Errorf("the turn of %s has failed: %s", name, s.answer.Failure)
	case s.finished && s.entry.Typing == nil:
		return "", true, errors.New("the prompt was taken out of the queue")
	case !s.finished && s.entry.State == inbox.Unproven:
		return "", true, fmt.Errorf("it is not proven that %s has got the prompt: the chat asks what to do", name)
	case !s.finished && s.entry.State == inbox.Asked:
		return "", true, errors.New("the prompt waits for an answer in the chat")
	case !s.record.State.Live():
		return "", true, fmt.Errorf("%s is over (%s), and has not answered", name, s.record.State)
	case phase.Phase(s.record.Phase).Waiting():
		return "", true, fmt.Errorf("%s asks for something%s: answer in the chat, or at its window, `ccbot attach %s`", name, with(s.record.PhaseWhat), name)
	}
	return "", false, nil
}

func with(tool string) string {
	if tool == "" {
		return ""
	}
	return " (" + tool + ")"
}
