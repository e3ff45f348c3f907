package files

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// Files sends files of sessions to the chat.
type Files struct {
	chat     *chat.Chat
	disk     folders.Files
	heading  func(r port.Session) render.Text
	received Received
	quota    quota
	group    guard.Group // uploads and removals, so that a person's next messages and news do not wait

	mu      sync.Mutex
	offers  []uuid.UUID    // the last files of agents, which news may offer again
	sending map[string]int // of them, by machine
}

// New returns the Files of a chat. heading returns the name above a session's file if another
// session is the current one.
func New(c *chat.Chat, disk folders.Files, heading func(r port.Session) render.Text, received Received) *Files {
	return &Files{chat: c, disk: disk, heading: heading, received: received, sending: make(map[string]int)}
}

// FeatureName is the name of the feature.
const FeatureName = "files"

// Feature describes the feature to the dispatcher.
func (s *Files) Feature() chat.Feature {
	return chat.Feature{Name: FeatureName, Commands: []chat.Command{{Name: "get", Run: s.get}}, OnNews: s.onNews, Run: func(ctx context.Context) error {
		return s.group.Run(ctx, func(p *guard.Panic) { s.chat.Log.Error("get_crashed", logkey.Panic, p.Error(), logkey.Stack, p.Stack) })
	}}
}

const (
	// mostSending bounds the files that agents of one machine send at once.
	mostSending = 100
	// mostOffers is the number of offers whose repetition is known.
	mostOffers = 1000
	// tellAgain is the pause before an outcome is reported again to a machine that does not answer.
	tellAgain = 5 * time.Second
)

// onNews sends a file that an agent offers, and reports the outcome to the agent's machine. It
// removes due files.
func (s *Files) onNews(_ context.Context, r port.Session, n news.News) error {
	if due, is := n.(news.FilesDue); is {
		s.remove(due)
	}
	offer, is := n.(news.FileOffered)
	if !is || !s.begin(r.Machine, offer.ID) {
		return nil
	}
	s.group.Add(func(ctx context.Context) {
		defer s.end(r.Machine)
		err := guard.Call(func() error { return s.send(ctx, r.ID, offer.Path, offer.Caption) })
		if ctx.Err() != nil {
			return
		}
		refused := refusal.In(err)
		outcome := folders.Outcome{Taken: err == nil, Code: string(refused.Code), Reason: refused.Reason}
		if refused.Code != refusal.Internal {
			err = nil // the agent gets it
		}
		ctx, cancel := context.WithTimeout(ctx, uploadFor)
		defer cancel()
		told := s.disk.Offered(ctx, r.ID, offer.ID, outcome)
		for refusal.Is(told, refusal.Unreachable) && pause.For(ctx, tellAgain) == nil {
			told = s.disk.Offered(ctx, r.ID, offer.ID, outcome)
		}
		if err = errors.Join(err, told); err != nil {
			s.chat.Log.Warn("send_failed", logkey.SessionID, r.ID.String(), logkey.Error, err)
		}
	})
	return nil
}

// begin reports whether an offer is new.
func (s *Files) begin(machine string, id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.offers, id) || s.sending[machine] == mostSending {
		return false
	}
	s.offers = append(s.offers, id)
	s.offers = s.offers[max(0, len(s.offers)-mostOffers):]
	s.sending[machine]++
	return true
}

func (s *Files) end(machine string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending[machine]--; s.sending[machine] == 0 {
		delete(s.sending, machine)
	}
}

// uploadFor bounds an upload: later messages to the chat wait for it.
const uploadFor = 10 * time.Minute

