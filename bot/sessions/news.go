package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/lazyregexp"
	"ccbot/port"
	"ccbot/port/news"
)

// begin is the payload of a message about the begin of a session.
type begin struct {
	Launch string // that has not been ready yet; empty: the message reports that it is
}

// onNews reports begins and ends of sessions, and an agent that makes no progress. An archive has a
// receipt, with the next steps.
func (s *Sessions) onNews(ctx context.Context, r port.Session, n news.News) error {
	switch n := n.(type) {
	case news.Ready:
		return s.reportReady(ctx, r, n)
	case news.Retrying:
		p := s.chat.In(r.Conversation)
		text := p.Text(i18n.RequestFails, i18n.Args{"Name": r.Name, "Agent": chat.AgentName(r), "Reason": chat.FailureText(n.Now.What), "At": p.At(n.Now.Until)})
		return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text})
	case news.Opened:
		return reportOpened(ctx, s, r, n)
	case news.Moved:
		return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: s.movedText(r), News: chat.NewsOf(r)})
	case news.Spared:
		if r.State.HasEnded() || r.Conversation.ChatID == 0 { // it has ended since, or nobody reads of it
			return nil
		}
		var errs []error
		for _, to := range s.chat.Book.Seen(r.Conversation) {
			p := s.chat.In(to)
			text := p.Text(i18n.SparedScheduled, i18n.Args{"Name": r.Name, "Age": p.Age(n.Quiet), "What": p.Say(i18n.ListSchedules, i18n.Args{"Count": n.Schedules})})
			anyway := chat.Rows(1, card.Option{Text: p.Say(i18n.ButtonArchiveAnyway), Value: chat.OfLaunch(chat.AnywayLink, r), Session: r.ID})
			errs = append(errs, s.chat.Post(ctx, card.Content{To: to, Session: r.ID, Text: text, Options: anyway, News: chat.NewsOf(r), Rank: outbox.Talk}))
		}
		return errors.Join(errs...)
	case news.Stopped:
		if n.Together && r.Resumable && len(r.Prompts) == 0 && isOrdinary(n) {
			return nil // another feature has reported it, with others
		}
		places := []address.Conversation{r.Conversation}
		if r.Conversation.ChatID != 0 { // else it is at the desk only
			places = s.chat.Book.Seen(r.Conversation)
		}
		var errs []error
		for _, to := range places {
			p := s.chat.In(to)
			links := p.ResumeLink(r)
			if r.Resumable && n.Quiet == 0 {
				links = p.Link(i18n.ButtonUndo, chat.UndoLink, r.ID, "")
			}
			receipt := card.Content{To: to, Session: r.ID, Text: ReceiptText(p, r, n, s.chat.Who(to, n.By), s.Kept(r)), Options: links, News: chat.NewsOf(r)}
			if n.Quiet != 0 { // nobody asked for it
				receipt.Rank = outbox.Talk
			}
			errs = append(errs, s.chat.Post(ctx, receipt))
		}
		return errors.Join(errs...)
	case news.Ended, news.Failed, news.Lost:
		return s.reportEnd(ctx, r, n)
	}
	return nil
}

// reportBegin reports that a session starts or comes back, in a message that will also report that
// it is ready.
func (s *Sessions) reportBegin(ctx context.Context, to address.Conversation, r port.Session, text render.Text) error {
	content := card.Content{To: to, Text: text, Session: r.ID, Renew: true}
	return s.begins.Post(ctx, content, begin{chat.OfLaunch(beginKind, r)})
}

// reportOpened reports a session that its machine has opened by itself, once. An open session stays
// the current one.
func reportOpened(ctx context.Context, s *Sessions, r port.Session, n news.Opened) error {
	reported := func(c card.Card[begin]) bool { return c.Payload.Launch == chat.OfLaunch(beginKind, r) }
	_, known := s.chat.Book.Records.Get(r.ID) // a forgotten one would hold up later news
	if !known || !s.chat.Book.MayShow(r.Conversation) || slices.ContainsFunc(s.begins.List(), reported) {
		return nil
	}
	if n.Back {
		_, err := CLI{s}.Resumed(ctx, r.ID)
		return err
	}
	at, err := s.chat.Book.Place(ctx, r.Conversation, port.Session{Name: r.Name}, r.ID.String())
	if err == nil {
		err = s.chat.Book.MoveTo(ctx, at, r)
	}
	if err == nil {
		err = s.chat.Book.SettleCurrent(ctx, at, 0, []port.Session{r})
	}
	if err != nil {
		return err
	}
	return reportStarted(ctx, s, r, at)
}

