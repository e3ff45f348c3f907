package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
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
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

func TestStaleButtons(t *testing.T) {
	none := uuid.NewString()
	for _, data := range []string{"", ":", "what", "what:x", "open", "open:", "open:x", "open:" + none, "kill", "kill:x:7", "kill:" + none + ":7",
		"done:" + none + ":7", "res:", "res:" + none, "undo:x", "drop", "drop:", "drop:../x", "drop:999", "drop:p-x",
		"mkd:x", "try:x", "sno:x", "rsh:x:y", "sas", "gad:" + none + ":x"} {
		t.Run(data, func(t *testing.T) {
			w := newWorld(t)
			w.session(t, "api", session.Running)
			require.NoError(t, w.tap(t, alice, data))
			assert.Equal(t, []string{"answer query: " + w.word(i18n.StaleButton), "buttons of 55: 0"}, w.sender.done())
			assert.Empty(t, w.sessions.done())
		})
	}
}

// A message that is gone, or too old to be edited, is nothing to fail on.
func TestAMessageThatIsGoneIsPassedOver(t *testing.T) {
	for _, verb := range []string{"stale", "open", "res"} {
		w := newWorld(t)
		r := w.session(t, "api", session.Archived)
		if verb != "stale" {
			verb += ":" + ref(r.ID)
		}
		w.sender.edit = func(outbox.Message) error { return fmt.Errorf("edit: %w", &outbox.Refused{Err: errors.New("gone")}) }
		require.NoError(t, w.tap(t, alice, verb))
		w.sender.edit = func(outbox.Message) error { return outbox.ErrClosed }
		w.toldOfError(t, w.tap(t, alice, verb))
	}
}

func TestTapCurrentSwitches(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	web := w.session(t, "web", session.Running)
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	spot := w.listed(t, web)
	require.NoError(t, w.tapSpot(t, alice, spot))
	w.currentIs(t, web.ID)
	assert.Equal(t, []string{"move " + web.ID.String() + " to 7"}, w.sessions.done(), "it is shown here from now on")
	edit := w.sender.lastEdit(t).Text.Text
	text, _ := w.listText(t, atAlice)
	assert.Equal(t, text.Text, edit)
	assert.Contains(t, w.sender.done(), "answer query: → web")

	w.sessions.move = func(uuid.UUID, session.Conversation) error { return errDisk }
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	w.toldOfError(t, w.tapSpot(t, alice, w.listed(t, web)))
}

// A text that follows the tap goes to the session, however long its move takes.
func TestTapCurrentSwitchesBeforeItIsAnswered(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	web := w.session(t, "web", session.Running)
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	w.sessions.move = func(uuid.UUID, session.Conversation) error {
		w.currentIs(t, web.ID)
		assert.Contains(t, w.sender.done(), "answer query: → web")
		return nil
	}
	require.NoError(t, w.tapSpot(t, alice, w.listed(t, web)))
	assert.Len(t, w.sessions.done(), 1)
}

// What the agent's machine is asked for after a tap holds up no text: the session that was tapped
// is the current one as soon as the tap is decided.
func TestP7_ATextBehindATapGoesToTheTappedSession(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Running)
	web := w.session(t, "web", session.Running)
	w.mustHear(t, "/list")
	list := w.sender.last(t)
	data := dataBehind(t, list, "web")
	then, err := w.Tap(t.Context(), tapOn(alice, telegrams(w.idOf(data), list), data))
	require.NoError(t, err)
	key := w.mustHear(t, "for web")
	assert.Contains(t, w.sessions.done(), "queue "+key+" for "+web.ID.String())
	assert.NoError(t, then(t.Context()))
}

func TestTapCurrentOnAListThatIsGone(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errors.New("gone")} }
	assert.NoError(t, w.tapSpot(t, alice, w.listed(t, r)))
}

func TestTapCurrentOnALongListStaysWithinTheLimit(t *testing.T) {
	w := newWorld(t)
	var last session.Record
	for n := range 100 {
		last = w.session(t, fmt.Sprintf("a-long-name-for-a-session-that-fills-the-list-%02d", n), session.Starting)
	}
	require.NoError(t, w.tapSpot(t, alice, w.listed(t, last)))
	assert.LessOrEqual(t, w.sender.lastEdit(t).Text.Length(), 4096)
}

