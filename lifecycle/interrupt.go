package lifecycle

import (
	"context"

	"github.com/google/uuid"
)

// Interrupt presses the cancel key once in the session's pane, and waits for the end of the turn.
// The agent then puts the text of an unfinished prompt back into the box: ccbot removes it and asks
// the person about it. Queued prompts are treated the same before the key is pressed. So after a
// stop ccbot types only prompts sent or decided since.
//
// reported means that the chat already shows what was stopped: by the questions to the person, or
// by the line of the transcript. The tmux guard names the bound process in any state; a shell in
// front of an adopted agent gets no key.
//
// view.ErrSilent means that tmux does not answer. typing.ErrIdle means that no turn runs and no
// prompt waited; typing.ErrAsks that the key would answer an open dialog. If the dialog was open at
// the call, the queue stays.
func (s *Service) Interrupt(ctx context.Context, id uuid.UUID) (reported bool, err error) {
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		reported, err = w.prompts.Requests().Interrupt(ctx)
		return err
	})
	return reported, err
}
