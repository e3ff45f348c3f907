package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// Deep wraps an error as lifecycle does.
func Deep(err error) error { return fmt.Errorf("launch: %w", errors.Join(err, errors.New("and more"))) }

// StartFailure explains an error of lifecycle.
func (w *World) StartFailure(err error) chat.Failure {
	w.Lifecycle.OnStart = func(port.Start) (session.Record, error) { return session.Record{}, err }
	_, err = w.Hosted.Start(context.Background(), port.Start{})
	return w.In(AtAlice).Failure(port.Session{}, err)
}

var Trust = port.Dialog{Open: true, Lines: []string{"Do you trust this folder?", "  1. No, exit", "❯ 2. Yes, I trust it"},
	Options: []string{"No, exit", "Yes, I trust it"}, Selected: 1, Whole: true, Fingerprint: "mark-one-012"}

// OpenDialog is the news that a session's terminal asks something.
func OpenDialog(d port.Dialog) news.Dialog {
	return news.Dialog{Terminal: news.Terminal{Attach: "tmux attach", Dialog: &d}}
}

// ShowsDialog is a session whose terminal asks something, which the chat shows.
func (w *World) ShowsDialog(t *testing.T) session.Record {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnDialog = Trust
	require.NoError(t, w.SessionNews(t.Context(), r, OpenDialog(Trust)))
	w.Work(t)
	require.Len(t, w.Telegram.Sent, 1)
	return r
}

// Presses taps a button of the message that shows a dialog in Alice's chat, by its word.
func (w *World) Presses(t *testing.T, from int64, message int, word string) {
	t.Helper()
	s := w.Spot(t, w.Telegram.Now(message), i18n.Key(word))
	w.TapAt(t, from, PrivateChat(Alice), message, s.Button.Data)
}

// Choices are the buttons of a message that may agree to something.
func Choices(m outbox.Message) []string {
	return slices.DeleteFunc(Words(m), func(word string) bool {
		return slices.Contains([]string{"↑", "↓", "←", "→", "Esc"}, word)
	})
}

// Unproven is the question about a prompt of a session that may have been typed.
func (w *World) Unproven(t *testing.T, r session.Record) (e inbox.Entry, question outbox.Message) {
	t.Helper()
	e = w.Prompt(t, r, "text", inbox.Unproven)
	n := news.Unproven{Prompt: talk.Prompt{Key: e.Key, Text: "text"}}
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	question = w.LastSent(t)
	w.Telegram.Forget()
	return e, question
}

// command is one of the bot's.
func (w *World) command(name string) chat.Command {
	for _, f := range w.Installed {
		for _, c := range f.Commands {
			if c.Name == name {
				return c
			}
		}
	}
	panic("no command " + name)
}

// CardKinds returns the kinds of all cards with buttons.
func (w *World) CardKinds() map[string]bool {
	all := make(map[string]bool)
	for _, f := range w.Installed {
		for kind := range f.Cards {
			all[kind] = true
		}
	}
	return all
}

// Feature is one of the bot's.
func (w *World) Feature(name string) chat.Feature {
	i := slices.IndexFunc(w.Installed, func(f chat.Feature) bool { return f.Name == name })
	return w.Installed[i]
}

// ShowsAllButtons is a world in which every button there is was shown, with the largest ids.
func ShowsAllButtons(t *testing.T) *World {
	t.Helper()
	w := NewWorld(t)
	w.ShowsEveryButton(t)
	return w
}

func (w *World) ShowsEveryButton(t *testing.T) {
	t.Helper()
	w.People[math.MaxInt64] = true
	r := w.NewCurrentSession(t, "api", session.Running)
	old := w.Session(t, "old", session.Archived)
	stuck := w.Session(t, "stuck", session.CleanupFailed)
	w.news64(t, r, old, stuck)
	w.commands64(t, old)
	w.taps64(t)
	w.recovery64(t)
	w.sayInterruptions(t)
	w.ShowsQueue(t)
	w.ShowsTurn(t, r)
	w.ShowsLimits(t, r)
	w.showsBarredSchedule(t, r)
	notice := w.In(AtAlice).Link(i18n.ButtonOpen, chat.OpenLink, r.ID, outbox.Primary)
	require.NoError(t, w.Deps.Chat.Notify(t.Context(), card.Content{To: AtAlice, Session: r.ID, Text: Plain("it has answered"), Options: notice}))
	w.ShowsRest(t, r)
	w.topics64(t, r)
	w.MustHear(t, "/rename")
	w.Work(t)
}

