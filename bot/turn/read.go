package turn

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"

	"ccbot/port/talk"
)

// readAhead is the number of items read at once.
const readAhead = 16

// written returns the items that a transcript has from a place on, without waiting for more.
func (t *Turns) written(ctx context.Context, session uuid.UUID, from talk.Cursor) iter.Seq2[talk.Item, error] {
	return func(yield func(talk.Item, error) bool) {
		for {
			items, err := t.Transcripts.Next(ctx, session, from, readAhead, false)
			if len(items) == 0 {
				if err != nil {
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

// catchUp adds the items of a turn that the transcript has and no call has added.
func (t *Turns) catchUp(ctx context.Context, s *state, add func(item talk.Item)) {
	r, _ := t.Chat.Book.Records.Get(s.Session)
	from := s.ReadUpTo
	if c, ok := r.Cursor(); ok && from.Path == "" { // the transcript did not exist when the prompt was typed
		from = talk.Cursor{Path: c.Path}
	}
	if from.Path == "" {
		return
	}
	for item, err := range t.written(ctx, s.Session, from) {
		switch {
		case err != nil || s.End != "": // unreadable items are not shown
			return
		case s.isNext(item):
			s.follow(r, s.At)
			return
		}
		add(item)
	}
}

// steps reads the steps of a finished turn again. A turn that ended in another transcript than it
// began in continues there.
func (t *Turns) steps(ctx context.Context, s *state) (all []step, err error) {
	places := []talk.Cursor{s.From}
	if s.From.Path != s.ReadUpTo.Path {
		places = append(places, talk.Cursor{Path: s.ReadUpTo.Path})
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
			case item.At.Path == s.ReadUpTo.Path && !precedes(item.At, s.ReadUpTo):
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
