package lifecycle

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/lifecycle/evidence"
)

// Writers returns the processes that write the session's conversation at this moment, or may write
// it, apart from its own agent. From then on they count as reported.
func (s *Service) Writers(ctx context.Context, id uuid.UUID) (found []evidence.Writer, err error) {
	err = s.kit.do(ctx, id, func(w *work) error {
		found, err = w.others(ctx)
		return err
	})
	return found, err
}

// alone is the gate before every resume (P1). It ends the leftovers of the session, and refuses
// while any other process writes the conversation, or may write it.
func (w *work) alone(ctx context.Context) (ended []Ending, err error) {
	looked, _, err := w.endLeftovers(ctx)
	if err != nil {
		return nil, err
	}
	ended = slices.DeleteFunc(looked, func(e Ending) bool { return !e.Ended || e.How == process.HowAlreadyGone })
	_, _ = w.endBelow(ctx) // no tool of a leftover writes the conversation
	left, err := w.others(ctx)
	if err != nil {
		return ended, err
	}
	if len(left) > 0 {
		return ended, &WriterError{Writers: left}
	}
	return ended, nil
}

// others returns all writers that keep this session from having its conversation to itself. A
// person is about to be shown them, so from here on they count as reported.
func (w *work) others(ctx context.Context) ([]evidence.Writer, error) {
	all, err := w.Evidence.Settled(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return nil, err
	}
	return all.Writers(ctx, *w.r), w.noteShown(all)
}

// noteShown notes which writers the person is about to be shown.
func (w *work) noteShown(all *evidence.Evidence) error {
	untold := all.Untold(*w.r)
	if len(untold) == 0 {
		return nil
	}
	return w.noteSeconds(untold)
}