// showsBarredSchedule shows the question about a schedule of a person who is not allowed.
func (w *World) showsBarredSchedule(t *testing.T, r session.Record) {
	t.Helper()
	_, err := w.Schedules.Add(t.Context(), port.ScheduleRequest{Key: uuid.New(), Session: r.ID, When: "every day 09:00", Text: "x", By: Eve})
	require.NoError(t, err)
	require.NoError(t, w.Plans.TellPlanners(t.Context()))
	w.Work(t)
}

// ShowsRest shows the mark of a line that does not fit in memory.
func (w *World) ShowsRest(t *testing.T, r session.Record) {
	t.Helper()
	line := talk.Item{At: talk.Cursor{Path: "t.jsonl"}, Kind: talk.TooLong, Size: 1, Rest: &talk.Rest{Length: 1, Raw: true}}
	for _, p := range w.Answers.Long.Parts(ViewOf(r), line) {
		is, err := w.Answers.Long.Offer(t.Context(), ViewOf(r), p, outbox.Now)
		require.NoError(t, err)
		require.True(t, is)
	}
}

// topics64 shows more sessions than have a button each, and a topic that is gone.
func (w *World) topics64(t *testing.T, r session.Record) {
	t.Helper()
	require.NoError(t, w.Topics.AskLost(t.Context(), AtAlice, []port.Session{ViewOf(r)}, render.Plain("its topic is gone")))
	for n := range 10 {
		w.Session(t, "many"+strconv.Itoa(n), session.Running)
	}
	w.MustHear(t, "/list")
	open := 0
	for _, one := range w.Records.List() {
		if one.State.Live() || one.State == session.CleanupFailed {
			open++
		}
	}
	all := w.Word(i18n.ButtonAll, i18n.Args{"Count": open})
	i := slices.IndexFunc(w.Telegram.Texts(), func(text string) bool {
		return strings.HasPrefix(text, w.Word(i18n.ListTitle, i18n.Args{"Count": open}))
	})
	require.GreaterOrEqual(t, i, 0)
	require.NoError(t, w.TapShown(t, math.MaxInt64, w.Telegram.Posted[i], i18n.Key(all)))
}

// news64 reports all news that have buttons.
func (w *World) news64(t *testing.T, r, old, stuck session.Record) {
	t.Helper()
	for _, key := range []string{inbox.UpdateKey(math.MaxInt64), "p-" + uuid.NewString()} {
		_, err := w.Inbox.Add(inbox.Entry{Key: key, State: inbox.Unproven, Session: r.ID, Conversation: AtAlice, Text: "x"})
		require.NoError(t, err)
		about := talk.Prompt{Key: key, Text: "x"}
		require.NoError(t, w.SessionNews(t.Context(), r, news.Unproven{Prompt: about}))
		require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldDraft, Prompt: about}))
	}
	for _, id := range []uuid.UUID{r.ID, old.ID} {
		_, err := w.Inbox.Add(inbox.Entry{Key: "p-" + uuid.NewString(), State: inbox.Held, Session: id, Conversation: AtAlice, Text: "x"})
		require.NoError(t, err)
	}
	require.NoError(t, w.Review(t.Context(), 2*prompt.MaxAge))
	w.Asks64(t, r)
	one := InWindow(t, math.MaxInt32)
	one.Start, one.Boot = math.MaxUint64, strings.Repeat("b", 36)
	w.Refuse(one)
	for _, n := range []news.News{news.Lost{}, news.Failed{}, news.Ended{}, lifecycle.OtherWriters{one}} {
		require.NoError(t, w.SessionNews(t.Context(), r, n))
	}
	require.NoError(t, w.SessionNews(t.Context(), old, lifecycle.OtherWriters{one}))
	old.EndedAt = time.Unix(math.MaxInt32*2, 0)
	for _, s := range []session.Record{old, stuck} {
		require.NoError(t, w.SessionNews(t.Context(), s, ending.Receipt{}))
	}
}

// recovery64 reports the results of a start: sessions that went down, and a window.
func (w *World) recovery64(t *testing.T) {
	t.Helper()
	for _, name := range []string{"one", "two"} {
		r := w.Lost(t, name, session.ClosedReboot)
		w.Records.Change(r.ID, func(r *session.Record) { r.EndedAt = time.Unix(math.MaxInt32*2, 0) })
	}
	w.Windows.All = []evidence.Window{AgentWindow(t, "@2147483646", math.MaxInt32)}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.NoError(t, w.TapShown(t, math.MaxInt64, w.Telegram.Last(t), i18n.ButtonArchive))
}

