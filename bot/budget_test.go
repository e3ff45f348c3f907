package bot_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// budgeted is a chat with caps, and a session that works.
type budgeted struct {
	*chattest.World
	t           *testing.T
	r           session.Record
	interrupted atomic.Int32

	mu   sync.Mutex             // guards cost
	cost map[uuid.UUID]talk.Sum // of today and in all, by session
}

func withBudget(t *testing.T, set conversation.Settings, machine float64, test func(w *budgeted)) {
	t.Helper()
	chattest.Runs(t, func(t *testing.T, world *chattest.World) {
		w := &budgeted{World: world, t: t, cost: make(map[uuid.UUID]talk.Sum)}
		w.DayBudget = machine
		set.Language = "en"
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { *s = set }))
		w.Restart(t)
		w.r = w.NewCurrentSession(t, "api", session.Running)
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = "working" })
		w.Spent.Answer(func(context.Context) (talk.Report, error) {
			rep := talk.Report{Spans: make([]talk.Span, len(talk.ReportSpans()))}
			w.mu.Lock()
			defer w.mu.Unlock()
			for id, sum := range w.cost {
				line := talk.Line{Name: w.Record(t, id).Name, Session: id, Sum: sum}
				rep.Spans[0].Sessions = append(rep.Spans[0].Sessions, line)
				rep.Spans[2].Sessions = append(rep.Spans[2].Sessions, line)
			}
			return rep, nil
		})
		w.Lifecycle.OnEndTurn = func(uuid.UUID) error { w.interrupted.Add(1); return nil }
		test(w)
	})
}

// spends has the session cost so many dollars, and its answer arrive.
func (w *budgeted) spends(dollars float64) {
	w.t.Helper()
	w.costs(w.r.ID, talk.Sum{Cost: dollars})
	w.compares()
}

func (w *budgeted) costs(id uuid.UUID, sum talk.Sum) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cost[id] = sum
}

func (w *budgeted) compares() {
	w.t.Helper()
	w.Feature("budget").OnItem(w.r.ID, talk.Item{})
	w.Later(3 * time.Second)
	w.Work(w.t)
}

func (w *budgeted) says() (all []string) {
	for _, m := range saying(w.t, w.World, "Budget of") {
		all = append(all, m.Text.Text)
	}
	return all
}

func (w *budgeted) last() (id int, m outbox.Message) {
	for n := range w.Telegram.LastID() {
		if s := w.Shows(w.t, n+1); strings.Contains(s.Text.Text, "Budget of") {
			id, m = n+1, s
		}
	}
	return id, m
}

// holds reports whether prompts wait after the turn of the session.
func (w *budgeted) holds() bool {
	state := w.told()
	return state == port.BudgetSpent || state == port.BudgetUnknown
}

// told returns what the machine was told after the turn of the session.
func (w *budgeted) told() port.BudgetState {
	w.t.Helper()
	was := w.Record(w.t, w.r.ID).Phase
	w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase, r.Budget = "idle", r.Budget.Next() })
	w.compares()
	defer w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = was })
	return w.Record(w.t, w.r.ID).Budget.State
}

// TestUsageHasBudgets: those of the day first, and each once.
func TestUsageHasBudgets(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10, DayBudget: 20}, 50, func(w *budgeted) {
		other := w.NewCurrentSession(w.t, "web", session.Running)
		w.costs(w.r.ID, talk.Sum{Cost: 1.5})
		w.costs(other.ID, talk.Sum{Cost: 2})
		w.MustHear(w.t, "/usage")
		w.Work(w.t)
		assert.Contains(w.t, w.Shows(w.t, 1).Text.Text, "Budget of this chat today: $3.50 of $20.00 used.\nBudget of this machine today: $3.50 of $50.00 used.\n"+
			"Budget of api: $1.50 of $10.00 used.\nBudget of web: $2.00 of $10.00 used.\n")
	})
}

