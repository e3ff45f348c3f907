package sessions

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/talk"
)

// list shows the sessions with a link each, and the windows that belong to none.
func (s *Sessions) list(ctx context.Context, in chat.Incoming, _ string) error {
	if err := s.chat.Pages.Open(ctx, in, listPage); err != nil {
		return err
	}
	return s.Others.Post(ctx, in.To, s.Others.All(ctx))
}

// idleOption is a button under the list that asks whether to end the idle sessions.
const idleOption = "idle"

// screen returns the list as it is now: sessions that wait for a person, then working ones, ones
// with unopened messages, and the rest; of each the oldest first. The buttons have the same order.
func (s *Sessions) screen(ctx context.Context, to address.Conversation) chat.Screen {
	p := s.chat.In(to)
	var entries []entry
	var open []port.Session
	var running []uuid.UUID
	ended, quiet := make(map[i18n.Key]int), false
	known, unread := s.chat.Book.Records.List()
	for _, r := range known {
		if r.Resumable {
			ended[chat.StateKey(r)]++
		}
		if Endable(r) {
			open = append(open, r)
		}
		if r.State == port.StateRunning {
			running = append(running, r.ID)
		}
	}
	looks, err := s.Agents.Inspect(ctx, running...)
	for _, r := range open {
		e := s.entryOf(ctx, p, to, r, looks[r.ID], s.chat.Book.IsAnyones(to, r))
		e.state = strings.TrimPrefix(s.chat.Machine(to)+" · "+e.state, " · ")
		entries, quiet = append(entries, e), quiet || e.quiet
	}
	s.sortByMachine(entries)
	open = each.As(entries, func(e entry) port.Session { return e.session })
	lines := []render.Text{render.Plain(p.Say(i18n.ListTitle, i18n.Args{"Count": len(entries)}))}
	switch {
	case unread != nil || err != nil:
		lines = append([]render.Text{render.Plain(p.Unread(errors.Join(unread, err)))}, lines[:min(len(entries), 1)]...)
	case len(entries) == 0:
		lines[0] = render.Plain(p.Say(i18n.ListEmpty))
	}
	lines = append(lines, s.byMachine(entries)...)
	shown := chat.Screen{Text: chat.Lines(lines...), Options: s.switches(to, open, looks)}
	if len(ended) > 0 {
		var all []string
		for _, key := range endings {
			if n := ended[key.state]; n > 0 {
				all = append(all, p.Say(key.count, i18n.Args{"Count": n}))
			}
		}
		more := p.Say(i18n.ListEnded, i18n.Args{"Details": strings.Join(all, p.Say(i18n.JoinNames))})
		shown.Text = render.Join(shown.Text, render.Plain("\n\n"+more))
	}
	var anyway []card.Option
	if n := len(s.Questions.Waits()); n > 0 {
		ask := card.Option{Text: p.Say(i18n.ButtonQuestions, i18n.Args{"Count": n}), Value: chat.QuestionsLink}
		shown.Options = append(shown.Options, []card.Option{ask})
	}
	if quiet {
		shown.Options = append(shown.Options, []card.Option{p.Option(i18n.ButtonEndIdle, idleOption, "")})
	}
	for _, e := range entries {
		if e.scheduled && len(anyway) < maxSwitch {
			word := p.Say(i18n.ButtonArchiveNameAnyway, i18n.Args{"Name": e.name})
			anyway = append(anyway, card.Option{Text: word, Value: chat.OfLaunch(chat.AnywayLink, e.session), Session: e.session.ID})
		}
	}
	shown.Options = append(shown.Options, chat.Rows(1, anyway...)...)
	return shown
}

// endings are the final states of a session, as they are counted.
var endings = []struct{ state, count i18n.Key }{
	{i18n.StateArchived, i18n.CountArchived}, {i18n.StateCompleted, i18n.CountCompleted}, {i18n.StateCrashed, i18n.CountCrashed},
	{i18n.StateLost, i18n.CountLost}, {i18n.StateFailed, i18n.CountFailed}, {i18n.StateAbandoned, i18n.CountAbandoned},
}

// listPage is the name of the page of /list.
const listPage = "list"

// view is the address of a page of /list.
type view struct {
	Part int    `json:"part,omitempty"` // of a text that is too long for one message
	Back string `json:"back,omitempty"` // the address that the page was opened from
}

// page is the page of /list.
type page struct{ *Sessions }

