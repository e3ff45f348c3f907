package budget

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/talk"
)

// scope is the kind of a cap.
type scope string

const (
	ofSession scope = "session"
	ofChat    scope = "chat"    // a day of a chat, or of the person who started the session
	ofMachine scope = "machine" // a day of all sessions
)

// account is a cap, and what was used of it.
type account struct {
	Scope    scope
	Chat     int64   // whose day it is
	ID       string  // the name of the account: it is another one on another day
	Cap      float64 // in dollars, with what people have added
	Cost     float64 // in dollars
	Unpriced bool    // an answer has no known price
}

// near is the percentage at which people are warned.
const near = 80

// level returns the percentage that has been passed: 100, near or 0.
func (a account) level() int {
	switch {
	case a.Unpriced || a.Cost >= a.Cap:
		return 100
	case a.Cost >= a.Cap*near/100:
		return near
	}
	return 0
}

// costs are the costs of sessions.
type costs struct{ today, whole map[uuid.UUID]talk.Sum }

// costsOf reads the costs of ccbot's sessions from a report.
func costsOf(rep talk.Report) costs {
	of := func(span talk.Span) map[uuid.UUID]talk.Sum {
		all := make(map[uuid.UUID]talk.Sum)
		for _, l := range span.Sessions {
			if l.Name != "" { // ccbot knows it
				all[l.Session] = l.Sum
			}
		}
		return all
	}
	return costs{of(rep.Spans[0]), of(rep.Spans[len(rep.Spans)-1])}
}

// accounts returns the accounts of a session, with caps. days returns the chats in whose days a session
// counts, dayCap the cap of a chat's day, and added what people have added to the cap of an account.
func (c costs) accounts(r port.Session, whole, machine float64, now time.Time, days func(uuid.UUID) []int64,
	dayCap func(chat int64) float64, added func(id string) float64) (all []account) {
	day := now.Local().Format(time.DateOnly)
	add := func(a account, id string, counts func(uuid.UUID) bool, from map[uuid.UUID]talk.Sum) {
		if a.Cap <= 0 {
			return
		}
		a.ID = string(a.Scope) + "-" + id
		a.Cap += added(a.ID)
		for session, sum := range from {
			if counts(session) {
				a.Cost += sum.Cost
				a.Unpriced = a.Unpriced || sum.Unpriced
			}
		}
		all = append(all, a)
	}
	add(account{Scope: ofSession, Cap: whole}, r.ID.String(), func(id uuid.UUID) bool { return id == r.ID }, c.whole)
	for _, chat := range slices.Sorted(slices.Values(days(r.ID))) {
		counts := func(id uuid.UUID) bool { return slices.Contains(days(id), chat) }
		add(account{Scope: ofChat, Cap: dayCap(chat), Chat: chat}, strconv.FormatInt(chat, 10)+"-"+day, counts, c.today)
	}
	add(account{Scope: ofMachine, Cap: machine}, day, func(uuid.UUID) bool { return true }, c.today)
	return all
}