func TestBudgetWarnsHoldsAndIsRaised(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10}, 0, func(w *budgeted) {
		w.spends(7.99)
		assert.Empty(w.t, w.says())
		w.spends(8)
		assert.Equal(w.t, []string{"Budget of api: $8.00 of $10.00 used."}, w.says())
		w.spends(9.99)
		w.Restart(w.t)
		w.compares()
		assert.Len(w.t, w.says(), 1, "once, also after a restart")
		assert.False(w.t, w.holds())
		assert.Zero(w.t, w.interrupted.Load())

		w.spends(10)
		assert.True(w.t, w.holds())
		assert.NotZero(w.t, w.interrupted.Load())
		id, m := w.last()
		assert.Equal(w.t, "Budget of api: $10.00 of $10.00 used. A running turn is stopped after its next answer, and messages wait.", m.Text.Text)
		assert.Equal(w.t, []string{"+$5", "Stop"}, chattest.Words(m))
		assert.True(w.t, m.Sounds)
		w.Restart(w.t)
		w.compares()
		assert.Len(w.t, w.says(), 2)
		assert.True(w.t, w.holds(), "also after a restart")

		w.Press(w.t, chattest.Alice, id, "+$5")
		w.PressLate(w.t, chattest.Alice, id, "+$5")
		w.Work(w.t)
		assert.True(w.t, strings.HasSuffix(w.Shows(w.t, id).Text.Text, "\nRaised by $5."))
		assert.Empty(w.t, w.Shows(w.t, id).Buttons)
		assert.False(w.t, w.holds())
		w.Restart(w.t)
		assert.False(w.t, w.holds(), "the cap stays raised")
		w.spends(14)
		_, m = w.last()
		assert.Equal(w.t, "Budget of api: $14.00 of $15.00 used.", m.Text.Text, "two taps raise it once")
		w.spends(15)
		assert.True(w.t, w.holds())
		id, m = w.last()
		assert.Equal(w.t, []string{"+$5", "Stop"}, chattest.Words(m))
		w.Press(w.t, chattest.Alice, id, "+$5")
		w.Work(w.t)
		assert.False(w.t, w.holds())
		w.spends(20)
		assert.True(w.t, w.holds())
	})
}

func TestBudgetOfDayCountsAllSessions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		set     conversation.Settings
		machine float64
		want    string
	}{
		{"of a chat", conversation.Settings{DayBudget: 10}, 0, "Budget of this chat today: $10.50 of $10.00 used. A running turn is stopped after its next answer, and messages wait."},
		{"of the machine", conversation.Settings{}, 10, "Budget of this machine today: $10.50 of $10.00 used. A running turn is stopped after its next answer, and messages wait."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withBudget(t, tt.set, tt.machine, func(w *budgeted) {
				other := w.Session(w.t, "web", session.Archived)
				w.costs(other.ID, talk.Sum{Cost: 6})
				w.spends(4.5)
				_, m := w.last()
				assert.Equal(w.t, tt.want, m.Text.Text)
				assert.Len(w.t, w.says(), 1)
				assert.True(w.t, w.holds())
				w.costs(w.r.ID, talk.Sum{})
				w.costs(other.ID, talk.Sum{})
				assert.False(w.t, w.holds(), "a new day")
			})
		})
	}
}

func TestBudgetCountsUnknownPriceAsMore(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10}, 0, func(w *budgeted) {
		w.costs(w.r.ID, talk.Sum{Cost: 0.1, Unpriced: true})
		w.compares()
		assert.True(w.t, w.holds())
		require.Len(w.t, w.says(), 1)
		assert.Contains(w.t, w.says()[0], "an answer has no known price")
		_, m := w.last()
		assert.Empty(w.t, m.Buttons)
		require.NoError(w.t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.SessionBudget = 0 }))
		assert.False(w.t, w.holds())
	})
}