// send sends a file of a session's folder to its conversation and returns when Telegram has it. It
// returns a *refusal.Error or an error of the outbox.
func (s *Files) send(ctx context.Context, id uuid.UUID, path, caption string) error {
	r, ok := s.chat.Book.Records.Get(id)
	text := render.Plain(caption)
	switch {
	case !ok || !r.State.Live():
		return &refusal.Error{Code: refusal.WrongState, State: r.State}
	case !s.chat.Book.MayShow(r.Conversation):
		return &refusal.Error{Code: refusal.NotShown}
	case text.Length() > outbox.MaxCaption:
		return &refusal.Error{Code: refusal.CaptionTooLong}
	}
	f, err := s.open(ctx, id, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if wait := s.quota.take(id, time.Now()); wait > 0 {
		seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
		return &refusal.Error{Code: refusal.SentTooMany, Reason: seconds}
	}
	if headed := render.Join(s.heading(r), text); headed.Length() <= outbox.MaxCaption {
		text = headed
	}
	return s.put(ctx, f, outbox.File{To: r.Conversation, Session: r.ID, Caption: text, Rank: outbox.Later})
}

func (s *Files) open(ctx context.Context, id uuid.UUID, path string) (*machine.File, error) {
	return s.chat.Bodies.Open(ctx, func(ctx context.Context) (folders.File, error) { return s.disk.Open(ctx, id, path) })
}

// put sends an open file, to the place in as, and returns when Telegram has it. Its errors are
// those of send.
func (s *Files) put(ctx context.Context, f *machine.File, as outbox.File) error {
	if f.Size > outbox.MaxFile {
		return &refusal.Error{Code: refusal.FileTooBig}
	}
	ctx, cancel := context.WithTimeout(ctx, uploadFor)
	defer cancel()
	as.Body, as.Size, as.Name = f, f.Size, cmp.Or(strings.TrimSpace(glyph.Name(f.Name)), "file")
	_, err := s.chat.Sender.SendFile(ctx, as)
	refused := (*outbox.Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return &refusal.Error{Code: refusal.NotTaken, Reason: refused.Err.Error(), Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &refusal.Error{Code: refusal.TookTooLong, Err: err}
	}
	return err
}

// get sends a file, or lists a folder. A restart during an upload sends no more of it.
func (s *Files) get(ctx context.Context, in chat.Incoming, name string) error {
	all := s.chat.Book.FindFor(in.Message, in.From, "", nil)
	if len(all) == 0 {
		return s.chat.ReplyNone(ctx, in, "", nil)
	}
	r := all[0]
	if s.chat.Book.Veils(in.To, r.Conversation) {
		return s.answer(ctx, in, r, s.chat.In(in.To).HiddenText(r))
	}
	if strings.TrimSpace(name) == "" {
		return s.answer(ctx, in, r, s.chat.In(in.To).Text(i18n.GetHow, i18n.Args{"Name": r.Name, "Dir": s.chat.Short(r.Dir)}))
	}
	if _, err := s.chat.Places.Resolve(ctx, "/", r.Dir); err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, err))
	}
	bounds, err := s.chat.Places.Bounds(r.Dir)
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, err))
	}
	at := Resolve(r.Dir, bounds.Home, name)
	f, err := s.open(ctx, r.ID, at)
	if refusal.Is(err, refusal.FileIrregular) {
		var l folders.Listing
		if l, err = s.disk.List(ctx, r.ID, at); err == nil {
			return s.answer(ctx, in, r, listing(s.chat.In(in.To), at, l))
		}
	}
	if err == nil && f.Size > outbox.MaxFile {
		err = errors.Join(&refusal.Error{Code: refusal.FileTooBig}, f.Close())
	}
	if err != nil {
		return s.refuse(ctx, in, r, at, f.Size, err)
	}
	s.chat.Sender.Typing(ctx, in.To)
	s.group.Add(func(ctx context.Context) {
		f.In(ctx)
		defer f.Close()
		err := s.put(ctx, f, outbox.File{To: in.To, Session: r.ID, ReplyTo: in.MessageID})
		if err != nil && ctx.Err() == nil {
			err = s.refuse(ctx, in, r, at, f.Size, err)
		}
		if err != nil {
			s.chat.Log.Warn("get_failed", logkey.SessionID, r.ID.String(), logkey.Error, err)
		}
	})
	return nil
}

