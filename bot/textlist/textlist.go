package textlist

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
)

// Entries reads the inbox.
type Entries interface {
	Load(key string) (inbox.Entry, error)
	List() ([]inbox.Entry, error)
}

// Changes writes the inbox. A change is on disk when the call returns.
type Changes interface {
	Change(key string, change func(e *inbox.Entry) error) error
	FinishIn(key string, state inbox.State) error
}

// Requests handles agents' requests in the chat.
type Requests interface {
	// OpenRequest returns the open request, if there is one, for which the prompts of a session wait
	// in a conversation, and its tool; answers reports whether a text may answer it.
	OpenRequest(session uuid.UUID, to address.Conversation) (request, tool string, answers bool)
	// OpenIn returns the request that a person may decide in a conversation, or "": also one that no
	// prompt waits for.
	OpenIn(session uuid.UUID, to address.Conversation) (request string)
	// DecideWith answers a request with a prompt, or denies it with the prompt as the reason. The
	// prompt leaves its queue before the agent gets it. chat.IsGone: it is too late for that.
	DecideWith(ctx context.Context, request string, with inbox.Entry, by int64, answer bool) error
	// Replied returns the open permission or plan that a message shows; denies reports whether a text
	// may be the reason of its denial.
	Replied(to address.Conversation, message int) (request string, denies bool)
	// IsOpen reports whether a person may decide a request, and HasOutcome whether it has ended.
	IsOpen(request string) bool
	HasOutcome(request string) bool
}

// Deps holds the dependencies of Lists.
type Deps struct {
	Chat     *chat.Chat
	Queue    offer.Queue
	Entries  Entries
	Changes  Changes
	Requests Requests
	// Chosen brings the open question, if any, of a session that was chosen in a conversation.
	Chosen func(ctx context.Context, from address.Conversation, session uuid.UUID) error
	Resume func(ctx context.Context, q chat.Resume) (back bool, err error)
	// SendOrHold queues a text for its session, or keeps it under another question while a limit holds it, which IsLimited
	// reports.
	SendOrHold func(ctx context.Context, e inbox.Entry, r port.Session) error
	IsLimited  func(ctx context.Context, e inbox.Entry, r port.Session) bool
}

// Lists are the lists of all sessions.
type Lists struct {
	Deps
	waiting chat.Cards[waiting]
	stopped chat.Cards[stopped]

	mu    sync.Mutex
	stops map[uuid.UUID]stop // of people, the last of each session, for stopTTL
	aside sync.Mutex         // held while texts that were kept aside are asked about, so that each is once
	busy  map[string]int     // taps under way, by the key of their list: the list is drawn when they end
}

// The kinds of the cards.
const (
	waitingKind = "texts-waiting"
	stoppedKind = "texts-stopped" // also of those that were kept aside
)

// New returns the lists of a chat.
func New(d Deps) *Lists {
	return &Lists{Deps: d, waiting: chat.NewCards[waiting](d.Chat, waitingKind).Asking(),
		stopped: chat.NewCards[stopped](d.Chat, stoppedKind).Asking(), busy: make(map[string]int), stops: make(map[uuid.UUID]stop)}
}

// Feature describes the lists to the dispatcher.
func (l *Lists) Feature() chat.Feature {
	return chat.Feature{Name: "textlist", OnNews: l.onNews, Cards: map[string]chat.OnTap{
		waitingKind: l.waiting.OnTap(l.tapWaiting), stoppedKind: l.stopped.OnTap(l.tapStopped)}}
}

// of returns the open list of a session in a conversation, or a new one.
func of[P any](k chat.Cards[P], session uuid.UUID, to address.Conversation) (c card.Card[P], open bool) {
	for _, c := range k.List() {
		if c.Content.Session == session && c.Content.To == to {
			return c, true
		}
	}
	return card.Card[P]{Key: card.NewKey(), Content: card.Content{Session: session, To: to}}, false
}

// Update draws the lists of a session again.
func (l *Lists) Update(ctx context.Context, session uuid.UUID) error {
	return l.update(ctx, func(of uuid.UUID) bool { return of == session })
}