// unproven is the question about a prompt of a session that may have been typed.
func (w *world) unproven(t *testing.T, r session.Record) (e inbox.Entry, question outbox.Message) {
	t.Helper()
	e = w.prompt(t, r, "text", inbox.Unproven)
	n := lifecycle.Note{Kind: lifecycle.NoteUnproven, Session: r, Prompt: lifecycle.Prompt{Key: e.Key, Text: "text"}}
	require.NoError(t, w.SessionNews(t.Context(), n))
	question = w.lastSent(t)
	w.sender.forget()
	return e, question
}

func TestP4_APersonDecidesAboutTheUnproven(t *testing.T) {
	for _, tt := range []struct {
		button   i18n.Key
		call     string
		said     i18n.Key
		reaction string
	}{
		{i18n.ButtonSendAgain, "send again", i18n.SentAgain, reactionStored},
		{i18n.ButtonDrop, "drop", i18n.Dropped, reactionNone},
	} {
		t.Run(tt.call, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			e, question := w.unproven(t, r)
			require.NoError(t, w.tapShown(t, bob, question, tt.button), "any allowed person may")
			assert.Equal(t, []string{tt.call + " " + e.Key + " for " + r.ID.String()}, w.sessions.done())
			assert.Equal(t, lines(question.Text.Text, "", w.named(tt.said, "api")), w.sender.lastEdit(t).Text.Text)
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
			assert.Equal(t, []string{tt.reaction}, w.sender.reactions(e.MessageID))
		})
	}
}

func TestP4_ADecisionThatFailsLeavesTheButtons(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		stale bool
	}{
		{"finished meanwhile", fs.ErrNotExist, true},
		{"the entry is finished", inbox.ErrNoEntry, true},
		{"the session is gone", session.ErrNotFound, true},
		{"the agent has ended", lifecycle.ErrNoAgent, false},
		{"the disk is full", errDisk, false},
	} {
		for _, button := range []i18n.Key{i18n.ButtonSendAgain, i18n.ButtonDrop} {
			t.Run(tt.name+": "+string(button), func(t *testing.T) {
				w := newWorld(t)
				_, question := w.unproven(t, w.session(t, "api", session.Archived))
				w.sessions.decide = func(uuid.UUID, string) error { return deep(tt.err) }
				err := w.tapShown(t, alice, question, button)
				if errors.Is(tt.err, errDisk) {
					w.toldOfError(t, err)
				} else {
					require.NoError(t, err)
					assert.NotEmpty(t, w.sender.done())
				}
				if !tt.stale {
					assert.Empty(t, w.sender.edited)
					return
				}
				assert.Equal(t, question.Text, w.sender.lastEdit(t).Text)
				assert.Empty(t, w.sender.lastEdit(t).Buttons, "only what is over loses its buttons")
			})
		}
	}
}

// A question closes when the prompt needs no answer any more, also in a later run.
func TestAQuestionClosesWithItsPrompt(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(w *world, r session.Record, e inbox.Entry) error
	}{
		{"the proof came late", func(w *world, r session.Record, e inbox.Entry) error {
			return w.SessionNews(context.Background(), lifecycle.Note{Kind: lifecycle.NoteDelivered, Session: r, Prompt: lifecycle.Prompt{Key: e.Key}})
		}},
		{"its session is forgotten", func(w *world, _ session.Record, e inbox.Entry) error {
			return w.Prompts.Homeless(context.Background(), []string{e.Key})
		}},
		{"it was finished while no ccbot was there", func(w *world, _ session.Record, e inbox.Entry) error {
			if err := w.entries.Finish(e.Key); err != nil {
				return err
			}
			w.again()
			return w.feature("prompt").Run(cancelled())
		}},
		{"a kill came between the decision and this", func(w *world, _ session.Record, e inbox.Entry) error {
			e.State = inbox.Held
			if err := w.entries.Save(e); err != nil {
				return err
			}
			w.again()
			return w.feature("prompt").Run(cancelled())
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			e, question := w.unproven(t, r)
			require.NoError(t, tt.ends(w, r, e))
			assert.Equal(t, question.Text, w.sender.lastEdit(t).Text)
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
			require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonSendAgain))
			assert.Empty(t, w.sessions.done())
		})
	}
}

