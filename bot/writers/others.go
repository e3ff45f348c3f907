package writers

import (
	"cmp"
	"context"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/news"
)

// Others handles processes that people run themselves: other writers of a session's conversation,
// and windows of no session.
type Others struct {
	chat      *chat.Chat
	starter   port.Starter
	ender     port.Ender
	finder    port.WriterFinder
	windows   port.Windows
	resume    func(ctx context.Context, q chat.Resume) (back bool, err error)
	conflicts chat.Cards[listed]
	lists     chat.Cards[[]port.ID] // of windows, and questions about one
}

// The kinds of the cards.
const (
	conflictKind = "writers"
	windowKind   = "windows"
)

// New returns the Others of a chat. resume resumes a session, and reports whether it is back.
func New(c *chat.Chat, s port.Starter, e port.Ender, n port.WriterFinder, w port.Windows,
	resume func(ctx context.Context, q chat.Resume) (back bool, err error)) *Others {
	return &Others{chat: c, starter: s, ender: e, finder: n, windows: w, resume: resume,
		conflicts: chat.NewCards[listed](c, conflictKind).Asking(),
		lists:     chat.NewCards[[]port.ID](c, windowKind)}
}

// FeatureName is the name of the feature.
const FeatureName = "writers"

// Feature describes Others to the dispatcher.
func (o *Others) Feature() chat.Feature {
	return chat.Feature{
		Name: FeatureName,
		Cards: map[string]chat.OnTap{
			conflictKind: o.conflicts.OnTap(o.tap), windowKind: o.lists.OnTap(o.tapWindow)},
		OnNews: o.onNews,
	}
}

// onNews reports other writers of a session's conversation, and that a session continues in another
// window, unless a person has asked for it.
func (o *Others) onNews(ctx context.Context, r port.Session, n news.News) error {
	switch n := n.(type) {
	case news.OtherWriters:
		return o.reportWriters(ctx, r, n)
	case news.Transferred:
		if !n.ByPerson {
			return o.reportAdopted(ctx, r, r.Conversation, chat.NewsOf(r))
		}
	}
	return nil
}

// reportWriters reports other writers of a session's conversation.
func (o *Others) reportWriters(ctx context.Context, r port.Session, n news.OtherWriters) error {
	if len(n) == 0 {
		p := o.chat.In(r.Conversation)
		return o.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: p.Text(i18n.GhostUnseen, stateArgs(p, r)), News: chat.NewsOf(r)})
	}
	k := writerAfterEnd
	if r.State.Live() {
		k = otherWriter
	}
	return o.post(ctx, conflict{k, chat.Resume{Session: r, To: r.Conversation}, n}, chat.SecondWriter, chat.NewsOf(r))
}

// Refused reports that writers prevent a resume.
func (o *Others) Refused(ctx context.Context, q chat.Resume, found []port.Writer) error {
	return o.post(ctx, conflict{resumeRefused, q, found}, "", "")
}

func (o *Others) post(ctx context.Context, c conflict, why chat.Occasion, news string) error {
	content := o.content(c, false)
	content.News, content.Text, content.Sounds = news, chat.Lines(c.resume.Before, content.Text), o.chat.Sounds(why, c.resume.Session)
	return o.conflicts.Post(ctx, content, c.listed())
}

// kind is the subject of a message about writers.
type kind string

const (
	resumeRefused  kind = "resume_refused"   // other writers prevent a resume
	otherWriter    kind = "other_writer"     // an open session has other writers
	writerAfterEnd kind = "writer_after_end" // an ended session has writers
)

// now is the kind as it is by the session's state: the session may have come back, or ended, since
// the message was written.
func (k kind) now(r port.Session) kind {
	switch {
	case r.State.Live():
		return otherWriter
	case k == otherWriter:
		return writerAfterEnd
	}
	return k
}

// phrases has the head of a message of each kind, the button that ends the writers, and the
// explanations of that button and of [Continue in a copy]. Without a fork there is no such button.
var phrases = map[kind]struct{ head, button, end, fork i18n.Key }{
	resumeRefused:  {i18n.WritersRefused, i18n.ButtonTakeOver, i18n.FootTakeBack, i18n.FootFork},
	otherWriter:    {i18n.WritersSecond, i18n.ButtonTakeOver, i18n.FootTakeOnly, i18n.FootForkLeave},
	writerAfterEnd: {i18n.WritersGhost, i18n.ButtonStopIt, i18n.FootStop, ""},
}