// draw draws the list.
func (s page) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, screen := chat.ViewAt[view](v.Rest), s.screen(ctx, v.To)
	parts := screen.Text.Split(render.Limit)
	part := card.PartOf(len(parts), 1, at.Part)
	turns := part.Turns(func(page int) card.Option {
		return card.Option{Value: chat.ToPage(chat.Address(listPage, view{page, at.Back}))}
	})
	screen.Text, screen.Options, screen.Back = parts[part.Page], append(screen.Options, turns), at.Back
	return screen, nil
}

// do follows a link of the page, which is then redrawn.
func (s page) do(ctx context.Context, v chat.Visit, what string) (a chat.Answer, next string, err error) {
	t := chat.Tap{From: v.By, To: v.To, Card: card.Tapped{Option: what}}
	a, err = s.Follow(ctx, t, func(context.Context) error { return nil })
	return a, "", err
}

// tapLink follows a link of another message, which then has no options. If the tap changed the
// current session of the place, the message reports it.
func (s *Sessions) tapLink(ctx context.Context, t chat.Tap) (chat.Answer, error) {
	before := s.chat.Book.CurrentID(t.To, t.From)
	return s.Follow(ctx, t, func(ctx context.Context) error {
		cards := chat.NewCards[struct{}](s.chat, t.Card.Kind)
		c, ok := cards.Get(t.Card.Key)
		now, some := s.chat.Book.CurrentSession(t.To, t.From)
		if !ok || !some || now.ID == before {
			return cards.End(ctx, t, "")
		}
		return cards.Close(ctx, t.Card.Key, chat.Paragraphs(c.Content.Text, s.chat.NowCurrentText(t.To, t.From, now.Name)))
	})
}

// Follow carries out a link and calls draw for the message. The session's worker decides whether a
// session can come back: news of an end precedes its record on disk, and a person may be quicker
// than that.
func (s *Sessions) Follow(ctx context.Context, t chat.Tap, draw func(context.Context) error) (chat.Answer, error) {
	word, rest, _ := strings.Cut(t.Card.Option, ":")
	named, _, _ := strings.Cut(rest, ":")
	id, _ := uuid.Parse(named)
	r, ok := s.chat.Book.Records.Get(id)
	q, _ := s.chat.Accepted(port.Restore{Session: id}, t)
	switch {
	case word == idleOption:
		return chat.Do(func(ctx context.Context) error { return s.Idle.Offer(ctx, t) })
	case word == chat.QuestionsLink:
		return chat.Do(func(ctx context.Context) error { return s.Questions.Step(ctx, t.To) })
	case word == allLink:
		return chat.Do(func(ctx context.Context) error {
			if len(openIn(s.chat.Book.Known())) == 0 {
				return s.chat.ReplyNone(ctx, chat.Incoming{Message: conversation.Message{To: t.To}}, "", nil)
			}
			return s.pickCurrent(ctx, t.To, chat.Among{})
		})
	case !ok:
	case word == chat.RetryLink && isNotClean(r) && chat.OfLaunch(word, r) == t.Card.Option:
		return s.Retry(t, r)
	case word == chat.GoOnLink && chat.OfLaunch(word, r) == t.Card.Option:
		return chat.Do(func(ctx context.Context) error {
			if back, err := s.Continue(ctx, q); err != nil || !back {
				return err
			}
			return draw(ctx)
		})
	case word == chat.OpenLink && (Endable(q.Session) || t.Card.Kind == chat.NoticeKind):
		return s.open(ctx, t, q.Session, draw)
	case word == chat.HereLink && Endable(r):
		return chat.Do(func(ctx context.Context) error {
			if err := s.makeOpenCurrent(ctx, q); err != nil {
				return err
			}
			return draw(ctx)
		})
	case word == chat.AnywayLink && r.State == port.StateRunning && chat.OfLaunch(word, r) == t.Card.Option:
		return chat.Do(func(ctx context.Context) error {
			in := chat.Incoming{Message: conversation.Message{To: t.To}, From: t.From}
			if err := s.AskEnd(port.StateArchived, i18n.KillConfirm, i18n.ButtonArchive)(ctx, in, r); err != nil {
				return err
			}
			return draw(ctx)
		})
	case word == chat.UndoLink && r.State == port.StateRestoring && !comesBack(r): // the second of two taps
		return chat.Answer{Text: s.chat.In(t.To).Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name}), Then: draw}, nil
	case word == chat.ResumeLink, word == chat.UndoLink:
		q.Undo = word == chat.UndoLink
		return chat.Do(func(ctx context.Context) error { return s.back(ctx, q, draw) })
	}
	text := i18n.StaleButton
	if !ok {
		text = i18n.SessionGone
	}
	return chat.Answer{Text: s.chat.In(t.To).Say(text), Then: draw}, nil
}

