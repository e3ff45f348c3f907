package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// First is the store of first prompts: those that people have sent for the session that they are
// about to start.
type First interface {
	// Firsts returns the waiting texts, oldest first, and when the first of them was sent.
	Firsts(to address.Conversation, by int64) (texts []string, since time.Time)
	// SettleFirsts sends them to a session, or discards them if r is the zero session.
	SettleFirsts(ctx context.Context, to address.Conversation, by int64, r port.Session) error
}

// Deps holds the dependencies of Browser.
type Deps struct {
	Chat   *chat.Chat
	Places machine.Places
	Agents port.Agents
	First  First
	// Start starts a session for a person. began is false if it was refused, which the person has
	// read.
	Start func(ctx context.Context, to address.Conversation, q port.Start) (r port.Session, began bool, err error)
	// Resume resumes a session, or opens an open one. back is false if it was refused, which the
	// person has read.
	Resume func(ctx context.Context, q chat.Resume) (back bool, err error)
	// OfLoop reports whether the work tree in a folder is a loop's, which is removed unasked.
	OfLoop func(ctx context.Context, dir string) bool
}

// Browser is the page of new sessions.
type Browser struct {
	Deps
	chat  *chat.Chat
	group guard.Group // tasks too long for the handling of a message
	left  sync.Mutex  // serializes Left: many sessions may end together
}

// New returns the page of a chat.
func New(d Deps) *Browser {
	return &Browser{Deps: d, chat: d.Chat}
}

// FeatureName is the name of the feature.
const FeatureName = "browse"

// Feature describes the feature to the dispatcher.
func (b *Browser) Feature() chat.Feature {
	return chat.Feature{Name: FeatureName, Text: b.text, OnNews: b.onNews, OnCurrent: b.turned, Run: func(ctx context.Context) error {
		return b.group.Run(ctx, func(p *guard.Panic) {
			b.chat.Log.Error("page_crashed", logkey.Panic, fmt.Sprint(p.Value), logkey.Stack, p.Stack)
		})
	}, Pages: map[string]chat.Page{Name: {Draw: b.draw, Do: b.do, Typed: b.typed, Own: true}, worktree: {Draw: b.removing, Do: b.remove}}}
}

// timeout is the time after a person's last use of a page in which their messages count as first
// prompts.
const timeout = 15 * time.Minute

// IsFirst reports whether a message becomes a first prompt, because its sender has a page of new
// sessions open. A reply to a session's message is for that session.
func (b *Browser) IsFirst(in chat.Incoming) bool {
	_, answers, _ := b.chat.Book.Answered(in.Message)
	_, used, open := b.chat.Pages.Mine(in.To, in.From, Name)
	return open && !answers && b.chat.Now().Sub(used) <= timeout
}

// text chooses the folder that a text names. A command of the current session's agent stays with
// that session.
func (b *Browser) text(ctx context.Context, in *chat.Incoming, text string) (taken bool, err error) {
	if !in.First || in.Quoted {
		return false, nil
	}
	_, class, _ := talk.Normalise(text)
	now, _ := b.chat.Book.CurrentSession(in.To, in.From)
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	command := class == talk.ClassCommand && now.State.Live() && strings.Count(first, "/") == 1
	if command && in.Typed != "" {
		has, err := b.chat.Folder.HasCommand(ctx, now.ID, in.Typed)
		if err != nil && refusal.MachineOf(err) == "" && !refusal.Is(err, refusal.Unreachable) {
			return false, fmt.Errorf("a command of the agent: %w: %w", inbox.ErrLater, err)
		}
		if has {
			in.First = false
			return false, nil
		}
	}
	dir, err := b.named(ctx, text)
	why, refused := errors.AsType[*refusal.Error](err)
	switch {
	case refused:
		in.NoFolder = why
		return false, nil
	case err != nil:
		return false, err
	case dir != "":
		return false, b.choose(ctx, in, dir)
	}
	if command {
		in.First = false
	}
	return false, nil
}

