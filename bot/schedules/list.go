package schedules

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/planned"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/refusal"
)

const (
	listPage = "schedules"
	pageSize = 8
	perRow   = 4
)

// view is the address of a page: the list, or one schedule.
type view struct {
	Schedule uuid.UUID      `json:"schedule,omitzero"`
	Page     int            `json:"page,omitempty"`
	Removed  *port.Schedule `json:"removed,omitempty"`
	By       int64          `json:"by,omitempty"` // who has removed it
}

func (v view) address() string { return chat.Address(listPage, v) }

// draw shows all schedules, the next one first, or one of them.
func (s *Schedules) draw(ctx context.Context, visit chat.Visit) (chat.Screen, error) {
	v, w := chat.ViewAt[view](visit.Rest), words{s.chat.In(visit.To)}
	if v.Schedule != uuid.Nil {
		return s.drawOne(ctx, w, v, visit.To)
	}
	all, err := s.list(ctx)
	if refusal.Lacks(err, "") {
		return chat.Screen{}, err
	}
	slices.SortStableFunc(all, func(a, b port.Schedule) int { return a.Next.Compare(b.Next) })
	part := card.PartOf(len(all), pageSize, v.Page)
	lines := []render.Text{render.Bold(w.Say(i18n.SchedulesTitle))}
	switch {
	case err != nil:
		lines = append(lines, render.Plain(w.Unread(err)))
	case len(all) == 0:
		lines = []render.Text{render.Plain(w.Say(i18n.SchedulesNone))}
	}
	var buttons []card.Option
	for i, one := range all[part.First:part.Last] {
		number := strconv.Itoa(part.First + i + 1)
		said := chat.Joined(w.Say(i18n.JoinParts), w.when(one), render.Plain(w.next(one)))
		title := w.Text(i18n.Named, i18n.Args{"What": chat.BoldName(s.session(one)), "Said": said})
		line := render.Join(render.Plain(number+". "), title)
		if !conversation.IsHidden(s.session(one), visit.To) {
			line = chat.Lines(line, render.Plain(chat.Head(w.prompt(one.Text), shownLine)))
		}
		lines = append(lines, line)
		buttons = append(buttons, card.Option{Text: number, Value: chat.ToPage(view{Schedule: one.ID, Page: part.Page}.address())})
	}
	screen := chat.Screen{Text: chat.Lines(append(lines, render.Plain(w.Place(part)))...), Options: chat.Rows(perRow, buttons...)}
	turns := part.Turns(func(page int) card.Option { return card.Option{Value: chat.ToPage(view{Page: page}.address())} })
	screen.Options = append(screen.Options, append(turns, w.Option(i18n.ButtonRefresh, chat.ToPage(view{Page: part.Page}.address()), "")))
	return screen, nil
}

// shownLine bounds the letters of a prompt in the list.
const shownLine = 60

// session is the session of a schedule. A forgotten one has its former name alone.
func (s *Schedules) session(of port.Schedule) port.Session {
	r, known := s.chat.Book.Records.Get(of.Session)
	if !known {
		r.Name = of.Name
	}
	return r
}

