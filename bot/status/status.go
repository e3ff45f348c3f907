package status

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Agents inspects agents. It is read-only.
type Agents interface {
	Inspect(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error)
	Writers(ctx context.Context, id uuid.UUID) ([]port.Writer, error)
	Work(ctx context.Context, id uuid.UUID) (port.Work, error)
}

// status shows one session.
type status struct {
	chat     *chat.Chat
	agents   Agents
	diffs    folders.Diffs
	records  port.Keeper
	entry    func(key string) (inbox.Entry, error)
	names    *renames
	reported HistoryText
	resume   func(ctx context.Context, q chat.Resume) (back bool, err error)
	cards    chat.Cards[endedLaunch]
}

// endedLaunch is one launch of a session, whose record a question is about.
type endedLaunch struct {
	Session uuid.UUID `json:"session"`
	Launch  time.Time `json:"launch"` // the record of a later one is not deleted
}

const (
	kind       = "status" // of the questions
	statusPage = "status"
)

// The options of a page.
const (
	resumeOption = "resume"
	renameOption = "rename"
	forgetOption = "forget" // ask
	surely       = "surely" // delete the record
)

// about is the address of a status page.
type about struct {
	Session uuid.UUID `json:"session"`
	Back    string    `json:"back,omitempty"` // the address that it was opened from
}

// HistoryText returns the sentences about a session's history, oldest first, for their reader.
type HistoryText func(p chat.Phrases, history []port.Change, reader int64, who func(by int64) string) []string

// New returns the features of a chat. entry reads the inbox. resume resumes a session, and reports
// whether it is back.
func New(c *chat.Chat, agents Agents, d folders.Diffs, records interface {
	port.Keeper
	port.Namer
}, entry func(key string) (inbox.Entry, error),
	said talk.LastQuestions, reported HistoryText,
	resume func(ctx context.Context, q chat.Resume) (back bool, err error)) []chat.Feature {
	s := &status{chat: c, agents: agents, diffs: d, records: records, entry: entry, reported: reported, resume: resume, cards: chat.NewCards[endedLaunch](c, kind),
		names: &renames{chat: c, names: records, asks: chat.NewCards[question](c, renameKind)}}
	f := chat.Feature{Name: "status", Cards: map[string]chat.OnTap{kind: s.cards.OnTap(s.tap)},
		Pages: map[string]chat.Page{statusPage: {Draw: s.draw, Do: s.do}}}
	c.PageByName(&f, statusPage, chat.AnySession)
	return []chat.Feature{s.names.feature(), f, archive{s, said}.feature()}
}

// askForget asks whether to delete the record of this launch of a session.
func (s *status) askForget(ctx context.Context, to outbox.Conversation, asked int64, r port.Session) error {
	question := card.Content{To: to, Session: r.ID, Text: words{s.chat.In(to)}.staying(i18n.ForgetConfirm, r),
		Options: s.chat.In(to).Confirm(i18n.ButtonForget, surely, asked)}
	return s.cards.Post(ctx, question, endedLaunch{r.ID, r.StartedAt})
}

// draw shows a session and its actions.
func (s *status) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, p := chat.ViewAt[about](v.Rest), s.chat.In(v.To)
	r, ok := s.chat.Book.Records.Get(at.Session)
	if !ok {
		return chat.Screen{Text: render.Plain(p.Say(i18n.SessionGone)), Back: at.Back}, nil
	}
	var options []card.Option
	if r.State.HasEnded() && r.Resumable {
		options = append(options, p.Option(i18n.ButtonResume, resumeOption, outbox.Primary))
	}
	options = append(options, p.Option(i18n.ButtonRename, renameOption, ""))
	if r.MayForget() {
		options = append(options, p.Option(i18n.ButtonForget, forgetOption, ""))
	}
	return chat.Screen{Text: s.text(ctx, v.To, v.By, r), Options: chat.Rows(2, options...), Back: at.Back, Session: r.ID}, nil
}

func (s *status) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	return s.act(v, chat.ViewAt[about](v.Rest).Session, what), "", nil
}