// named returns the folder that a text of one line names, or "" if the text is not a path. The
// error is about a path without a folder where sessions may work. A path has a second slash in its
// first word, unlike an agent's command. A line with blanks that names no folder is a sentence.
func (b *Browser) named(ctx context.Context, text string) (dir string, err error) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "\n\r\x00") || !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/") {
		return "", nil
	}
	if dir, err = b.reach(ctx, text); err == nil {
		return dir, nil
	}
	if strings.ContainsFunc(text, unicode.IsSpace) || !strings.Contains(text[1:], "/") {
		return "", nil
	}
	return "", err
}

// reach returns the folder of a path if it can be opened and sessions may work there.
func (b *Browser) reach(ctx context.Context, path string) (dir string, err error) {
	if dir, err = b.Places.Resolve(ctx, "/", path); err == nil {
		_, _, err = b.Places.Children(ctx, dir, false)
	}
	return dir, err
}

// choose shows a folder on the page before the text is stored as its path: after a crash the text
// is handled again.
func (b *Browser) choose(ctx context.Context, in *chat.Incoming, dir string) error {
	key, _, open := b.chat.Pages.Mine(in.To, in.From, Name)
	if !open {
		return nil
	}
	err := b.chat.Pages.Turn(ctx, key, in.From, func(rest string) string {
		to := chat.ViewAt[at](rest).in(folder, dir)
		to.Key = card.NewKey()
		return to.String()
	})
	in.Folder = dir
	return err
}

// turned leaves the page when a session becomes the current one: the next text is for that session.
// In a group another person may have switched.
func (b *Browser) turned(ctx context.Context, to address.Conversation, _ uuid.UUID) error {
	if b.chat.Book.InGroup(to.ChatID) {
		return nil
	}
	return b.chat.Pages.Leave(ctx, to, 0, Name)
}

// typed takes a reply to the page: the name of a new folder, a path, or a part of a folder's name.
func (b *Browser) typed(ctx context.Context, v chat.Visit, text string) (string, error) {
	a, text := chat.ViewAt[at](v.Rest), strings.Trim(strings.TrimSpace(text), chat.Quotes)
	if a.View == naming {
		return b.makeFolder(ctx, v, a, text)
	}
	if strings.ContainsAny(cmp.Or(text, " ")[:1], "/~.") { // a path
		dir, err := b.Places.Resolve(ctx, a.Dir, text)
		if err != nil {
			dir = refusal.In(err).Dir
		}
		return a.in(children, dir).String(), nil
	}
	if a.View != children {
		a = at{With: a.With}
	}
	a.Filter, a.Page = text, 0
	return a.String(), nil
}

// makeFolder makes the named folder, and shows it.
func (b *Browser) makeFolder(ctx context.Context, v chat.Visit, a at, name string) (string, error) {
	p := b.chat.In(v.To)
	if name == "" || strings.ContainsAny(name, "/\x00\n") || name == "." || name == ".." {
		return "", b.chat.Say(ctx, v.To, p.Say(i18n.NewFolderBad))
	}
	dir, err := b.Places.Resolve(ctx, a.Dir, "./"+name)
	if err == nil {
		err = b.Places.Make(ctx, dir)
	}
	if err == nil {
		return a.in(children, dir).String(), nil
	}
	f := p.Failure(port.Session{}, err)
	if why := refusal.In(err); why.Code == refusal.DirNoAccess {
		f.Text = p.Text(i18n.NewFolderRefused, i18n.Args{"Dir": render.Code(p.Short(dir)), "Reason": p.Cause(why)})
	}
	return "", b.chat.Explain(ctx, v.To, f)
}

// Option values. goOn continues with the id of a conversation, the name of its agent and the id of
// the session that had it, each after a colon.
const (
	start      = "start"
	fork       = "fork"
	goOn       = "go"
	inWorktree = "beside"
	star       = "star"
	by         = "by" // with the name of an agent
	takeBack   = "back"
	leave      = "leave" // to the menu: no session is started
)

