package bot_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/port/talk"
)

// used is a report of some days.
func used() talk.Report {
	other := uuid.MustParse("1a2b3c4d-0000-4000-8000-000000000000")
	sum := func(cost float64, n int64) talk.Sum {
		return talk.Sum{Input: n, Output: n / 10, CacheRead: 10 * n, CacheWrite: n, Cost: cost}
	}
	unpriced := talk.Sum{Input: 900, Unpriced: true}
	week := talk.Span{All: sum(12.344, 1_000_000), Models: []talk.Line{{Name: "Opus 5.5", Sum: sum(12, 900_000)},
		{Name: "Haiku 4.5", Sum: sum(0.001, 100)}, {Name: "nobody-1", Sum: unpriced}}}
	week.All.Unpriced = true
	week.Sessions = []talk.Line{{Name: "api", Sum: sum(8, 800_000)}, {Dir: "/home/alice/my shop", Session: other, Sum: sum(4, 100_000)}}
	for n := range 15 {
		week.Sessions = append(week.Sessions, talk.Line{Name: fmt.Sprint("s", n), Sum: sum(0.02, 10)})
	}
	return talk.Report{Spans: []talk.Span{{}, week, {All: sum(55.5, 9_000_000), Models: week.Models[:1]}},
		Prices: "2026-11-18", Source: "Claude Code 2.1.328"}
}

func TestUsageIsAPage(t *testing.T) {
	w := chattest.NewWorld(t)
	rep := used()
	w.Spent.Answer(func(context.Context) (talk.Report, error) { return rep, nil })
	now := w.Now()
	w.Spent.Tells(talk.Limit{Window: talk.FiveHours, Percent: 62.7, Resets: now.Add(time.Hour)},
		talk.Limit{Window: talk.Week, Percent: 41, Resets: now.Add(72 * time.Hour)})
	w.MustHear(t, "/usage")
	id := w.Telegram.LastID()
	shows := func() string { return w.Shows(t, id).Text.Text }
	head := chattest.Lines("Usage (estimate)", "",
		"5-hour limit: 62% used, resets "+w.In(chattest.AtAlice).At(now.Add(time.Hour)),
		"Weekly limit: 41% used, resets "+w.In(chattest.AtAlice).At(now.Add(72*time.Hour)), "")
	assert.Equal(t, chattest.Lines(head, "Today: $0.00", "Tokens: 0 in, 0 from the cache, 0 out", "7 days: $12.34", "30 days: $55.50", "",
		"No tokens were used in this time.", "", "Estimated at list prices (Nov 18, Claude Code 2.1.328)."), shows())
	assert.Equal(t, []string{"✓ Today", "7 days", "30 days", "Refresh"}, chattest.Words(w.Shows(t, id))[:4])

	w.Press(t, chattest.Alice, id, "7 days")
	page := shows()
	assert.Equal(t, chattest.Lines(head, "Today: $0.00", "7 days: $12.34", "Tokens: 2.0M in, 10M from the cache, 100k out", "30 days: $55.50", "",
		"Cost and tokens by model", "• Opus 5.5: $12.00, 11M", "• Haiku 4.5: <$0.01, 1.2k", "• nobody-1: 900, price unknown", "",
		"Cost and tokens by session (1–8 of 17)", "• api: $8.00, 9.7M", "• my shop 1a2b3c4d: $4.00, 1.2M", "• s0: $0.02, 121", "• s1: $0.02, 121",
		"• s2: $0.02, 121", "• s3: $0.02, 121", "• s4: $0.02, 121", "• s5: $0.02, 121", "",
		"The cost leaves out models whose price is unknown.", "Estimated at list prices (Nov 18, Claude Code 2.1.328)."), page)
	rep.Spans[1].Machines = []talk.Line{{Name: "attic", Sum: talk.Sum{Input: 1000, Cost: 9}}, {Name: "barn", Sum: talk.Sum{Input: 10, Cost: 3.34}}}
	w.Press(t, chattest.Alice, id, "Refresh")
	assert.Contains(t, shows(), "• nobody-1: 900, price unknown\n\nCost and tokens by machine\n• attic: $9.00, 1.0k\n• barn: $3.34, 10\n\nCost and tokens by session")
	w.Restart(t)
	w.Press(t, chattest.Alice, id, "→")
	w.Press(t, chattest.Alice, id, "→")
	assert.Contains(t, shows(), "Cost and tokens by session (17–17 of 17)\n• s14")
	assert.NotContains(t, chattest.Words(w.Shows(t, id)), "→")
	rep.Spans[1].Sessions = rep.Spans[1].Sessions[:2]
	w.Press(t, chattest.Alice, id, "Refresh")
	assert.Contains(t, shows(), "Cost and tokens by session\n• api", "a page that is not there any more")

	rep.Broken, rep.Unread, rep.Silent = "/home/alice/.ccbot/prices.json", 1, 2
	w.Press(t, chattest.Alice, id, "30 days")
	assert.Contains(t, shows(), "⚠ 1 conversation file is not counted yet. Tap “Refresh”.\n"+
		"⚠ 2 machines have not answered: their latest use is missing.\n"+
		"⚠ ~/.ccbot/prices.json cannot be read as a price list, so the built-in prices count. The log has the reason.\n")
	w.Spent.Answer(func(context.Context) (talk.Report, error) { return talk.Report{}, context.DeadlineExceeded })
	w.Press(t, chattest.Alice, id, "7 days")
	assert.Equal(t, w.Word(i18n.UsageBusy), shows())
	w.Spent.Answer(func(context.Context) (talk.Report, error) { return rep, nil })
	w.Press(t, chattest.Alice, id, "Refresh")
	assert.Contains(t, shows(), "7 days")
	w.Spent.Answer(func(context.Context) (talk.Report, error) { return talk.Report{}, chattest.ErrDisk })
	w.Press(t, chattest.Alice, id, "Refresh")
	assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.InternalError))
}
