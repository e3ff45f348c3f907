package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/card"
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
// is allowed again, and asks in each private chat what is to become of the barred ones.
func (s *Schedules) TellPlanners(ctx context.Context) error {
	all, err := s.list(ctx)
	pass := machine.NewPass(ctx)
	defer pass.End()
	errs := []error{err}
	barred := make(map[uuid.UUID]bool)
	for _, of := range all {
		r, known := s.chat.Book.Records.Get(of.Session)
		by := port.Planner{By: of.By, Barred: !s.chat.Book.MayAct(of.By, r.Conversation)}
		if !known || r.State == port.StateUnknown {
			barred[of.ID] = of.Barred // the place is unknown
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
		if barred[of.ID] = by.Barred; by.Barred {
			errs = append(errs, s.askAbout(ctx, r, of))
		}
	}
	for _, c := range s.notes.List() {
		if !barred[c.Payload] && err == nil {
			errs = append(errs, s.notes.Close(ctx, c.Key, render.Text{}))
		}
	}
	return errors.Join(errs...)
}

// askAbout asks once in each private chat about a barred schedule.
func (s *Schedules) askAbout(ctx context.Context, r port.Session, of port.Schedule) error {
	var errs []error
	for _, to := range s.chat.Book.PrivateChats() {
		key := fmt.Sprintf("%s-%d", of.ID, to.ChatID)
		if _, asked := s.notes.Get(key); asked {
			continue
		}
		w := words{s.chat.In(to)}
		look := card.Content{To: to, Session: r.ID, Options: w.options(of), Text: chat.Lines(w.barred(r, of), render.Plain(w.prompt(of.Text)))}
		errs = append(errs, s.notes.Show(ctx, key, look, of.ID))
	}
	return errors.Join(errs...)
}

// barred says that a schedule is barred.
func (w words) barred(r port.Session, of port.Schedule) render.Text {
	why := w.Say(i18n.ScheduleKey.Of(string(port.SkipBarred)))
	return w.Text(i18n.ScheduleBarred, i18n.Args{"Name": r.Name, "Time": w.when(of), "Reason": why})
}

// takeOver makes a schedule a person's. A session of a place that may not be shown anything moves to
// the person's private chat, so that somebody sees the answers.
func (s *Schedules) takeOver(ctx context.Context, of port.Schedule, by int64) error {
	r, _ := s.chat.Book.Records.Get(of.Session)
	if err := s.chat.Book.BringHome(ctx, r, by); err != nil {
		return err
	}
	return s.all.SetPlanner(ctx, of.Session, of.ID, port.Planner{By: by})
}

// tap carries out an option of a card about a barred schedule.
func (s *Schedules) tap(_ context.Context, t chat.Tap, id uuid.UUID) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		all, err := s.list(ctx)
		i := slices.IndexFunc(all, func(one port.Schedule) bool { return one.ID == id })
		switch {
		case i < 0 && err != nil:
			return s.chat.Explain(ctx, t.To, s.chat.In(t.To).Failure(port.Session{}, err))
		case i < 0:
		case t.Card.Option == mineOption:
			err = s.takeOver(ctx, all[i], t.From)
		default:
			_, err = s.all.Remove(ctx, all[i].Session, id)
		}
		if i >= 0 && err != nil && !refusal.Is(err, refusal.NotFound) {
			r, _ := s.chat.Book.Records.Get(all[i].Session)
			return s.chat.Explain(ctx, t.To, s.chat.In(t.To).Failure(r, err))
		}
		return s.closeNotes(ctx, id, t)
	})
}

// closeNotes closes the cards about a schedule, with what has become of it.
func (s *Schedules) closeNotes(ctx context.Context, id uuid.UUID, t chat.Tap) (err error) {
	for _, c := range s.notes.List() {
		if c.Payload != id {
			continue
		}
		r, _ := s.chat.Book.Records.Get(c.Content.Session)
		w := words{s.chat.In(c.Content.To)}
		last := w.Text(i18n.ScheduleTaken, i18n.Args{"Name": r.Name})
		if t.Card.Option != mineOption {
			last = render.Plain(w.Say(i18n.ScheduleGone))
		}
		err = errors.Join(err, s.notes.Close(ctx, c.Key, last))
	}
	return err
}
