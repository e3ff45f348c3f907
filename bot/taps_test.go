package bot

import (
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
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

func TestStaleButtons(t *testing.T) {
	none := uuid.NewString()
	for _, data := range []string{"", ":", "what", "what:x", "cur", "cur:", "cur:x", "cur:" + none, "kill", "kill:x:7", "kill:" + none + ":7",
		"done:" + none + ":7", "res:", "res:" + none, "undo:x", "again", "again:", "again:../x", "again:999", "drop:999", "drop:p-x",
		"any:999", "mkd:x", "try:x", "sno:x", "rsh:x:y", "sas", "gad:" + none + ":x"} {
		t.Run(data, func(t *testing.T) {
			w := newWorld(t)
			w.session(t, "api", session.Running)
			require.NoError(t, w.tap(t, alice, data))
			assert.Equal(t, []string{"answer query: " + w.word(i18n.StaleButton), "buttons of 55: 0"}, w.sender.done())
			assert.Empty(t, w.sessions.done())
		})
	}
}

func TestConfirmationsWithoutAnAskerAreNobodys(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	for _, data := range []string{"kill:" + ref(r.ID), "done:" + ref(r.ID) + ":", "kill:" + ref(r.ID) + ":8:7", "no", "no:", "no:07"} {
		require.NoError(t, w.tap(t, alice, data))
	}
	assert.Empty(t, w.sessions.done())
	assert.Len(t, w.sender.done(), 6)
	for _, line := range w.sender.done() {
		assert.Equal(t, "answer query: "+w.word(i18n.NotForYou), line)
	}
}

// A message that is gone, or too old to be edited, is nothing to fail on.
func TestAMessageThatIsGoneIsPassedOver(t *testing.T) {
	for _, verb := range []string{"stale", "no:7", "res"} {
		w := newWorld(t)
		r := w.session(t, "api", session.Archived)
		if verb == "res" {
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
	require.NoError(t, w.tap(t, alice, "cur:"+ref(web.ID)))
	current, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, web.ID, current)
	assert.Equal(t, []string{"move " + web.ID.String() + " to 7"}, w.sessions.done(), "it is shown here from now on")
	text, _ := w.listText(t, atAlice)
	assert.Equal(t, text.Text, w.sender.lastEdit(t).Text.Text)
	assert.Contains(t, w.sender.done(), "answer query: → web")

	w.sessions.move = func(uuid.UUID, session.Conversation) error { return errDisk }
	w.records.change(web.ID, func(r *session.Record) { r.Conversation = inGroup })
	w.toldOfError(t, w.tap(t, alice, "cur:"+ref(web.ID)))
}

func TestTapCurrentOnAListThatIsGone(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errors.New("gone")} }
	assert.NoError(t, w.tap(t, alice, "cur:"+ref(r.ID)))
}

func TestTapCurrentOnALongListStaysWithinTheLimit(t *testing.T) {
	w := newWorld(t)
	var last session.Record
	for n := range 100 {
		last = w.session(t, fmt.Sprintf("a-long-name-for-a-session-that-fills-the-list-%02d", n), session.Starting)
	}
	require.NoError(t, w.tap(t, alice, "cur:"+ref(last.ID)))
	assert.LessOrEqual(t, w.sender.lastEdit(t).Text.Length(), 4096)
}

func TestP4_APersonDecidesAboutTheUnproven(t *testing.T) {
	for _, tt := range []struct {
		verb, call string
		said       i18n.Key
		reaction   string
	}{
		{"again", "send again", i18n.SentAgain, reactionStored},
		{"drop", "drop", i18n.Dropped, reactionNone},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Running)
			e := w.prompt(t, r, "text", inbox.Unproven)
			require.NoError(t, w.tap(t, bob, tt.verb+":"+e.Key), "any allowed person may")
			assert.Equal(t, []string{tt.call + " " + e.Key + " for " + r.ID.String()}, w.sessions.done())
			assert.Equal(t, lines("the question", "", w.named(tt.said, "api")), w.sender.lastEdit(t).Text.Text)
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
		for _, verb := range []string{"again", "drop"} {
			t.Run(tt.name+": "+verb, func(t *testing.T) {
				w := newWorld(t)
				r := w.session(t, "api", session.Archived)
				e := w.prompt(t, r, "text", inbox.Unproven)
				w.sessions.decide = func(uuid.UUID, string) error { return deep(tt.err) }
				err := w.tap(t, alice, verb+":"+e.Key)
				if errors.Is(tt.err, errDisk) {
					w.toldOfError(t, err)
				} else {
					require.NoError(t, err)
					assert.NotEmpty(t, w.sender.done())
				}
				assert.Equal(t, tt.stale, w.sender.spent == 1, "only what is over loses its buttons")
				assert.Empty(t, w.sender.edited)
			})
		}
	}
}

// showsAllButtons is a world in which every button there is was shown, with the
// largest ids.
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
}

// Telegram refuses a button whose data has more than 64 bytes. Every button of
// every message is looked at, with the largest ids.
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
				assert.Contains(t, w.taps, verb, "somebody answers it")
				seen[verb] = true
			}
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(w.taps)), slices.Collect(maps.Keys(seen)), "all buttons were looked at")
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
	old64 := inbox.Entry{Key: "p-" + uuid.NewString(), State: inbox.Held, Session: r.ID, Conversation: atAlice, Text: "x"}
	_, err := w.entries.Add(old64)
	require.NoError(t, err)
	require.NoError(t, w.AskAged(t.Context(), 2*Old))
	over := inbox.Entry{Key: "p-" + uuid.NewString(), State: inbox.Accepted, Session: old.ID, Conversation: atAlice, Text: "x"}
	_, err = w.entries.Add(over)
	require.NoError(t, err)
	over, err = w.entries.Load(over.Key)
	require.NoError(t, err)
	require.NoError(t, w.askResume(t.Context(), over, old))
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
	require.NoError(t, w.tap(t, math.MaxInt64, dataOf(t, w, w.sender.last(t), i18n.ButtonArchive)))
}

