package turn

import (
	"context"
	"time"

	"ccbot/bot/outbox"
	"ccbot/internal/logkey"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// gitTimeout is how long git may take to look at a folder. Nothing else of a turn waits for it.
const gitTimeout = 10 * time.Second

// ask runs git in the session's folder and applies the result after all pending hints.
func (o *tracker) ask(content func(ctx context.Context, git folders.Diffs) (take func(ctx context.Context), err error)) {
	t := o.turns
	if t.Diffs == nil {
		return
	}
	t.group.Add(func(ctx context.Context) {
		asked, cancel := context.WithTimeout(ctx, gitTimeout)
		defer cancel()
		take, err := content(asked, t.Diffs)
		if err != nil {
			t.Chat.Log.Debug("turn_files_unknown", logkey.SessionID, o.id.String(), logkey.Error, err)
			return
		}
		o.notify(func(ctx context.Context, _ *tracker) { take(ctx) })
	})
}

// snapshot remembers the work tree before the first step of the turn: a moment in the middle of it
// would be false.
func (o *tracker) snapshot() {
	s := o.now
	if s.Count > 0 {
		return
	}
	o.ask(func(ctx context.Context, git folders.Diffs) (func(context.Context), error) {
		snapshot, err := git.Snapshot(ctx, o.id)
		return func(ctx context.Context) {
			if o.now != s {
				return
			}
			if o.catchUp(ctx); s.Count == 0 {
				s.Snapshot = &snapshot
			}
		}, err
	})
}

// count counts the files that a finished turn has changed. It shows none if the next turn already
// has a step, because they may be of that turn.
func (o *tracker) count() {
	s, key := o.now, o.key
	if s.Snapshot == nil {
		return
	}
	o.ask(func(ctx context.Context, git folders.Diffs) (func(context.Context), error) {
		all, err := git.Changes(ctx, o.id, *s.Snapshot)
		return func(ctx context.Context) {
			if all.Of != *s.Snapshot || len(all.Files) == 0 || o.now != nil && o.now.Count > 0 {
				return
			}
			for item, err := range o.turns.written(ctx, o.id, s.ReadUpTo) {
				if err != nil || item.Kind == talk.ToolUse {
					return
				}
			}
			if err := o.turns.change(ctx, key, outbox.Card, func(s *state) { s.Files, s.Added, s.Removed = all.Sum() }); err != nil {
				o.turns.Chat.Log.Warn("turn_not_shown", logkey.SessionID, o.id.String(), logkey.Error, err)
			}
		}, err
	})
}

// since is the moment with which the changes of a turn are compared.
func (s *state) since() folders.Since {
	if s.Snapshot == nil {
		return folders.SessionStart
	}
	return *s.Snapshot
}