// Asks64 makes all kinds of questions: a request, a prompt that waits for it, a dialog with many
// options.
func (w *World) Asks64(t *testing.T, r session.Record) {
	t.Helper()
	stray := w.AsksFor(t, r, "Bash", Bash)
	w.TapsOn(t, Alice, stray, i18n.AskDenyWhy)
	w.TapsOn(t, Bob, stray, i18n.AskDeny)
	w.MustHear(t, "meant for it")
	q := w.AsksFor(t, r, "AskUserQuestion", Questions)
	for _, text := range []string{"Blue", "☐ L", w.Word(i18n.AskOther)} {
		w.Press(t, Alice, w.Message(t, q), text)
	}
	w.AsksFor(t, r, "ExitPlanMode", `{"plan":"`+strings.Repeat("long ", 2000)+`"}`)
	for _, n := range []func(p talk.Prompt) news.News{
		func(p talk.Prompt) news.News { return news.TakenBack{Prompt: p} },
		func(p talk.Prompt) news.News { return news.Held{Why: news.HeldDialog, Prompt: p} },
	} {
		e := inbox.Entry{Key: "p-" + uuid.NewString(), State: inbox.Held, Session: r.ID, Conversation: AtAlice, Text: "x",
			Class: talk.ClassPlain}
		_, err := w.Inbox.Add(e)
		require.NoError(t, err)
		require.NoError(t, w.SessionNews(t.Context(), r, n(talk.Prompt{Key: e.Key})))
	}
	d := Trust
	d.Options = slices.Repeat(Trust.Options, 10)
	require.NoError(t, w.SessionNews(t.Context(), r, OpenDialog(d)))
	w.Work(t)
}

// commands64 sends all commands that answer with buttons; /resume with a separate path and with
// each refusal that has some.
func (w *World) commands64(t *testing.T, old session.Record) {
	t.Helper()
	say := func(text string) {
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: math.MaxInt64}, Chat: PrivateChat(Alice), Text: text})
		require.NoError(t, w.Handle(t.Context(), key, u))
	}
	doing := w.Lifecycle.OnLook
	w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle, Attachment: view.Detached}
	calm := w.Session(t, "calm", session.Running)
	say("/list")
	require.NoError(t, w.TapShown(t, math.MaxInt64, w.Telegram.Last(t), i18n.ButtonEndIdle))
	w.Lifecycle.OnLook = doing
	w.Records.Forget(calm.ID)
	for _, text := range []string{"/screenshot api", "/list", "/kill api", "/done api", "/resume", "/resume stuck", "/resume old", "/resume old /srv/x"} {
		say(text)
	}
	refuse := w.Lifecycle.OnRestore
	for _, err := range []error{&lifecycle.DirError{Dir: "/srv/x", Why: lifecycle.DirMissing}, &lifecycle.TranscriptError{}} {
		w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return old, err }
		say("/resume old /srv/x")
	}
	w.Lifecycle.OnRestore = refuse
	w.Session(t, "twin one", session.Running)
	w.Session(t, "twin two", session.Running)
	say("/new rel proj/api")
	for _, command := range []string{"/stop", "/kill", "/done", "/why", "/status", "/queue", "/changes", "/history", "/mode", "/screenshot"} {
		say(command + " twin")
	}
	say("/mode api")
	w.private64(t)
	say("/changes old")
	say("/archive")
	say("/status old")
	require.NoError(t, w.TapShown(t, math.MaxInt64, w.Telegram.Last(t), i18n.ButtonForget))
}

// private64 asks in a group for sessions of Alice's, after which a question about each stands there.
func (w *World) private64(t *testing.T) {
	t.Helper()
	for _, name := range []string{"private", "diary"} {
		r := w.Session(t, name, session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Progress.Turns = AtAlice, 42 })
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: math.MaxInt64}, Chat: GroupChat(Ours), Text: "/resume " + name})
		require.NoError(t, w.Handle(t.Context(), key, u))
		w.Records.Forget(r.ID)
	}
}