// late answers a tap on a link that was followed already.
func (s *Sessions) late(t chat.Tap) string {
	r, _ := s.chat.Book.Records.Get(t.Card.Session)
	if !r.State.Open() {
		return ""
	}
	return s.chat.In(t.To).Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})
}

// touch is what a tap on the name of an open session does.
type touch int

const (
	takes touch = iota // the session is the current one then, and shown where the person tapped
	looks              // the person sees its last answer, and nothing changes for the others
	hides              // the people there see that it is shown elsewhere, and none of its words
)

// touchOf decides what a tap does in a place. Looking is not taking: what others read in another
// chat stays there, and its words do not come before a group. One person alone takes it with one
// tap. several: more than one person may speak; read: people read the session where it is shown.
func touchOf(to address.Conversation, r port.Session, several, read bool) touch {
	switch {
	case !several || r.Conversation.ChatID == to.ChatID || r.Conversation.ChatID == 0:
		return takes
	case conversation.IsHidden(r, to):
		return hides
	case read:
		return looks
	default:
		return takes
	}
}

// open carries out a tap on a session's name, and draws the tapped message then.
func (s *Sessions) open(ctx context.Context, t chat.Tap, r port.Session, draw func(context.Context) error) (chat.Answer, error) {
	book := s.chat.Book
	switch touchOf(t.To, r, book.Several(), book.MayShow(r.Conversation) && book.IsInFront(r)) {
	case hides:
		return chat.Answer{Text: s.chat.In(t.To).Say(i18n.ShownElsewhere, i18n.Args{"Name": r.Name}), Then: draw}, nil
	case looks:
		return s.look(t, r, draw)
	}
	return s.makeCurrent(ctx, t, r, draw)
}

// look shows the last answer of a session that people read in another chat, and says where it is
// and to whom the next text goes. A reply to what it shows is for the session.
func (s *Sessions) look(t chat.Tap, r port.Session, draw func(context.Context) error) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		p := s.chat.In(t.To)
		where := p.Text(i18n.ShownElsewhere, i18n.Args{"Name": r.Name})
		if link := s.chat.LinkTo(r.Conversation, 0); link != "" {
			where = render.Link(where, link)
		}
		next := p.Text(i18n.LookOnly, i18n.Args{"Name": r.Name})
		if now, _ := s.chat.Book.CurrentSession(t.To, t.From); now.State.Live() && now.ID != r.ID {
			next = p.Text(i18n.LookBeside, i18n.Args{"Name": r.Name, "Current": now.Name})
		}
		show := p.Link(i18n.ButtonShowHere, chat.HereLink, r.ID, "")
		if err := s.chat.Post(ctx, card.Content{To: t.To, Session: r.ID, Text: chat.Lines(where, next), Options: show}); err != nil {
			return err
		}
		s.Look(r, t.To)
		if err := s.Questions.Chosen(ctx, t.To, r.ID); err != nil {
			return err
		}
		return draw(ctx)
	})
}

// makeCurrent makes a session the current one before the tap is answered: a text that follows the
// tap goes to the session. Then the session is shown where the person tapped, or in its own topic
// there, and the tapped message is drawn. Of an ended session only the last answer is shown.
func (s *Sessions) makeCurrent(ctx context.Context, t chat.Tap, r port.Session,
	draw func(context.Context) error) (chat.Answer, error) {
	at := s.chat.Book.Home(t.To, r)
	s.Recall(r, at) // before it is current: then its reader shows what is newer
	opened := chat.Answer{Text: "→ " + glyph.Name(r.Name), Then: draw}
	if !Endable(r) {
		return opened, nil
	}
	opened.Then = func(ctx context.Context) error {
		if err := s.chat.Book.MoveTo(ctx, at, r); err != nil {
			return err
		}
		if err := s.chat.Lead(ctx, t.To, r, at); err != nil {
			return err
		}
		if err := s.Questions.Chosen(ctx, at, r.ID); err != nil {
			return err
		}
		return draw(ctx)
	}
	return opened, s.chat.Book.MakeCurrent(ctx, at, t.From, r.ID)
}

// back resumes a session, and draws the tapped message when the session is back.
func (s *Sessions) back(ctx context.Context, q chat.Resume, draw func(context.Context) error) error {
	if back, err := s.Resume(ctx, q); err != nil || !back {
		return err
	}
	return draw(ctx)
}

// The widths of one line on a phone, in columns of a terminal: of our words, and of code.
const (
	lineRoom = 40
	codeRoom = 32
)

// need is the group of a session in a list.
type need int