// TestP4_UnknownCostHolds: what is left is told for one turn, and only after the cost of that turn
// is known.
func TestP4_UnknownCostHolds(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10}, 0, func(w *budgeted) {
		known := talk.Report{Spans: make([]talk.Span, len(talk.ReportSpans()))}
		reached := talk.Report{Spans: slices.Repeat([]talk.Span{{Sessions: []talk.Line{{Name: "api", Session: w.r.ID, Sum: talk.Sum{Cost: 10}}}}},
			len(talk.ReportSpans())), Incomplete: true}
		part := known
		part.Incomplete = true
		for _, tt := range []struct {
			name string
			rep  talk.Report
			err  error
			want port.BudgetState
		}{
			{"known", known, nil, port.BudgetLeft},
			{"a part", part, nil, port.BudgetUnknown},
			{"a part that reaches the cap", reached, nil, port.BudgetSpent},
			{"known again", known, nil, port.BudgetLeft},
			{"an error", known, chattest.ErrDisk, port.BudgetUnknown},
			{"not in time", known, context.DeadlineExceeded, port.BudgetUnknown},
		} {
			w.Spent.Answer(func(context.Context) (talk.Report, error) { return tt.rep, tt.err })
			assert.Equal(w.t, tt.want, w.told(), tt.name)
		}
		require.NoError(w.t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.SessionBudget = 0 }))
		assert.Equal(w.t, port.BudgetNone, w.told())
	})
}

// TestP4_BudgetIsLeftOnlyAfterTurn: the cost of a running turn is not known yet.
func TestP4_BudgetIsLeftOnlyAfterTurn(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10}, 0, func(w *budgeted) {
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Budget.State = port.BudgetUnknown })
		w.spends(1)
		assert.Equal(w.t, port.BudgetUnknown, w.Record(w.t, w.r.ID).Budget.State)
		assert.Equal(w.t, port.BudgetLeft, w.told())
	})
}

// A dialog is not answered: no second key follows, and no error is shown.
func TestP7_BudgetLeavesDialogAlone(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10}, 0, func(w *budgeted) {
		w.Lifecycle.OnEndTurn = func(uuid.UUID) error { w.interrupted.Add(1); return refusal.New(refusal.Asks, "a dialog") }
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = "waiting_permission" })
		w.spends(11)
		assert.Zero(w.t, w.interrupted.Load())
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = "working" })
		w.spends(12)
		assert.NotZero(w.t, w.interrupted.Load())
		assert.Len(w.t, w.says(), 1)
	})
}

// A session that is shown elsewhere keeps the budgets that it was started with, and a change of those counts at once.
func TestBudgetsStayWithSession(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 1, DayBudget: 3}, 0, func(w *budgeted) {
		w.spends(2)
		assert.Equal(w.t, port.BudgetSpent, w.told())
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Move(chattest.InGroup) })
		assert.Equal(w.t, port.BudgetSpent, w.told(), "a move loosens nothing")
		require.NoError(w.t, w.Chats.Set(chattest.Ours, func(s *conversation.Settings) { s.SessionBudget = 100 }))
		assert.Equal(w.t, port.BudgetSpent, w.told(), "nor does a chat that it was not started in")
		require.NoError(w.t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.SessionBudget = 5 }))
		assert.Equal(w.t, port.BudgetLeft, w.told())
		w.Telegram.Forget()
		w.spends(4)
		_, m := w.last()
		assert.Contains(w.t, m.Text.Text, "Budget of the day of the chat that started api: $4.00 of $3.00 used.")
		assert.Equal(w.t, chattest.InGroup, m.To)
	})
}

// A session of a group has the budgets of its starter and of the group: the stricter one counts, and both days.
func TestGroupHasBudgets(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 1}, 0, func(w *budgeted) {
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		w.spends(2)
		assert.Equal(w.t, port.BudgetSpent, w.told())
		require.NoError(w.t, w.Chats.Set(chattest.Ours, func(s *conversation.Settings) { s.SessionBudget = 10 }))
		assert.Equal(w.t, port.BudgetSpent, w.told())
		require.NoError(w.t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.SessionBudget = 0 }))
		assert.Equal(w.t, port.BudgetLeft, w.told())
		require.NoError(w.t, w.Chats.Set(chattest.Ours, func(s *conversation.Settings) { s.DayBudget = 1 }))
		assert.Equal(w.t, port.BudgetSpent, w.told(), "the group's day")
		require.NoError(w.t, w.Chats.Set(chattest.Ours, func(s *conversation.Settings) { s.DayBudget = 9 }))
		require.NoError(w.t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.DayBudget = 1 }))
		assert.Equal(w.t, port.BudgetSpent, w.told(), "her own day")
	})
}