// do carries out an option.
func (b *Browser) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	a := chat.ViewAt[at](v.Rest)
	verb, of, _ := strings.Cut(what, ":")
	id, rest, _ := strings.Cut(of, ":")
	agent, last, _ := strings.Cut(rest, ":")
	talk, _ := uuid.Parse(id)
	had, _ := uuid.Parse(last)
	then := a.in(begun, a.Dir)
	then.Key = a.Key
	to := func(do func(ctx context.Context) error) chat.Answer { return chat.Answer{Then: do} }
	if a.Key == "" && slices.Contains([]string{start, fork, goOn, inWorktree}, verb) {
		verb = "" // the page no longer shows where a session would begin, see parse
	}
	switch verb {
	case start:
		return to(func(ctx context.Context) error { return b.begin(ctx, v, a, port.Start{Dir: a.Dir}) }), then.String(), nil
	case fork:
		return to(func(ctx context.Context) error {
			if err := b.mayEnter(ctx, v, a.AgentSessionID, a.Had); err != nil { // also a copy has what was said
				return err
			}
			return b.begin(ctx, v, a, port.Start{Dir: a.Dir, Agent: a.Agent, ForkOf: a.AgentSessionID})
		}), then.String(), nil
	case goOn:
		return to(func(ctx context.Context) error { return b.continueTalk(ctx, v, a, talk, had, agent) }), then.String(), nil
	case inWorktree:
		return to(func(ctx context.Context) error { return b.beginInWorktree(ctx, v, a) }), then.String(), nil
	case takeBack:
		return to(func(ctx context.Context) error { return b.First.SettleFirsts(ctx, v.To, v.By, port.Session{}) }), "", nil
	case leave:
		return to(func(ctx context.Context) error { return b.chat.Pages.Leave(ctx, v.To, v.By, Name) }), menu, nil
	case by:
		a.With = port.ModeChange{} // it was chosen for another agent
		return chat.Answer{}, a.String(), b.chat.Book.Set(v.To.ChatID, func(s *conversation.Settings) { s.Agent = of })
	case star:
		return chat.Answer{}, "", b.chat.Book.Set(v.To.ChatID, func(s *conversation.Settings) {
			others := slices.DeleteFunc(slices.Clone(s.Favourites), func(dir string) bool { return dir == a.Dir })
			if len(others) == len(s.Favourites) {
				others = append(others, a.Dir)
			}
			s.Favourites = others[max(0, len(others)-mostFavourites):]
		})
	}
	return chat.Answer{Text: b.chat.In(v.To).Say(i18n.StaleButton)}, "", nil
}

// mostFavourites bounds the favourite folders of a chat.
const mostFavourites = 50

// begin starts a session, and sends it the waiting first prompts.
func (b *Browser) begin(ctx context.Context, v chat.Visit, a at, q port.Start) error {
	dir, err := b.Places.Resolve(ctx, "/", q.Dir)
	if err != nil {
		return chat.ErrStay // the page shows why
	}
	q.Dir, q.Owner, q.Origin, q.With = dir, v.By, a.Key, a.With
	r, began, err := b.Start(ctx, v.To, q)
	if err == nil && !began {
		err = chat.ErrStay
	}
	if err != nil {
		return err
	}
	return b.settle(ctx, v, r)
}

// settle sends a session its first prompts, and closes the person's other pages.
func (b *Browser) settle(ctx context.Context, v chat.Visit, r port.Session) error {
	return errors.Join(b.chat.Pages.Leave(ctx, v.To, v.By, Name), b.First.SettleFirsts(ctx, v.To, v.By, r))
}

// continueTalk continues a conversation in the session that has it, otherwise in a new session.
func (b *Browser) continueTalk(ctx context.Context, v chat.Visit, a at, talk, had uuid.UUID, agent string) error {
	all, err := b.chat.Book.Records.List()
	on, _ := folders.Split(a.Dir)
	if refusal.Lacks(err, on) {
		return err
	}
	i := slices.IndexFunc(all, func(r port.Session) bool { return r.Machine == on && r.AgentSessionID == talk && r.Owns })
	if i < 0 {
		if err := b.mayEnter(ctx, v, talk, had); err != nil {
			return err
		}
		return b.begin(ctx, v, a, port.Start{Dir: a.Dir, Agent: agent, Continues: talk})
	}
	back, err := b.Resume(ctx, chat.Resume{Session: all[i], To: v.To, From: v.By})
	if err == nil && !back {
		err = chat.ErrStay
	}
	if err != nil {
		return err
	}
	now, known := b.chat.Book.Records.Get(all[i].ID)
	if !known { // the texts remain waiting
		return errors.Join(b.chat.Say(ctx, v.To, b.chat.In(v.To).Say(i18n.SessionGone)), chat.ErrStay)
	}
	return b.settle(ctx, v, now)
}