// drawOne shows a schedule: it also confirms that it was made.
func (s *Schedules) drawOne(ctx context.Context, w words, v view, to outbox.Conversation) (chat.Screen, error) {
	screen := chat.Screen{Back: view{Page: v.Page}.address()}
	if of := v.Removed; of != nil {
		screen.Text, screen.Back = w.Text(i18n.ScheduleRemoved, i18n.Args{"Name": s.session(*of).Name, "Time": w.when(*of)}), ""
		if !conversation.IsHidden(s.session(*of), to) {
			screen.Text = chat.Paragraphs(screen.Text, render.Quote(glyph.Signs(of.Text)).Begin(shownText))
		}
		screen.Text = chat.Lines(screen.Text, s.chat.By(to, v.By))
		return screen, nil
	}
	all, err := s.list(ctx)
	i := slices.IndexFunc(all, func(one port.Schedule) bool { return one.ID == v.Schedule })
	if i < 0 && err != nil {
		return screen, err
	}
	if i < 0 {
		screen.Text = render.Plain(w.Say(i18n.ScheduleGone))
		return screen, nil
	}
	of, r := all[i], s.session(all[i])
	lines := []render.Text{w.Text(i18n.ScheduleTitle, i18n.Args{"Name": r.Name, "Time": w.when(of)})}
	if of.Barred {
		lines[0] = w.asked(r, of)
	}
	if !of.Next.IsZero() {
		next := w.Say(i18n.ScheduleNext, i18n.Args{"At": w.Moment(of.Next)})
		lines = append(lines, render.Plain(w.Say(i18n.Noted, i18n.Args{"What": next, "Note": w.zone(of.Zone)})))
	}
	work, err := s.brief(ctx, r.ID)
	if err != nil {
		return screen, err
	}
	mode := cmp.Or(w.ModeText(work.Permissions, r.Mode), w.Say(i18n.SettingDefault))
	lines = append(lines, render.Plain(w.Say(i18n.StatusMode, i18n.Args{"Mode": mode})), w.last(r, of))
	screen.Session = r.ID
	if screen.Text = chat.Lines(lines...); !conversation.IsHidden(r, to) {
		screen.Text = chat.Paragraphs(screen.Text, render.Quote(glyph.Signs(of.Text)).Begin(shownText))
	}
	screen.Options = w.options(of)
	return screen, nil
}

// options are the buttons of a schedule.
func (w words) options(of port.Schedule) [][]card.Option {
	if of.Barred {
		return planned.Options(w.Phrases)
	}
	return chat.Rows(1, w.Option(i18n.ButtonRemove, planned.Remove, outbox.Danger))
}

// shownText bounds the shown letters of a text.
const shownText = 2000

// next is the next occurrence of a schedule in a line, or that its last prompt is sent.
func (w words) next(of port.Schedule) string {
	switch {
	case of.Barred:
		return w.Say(i18n.LoopNowKey.Of(string(port.LoopPaused)))
	case of.Next.IsZero():
		return w.Say(i18n.ScheduleRuns)
	}
	return w.Say(i18n.ScheduleNext, i18n.Args{"At": w.Moment(of.Next)})
}

// last is the last run of a schedule; empty before the first.
func (w words) last(r port.Session, of port.Schedule) render.Text {
	if of.Last == nil {
		return render.Text{}
	}
	said := w.reason(r, *of.Last)
	switch {
	case said != "":
	case of.Last.Late > 0:
		said = w.Say(i18n.ScheduleWasLate, i18n.Args{"Age": w.Age(of.Last.Late)})
	default:
		said = w.Say(i18n.ScheduleWasSent)
	}
	line := w.Say(i18n.ScheduleLast, i18n.Args{"At": w.Moment(of.Last.At), "Said": said})
	if of.Last.Row > 0 {
		line = w.Sentences(render.Plain(line), render.Plain(w.Say(i18n.ScheduleRow, i18n.Args{"Count": of.Last.Row + 1}))).Text
	}
	return render.Plain(line)
}

// act takes over the shown schedule, or removes it: then the page keeps its text.
func (s *Schedules) act(ctx context.Context, visit chat.Visit, what string) (chat.Answer, string, error) {
	v := chat.ViewAt[view](visit.Rest)
	all, unread := s.list(ctx)
	i := slices.IndexFunc(all, func(one port.Schedule) bool { return one.ID == v.Schedule })
	if i < 0 {
		return chat.Answer{}, "", unread
	}
	if what == planned.Mine {
		err := s.chat.Book.BringHome(ctx, s.session(all[i]), visit.By)
		if err == nil {
			err = s.all.SetPlanner(ctx, all[i].Session, v.Schedule, port.Planner{By: visit.By})
		}
		return chat.Answer{}, "", err
	}
	of, err := s.all.Remove(ctx, all[i].Session, v.Schedule)
	if refusal.Is(err, refusal.NotFound) {
		return chat.Answer{}, "", nil
	}
	if r := s.session(of); err == nil {
		said := i18n.Args{"Name": r.Name, "Time": words{s.chat.In(r.Conversation)}.when(of)}
		err = s.chat.TellShown(ctx, visit.To, r, visit.By, i18n.ScheduleRemoved, said)
	}
	return chat.Answer{}, view{Schedule: v.Schedule, Removed: &of, By: visit.By}.address(), err
}