// act resumes or renames a session, or asks whether to delete its record. An action that is no
// longer possible is a stale button.
func (s *status) act(v chat.Visit, session uuid.UUID, what string) (a chat.Answer) {
	r, ok := s.chat.Book.Records.Get(session)
	switch {
	case ok && what == renameOption:
		a.Then = func(ctx context.Context) error { return s.names.ask(ctx, v.To, r.ID, v.By) }
	case ok && what == resumeOption && r.Resumable:
		a.Then = func(ctx context.Context) error {
			_, err := s.resume(ctx, chat.Resume{Session: r, To: v.To, From: v.By})
			return err
		}
	case ok && what == forgetOption && r.MayForget():
		a.Then = func(ctx context.Context) error { return s.askForget(ctx, v.To, v.By, r) }
	default:
		a.Text = s.chat.In(v.To).Say(i18n.StaleButton)
	}
	return a
}

// tap deletes a record after the person's confirmation.
func (s *status) tap(ctx context.Context, t chat.Tap, was endedLaunch) (chat.Answer, error) {
	r, ok := s.chat.Book.Records.Get(was.Session)
	if !ok || !r.MayForget() || !was.Launch.Equal(r.StartedAt) || t.Card.Option != surely {
		return s.cards.AnswerExpired(ctx, t)
	}
	return chat.Do(func(ctx context.Context) error {
		if err := s.cards.Close(ctx, t.Card.Key, chat.Lines(s.chat.In(t.To).Text(i18n.Forgetting, i18n.Args{"Name": r.Name}), s.chat.By(t.To, t.From))); err != nil {
			return err
		}
		return s.forget(ctx, t, r)
	})
}

// forget deletes a record. Its messages no longer belong to a session.
func (s *status) forget(ctx context.Context, t chat.Tap, r port.Session) error {
	err := s.records.Forget(ctx, r.ID)
	switch {
	case refusal.Is(err, refusal.WrongState):
		return s.chat.Post(ctx, card.Content{To: t.To, Text: s.chat.In(t.To).Text(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})})
	case err != nil:
		return s.chat.Explain(ctx, t.To, s.chat.In(t.To).Failure(r, err))
	}
	return s.chat.Post(ctx, card.Content{To: t.To, Text: words{s.chat.In(t.To)}.staying(i18n.Forgotten, r)})
}

// now holds the observations of a session, made within a time limit.
type now struct {
	port.Status
	port.Work
	changes *folders.Changes // since the session's start; nil: not known
	writers []port.Writer
	unseen  bool // other writers are unknown
	unknown bool // the machine has not answered: nothing above is known
}

// timeout limits all queries to the machine together.
const timeout = 5 * time.Second

func (s *status) inspect(ctx context.Context, r port.Session) (n now) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if r.State.Live() {
		looks, err := s.agents.Inspect(ctx, r.ID)
		n.Status, n.unknown = looks[r.ID], err != nil
	}
	work, err := s.agents.Work(ctx, r.ID)
	if n.Work = work; err != nil || n.unknown {
		return now{unknown: true}
	}
	if n.Git != nil && n.Git.Root != "" {
		if all, err := s.diffs.Changes(ctx, r.ID, folders.SessionStart); err == nil {
			n.changes = &all
		}
	}
	n.Work.Usage = cmp.Or(n.Status.Usage, n.Work.Usage)
	n.writers, err = s.agents.Writers(ctx, r.ID) // last: it waits while the session is being started or ended
	if n.unseen = err != nil; n.unseen {
		s.chat.Log.Warn("writers_unknown", logkey.SessionID, r.ID.String(), logkey.Error, err)
	}
	return n
}

// Bounds of the page: it fits one message, which a phone shows on two screens.
const (
	shownTasks  = 12
	shownQueued = 3
	shownEvents = 3
	shownText   = 80 // letters of a task or a message
)

