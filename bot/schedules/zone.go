package schedules

import (
	"context"
	"errors"

	"ccbot/bot/machine"
	"ccbot/port/refusal"
)

// TellZones informs the machines of the time zones of the chats that schedules belong to.
func (s *Schedules) TellZones(ctx context.Context) error {
	all, err := s.list(ctx)
	pass := machine.NewPass(ctx)
	defer pass.End()
	for _, of := range all {
		r, known := s.chat.Book.Records.Get(of.Session)
		if zone := s.chat.Book.ZoneOf(r.Conversation.ChatID); known && zone != of.Zone {
			if failed := s.all.SetZone(pass.On(r.Machine), of.Session, of.ID, zone); !refusal.Is(failed, refusal.NotFound, refusal.OldMachine) {
				err = errors.Join(err, failed)
			}
		}
	}
	return err
}
