package outbox

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"ccbot/bot/render"
)

func TestNext(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	waiting := func(edit func(*lane)) *lane {
		l := newLane(1)
		l.queue = []*job{{}}
		if edit != nil {
			edit(l)
		}
		return l
	}
	spent := func(l *lane) { l.budget.AllowN(now, chatBurst) }
	first, second := waiting(func(l *lane) { l.served = 7 }), waiting(func(l *lane) { l.served = 3 })
	withAside := waiting(func(l *lane) { l.served, l.asides = 9, []*aside{{}} })
	tests := []struct {
		name   string
		lanes  []*lane
		flying int
		empty  bool // the budget of all chats is spent
		want   turn
	}{
		{"nothing", nil, 0, false, turn{}},
		{"empty lane", []*lane{newLane(1)}, 0, false, turn{}},
		{"longest without a turn", []*lane{first, second}, 0, false, turn{lane: second}},
		{"aside before all", []*lane{second, withAside}, 0, false, turn{lane: withAside, aside: true}},
		{"one at a time in a chat", []*lane{waiting(func(l *lane) { l.flying = true })}, 1, false, turn{}},
		{"too many calls under way", []*lane{first}, maxFlying, false, turn{}},
		{"paused", []*lane{waiting(func(l *lane) { l.until = now.Add(137 * time.Second) })}, 0, false, turn{wait: 137 * time.Second}},
		{"paused one does not hold up others", []*lane{waiting(func(l *lane) { l.until = now.Add(time.Hour) }), first}, 0, false, turn{lane: first}},
		{"budget of the chat spent", []*lane{waiting(spent)}, 0, false, turn{wait: time.Second + time.Millisecond}},
		{"shortest wait", []*lane{waiting(spent), waiting(func(l *lane) { l.until = now.Add(time.Hour) })}, 0, false, turn{wait: time.Second + time.Millisecond}},
		{"pause and budget", []*lane{waiting(func(l *lane) { spent(l); l.until = now.Add(time.Minute) })}, 0, false, turn{wait: time.Minute}},
		{"budget of all spent", []*lane{first}, 0, true, turn{wait: 41 * time.Millisecond}},
		{"aside of a paused chat waits", []*lane{{asides: []*aside{{}}, until: now.Add(time.Second), budget: newLane(1).budget}}, 0, false, turn{wait: time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := rate.NewLimiter(allRate, allBurst)
			if tt.empty {
				all.AllowN(now, allBurst)
			}
			got := next(now, tt.lanes, all, tt.flying)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, got, next(now, tt.lanes, all, tt.flying), "it changes nothing")
		})
	}
}

func TestJudge(t *testing.T) {
	styled := &job{change: change{message: Message{Text: render.Bold("x")}}}
	tests := []struct {
		name string
		err  error
		job  *job
		want answer
	}{
		{"yes", nil, &job{}, taken},
		{"429", tooMany(137), &job{}, pause},
		{"429 wrapped", fmt.Errorf("x: %w", tooMany(0)), &job{}, pause},
		{"migrated", &tgbot.MigrateError{MigrateToChatID: -100500}, &job{}, moved},
		{"401", errToken, &job{}, revoked},
		{"404", fmt.Errorf("%w, Not Found", tgbot.ErrorNotFound), &job{}, revoked},
		{"403", errForbidden, &job{}, refused},
		{"400", errEntities, &job{}, refused},
		{"400 with formatting", errEntities, styled, plain},
		{"400 again", errEntities, &job{change: styled.change, plain: true}, refused},
		{"not modified", errSame, &job{kind: edit}, taken},
		{"not modified with formatting", errSame, &job{kind: edit, change: styled.change}, taken},
		{"deleted already", fmt.Errorf("%w, message to delete not found", tgbot.ErrorBadRequest), &job{kind: remove}, taken},
		{"409", fmt.Errorf("%w, x", tgbot.ErrorConflict), &job{}, later},
		{"413", errors.New("error response from telegram for method sendMessage, 413 Request Entity Too Large"), &job{}, refused},
		{"500", errServer, &job{}, later},
		{"html", errors.New("error decode response body for method sendMessage, <html>502</html>, invalid character '<'"), &job{}, later},
		{"yes that cannot be read", errors.New("error decode response result for method sendMessage, json: unknown type"), &job{}, taken},
		{"reset", fmt.Errorf("error do request for method sendMessage, %w", io.ErrUnexpectedEOF), &job{}, later},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, judge(tt.err, tt.job).answer)
		})
	}
	assert.Equal(t, 137*time.Second, judge(tooMany(137), &job{}).wait)
	assert.Equal(t, int64(-100500), judge(&tgbot.MigrateError{MigrateToChatID: -100500}, &job{}).chat)
	assert.ErrorIs(t, judge(errForbidden, &job{}).err, ErrBlocked)
	assert.ErrorIs(t, judge(errToken, &job{}).err, ErrRevoked)
}

func TestBackoff(t *testing.T) {
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second},
		[]time.Duration{backoff(1, 0.5), backoff(2, 0.5), backoff(3, 0.5), backoff(4, 0.5), backoff(5, 0.5), backoff(6, 0.5), backoff(1000, 0.5)})
	rapid.Check(t, func(t *rapid.T) {
		d := backoff(rapid.Int().Draw(t, "failures"), rapid.Float64Range(0, 0.999).Draw(t, "jitter"))
		if d < 750*time.Millisecond || d > 37500*time.Millisecond {
			t.Fatal(d)
		}
	})
}

func TestChange(t *testing.T) {
	text := func(s, b string) change {
		return change{message: Message{Text: render.Plain(s), Buttons: [][]Button{{{Text: b}}}}}
	}
	only := func(b string) change { c := text("", b); c.buttonsOnly = true; return c }
	assert.Equal(t, text("a", "2"), text("a", "1").then(only("2")))
	assert.Equal(t, text("b", "2"), text("a", "1").then(text("b", "2")))
	assert.Equal(t, only("2"), only("1").then(only("2")))
	looks := shown{}.after(text("a", "1"))
	assert.False(t, looks.changedBy(text("a", "1")))
	assert.False(t, looks.changedBy(only("1")))
	assert.True(t, looks.changedBy(only("2")))
	assert.True(t, looks.changedBy(text("b", "1")))
	assert.False(t, looks.after(only("2")).changedBy(text("a", "2")), "the text is still known")
	assert.True(t, shown{}.after(only("2")).changedBy(text("", "2")), "the text was never known")
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	var m memory
	for i := range maxKnown + 10 {
		m.note(ref{1, i}, fact{looks: looksOf(change{})})
	}
	assert.Len(t, m.facts, maxKnown)
	assert.Len(t, m.order, maxKnown)
	assert.Zero(t, m.looks(ref{1, 9}))
	assert.NotZero(t, m.looks(ref{1, 10}))
}