// Tidy draws all lists again: texts were settled while no ccbot ran, or a question was answered. It
// asks about the texts that were kept aside until then.
func (l *Lists) Tidy(ctx context.Context) {
	err := l.update(ctx, func(uuid.UUID) bool { return true })
	if err = errors.Join(err, l.askAside(ctx)); err != nil {
		l.Chat.Log.Error("question_not_closed", logkey.Error, err)
	}
}

func (l *Lists) update(ctx context.Context, wanted func(session uuid.UUID) bool) error {
	var errs []error
	for _, c := range l.waiting.List() {
		if wanted(c.Content.Session) && !l.isBusy(c.Key) {
			errs = append(errs, l.drawWaiting(ctx, c.Key))
		}
	}
	for _, c := range l.stopped.List() {
		if wanted(c.Content.Session) && !l.isBusy(c.Key) {
			errs = append(errs, l.drawStopped(ctx, c.Key, 0, 0, 0))
		}
	}
	return errors.Join(errs...)
}

// during runs the action of a tap on a list. The news that come from that do not draw the list.
func (l *Lists) during(key string, do func() error) error {
	l.count(key, 1)
	defer l.count(key, -1)
	return do()
}

func (l *Lists) count(key string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy[key] += n; l.busy[key] == 0 {
		delete(l.busy, key)
	}
}

func (l *Lists) isBusy(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy[key] > 0
}

// session is the session of a list as it is now.
func (l *Lists) session(id uuid.UUID) port.Session {
	r, _ := l.Chat.Book.Records.Get(id)
	return r
}

// explain reports under a tap why it had no effect.
func (l *Lists) explain(ctx context.Context, t chat.Tap, r port.Session, err error) error {
	if chat.IsGone(err) {
		return l.Chat.ReplyToTap(ctx, t, l.Chat.In(t.To).Text(i18n.StaleButton))
	}
	f := l.Chat.In(t.To).Failure(r, err)
	if f.Internal {
		return err
	}
	return l.Chat.ReplyToTap(ctx, t, f.Text)
}

const (
	mostShown  = 12 // texts of a list that have a line and buttons
	shownChars = 80 // of a line
)

// Lines are the numbered first lines of texts, if there is more than one.
func Lines(p chat.Phrases, texts []inbox.Entry) render.Text {
	if len(texts) < 2 {
		return render.Text{}
	}
	return numbered(p, texts, 0, len(texts))
}

// numbered are the first lines of texts, which are n of a list from a place on.
func numbered(p chat.Phrases, texts []inbox.Entry, at, n int) render.Text {
	var all []string
	for i, e := range texts[:min(len(texts), mostShown)] {
		all = append(all, number(at+i, n)+chat.Head(firstLine(e.Text), shownChars))
	}
	if more := len(texts) - mostShown; more > 0 {
		all = append(all, p.Words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	return render.Plain(strings.Join(all, "\n"))
}

// firstLine returns the first line of a text, with a mark if there are more.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line = glyph.Name(line); rest != "" {
		line += " …"
	}
	return line
}

// number is the prefix of the line and the buttons of a text of n.
func number(i, n int) string {
	if n < 2 {
		return ""
	}
	return strconv.Itoa(i+1) + ". "
}

// option is a button about a text.
func option(p chat.Phrases, number string, word i18n.Key, key string, style outbox.Style) card.Option {
	return card.Option{Text: number + p.Words.Say(word), Value: string(word) + ":" + key, Style: style}
}

// became is the plain line of a list whose texts are settled: how many go to their session, and how
// many were discarded.
func became(p chat.Phrases, r port.Session, sent, dropped int) render.Text {
	var said []render.Text
	if sent > 0 {
		said = append(said, p.Text(i18n.TextsGo, i18n.Args{"Count": sent, "Name": r.Name}))
	}
	if dropped > 0 {
		said = append(said, render.Plain(p.Words.Say(i18n.TextsDropped, i18n.Args{"Count": dropped})))
	}
	return chat.Joined(" ", said...)
}

// inOrder sorts texts as in the queue of their session.
func inOrder(r port.Session, all []inbox.Entry) {
	slices.SortStableFunc(all, func(a, b inbox.Entry) int { return slices.Index(r.Prompts, a.Key) - slices.Index(r.Prompts, b.Key) })
}
