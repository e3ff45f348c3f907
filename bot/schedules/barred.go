package schedules

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/refusal"
)

// barredKind is the kind of the cards about barred schedules.
const barredKind = "schedule-barred"

// TellPlanners informs the machines of the schedules whose person or place is no longer allowed, or
// is allowed again, and asks in each private chat what is to become of the barred ones. One of a group
// that names nobody goes on, and is asked about when a person is taken off the list.
func (s *Schedules) TellPlanners(ctx context.Context) error {
	defer s.barred.Hold()()
	all, err := s.list(ctx)
	pass := machine.NewPass(ctx)
	defer pass.End()
	errs := []error{err}
	asked := make(map[uuid.UUID]bool)
	for _, of := range all {
		r, known := s.chat.Book.Records.Get(of.Session)
		by := port.Planner{By: of.By, Barred: !s.chat.Book.MayAct(of.By, r.Conversation)}
		if !known || r.State == port.StateUnknown {
			asked[of.ID] = of.Barred // the place is unknown
			continue
		}
		if by != of.Planner {
			failed := s.all.SetPlanner(pass.On(r.Machine), of.Session, of.ID, by)
			if refusal.Is(failed, refusal.NotFound, refusal.OldMachine) {
				continue
			}
			errs = append(errs, failed)
			of.Planner = by
		}
		nobodys := by.By == 0 && s.chat.Book.InGroup(r.Conversation.ChatID) // planned before plans named their person
		if asked[of.ID] = by.Barred || nobodys; by.Barred || nobodys && s.chat.Book.HasLeft() {
			says := func(p chat.Phrases) render.Text {
				w := words{p}
				return chat.Lines(w.asked(r, of), render.Plain(w.prompt(of.Text)))
			}
			errs = append(errs, s.barred.Ask(ctx, of.ID, r, says))
		}
	}
	if err == nil {
		errs = append(errs, s.barred.CloseUnless(ctx, func(id uuid.UUID) bool { return asked[id] }))
	}
	return errors.Join(errs...)
}

// asked says why a schedule is asked about.
func (w words) asked(r port.Session, of port.Schedule) render.Text {
	if !of.Barred {
		return w.Text(i18n.ScheduleOfNobody, i18n.Args{"Name": r.Name, "Time": w.when(of)})
	}
	why := w.Say(i18n.ScheduleKey.Of(string(port.SkipBarred)))
	return w.Text(i18n.ScheduleBarred, i18n.Args{"Name": r.Name, "Time": w.when(of), "Reason": why})
}

// actOn makes a barred schedule a person's, or removes it.
func (s *Schedules) actOn(ctx context.Context, id uuid.UUID, r port.Session, by int64) error {
	if by != 0 {
		return s.all.SetPlanner(ctx, r.ID, id, port.Planner{By: by})
	}
	_, err := s.all.Remove(ctx, r.ID, id)
	return err
}