// The options of a message. An option about a window is followed by a colon and the window's id.
const (
	showOption   = "show"   // show all that is known of the writers
	askOption    = "ask"    // ask whether to end the writers, or the window's process
	endOption    = "end"    // end them, or archive it
	forkOption   = "fork"   // continue in a copy of the conversation
	adoptOption  = "adopt"  // continue in the window where the writer runs
	ignoreOption = "ignore" // mention the window no more
)

// conflict describes the current writers of a session.
type conflict struct {
	kind    kind
	resume  chat.Resume // how to continue without other writers
	writers []port.Writer
}

// listed has the content of a message about writers: a tap on the message means exactly these
// writers.
type listed struct {
	Kind    kind         `json:"kind"`
	Resume  port.Restore `json:"resume"`
	Writers []port.ID    `json:"writers"` // sorted
}

func (c conflict) listed() listed {
	s := listed{Kind: c.kind, Resume: c.resume.Restore(),
		Writers: each.As(c.writers, func(one port.Writer) port.ID { return one.ID })}
	slices.Sort(s.Writers)
	return s
}

// canAdopt reports whether the writer can be made the session's agent. A session that is not
// cleaned up has to be cleaned up first.
func (c conflict) canAdopt() bool {
	return c.kind == writerAfterEnd && c.resume.Session.Resumable &&
		len(c.writers) == 1 && c.writers[0].Adoptable
}

// canEnd reports whether a person may end all of the writers: only if the message and the question
// name each of them.
func (c conflict) canEnd() bool {
	return len(c.writers) <= chat.MaxListed &&
		!slices.ContainsFunc(c.writers, func(one port.Writer) bool { return !one.Endable })
}

// content returns the message about writers, with the possible actions.
func (o *Others) content(c conflict, details bool) card.Content {
	r, say, p := c.resume.Session, phrases[c.kind], o.chat.In(c.resume.To)
	var can []render.Text
	lines := each.As(c.writers, func(one port.Writer) render.Text { return writerText(p, one, details) })
	options := []card.Option{p.Option(i18n.ButtonShow, showOption, "")}
	offer := func(what i18n.Key, option card.Option) {
		can, options = append(can, p.Text(what, i18n.Args{"Name": r.Name})), append(options, option)
	}
	if c.canEnd() {
		offer(say.end, p.Option(say.button, askOption, outbox.Danger))
	}
	if c.canAdopt() {
		offer(i18n.FootAdopt, p.Option(i18n.ButtonAdopt, adoptOption, outbox.Primary))
	}
	if say.fork != "" {
		offer(say.fork, p.Option(i18n.ButtonForkInstead, forkOption, ""))
		options = append(options, p.Cancel())
	}
	return card.Content{To: c.resume.To, Session: r.ID, Options: chat.Rows(2, options...),
		Text: chat.Lines(p.Text(say.head, stateArgs(p, r)), p.Bullets(chat.MaxListed, lines), p.Sentences(can...))}
}

// stateArgs are the name and the state of a session for a sentence.
func stateArgs(p chat.Phrases, r port.Session) i18n.Args {
	return i18n.Args{"Name": r.Name, "State": p.StateText(r)}
}

// writerText is a writer as the message shows it.
func writerText(p chat.Phrases, one port.Writer, details bool) render.Text {
	text := p.WriterText(one)
	say := func(key i18n.Key, args i18n.Args) { text = render.Join(text, render.Plain("\n   "), p.Text(key, args)) }
	if details {
		say(i18n.WriterSource, i18n.Args{"Source": p.Say(i18n.SourceKey.Of(cmp.Or(one.Source, "unclear")))})
	}
	if details && one.Window != nil {
		say(i18n.WriterTmux, i18n.Args{"Window": chat.ShownName(one.Window.Name), "Command": render.Code(one.Window.Attach)})
	}
	if !one.Endable {
		say(i18n.WriterKept, i18n.Args{"Reason": p.Say(i18n.ReasonKey.Of(one.Kept))})
	}
	return text
}