// taps64 taps the buttons that ask once more, as the person with the largest id.
func (w *World) taps64(t *testing.T) {
	t.Helper()
	once := w.WordsOf(i18n.ButtonTakeOver, i18n.ButtonStopIt, i18n.ButtonUseCopy)
	for _, s := range Spots(slices.Clone(w.Telegram.Posted)...) {
		if slices.Contains(once, s.Button.Text) {
			require.NoError(t, w.TapSpot(t, math.MaxInt64, s))
		}
	}
}

// AlertLimit is the most letters of an answer to a tap: Telegram refuses more, and the person sees
// nothing at all.
const AlertLimit = 200

// State is all that a tap could change.
type State struct {
	facts []string
	files map[string]storedFile
}

// storedFile is a file of the state folder.
type storedFile struct {
	info os.FileInfo
	data string
}

// State returns all that a tap could change.
func (w *World) State(t *testing.T) State {
	t.Helper()
	s := State{facts: w.facts(t), files: make(map[string]storedFile)}
	w.eachFile(t, func(path string, info os.FileInfo) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		s.files[path] = storedFile{info, string(data)}
	})
	return s
}

// Unchanged requires that nothing that a tap could change is another than it was.
func (w *World) Unchanged(t *testing.T, was State) {
	t.Helper()
	assert.Equal(t, was.facts, w.facts(t))
	seen := 0
	w.eachFile(t, func(path string, info os.FileInfo) {
		seen++
		old, known := was.files[path]
		require.True(t, known, "%s is new", path)
		// Most taps touch no file, and so reading them all would take most of the test's time.
		if os.SameFile(info, old.info) && info.Size() == old.info.Size() && info.ModTime().Equal(old.info.ModTime()) {
			return
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, old.data, string(data), path)
	})
	assert.Equal(t, len(was.files), seen, "a file is gone")
}

// facts are what is not in files: calls of the lifecycle, the records and the windows.
func (w *World) facts(t *testing.T) []string {
	t.Helper()
	all := slices.Clone(w.Lifecycle.Done())
	for _, r := range w.Records.List() {
		data, err := json.Marshal(r)
		require.NoError(t, err)
		all = append(all, string(data))
	}
	for _, one := range w.Windows.All {
		all = append(all, one.Pane.Window.String())
	}
	return all
}

// eachFile visits the files of the state folder.
func (w *World) eachFile(t *testing.T, visit func(path string, info os.FileInfo)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(w.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			visit(path, info)
		}
		return err
	}))
}

// AnswersWhileItHangs taps a button while nothing that the tap asks for comes back.
func (w *World) AnswersWhileItHangs(t *testing.T, m outbox.Message, data string) {
	t.Helper()
	hangs := make(chan struct{})
	w.ports.set(hangs, false)
	before := len(w.Telegram.Done())
	over := make(chan error, 1)
	go func() {
		over <- w.Handle(context.WithoutCancel(t.Context()), "1", TapOn(Alice, w.AsTelegram(m), data))
	}()
	synctest.Wait()
	var answers []string
	for _, line := range w.Telegram.Done()[before:] {
		if strings.HasPrefix(line, "answer ") {
			answers = append(answers, line)
		}
	}
	assert.Len(t, answers, 1, "%s: %s", data, m.Text.Text)
	w.ports.set(nil, false)
	close(hangs)
	assert.NoError(t, <-over, data)
}

func FilesIn(t *testing.T, dir, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
	require.NoError(t, err)
	return names
}

// NewButton returns a button of a new card of a kind, and OldButton one whose card has changed.
func (w *World) NewButton(t *testing.T, kind string) string {
	t.Helper()
	data, _ := w.button(t, kind)
	return data
}

func (w *World) OldButton(t *testing.T, kind string) string {
	t.Helper()
	data, change := w.button(t, kind)
	require.NoError(t, change())
	return data
}

func (w *World) button(t *testing.T, kind string) (data string, change func() error) {
	t.Helper()
	cards, key := card.NewKind[struct{}](w.Deps.Cards, kind, nil), uuid.NewString()
	look := card.Content{To: AtAlice, Text: render.Plain("one"), Options: [][]card.Option{{{Text: "x", Value: "x"}}}}
	require.NoError(t, cards.Show(t.Context(), key, look, struct{}{}))
	w.Telegram.Deliver(t.Context())
	old := Data(w.LastSent(t))
	require.Len(t, old, 1)
	return old[0], func() error {
		look.Text = render.Plain("two")
		return cards.Show(t.Context(), key, look, struct{}{})
	}
}