const (
	needsPerson need = iota // a person has to answer it
	works
	unreads // it has unopened messages
	rests
)

// entry describes a session in two lines of a list: its state and its last question.
type entry struct {
	need
	session           port.Session
	current           bool
	sign, name, state string
	more              []string // shown as far as there is room
	footer            string
	quiet             bool // it may be ended with the idle ones
	scheduled         bool // it might, but for schedules of its own
}

// entryOf returns a session's entry in a place; l is the state of a running agent. What the place does
// not see counts for [End idle] all the same.
func (s *Sessions) entryOf(ctx context.Context, p chat.Phrases, to address.Conversation, r port.Session, l port.Status, current bool) entry {
	own := l
	own.Schedules = 0
	unused, scheduled := r.State == port.StateRunning && s.Idle.Spared(p, r, own) == "", l.Schedules > 0
	r, hidden := s.chat.Book.SeenIn(to, r)
	if hidden {
		l = port.Status{Now: talk.Activity{Phase: l.Now.Phase}}
	}
	e := entry{need: works, quiet: unused && !scheduled, scheduled: unused && scheduled && !hidden, session: r, sign: "⏳", current: current,
		name: chat.ShownName(r.Name), state: p.Words.Say(chat.StateKey(r))}
	switch {
	case r.State == port.StateRunning:
		e.footer = chat.FirstLine(l.LastQuestion)
		asks := attention.In(s.chat, r, l.Now)
		e.need, e.sign, e.state = doing(p, l, asks)
		e.more = besides(p, r.Mode, l)
		if sign := asks.Sign(p.Words); sign != "" {
			e.state += " · " + sign
		}
		e.state = strings.Join(append([]string{e.state}, p.AtWindow(l)...), " · ")
		if unread(s.chat.Book, r) {
			e.need = min(e.need, unreads)
			e.more = append([]string{p.Say(i18n.ListUnread)}, e.more...)
		}
	case isNotClean(r):
		e.need, e.sign = rests, "⚠"
		if len(r.Failures) > 0 {
			note := p.FailureTexts(r)[0] // the first reason is enough here
			e.state = p.Say(i18n.Noted, i18n.Args{"What": e.state, "Note": note})
		}
	}
	if r.Loop != nil { // the last question is the loop's
		e.footer = attention.Loop(p, r.Loop)
	}
	if e.footer = ansi.Truncate(e.footer, codeRoom, "…"); e.footer == "" {
		e.footer = s.chat.ShortTail(r.Dir) // a name in it stays whole
	}
	if hidden { // its folder has one element
		return e
	}
	if branch, err := s.chat.Folder.Branch(ctx, r.Dir); err == nil && branch != "" {
		e.footer = ansi.Truncate("("+chat.Head(glyph.Name(branch), codeRoom/2)+") "+e.footer, codeRoom, "…")
	}
	return e
}

// doing is the sign and the words of an agent's activity.
func doing(p chat.Phrases, l port.Status, asks attention.Attention) (n need, sign, state string) {
	n, sign, state = rests, "💤", p.NowText(l.Now)
	switch {
	case asks.Question && l.Now.Phase.Waiting() && l.Now.What != "":
		return needsPerson, "❓", asked(p, l.Now.What)
	case asks.Question:
		return needsPerson, "❓", p.Words.Say(i18n.ListWaits)
	case l.Now.Works():
		return works, "⏳", state
	case l.Now.Phase == talk.PhaseUnknown || l.Now.Phase == "":
		sign = "•"
	case l.Now.Phase != talk.PhaseIdle:
		sign = "⚠"
	}
	return n, sign, state
}

// asked names the subject of a request in a few letters. The sign says that it is a request.
func asked(p chat.Phrases, tool string) string {
	if talk.KindOf(tool) != talk.AskPermission {
		return p.AskedText(tool)
	}
	return chat.ShownName(tool)
}

// besides returns the bypass mode of an agent, or auto mode in its place, how full its context is, its cost, and its model.
// The last three are known if the status line has reported.
func besides(p chat.Phrases, mode string, l port.Status) []string {
	var text []string
	switch mode {
	case "bypass":
		text = append(text, p.Say(i18n.ModeKey.Of(string(port.ModeBypass))))
	case string(port.ModeAuto):
		text = append(text, p.Say(i18n.ModeKey.Of(mode)))
	}
	if u := l.Usage; u != nil {
		if u.Context >= 0 {
			text = append(text, p.Words.Say(i18n.ListContext, i18n.Args{"Percent": p.Percent(u.Context)}))
		}
		if u.Cost >= 0.005 { // otherwise it shows $0.00
			text = append(text, p.Dollars(u.Cost, 2))
		}
		if model := chat.Head(glyph.Name(u.Model), 24); model != "" {
			text = append(text, model)
		}
	}
	return text
}