// guards reports whether a place is a group of a bot of several people: a conversation may have been
// read elsewhere, and stays there unless a person agrees.
func (b *Browser) guards(to address.Conversation) bool {
	return to.ChatID < 0 && b.chat.Book.Several()
}

// had returns the session that has or had a conversation: the noted one, otherwise any that has it.
func (b *Browser) had(talk, noted uuid.UUID) (r port.Session, known bool) {
	if r, known = b.chat.Book.Records.Get(noted); known {
		return r, true
	}
	all, _ := b.chat.Book.Records.List() // an unread one stays unknown
	if i := slices.IndexFunc(all, func(r port.Session) bool { return r.AgentSessionID == talk }); i >= 0 {
		return all[i], true
	}
	return port.Session{}, false
}

// mayEnter returns an error unless a new session in a place may have what was said in a conversation.
// If it was said in another chat, the session that had it is asked about; if that is unknown, the
// person reads what to do.
func (b *Browser) mayEnter(ctx context.Context, v chat.Visit, talk, noted uuid.UUID) error {
	r, known := b.had(talk, noted)
	switch {
	case !b.guards(v.To) || known && b.chat.Book.MayEnter(v.To, r) == nil:
		return nil
	case !known:
		return errors.Join(b.chat.Say(ctx, v.To, b.chat.In(v.To).Say(i18n.NewFromUnknown)), chat.ErrStay)
	}
	_, err := b.Resume(ctx, chat.Resume{Session: r, To: v.To, From: v.By}) // it only asks
	return errors.Join(err, chat.ErrStay)
}

// beginInWorktree starts a session in a new work tree. After a crash between the two steps the same
// work tree is found again.
func (b *Browser) beginInWorktree(ctx context.Context, v chat.Visit, a at) error {
	// If that gets lost, the work tree stays this key's until the engine ends.
	defer func() { _ = b.Places.Done(context.WithoutCancel(ctx), a.Dir, a.Key) }()
	dir, err := b.Places.Add(ctx, a.Dir, a.Key)
	if err != nil {
		return err
	}
	b.chat.At("worktree-made")
	return b.begin(ctx, v, a, port.Start{Dir: dir})
}

// Page names. The address of a work tree has its folder after the name.
const (
	Name     = "new"
	worktree = "worktree"
)

// Views of the page.
const (
	places   = ""      // favorite and used folders
	children = "in"    // the folders in a folder
	naming   = "name"  // asks for the name of a new folder
	folder   = "use"   // how a session may begin in a folder
	busy     = "busy"  // a conversation that another process writes
	begun    = "begun" // a session has begun
)

// at is the view of the page, with a person's choices so far.
type at struct {
	View           string          `json:"v,omitempty"`
	Dir            string          `json:"dir,omitempty"`
	Page           int             `json:"page,omitempty"`
	Hidden         bool            `json:"hidden,omitempty"`
	Filter         string          `json:"q,omitempty"`
	With           port.ModeChange `json:"with,omitzero"`    // only where it differs from the settings
	Key            string          `json:"key,omitempty"`    // of the start: two taps on one button start one session
	AgentSessionID uuid.UUID       `json:"of,omitzero"`      // the conversation
	Agent          string          `json:"agent,omitempty"`  // its agent
	Had            uuid.UUID       `json:"had,omitzero"`     // the session that has or had it
	Unseen         bool            `json:"unseen,omitempty"` // it is unknown whether another process writes it
}

// String returns the address.
func (a at) String() string { return chat.Address(Name, a) }

// in returns a view of a folder, with the other choices unchanged.
func (a at) in(view, dir string) at {
	return at{View: view, Dir: dir, Hidden: a.Hidden, With: a.With}
}

// to returns an option that leads to an address.
func (a at) to(text string) card.Option {
	return card.Option{Text: text, Value: chat.ToPage(a.String())}
}

// page returns an option that leads to a page of the list.
func (a at) page(n int) card.Option {
	a.Page = n
	return a.to("")
}

// next returns the choice after now. After the last it returns "", which means the settings.
func next[S ~string](all []S, now S) S {
	if now == "" {
		return all[0]
	}
	if i := slices.Index(all, now) + 1; i < len(all) {
		return all[i]
	}
	return ""
}