// asks64 tells what asks: a request, a prompt behind it, a dialog with many options.
func (w *world) asks64(t *testing.T, r session.Record) {
	t.Helper()
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

// commands64 sends all commands that answer with buttons; /resume with a path of
// its own and with each refusal that has some.
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

// taps64 taps, as the person with the largest id, what asks once more; the
// refusal of a resume in another directory and with a decision is the longest.
func (w *world) taps64(t *testing.T) {
	t.Helper()
	tap := func(data string) { require.NoError(t, w.tap(t, math.MaxInt64, data)) }
	for _, m := range slices.Clone(w.sender.posted) {
		for _, d := range data(m) {
			if verb, _, _ := strings.Cut(d, ":"); len(verb) == 3 && strings.HasSuffix(verb, "as") || strings.HasSuffix(d, ".c") {
				tap(d)
			}
		}
	}
	longest := w.sender.last(t) // the refusal of ".c"
	tap(dataOf(t, w, longest, i18n.ButtonTakeOver))
	assert.Len(t, data(w.sender.last(t))[0], 64)
}

// TestP9_EveryVerbIsForAllowedPeople: a new verb must not forget to look.
func TestP9_EveryVerbIsForAllowedPeople(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	w.write(inWindow(t, 1))
	for verb := range w.taps {
		data := fmt.Sprintf("%s:%s:%s:%d", verb, ref(r.ID), writersMark([]process.Identity{desk(1).Identity}), eve)
		m := &models.Message{ID: 5, Chat: groupChat(ours)}
		require.NoError(t, w.Handle(t.Context(), "1", tapOn(eve, m, data)))
	}
	w.silent(t)
}

// A button that somebody cut, or wrote by hand, does nothing.
func FuzzTapData(f *testing.F) {
	for _, seed := range []string{"res:x", "undo:AAAAAAAAAAAAAAAAAAAAAA:5", "rdo:AAAAAAAAAAAAAAAAAAAAAA..c:12345678:7", ":::", "gad:.:",
		"rall:0", "rpick:-1", "wad:@21:12345678:l", "wyes:@21:12345678:q:7", "war::", "wig:@:x:r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if verb, _, _ := strings.Cut(data, ":"); verb == "no" {
			return // a cancel names nothing
		}
		w := newWorld(t)
		w.session(t, "api", session.Running)
		w.windows.all = []lifecycle.Window{agentWindow(t, "@21", 4123)}
		require.NoError(t, w.tap(t, alice, data))
		require.Empty(t, w.sessions.done())
		require.Len(t, w.windows.all, 1)
	})
}

func TestSendAnyway(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	e := w.prompt(t, r, "text", inbox.Held)
	n := lifecycle.Note{Kind: lifecycle.NoteHeldDraft, Session: r, Prompt: lifecycle.Prompt{Key: e.Key, Text: "text"}}
	require.NoError(t, w.SessionNews(t.Context(), n))
	w.again()
	require.NoError(t, w.tap(t, bob, dataOf(t, w, w.sender.last(t), i18n.ButtonSendAnyway)))
	assert.Equal(t, []string{"send anyway " + e.Key + " for " + r.ID.String()}, w.sessions.done())
	assert.Equal(t, lines("the question", "", w.word(i18n.SentAnyway)), w.sender.lastEdit(t).Text.Text)
	for want, err := range map[i18n.Key]error{i18n.BoxBusy: lifecycle.ErrBoxBusy, i18n.DraftHidden: lifecycle.ErrDraftHidden,
		i18n.AlreadyEnded: lifecycle.ErrNoAgent, i18n.StaleButton: fs.ErrNotExist} {
		w.sessions.decide = func(uuid.UUID, string) error { return deep(err) }
		require.NoError(t, w.tap(t, bob, "any:"+e.Key))
		assert.Contains(t, w.sender.done(), "post "+w.named(want, "api"))
	}
	assert.Len(t, w.sender.edited, 1, "what was refused stays as it is")
	assert.Equal(t, 1, w.sender.spent, "but what is over")
}

// Telegram refuses an answer to a tap of more than 200 letters, and then the
// person sees nothing at all.
const alertLimit = 200

func TestAlertsFit(t *testing.T) {
	for _, lang := range i18n.Languages() {
		w := newWorld(t)
		w.words = w.Words.For(lang)
		for _, key := range []i18n.Key{i18n.BoxBusy, i18n.DraftHidden, i18n.AlreadyEnded, i18n.WritersUnknown, i18n.WritersChanged,
			i18n.UndoOver, i18n.FootAdoptElsewhere, i18n.RecoveredOver, i18n.WindowsUnknown, i18n.WindowIgnored, i18n.NotForYou, i18n.StaleButton, i18n.Retrying, i18n.InternalError} {
			assert.LessOrEqual(t, plain(w.named(key, "a-name-as-they-are")).Length(), alertLimit, "%s %s", lang, key)
		}
		answer, err := w.alert(i18n.WritersUnknown, i18n.Args{"Name": strings.Repeat("long", 100)})
		require.NoError(t, err)
		assert.LessOrEqual(t, plain(answer.Fit().Text).Length(), alertLimit)
	}
}