// A question is shown before the entry is in its state: a tap in between does not take it away.
func TestP4_AQuestionStaysUntilItsPromptIsDecided(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	e, question := w.unproven(t, r)
	w.becomes(t, e.Key, inbox.Typing)
	require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonDrop))
	assert.Empty(t, w.sessions.done())
	require.NoError(t, w.feature("prompt").Run(cancelled()))
	w.becomes(t, e.Key, inbox.Unproven)
	require.NoError(t, w.tapShown(t, alice, question, i18n.ButtonDrop))
	assert.Equal(t, []string{"drop " + e.Key + " for " + r.ID.String()}, w.sessions.done())
}

// There is one question about a prompt: another reason has a message of its own.
func TestAQuestionForAnotherReasonTakesThePlaceOfTheFirst(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	e := w.prompt(t, r, "text", inbox.Held)
	about := lifecycle.Prompt{Key: e.Key, Text: "text"}
	for range 2 {
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDraft, Session: r, Prompt: about}))
	}
	require.Len(t, w.sender.sent, 1, "the same once")
	draft := w.lastSent(t)
	w.becomes(t, e.Key, inbox.Unproven)
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteUnproven, Session: r, Prompt: about}))
	require.Len(t, w.sender.sent, 2)
	assert.Equal(t, 1, w.sender.lastEdit(t).ReplyTo)
	assert.Empty(t, w.sender.lastEdit(t).Buttons)
	require.NoError(t, w.tapShown(t, alice, draft, i18n.ButtonSendAnyway))
	assert.Empty(t, w.sessions.done())
	require.NoError(t, w.tapShown(t, alice, w.lastSent(t), i18n.ButtonSendAgain))
	assert.Equal(t, []string{"send again " + e.Key + " for " + r.ID.String()}, w.sessions.done())
}

// command is one of the bot's.
func (w *world) command(name string) chat.Command {
	for _, f := range w.Rooms {
		for _, c := range f.Commands {
			if c.Name == name {
				return c
			}
		}
	}
	panic("no command " + name)
}

// verbs and cardKinds are those of all buttons that somebody answers.
func (w *world) verbs() map[string]bool {
	all := make(map[string]bool)
	for _, f := range w.Rooms {
		for verb := range f.Taps {
			all[verb] = true
		}
	}
	return all
}

func (w *world) cardKinds() map[string]bool {
	all := make(map[string]bool)
	for _, f := range w.Rooms {
		for kind := range f.Cards {
			all[kind] = true
		}
	}
	return all
}

// feature is one of the bot's.
func (w *world) feature(name string) chat.Feature {
	i := slices.IndexFunc(w.Rooms, func(f chat.Feature) bool { return f.Name == name })
	return w.Rooms[i]
}

// cancelled is a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// showsAllButtons is a world in which every button there is was shown, with the largest ids.
func showsAllButtons(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.showsEveryButton(t)
	return w
}

func (w *world) showsEveryButton(t *testing.T) {
	t.Helper()
	w.Allowed[math.MaxInt64] = true
	r := w.currentSession(t, "api", session.Running)
	old := w.session(t, "old", session.Archived)
	stuck := w.session(t, "stuck", session.CleanupFailed)
	w.news64(t, r, old, stuck)
	w.commands64(t, old)
	w.taps64(t)
	w.recovery64(t)
	notice := chat.Rows(1, w.OpenButton(r.ID))
	require.NoError(t, w.For(r.ID).Post(t.Context(), atAlice, plain("it has answered"), notice))
}

// Telegram refuses a button whose data has more than 64 bytes. Every button of every message is
// looked at, with the largest ids.
func TestCallbackDataFits(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		w.showsEveryButton(t)
		seen := make(map[string]bool)
		for _, m := range slices.Concat(w.sender.posted, w.sender.edited, w.sender.sent) {
			for _, d := range data(m) {
				assert.LessOrEqual(t, len(d), 64, d)
				assert.NotEmpty(t, d)
				if card.IsButton(d) {
					continue
				}
				verb, _, _ := strings.Cut(d, ":")
				assert.Contains(t, w.verbs(), verb, "somebody answers it")
				seen[verb] = true
			}
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(w.verbs())), slices.Collect(maps.Keys(seen)), "all buttons were looked at")
	})
}