// text is the entry in two lines. Foreign text is code, so that nothing in it can be tapped.
func (e entry) text() render.Text {
	before := e.sign + " "
	if e.current {
		before += "✓ "
	}
	said, room := " · "+chat.WithAgent(e.state, e.session), lineRoom-ansi.StringWidth(before+e.name)
	for _, one := range e.more {
		if next := said + " · " + one; ansi.StringWidth(next) <= room {
			said = next
		}
	}
	return render.Join(render.Plain(before), render.Bold(e.name), render.Plain(said+"\n"),
		render.Code(e.footer))
}

const (
	maxSwitch = 8 // sessions with a button under a list
	maxRow    = 3 // buttons in the row of a card
)

// allLink shows all sessions to choose one from.
const allLink = "all"

// switches are the buttons under a list, which make a session the current one of a plain chat: one
// for each of the first eight open sessions, the current session among them, and, if there are
// more, one that shows all. looks has the state of each running one.
func (s *Sessions) switches(to address.Conversation, open []port.Session, looks map[uuid.UUID]port.Status) [][]card.Option {
	most := min(len(open), maxSwitch)
	shown := slices.Clone(open[:most])
	if i := slices.IndexFunc(open[most:], func(r port.Session) bool { return s.chat.Book.IsAnyones(to, r) }); i >= 0 {
		shown[most-1] = open[most+i]
	}
	var options []card.Option
	for _, r := range shown {
		options = append(options, option(s.chat, to, r, s.chat.Book.IsAnyones(to, r), looks[r.ID].Now))
	}
	if len(open) > len(options) {
		options = append(options, allOption(s.chat.In(to), len(open)))
	}
	return chat.Rows(2, options...)
}

// Row returns the buttons under the card of a session: the newest open sessions except the current
// one, as last noted. It returns none in topics and if there is no other session.
func (s *Sessions) Row(to address.Conversation) (row []card.Option) {
	now := s.chat.Book.CurrentID(to, 0)
	open := slices.DeleteFunc(s.chat.Book.Known(), func(r port.Session) bool { return !isLive(r) || r.ID == now })
	if to.ThreadID != 0 {
		return nil
	}
	shown := open
	if len(open) > maxRow {
		shown = open[len(open)-maxRow+1:]
	}
	for _, r := range shown {
		row = append(row, option(s.chat, to, r, false, r.Now))
	}
	if len(shown) < len(open) {
		row = append(row, allOption(s.chat.In(to), len(open)+1))
	}
	return row
}

func allOption(p chat.Phrases, count int) card.Option {
	return card.Option{Text: p.Say(i18n.ButtonAll, i18n.Args{"Count": count}), Value: allLink}
}

// option opens a session; of a session that is not cleaned up, it tries that again.
func option(c *chat.Chat, to address.Conversation, r port.Session, current bool, now talk.Activity) card.Option {
	name, words := glyph.Name(r.Name), c.In(to)
	if isNotClean(r) {
		args := i18n.Args{"What": words.Say(i18n.ButtonRetry), "Said": name}
		return card.Option{Text: words.Say(i18n.Named, args), Value: chat.OfLaunch(chat.RetryLink, r), Session: r.ID}
	}
	label := switchLabel(words, name, current, unread(c.Book, r), now, attention.In(c, r, now))
	return card.Option{Text: label, Value: chat.OpenLink + ":" + r.ID.String(), Session: r.ID}
}

// unread reports whether a session has unopened messages.
func unread(book *conversation.Book, r port.Session) bool {
	mark, known := book.ReadMarkOf(r.Conversation, r.ID)
	return known && mark.Since != nil
}

// switchLabel is the name of a session between two signs: that it is the current one, or has
// unopened messages; and that it works, waits for a person, cannot continue, or has undecided
// messages.
func switchLabel(p chat.Phrases, name string, current, unread bool, now talk.Activity, asks attention.Attention) string {
	switch {
	case current:
		name = "✓ " + name
	case unread:
		name = "● " + name
	}
	switch {
	case asks.Question:
		return name + " ❓"
	case now.Works():
		name += " ⏳"
	case now.Phase == talk.PhaseLoggedOut, now.Phase == talk.PhaseLimited, now.Phase == talk.PhaseAPIError, now.Phase == talk.PhaseBlocked:
		name += " ⚠"
	}
	return strings.TrimSpace(name + " " + asks.Sign(p.Words))
}
