package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/timespan"
)

// quietOnce is how long the button makes a chat quiet, and quietMost the maximum of /quiet.
const (
	quietOnce = 2 * time.Hour
	quietMost = 24 * time.Hour
)

// quietHours are the usual hours, and the chosen ones.
func quietHours(v view) []choice {
	list := []choice{{"", v.Say(i18n.QuietNone)}}
	for from := 21; from <= 24; from++ {
		for until := 7; until <= 8; until++ {
			h := hours(&conversation.Hours{From: from % 24 * 60, Until: until * 60})
			list = append(list, choice{h, h})
		}
	}
	if now := hours(v.set.Quiet); !slices.Contains(list, choice{now, now}) && now != "" {
		list = append(list, choice{now, now})
	}
	return list
}

// quietExtra are a button that makes the chat quiet once, and one for each day on which the hours
// begin.
func quietExtra(v view) [][]card.Option {
	once := card.Option{Text: v.Say(i18n.QuietOnce, i18n.Args{"Age": v.Age(quietOnce)}), Value: quietOnce.String()}
	if v.set.QuietFor.Lasts(v.now) {
		once = card.Option{Text: v.Say(i18n.QuietEnd), Value: quietEnd}
	}
	rows := chat.Rows(1, once)
	if v.set.Quiet == nil {
		return rows
	}
	var days []card.Option
	for _, day := range week {
		text := v.Say(i18n.WeekdayKey.Of(strconv.Itoa(int(day))))
		if v.set.Quiet.On(day) {
			text = "✓ " + text
		}
		days = append(days, card.Option{Text: text, Value: dayValue + strconv.Itoa(int(day))})
	}
	return append(rows, chat.Rows(4, days...)...)
}

// quietEnd is the value of the button that ends the time for which a chat is quiet once.
const quietEnd = "end"

// dayValue begins the value of a button that adds a day of the week, or removes it.
const dayValue = "day"

// week has the days in their order in the three languages' countries.
var week = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}

// quietText returns when the chat is quiet.
func quietText(v view) string {
	var said []string
	if h := v.set.Quiet; h != nil {
		said = append(said, hours(h))
		for _, day := range week {
			if h.Days != 0 && h.On(day) {
				said = append(said, v.Say(i18n.WeekdayKey.Of(strconv.Itoa(int(day)))))
			}
		}
	}
	if s := v.set.QuietFor; s.Lasts(v.now) {
		said = append(said, v.Say(i18n.QuietUntil, i18n.Args{"Until": v.Until(s.Until)}))
	}
	if said == nil {
		return v.Say(i18n.QuietNone)
	}
	return strings.Join(said, v.Say(i18n.JoinNames))
}

// chooseQuiet chooses hours, adds or removes a day, or makes the chat quiet once, or ends that. Any
// other value ends both. Removing the last day removes the hours.
func chooseQuiet(s *conversation.Settings, value string, now time.Time) {
	day, isDay := strings.CutPrefix(value, dayValue)
	if isDay {
		n, err := strconv.Atoi(day)
		if err == nil && n >= 0 && n < len(week) && s.Quiet != nil {
			h := *s.Quiet
			if s.Quiet = nil; h.Days != 1<<n {
				h.Toggle(time.Weekday(n))
				s.Quiet = &h
			}
		}
		return
	}
	if value == quietEnd {
		s.QuietFor = nil
		return
	}
	h, once, ok := parseQuiet(value)
	switch {
	case !ok:
		s.Quiet, s.QuietFor = nil, nil
	case once > 0:
		s.QuietFor = &conversation.Span{From: now.UTC(), Until: now.Add(once).UTC()}
	default:
		if s.Quiet != nil {
			h.Days = s.Quiet.Days
		}
		s.Quiet = &h
	}
}

var timesRule = lazyregexp.New(`^(\d{1,2})(?:[:.](\d\d))?\s*[-–—]\s*(\d{1,2})(?:[:.](\d\d))?$`)

// parseQuiet parses hours, as in 22:30–6:45 or 22-7, or for how long it is quiet, as in 2h or 90m.
func parseQuiet(typed string) (h conversation.Hours, once time.Duration, ok bool) {
	typed = strings.TrimSpace(typed)
	if d, err := timespan.Parse(strings.Join(strings.Fields(typed), "")); err == nil {
		return h, d, d > 0 && d <= quietMost
	}
	part := timesRule.FindStringSubmatch(typed)
	if part == nil {
		return h, 0, false
	}
	minutes := func(hour, minute string) int {
		n, _ := strconv.Atoi(hour)
		m, _ := strconv.Atoi(minute)
		if n > 24 || m > 59 || n == 24 && m > 0 {
			ok = false
		}
		return n*60 + m
	}
	ok = true
	h.From, h.Until = minutes(part[1], part[2])%(24*60), minutes(part[3], part[4])
	return h, 0, ok && h.From != h.Until
}

// hours are quiet hours as people write them: "22:00–7:00"; empty: none.
func hours(h *conversation.Hours) string {
	if h == nil {
		return ""
	}
	return fmt.Sprintf("%d:%02d–%d:%02d", h.From/60, h.From%60, h.Until/60, h.Until%60)
}

// runQuiet is /quiet [22:30-6:45 | 2h | off], which shows the page afterwards.
func (s *Settings) runQuiet(ctx context.Context, in chat.Incoming, arg string) error {
	_, _, ok := parseQuiet(arg)
	if !ok && arg != "" && arg != conversation.Off {
		return s.chat.Say(ctx, in.To, s.chat.In(in.To).Say(i18n.QuietUsage))
	}
	if arg != "" {
		now := conversation.AskedAt(in.Sent, s.chat.Now())
		if err := s.chat.Book.Set(in.To.ChatID, func(set *conversation.Settings) { chooseQuiet(set, arg, now) }); err != nil {
			return err
		}
	}
	return s.chat.Pages.Open(ctx, in, page+"/"+quiet)
}
