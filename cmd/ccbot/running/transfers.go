package running

import (
	"context"
	"fmt"

	"ccbot/bot/conversation"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// finishTransfers finishes what an earlier version has begun: there, a conversation that continued
// in another window got a second record, which was given all that the first one had. Each prompt
// goes to the second record before the first one is closed, so that a crash in between loses none.
func finishTransfers(ctx context.Context, s *system, chats *conversation.Store) error {
	all := session.Transfers(s.Store.List())
	if len(all) == 0 {
		return nil
	}
	waiting, err := s.prompts.waiting()
	if err != nil {
		return err
	}
	if _, err := s.Recovery.Backup(ctx); err != nil {
		return fmt.Errorf("back up the records: %w", err)
	}
	for _, t := range all {
		agent := process.Gone
		if id := t.From.Agent(); id.Valid() {
			agent = s.Table.Liveness(id)
		}
		if session.MayRun(t.From.State, agent) {
			continue
		}
		if err := finishTransfer(ctx, s, chats, t, waiting[t.From.ID]); err != nil {
			return fmt.Errorf("give all of session %s to session %s: %w", t.From.ID, t.To.ID, err)
		}
	}
	return nil
}

// finishTransfer moves everything of the first record to the second one, and closes the first.
// waiting are the prompts that belong to the first record: its queue may lack some.
func finishTransfer(ctx context.Context, s *system, chats *conversation.Store, t session.Transfer, waiting []string) error {
	t.From.Enqueue(waiting...) // t is a copy
	for _, key := range t.From.Prompts {
		if err := s.prompts.move(key, t.From.ID, t.To.ID); err != nil {
			return err
		}
	}
	err := s.Store.Do(ctx, t.To.ID, func(r *session.Record, save func() error) error {
		r.Enqueue(t.From.Prompts...)
		return save()
	})
	if err != nil {
		return err
	}
	for _, at := range chats.All() {
		if chats.Current(at) == t.From.ID {
			if err := chats.SetCurrent(at, t.To.ID); err != nil {
				return err
			}
		}
	}
	return s.Store.Do(ctx, t.From.ID, func(r *session.Record, save func() error) error {
		if err := r.HandOver(s.Recovery.Now(), "recovery.tidy_transfer", t.To.ID); err != nil {
			return err
		}
		return save()
	})
}