// news64 tells all news that have buttons.
func (w *world) news64(t *testing.T, r, old, stuck session.Record) {
	t.Helper()
	for _, key := range []string{inbox.UpdateKey(math.MaxInt64), "p-" + uuid.NewString()} {
		_, err := w.entries.Add(inbox.Entry{Key: key, State: inbox.Unproven, Session: r.ID, Conversation: atAlice, Text: "x"})
		require.NoError(t, err)
		for _, kind := range []lifecycle.NoteKind{lifecycle.NoteUnproven, lifecycle.NoteHeldDraft} {
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r, Prompt: lifecycle.Prompt{Key: key, Text: "x"}}))
		}
	}
	for _, id := range []uuid.UUID{r.ID, old.ID} {
		_, err := w.entries.Add(inbox.Entry{Key: "p-" + uuid.NewString(), State: inbox.Held, Session: id, Conversation: atAlice, Text: "x"})
		require.NoError(t, err)
	}
	require.NoError(t, w.Review(t.Context(), 2*prompt.MaxAge))
	w.asks64(t, r)
	one := inWindow(t, math.MaxInt32)
	one.Start, one.Boot = math.MaxUint64, strings.Repeat("b", 36)
	w.refuse(one)
	for _, kind := range []lifecycle.NoteKind{lifecycle.NoteLost, lifecycle.NoteFailed, lifecycle.NoteEnded, lifecycle.NoteSecondWriter} {
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r, Writers: []lifecycle.Writer{one}}))
	}
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteGhost, Session: old, Writers: []lifecycle.Writer{one}}))
	old.EndedAt = time.Unix(math.MaxInt32*2, 0)
	for _, s := range []session.Record{old, stuck} {
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteStopped, Session: s, Receipt: &lifecycle.Receipt{}}))
	}
}

// recovery64 tells what a start found: sessions that went down, and a window.
func (w *world) recovery64(t *testing.T) {
	t.Helper()
	for _, name := range []string{"one", "two"} {
		r := w.lost(t, name, session.ClosedReboot)
		w.records.change(r.ID, func(r *session.Record) { r.EndedAt = time.Unix(math.MaxInt32*2, 0) })
	}
	w.windows.all = []lifecycle.Window{agentWindow(t, "@2147483646", math.MaxInt32)}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.NoError(t, w.tapShown(t, math.MaxInt64, w.sender.last(t), i18n.ButtonArchive))
}

// asks64 tells what asks: a request, a prompt behind it, a dialog with many options.
func (w *world) asks64(t *testing.T, r session.Record) {
	t.Helper()
	stray := w.asksFor(t, r, "Bash", bash)
	w.tapsOn(t, alice, stray, i18n.AskDenyWhy)
	w.tapsOn(t, bob, stray, i18n.AskDeny)
	w.mustHear(t, "meant for it")
	q := w.asksFor(t, r, "AskUserQuestion", questions)
	for _, text := range []string{"Blue", "☐ L", w.word(i18n.AskDenyWhy)} {
		w.press(t, alice, w.message(t, q), text)
	}
	w.asksFor(t, r, "ExitPlanMode", `{"plan":"`+strings.Repeat("long ", 2000)+`"}`)
	e := inbox.Entry{Key: "p-" + uuid.NewString(), State: inbox.Held, Session: r.ID, Conversation: atAlice, Text: "x",
		Class: string(lifecycle.ClassPrompt)}
	_, err := w.entries.Add(e)
	require.NoError(t, err)
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r,
		Prompt: lifecycle.Prompt{Key: e.Key}}))
	d := trust
	d.Options = slices.Repeat(trust.Options, 10)
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, d)))
	w.work(t)
}

// commands64 sends all commands that answer with buttons; /resume with a path of its own and with
// each refusal that has some.
func (w *world) commands64(t *testing.T, old session.Record) {
	t.Helper()
	say := func(text string) {
		key, u := w.accept(t, &models.Message{From: &models.User{ID: math.MaxInt64}, Chat: privateChat(alice), Text: text})
		require.NoError(t, w.Handle(t.Context(), key, u))
	}
	for _, text := range []string{"/list", "/kill api", "/done api", "/resume", "/resume stuck", "/resume old", "/resume old /srv/x"} {
		say(text)
	}
	refuse := w.sessions.restore
	for _, err := range []error{&lifecycle.DirError{Dir: "/srv/x", Why: lifecycle.DirMissing}, &lifecycle.TranscriptError{}} {
		w.sessions.restore = func(uuid.UUID) (session.Record, error) { return old, err }
		say("/resume old /srv/x")
	}
	w.sessions.restore = refuse
}