// [Stop] is about the sessions that the budget is about, wherever they are shown.
func TestStopOfDayTakesPromptsOfItsSessionsBack(t *testing.T) {
	withBudget(t, conversation.Settings{DayBudget: 10}, 0, func(w *budgeted) {
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		theirs := w.Session(w.t, "web", session.Running)
		w.Records.Change(theirs.ID, func(r *session.Record) { r.Conversation, r.Owner = chattest.InGroup, chattest.Bob })
		w.spends(11)
		id, m := w.last()
		w.TapAt(w.t, chattest.Alice, chattest.GroupChat(chattest.Ours), id, chattest.DataBehind(w.t, m, w.Word(i18n.ButtonStop)))
		w.Work(w.t)
		assert.Equal(w.t, []string{"halt " + w.r.ID.String()}, pressed(w.World))
	})
}

func TestStopOfBudgetTakesPromptsBack(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10}, 0, func(w *budgeted) {
		w.Session(w.t, "web", session.Running)
		w.spends(11)
		id, _ := w.last()
		w.Press(w.t, chattest.Alice, id, w.Word(i18n.ButtonStop))
		w.Work(w.t)
		assert.Equal(w.t, []string{"halt " + w.r.ID.String()}, pressed(w.World))
		assert.Equal(w.t, []string{"+$5", "Stop"}, chattest.Words(w.Shows(w.t, id)), "it can still be raised")
	})
}

// The cap of the machine has a card in each chat. The first tap raises it, and a tap on a card of
// before that does not raise it again.
func TestBudgetOfMachineIsRaisedOnce(t *testing.T) {
	withBudget(t, conversation.Settings{}, 10, func(w *budgeted) {
		other := w.Session(w.t, "web", session.Running)
		w.Records.Change(other.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Bob} })
		w.spends(11)
		cards := make(map[int64]int) // by chat: the two are sent in either order
		for n := range w.Telegram.LastID() {
			if m := w.Shows(w.t, n+1); len(chattest.Words(m)) == 2 {
				cards[m.To.ChatID] = n + 1
			}
		}
		require.Len(w.t, cards, 2)
		for _, who := range []int64{chattest.Alice, chattest.Bob} {
			w.Press(w.t, who, cards[who], chattest.Words(w.Shows(w.t, cards[who]))[0])
		}
		w.Work(w.t)
		assert.False(w.t, w.holds())
		assert.Contains(w.t, w.Shows(w.t, cards[chattest.Alice]).Text.Text, "Raised by $5.")
		assert.NotContains(w.t, w.Shows(w.t, cards[chattest.Bob]).Text.Text, "Raised")
		w.spends(15)
		assert.True(w.t, w.holds())
	})
}

// TestUsageSaysThatUnpricedBudgetHolds: an unknown price is not shown as an unused budget.
func TestUsageSaysThatUnpricedBudgetHolds(t *testing.T) {
	withBudget(t, conversation.Settings{SessionBudget: 10, DayBudget: 20}, 0, func(w *budgeted) {
		w.costs(w.r.ID, talk.Sum{Unpriced: true})
		require.True(w.t, w.holds())
		w.MustHear(w.t, "/usage")
		w.Work(w.t)
		said := w.Telegram.Last(w.t).Text.Text
		assert.Contains(w.t, said, "Budget of api: $0.00 of $10.00 used, and an answer without a known price. Messages wait")
		assert.Contains(w.t, said, "Budget of this chat today: $0.00 of $20.00 used, and an answer without a known price")
		assert.NotContains(w.t, said, "used.")
	})
}