// text describes a session, a paragraph for each subject.
func (s *status) text(ctx context.Context, to outbox.Conversation, reader int64, r port.Session) render.Text {
	n, w := s.inspect(ctx, r), words{s.chat.In(to)}
	history, _ := s.chat.Book.Records.History(ctx, r.ID) // without it the rest is still worth telling
	who := func(by int64) string { return s.chat.Who(to, by) }
	var shared, queue render.Text
	if r.State.Live() {
		shared = s.chat.SharedText(to, r)
		if missing, err := s.chat.Folder.IsMissing(ctx, r.Dir); err == nil && missing {
			shared = chat.Lines(w.Text(i18n.FolderMissing, i18n.Args{"Name": r.Name, "Dir": render.Code(w.Short(r.Dir))}), shared)
		}
	}
	var waits []string
	for _, key := range r.Prompts {
		if e, err := s.entry(key); err == nil { // otherwise it has just left the queue
			said := strings.Join(strings.Fields(e.Text), " ")
			if book := s.chat.Book; book.Veils(to, e.Conversation) {
				said = w.Say(i18n.Named, i18n.Args{"What": quotation.Sent(w.Phrases, e, book.Several()), "Said": w.Say(i18n.WrittenElsewhere)})
			}
			waits = append(waits, "• "+short(said))
		}
	}
	if len(waits) > 0 {
		title := w.Say(i18n.StatusQueue, i18n.Args{"Count": len(waits)})
		queue = render.Join(render.Plain(title+"\n"), render.Quote(w.First(shownQueued, waits, "\n")))
	}
	if n.unknown {
		return chat.Paragraphs(w.head(r, n, shared), render.Plain(w.Unreachable(r.Machine)), queue, w.events(r, s.reported(w.Phrases, history, reader, who)))
	}
	return chat.Paragraphs(w.head(r, n, shared), w.agent(r.Mode, n), w.tasks(n.Tasks), w.git(n.Git, n.changes), w.writers(n),
		queue, w.events(r, s.reported(w.Phrases, history, reader, who)))
}

// words builds the texts about a session.
type words struct{ chat.Phrases }

// head describes the agent's activity and folder, since when if known, and who is at its window.
func (w words) head(r port.Session, n now, shared render.Text) render.Text {
	does := w.StateWithAge(r)
	if r.State == port.StateRunning && !n.unknown {
		does = w.NowText(n.Now)
		if n.Phase == n.Now.Phase && !n.PhaseAt.IsZero() && n.Now.Until.IsZero() {
			does = w.Say(i18n.StatusSince, i18n.Args{"State": does, "Age": w.Age(w.Now().Sub(n.PhaseAt))})
		}
		does = strings.Join(append([]string{does}, w.AtWindow(n.Status)...), w.Say(i18n.JoinParts))
	}
	dir := w.Short(r.Dir)
	title := w.Text(i18n.Named, i18n.Args{"What": chat.BoldName(r), "Said": does})
	text := chat.Lines(title, render.Plain(attention.Loop(w.Phrases, r.Loop)), render.Plain(attention.Scheduled(w.Phrases, r)), render.Code(dir), shared)
	if r.State.Live() && r.Window != "" && r.Attach != "" {
		text = chat.Lines(text, w.Text(i18n.AttachHint, i18n.Args{"Command": render.Code(r.Attach)}))
	}
	return text
}

// agent describes the agent's tools and the amount of its work.
func (w words) agent(launched string, n now) render.Text {
	model, did := n.Model, []string{w.Say(i18n.StatusTurns, i18n.Args{"Count": n.Turns})}
	if u := n.Work.Usage; u != nil {
		model = cmp.Or(u.Model, model)
		if u.Context >= 0 {
			did = append(did, w.Say(i18n.ListContext, i18n.Args{"Percent": w.Percent(u.Context)}))
		}
		did = append(did, w.Dollars(u.Cost, 2))
	}
	var lines []string
	if model = short(model); model != "" {
		lines = append(lines, w.Say(i18n.StatusModel, i18n.Args{"Model": model}))
	}
	if mode := w.ModeText(n.Permissions, launched); mode != "" {
		lines = append(lines, w.Say(i18n.StatusMode, i18n.Args{"Mode": mode}))
	}
	lines = append(lines, strings.Join(did, w.Say(i18n.JoinParts)))
	if t := n.Tokens; t != (port.Tokens{}) {
		lines = append(lines, w.Say(i18n.StatusTokens, i18n.Args{"In": w.Rounded(t.Input + t.CacheCreation),
			"Cached": w.Rounded(t.CacheRead), "Out": w.Rounded(t.Output)}))
	}
	if n.Partly {
		lines = append(lines, w.Say(i18n.StatusPartly))
	}
	if n.Memory > 0 {
		lines = append(lines, w.Say(i18n.StatusMemory, i18n.Args{"Size": w.Size(int64(n.Memory))}))
	}
	text := render.Plain(strings.Join(lines, "\n"))
	if flags := short(strings.Join(n.Flags, " ")); flags != "" {
		text = render.Join(text, render.Plain("\n"+w.Say(i18n.StatusFlags)+" "), render.Code(flags))
	}
	return text
}