// reportReady reports that a session takes prompts, and which settings of its project may keep
// permission requests from the chat. It edits the message of the session's begin, if there is one,
// unless people have something to tap.
func (s *Sessions) reportReady(ctx context.Context, r port.Session, n news.Ready) error {
	if reported, err := s.Together.onNews(ctx, r, n, len(n.Answerers) == 0); (reported || err != nil) && len(n.Answerers) == 0 {
		return err
	}
	p := s.chat.In(r.Conversation)
	said := p.Text(i18n.Ready, i18n.Args{"Name": r.Name})
	if now, _ := s.chat.Book.CurrentSession(r.Conversation, r.Owner); now.State.Live() && now.ID != r.ID {
		said = p.Text(i18n.ReadyBeside, i18n.Args{"Name": r.Name, "Current": now.Name})
	}
	if n.Moved {
		said = chat.Lines(s.movedText(r), said)
	}
	if n.InAuto {
		said = chat.Lines(said, p.Text(i18n.BeganInAuto, i18n.Args{"Name": r.Name}))
	}
	said = chat.Lines(said, render.Plain(chat.ProjectAnswers(p.Words, n.Answerers)))
	if cut := p.InterruptionText(r.Interruption); !cut.Blank() && len(r.Prompts) == 0 {
		said = render.Join(said, render.Plain("\n"), cut)
		return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: said, Options: chat.Rows(1, continueLink(p, r)...), News: chat.NewsOf(r)})
	}
	for _, c := range s.begins.List() {
		if c.Payload.Launch == chat.OfLaunch(beginKind, r) && c.Content.To == r.Conversation {
			c.Content.Text, c.Content.News = render.Join(c.Content.Text, render.Plain("\n"), said), chat.NewsOf(r)
			if c.Sent { // otherwise a place that moves would have it again
				return s.begins.CloseFor(ctx, c.Key, c.Content.Text, c.Content.News)
			}
			return s.begins.Show(ctx, c.Key, c.Content, begin{})
		}
	}
	return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: said, News: chat.NewsOf(r)})
}

// movedText names the folder into which the agent of a session has gone.
func (s *Sessions) movedText(r port.Session) render.Text {
	return s.chat.In(r.Conversation).Text(i18n.WorksIn, i18n.Args{"Name": r.Name, "Dir": render.Code(s.chat.Short(r.Dir))})
}

// reportEnd reports how a session ended by itself; if it crashed or never was ready, with the last
// screen. A failure of the session that people read makes a sound.
func (s *Sessions) reportEnd(ctx context.Context, r port.Session, reported news.News) error {
	if _, err := s.Together.onNews(ctx, r, reported, false); err != nil {
		return err
	}
	p := s.chat.In(r.Conversation)
	screen := ""
	word, args := exitOf(r)
	switch n := reported.(type) {
	case news.Lost:
		word = i18n.Lost
	case news.Failed:
		word, screen = failedStart(n), n.Screen
		args["Agent"], args["In"], args["Dir"] = cmp.Or(r.Product, "Claude Code"), p.Short(n.In), p.Short(r.Dir)
	case news.Ended:
		if n.Attach != "" {
			word, args["Command"] = i18n.EndedBackground, render.Code(n.Attach)
		} else if n.ByPerson {
			word = i18n.EndedAsked
		} else if word != i18n.Ended {
			screen = n.Screen
		}
	}
	foot := p.InterruptionText(r.Interruption)
	if waiting := queuedText(p, r, s.Kept(r)); !waiting.Blank() {
		foot = render.Join(waiting, render.Plain("\n"), foot)
	}
	links := chat.Rows(2, append(slices.Concat(p.ResumeLink(r)...), continueLink(p, r)...)...)
	text := p.ScreenText(r, p.Text(word, args), screen, foot)
	crashed := word != i18n.Ended && word != i18n.EndedAsked && word != i18n.EndedBackground
	return s.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text, Options: links, Rank: outbox.Talk,
		Sounds: crashed && s.chat.Sounds(chat.Crashed, r), News: chat.NewsOf(r)})
}