// Resolve returns the path of a name that a person wrote, relative to a session's folder unless it
// is absolute. Only its machine can remove a ".." from it: a link may be in front.
func Resolve(dir, home, name string) string {
	name = strings.TrimSpace(name)
	for _, quotes := range []string{`""`, "''", "“”", "„“", "«»", "‘’"} {
		open, last := quotes[:len(quotes)/2], quotes[len(quotes)/2:]
		if inner, ok := strings.CutPrefix(name, open); ok && strings.HasSuffix(inner, last) {
			name = strings.TrimSuffix(inner, last)
			break
		}
	}
	switch rest, homely := strings.CutPrefix(name, "~/"); {
	case homely:
		return home + "/" + rest
	case strings.HasPrefix(name, "/"):
		return name
	case name == ".":
		return dir
	}
	return dir + "/" + strings.TrimPrefix(name, "./")
}

func (s *Files) answer(ctx context.Context, in chat.Incoming, r port.Session, text render.Text) error {
	return s.chat.Post(ctx, card.Content{To: in.To, Text: text, Session: r.ID, ReplyTo: in.MessageID})
}

// listing shows a folder's entries as code, so that no name becomes a link.
func listing(p chat.Phrases, at string, l folders.Listing) render.Text {
	var lines []string
	for _, e := range l.Entries {
		line := chat.Head(glyph.Name(e.Name), 60)
		if e.Dir {
			line += "/"
		} else {
			line += "  " + p.Size(e.Size)
		}
		lines = append(lines, line)
	}
	if l.More > 0 {
		lines = append(lines, p.Say(i18n.AndMore, i18n.Args{"Count": l.More}))
	}
	if l.NotText > 0 {
		lines = append(lines, p.Say(i18n.GetNotText, i18n.Args{"Count": l.NotText}))
	}
	dir := p.ShortTail(at)
	if len(lines) == 0 {
		return p.Text(i18n.GetEmptyDir, i18n.Args{"Path": render.Code(dir)})
	}
	return render.Join(render.Code(dir), render.Plain("\n"), render.Pre(strings.Join(lines, "\n"), ""))
}

// refusals holds the sentences of the reasons why a file is not sent.
var refusals = map[refusal.Code]i18n.Key{
	refusal.FileMissing: i18n.GetMissing, refusal.FileOutside: i18n.GetOutside, refusal.FileLinked: i18n.GetLinked,
	refusal.FileOwn: i18n.GetOwn, refusal.FileIrregular: i18n.GetIrregular, refusal.FileNamed: i18n.GetNamed,
	refusal.FileEmpty: i18n.GetEmpty, refusal.FileChanged: i18n.GetChanged, refusal.FileUnreadable: i18n.GetUnreadable,
	refusal.FileTooBig: i18n.GetTooBig, refusal.NotTaken: i18n.GetNotTaken, refusal.TookTooLong: i18n.GetTooLong,
}

func (s *Files) refuse(ctx context.Context, in chat.Incoming, r port.Session, at string, size int64, err error) error {
	p := s.chat.In(in.To)
	if at == r.Dir && refusal.Is(err, refusal.FileMissing) { // its next step is in another sentence
		err = &refusal.Error{Code: refusal.DirMissing, Dir: at, Err: err}
	}
	word, ok := refusals[refusal.In(err).Code]
	if !ok {
		return s.chat.Explain(ctx, in.To, p.Failure(r, err))
	}
	s.chat.LogRefused(err, false)
	file, below := strings.CutPrefix(at, r.Dir+"/")
	if file = s.chat.ShortTail(file); !below {
		file = s.chat.ShortTail(at)
	}
	refused := refusal.In(err)
	reason := refused.Reason // of Telegram
	if refused.Code == refusal.FileUnreadable {
		reason = p.Cause(refused)
	}
	text := p.Text(word, i18n.Args{"Name": r.Name, "Path": render.Code(file), "Dir": s.chat.Short(r.Dir), "Size": p.Size(size),
		"Limit": p.Size(outbox.MaxFile), "Reason": reason})
	return s.answer(ctx, in, r, text)
}