// taps64 taps, as the person with the largest id, what asks once more.
func (w *world) taps64(t *testing.T) {
	t.Helper()
	once := w.wordsOf(i18n.ButtonTakeOver, i18n.ButtonStopIt, i18n.ButtonUseCopy)
	for _, s := range spots(slices.Clone(w.sender.posted)...) {
		if slices.Contains(once, s.button.Text) {
			require.NoError(t, w.tapSpot(t, math.MaxInt64, s))
		}
	}
}

// TestP9_EveryVerbIsForAllowedPeople: a new verb must not forget to look.
func TestP9_EveryVerbIsForAllowedPeople(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	for verb := range w.verbs() {
		data := verb + ":" + ref(r.ID)
		m := &models.Message{ID: 5, Chat: groupChat(ours)}
		require.NoError(t, w.Handle(t.Context(), "1", tapOn(eve, m, data)))
	}
	w.silent(t)
}

// A button that somebody cut, or wrote by hand, does nothing.
func FuzzTapData(f *testing.F) {
	for _, seed := range []string{"res:x", "try:AAAAAAAAAAAAAAAAAAAAAA", "open:AAAAAAAAAAAAAAAAAAAAAA:5", ":::",
		"AAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:0", "AAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		w := newWorld(t)
		w.session(t, "api", session.Running)
		w.unbound(t, agentWindow(t, "@21", 4123))
		require.NoError(t, w.tap(t, alice, data))
		require.Empty(t, w.sessions.done())
		require.Len(t, w.windows.all, 1)
	})
}

func TestSendAnyway(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	ask := func() (e inbox.Entry, question outbox.Message) {
		e = w.prompt(t, r, "text", inbox.Held)
		n := lifecycle.Note{Kind: lifecycle.NoteHeldDraft, Session: r, Prompt: lifecycle.Prompt{Key: e.Key, Text: "text"}}
		require.NoError(t, w.SessionNews(t.Context(), n))
		return e, w.lastSent(t)
	}
	e, question := ask()
	w.again()
	w.Connect(w.sessions, w.windows)
	require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonSendAnyway))
	assert.Equal(t, []string{"send anyway " + e.Key + " for " + r.ID.String()}, w.sessions.done())
	assert.Equal(t, lines(question.Text.Text, "", w.word(i18n.SentAnyway)), w.sender.lastEdit(t).Text.Text)
	_, question = ask()
	for want, err := range map[i18n.Key]error{i18n.BoxBusy: lifecycle.ErrBoxBusy, i18n.DraftHidden: lifecycle.ErrDraftHidden,
		i18n.AlreadyEnded: lifecycle.ErrNoAgent} {
		w.sessions.decide = func(uuid.UUID, string) error { return deep(err) }
		require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonSendAnyway))
		assert.Contains(t, w.sender.done(), "post "+w.named(want, "api"))
	}
	assert.Len(t, w.sender.edited, 1, "what was refused stays as it is")
	w.sessions.decide = func(uuid.UUID, string) error { return deep(fs.ErrNotExist) }
	require.NoError(t, w.tapShown(t, bob, question, i18n.ButtonSendAnyway))
	assert.Contains(t, w.sender.done(), "post "+w.word(i18n.StaleButton))
	assert.Empty(t, w.sender.lastEdit(t).Buttons, "but what is over")
}

// Telegram refuses an answer to a tap of more than 200 letters, and then the person sees nothing at
// all.
const alertLimit = 200

func TestAlertsFit(t *testing.T) {
	for _, lang := range i18n.Languages() {
		w := newWorld(t)
		w.Lang = lang
		w.again()
		for _, key := range []i18n.Key{i18n.BoxBusy, i18n.DraftHidden, i18n.AlreadyEnded, i18n.WritersChanged,
			i18n.FootAdoptElsewhere, i18n.RecoveredOver, i18n.WindowIgnored, i18n.NotForYou, i18n.StaleButton, i18n.Retrying, i18n.InternalError} {
			assert.LessOrEqual(t, plain(w.named(key, "a-name-as-they-are")).Length(), alertLimit, "%s %s", lang, key)
		}
		answer := chat.Answer{Text: w.named(i18n.WritersNone, strings.Repeat("long", 100))}
		assert.LessOrEqual(t, plain(answer.Fit().Text).Length(), alertLimit)
	}
}