// login matches the words of a screen that asks for a login.
var login = lazyregexp.New(`(?i)\b(log|sign)(ged)?[ -]?(in|out)\b`)

// failedStart returns the sentence about an agent that was never ready. The reason is on its screen, unless ccbot has one itself.
func failedStart(n news.Failed) i18n.Key {
	switch {
	case n.In != "":
		return i18n.FailedFolder
	case login.MatchString(n.Screen):
		return i18n.FailedScreen
	case strings.TrimSpace(n.Screen) == "":
		return i18n.FailedUnseen
	}
	return i18n.FailedStart
}

// Crash returns how the agent of a session crashed; empty: it did not.
func Crash(p chat.Phrases, r port.Session) render.Text {
	word, args := exitOf(r)
	if word == i18n.Ended {
		return render.Text{}
	}
	return p.Text(word, args)
}

// exitOf returns how an agent ended by itself.
func exitOf(r port.Session) (word i18n.Key, args i18n.Args) {
	args = i18n.Args{"Name": r.Name}
	switch e := r.Exit; {
	case e == nil || !e.Crashed:
		return i18n.Ended, args
	case e.Signal != 0:
		args["Signal"] = e.Signal
		return i18n.CrashedSignal, args
	default:
		args["Status"] = e.Status
		return i18n.CrashedStatus, args
	}
}

// queuedText counts the prompts that stay in a session's queue, and quotes the first words of its
// chat's prompts.
func queuedText(p chat.Phrases, r port.Session, kept []string) render.Text {
	if len(r.Prompts) == 0 {
		return render.Text{}
	}
	return chat.Lines(p.Text(i18n.ReceiptWaiting, i18n.Args{"Count": len(r.Prompts)}), render.Plain(quotes(p, kept)))
}

// ReceiptText lists what an archive did, and what stays; if it was not ordinary, with a line for
// each process. who is the name of the person who asked for it, where others read it too; kept are the texts of the prompts in the session's queue.
func ReceiptText(p chat.Phrases, r port.Session, receipt news.Stopped, who string, kept []string) render.Text {
	head := i18n.ReceiptArchived
	switch {
	case receipt.Quiet > 0:
		head = i18n.ReceiptQuiet
	case r.State == port.StateCompleted && who != "":
		head = i18n.ReceiptCompletedBy
	case r.State == port.StateCompleted:
		head = i18n.ReceiptCompleted
	case who != "":
		head = i18n.ReceiptArchivedBy
	}
	text := []render.Text{p.Text(head, i18n.Args{"Name": r.Name, "Age": p.Age(receipt.Quiet), "Person": who})}
	if isNotClean(r) {
		text[0] = p.NotCleanText(r)
	}
	if !isOrdinary(receipt) || isNotClean(r) {
		text = append(text, endingsText(p, receipt.Endings))
	}
	if receipt.Stays {
		text = append(text, p.Text(i18n.ReceiptStays))
	}
	return chat.Lines(append(text, queuedText(p, r, kept))...)
}

// isOrdinary reports whether an archive ended one process, which needed no force, and met no other:
// /why names it.
func isOrdinary(r news.Stopped) bool {
	if len(r.Endings) != 1 || r.Stays {
		return false
	}
	one := r.Endings[0]
	return one.Ended && one.Verified && one.How != port.Forced
}

// endingsText lists which processes ended and how, and which were spared and why. An unproven end
// is among the failures.
func endingsText(p chat.Phrases, all []port.Ending) render.Text {
	var lines []string
	for _, e := range all {
		if e.How != port.AlreadyGone && (e.Ended || e.Reason != "") {
			lines = append(lines, "• "+p.EndingText(e))
		}
	}
	return render.Plain(p.Some(lines, "\n"))
}
