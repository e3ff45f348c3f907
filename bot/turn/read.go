package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/port/diffs"
	"ccbot/bot/port/talk"
	"ccbot/internal/logkey"
)

// readAhead is how many items are read at once.
const readAhead = 16

// written gives what a transcript has by now from a place on, and waits for no more.
func (t *Turns) written(ctx context.Context, session uuid.UUID, from talk.Cursor) iter.Seq2[talk.Item, error] {
	now, cancel := context.WithCancel(ctx)
	cancel()
	return func(yield func(talk.Item, error) bool) {
		for {
			items, err := t.Transcripts.Next(now, session, from, readAhead)
			if len(items) == 0 {
				if err != nil && !errors.Is(err, context.Canceled) {
					yield(talk.Item{}, err)
				}
				return
			}
			for _, item := range items {
				if from = item.Next; !yield(item, nil) {
					return
				}
			}
		}
	}
}

// catchUp adds what the transcript has of a turn and nobody has told yet.
func (t *Turns) catchUp(ctx context.Context, s *state, add func(item talk.Item)) {
	r, _ := t.Chat.Book.Records.Get(s.Session)
	from := s.Behind
	if c, ok := r.Cursor(); ok && from.Path == "" { // there was none when the prompt was typed
		from = talk.Cursor{Path: c.Path}
	}
	if from.Path == "" {
		return
	}
	for item, err := range t.written(ctx, s.Session, from) {
		switch {
		case err != nil || s.End != "": // what cannot be read is not shown
			return
		case s.isNext(item):
			s.follow(r)
			return
		}
		add(item)
	}
}

// steps reads the steps of a turn that is over again. A turn that ended in another transcript than it began
// in goes on there.
func (t *Turns) steps(ctx context.Context, s *state) (all []step, err error) {
	places := []talk.Cursor{s.From}
	if s.From.Path != s.Behind.Path {
		places = append(places, talk.Cursor{Path: s.Behind.Path})
	}
	at := make(map[string]int)
	for _, place := range places {
		if place.Path == "" {
			continue
		}
		for item, err := range t.written(ctx, s.Session, place) {
			switch {
			case err != nil:
				return nil, fmt.Errorf("steps of a turn: %w", err)
			case item.At.Path == s.Behind.Path && !isBehind(item.At, s.Behind):
				return all, nil
			case s.precedes(item), item.Sidechain, item.Tool == nil, slices.Contains(listTools, item.Tool.Name):
				continue
			}
			switch i, known := at[item.Tool.ID]; {
			case item.Kind == talk.ToolUse:
				at[item.Tool.ID] = len(all)
				all = append(all, step{Line: item.Tool.Step, Began: item.Time})
			case known && item.Kind == talk.ToolResult:
				all[i].Ended, all[i].Failed = item.Time, item.Tool.Failed || item.Tool.Denied
			}
		}
	}
	return all, ctx.Err()
}

// gitPatience is how long git may take to look at a folder. Nothing else of a turn waits for it.
const gitPatience = 10 * time.Second

// ask has git look at the session's folder, and has what it says taken in behind all that was heard until
// then.
func (o *tracker) ask(look func(ctx context.Context, git diffs.Diffs) (take func(ctx context.Context), err error)) {
	t := o.turns
	if t.Diffs == nil {
		return
	}
	t.crew.Add(func(ctx context.Context) {
		asked, cancel := context.WithTimeout(ctx, gitPatience)
		defer cancel()
		take, err := look(asked, t.Diffs)
		if err != nil {
			t.Chat.Log.Debug("turn_files_unknown", logkey.SessionID, o.id.String(), logkey.Error, err.Error())
			return
		}
		o.hear(func(ctx context.Context, _ *tracker) { take(ctx) })
	})
}

// mark remembers the work tree before the first step of the turn: a moment in the middle of it would be false.
func (o *tracker) mark() {
	s := o.now
	if s.Count > 0 {
		return
	}
	o.ask(func(ctx context.Context, git diffs.Diffs) (func(context.Context), error) {
		mark, err := git.Mark(ctx, o.id)
		return func(ctx context.Context) {
			if o.now != s {
				return
			}
			if o.catchUp(ctx); s.Count == 0 {
				s.Mark = &mark
			}
		}, err
	})
}

// count says how many files the turn has changed, which is over. When the next one has come to a step
// meanwhile, they may be of that.
func (o *tracker) count() {
	s, key := o.now, o.key
	if s.Mark == nil {
		return
	}
	o.ask(func(ctx context.Context, git diffs.Diffs) (func(context.Context), error) {
		all, err := git.Changes(ctx, o.id, *s.Mark)
		return func(ctx context.Context) {
			if all.Of != *s.Mark || len(all.Files) == 0 || o.now != nil && o.now.Count > 0 {
				return
			}
			for item, err := range o.turns.written(ctx, o.id, s.Behind) {
				if err != nil || item.Kind == talk.ToolUse {
					return
				}
			}
			if err := o.turns.change(ctx, key, outbox.Card, func(s *state) { s.Files, s.Added, s.Removed = all.Sum() }); err != nil {
				o.turns.Chat.Log.Warn("turn_not_shown", logkey.SessionID, o.id.String(), logkey.Error, err.Error())
			}
		}, err
	})
}

// since is the moment with which the changes of a turn are compared.
func (s *state) since() diffs.Since {
	if s.Mark == nil {
		return diffs.SessionStart
	}
	return *s.Mark
}