// taskMarks are the marks of the to-do items that are not done.
var taskMarks = map[string]string{"completed": "✓", "in_progress": "▸"}

// tasks are the agent's to-do items: open ones first. As code nothing in them can be tapped.
func (w words) tasks(all []port.Task) render.Text {
	if len(all) == 0 {
		return render.Text{}
	}
	var open, done []string
	for _, t := range all {
		line := cmp.Or(taskMarks[t.Status], "○") + " " + short(t.Text)
		if t.Status == "completed" {
			done = append(done, line)
		} else {
			open = append(open, line)
		}
	}
	title := w.Say(i18n.StatusTasks, i18n.Args{"Done": len(done), "All": len(all)})
	return render.Join(render.Plain(title+"\n"), render.Pre(w.First(shownTasks, append(open, done...), "\n"), ""))
}

// shownCommit is the number of shown letters of a commit's id.
const shownCommit = 8

// git shows the branch of the folder, and its changes since the session's start.
func (w words) git(g *port.Git, all *folders.Changes) render.Text {
	switch {
	case g == nil:
		return render.Plain(w.Say(i18n.StatusGitUnknown))
	case g.Outside:
		return render.Plain(w.Say(i18n.StatusGitOutside))
	case g.Root == "":
		return render.Plain(w.Say(i18n.StatusGitNone))
	}
	branch, start := render.Plain(w.Say(i18n.StatusGitBare)), g.Start[:min(len(g.Start), shownCommit)]
	if g.Branch != "" {
		branch = render.Join(render.Plain(w.Say(i18n.StatusGit)+" "), render.Code(short(g.Branch)))
	}
	args, changed := i18n.Args{"Commit": render.Code(start)}, i18n.StatusChanges
	switch {
	case start == "" || all != nil && all.Of != folders.SessionStart:
		changed = i18n.StatusNoStart
	case all == nil:
		changed = i18n.StatusChangesUnknown
	case len(all.Files) == 0:
		changed = i18n.StatusUnchanged
	default:
		args["Count"], args["Added"], args["Removed"] = all.Sum()
	}
	return chat.Lines(branch, w.Text(changed, args))
}

// writers lists the other writers of the conversation.
func (w words) writers(n now) render.Text {
	if n.unseen {
		return render.Plain(w.Say(i18n.StatusWritersUnknown))
	}
	if len(n.writers) == 0 {
		return render.Text{}
	}
	return chat.Lines(w.Text(i18n.StatusWriters), w.Bullets(chat.MaxListed, each.As(n.writers, w.WriterText)))
}

// events are the last sentences of the session's history.
func (w words) events(r port.Session, reported []string) render.Text {
	if len(reported) == 0 {
		return render.Text{}
	}
	last := reported[max(0, len(reported)-shownEvents):]
	return render.Plain(w.Say(i18n.StatusEvents, i18n.Args{"Name": r.Name}) + "\n" + strings.Join(last, "\n"))
}

// staying is a sentence about a record that is deleted, and where the conversation's own file
// stays.
func (w words) staying(key i18n.Key, r port.Session) render.Text {
	text := w.Text(key, i18n.Args{"Name": r.Name})
	if c, ok := r.Cursor(); ok && c.Path != "" {
		file := render.Code(w.Short(c.Path))
		text = chat.Lines(text, w.Text(i18n.ForgetStays, i18n.Args{"Path": file}))
	}
	return text
}

// short is a foreign text in one line.
func short(text string) string { return chat.Head(strings.TrimSpace(glyph.Name(text)), shownText) }
