package bot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func TestStaleButtons(t *testing.T) {
	none := uuid.NewString()
	for _, data := range []string{"", ":", "what", "what:x", "open", "open:", "open:x", "open:" + none, "kill", "kill:x:7", "kill:" + none + ":7",
		"done:" + none + ":7", "res:", "res:" + none, "undo:x", "drop", "drop:", "drop:../x", "drop:999", "drop:p-x",
		"mkd:x", "try:x", "sno:x", "rsh:x:y", "sas", "gad:" + none + ":x"} {
		t.Run(data, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Session(t, "api", session.Running)
			require.NoError(t, w.TapButton(t, chattest.Alice, data))
			assert.Equal(t, []string{"answer query: " + w.Word(i18n.StaleButton), "buttons of 55: 0"}, w.Telegram.Done())
			assert.Empty(t, w.Lifecycle.Done())
		})
	}
}

func TestTapCurrentSwitches(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	web := w.Session(t, "web", session.Running)
	w.Records.Change(web.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	spot := w.Listed(t, web)
	require.NoError(t, w.TapSpot(t, chattest.Alice, spot))
	w.CurrentIs(t, web.ID)
	assert.Equal(t, []string{"move " + web.ID.String() + " to 7"}, w.Lifecycle.Done(), "it is shown here from now on")
	edit := w.Telegram.LastEdit(t).Text.Text
	text, _ := w.ListText(t, chattest.AtAlice)
	assert.Equal(t, text.Text, edit)
	assert.Contains(t, w.Telegram.Done(), "answer query: → web")

	w.Lifecycle.OnMove = func(uuid.UUID, session.Conversation) error { return chattest.ErrDisk }
	w.Records.Change(web.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	w.AssertErrorShown(t, w.TapSpot(t, chattest.Alice, w.Listed(t, web)))
}

// A text after the tap goes to the session, even if its move is slow.
func TestTapCurrentSwitchesBeforeAnswer(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	web := w.Session(t, "web", session.Running)
	w.Records.Change(web.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	w.Lifecycle.OnMove = func(uuid.UUID, session.Conversation) error {
		w.CurrentIs(t, web.ID)
		assert.Contains(t, w.Telegram.Done(), "answer query: → web")
		return nil
	}
	require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, web)))
	assert.Len(t, w.Lifecycle.Done(), 1)
}

// Calls to the agent's machine after a tap delay no text: the tapped session is current as soon as
// the tap is decided.
func TestP7_TextAfterTapGoesToSession(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	web := w.Session(t, "web", session.Running)
	w.MustHear(t, "/list")
	list := w.Telegram.Last(t)
	data := chattest.DataBehind(t, list, "web")
	then, err := w.Tap(t.Context(), chattest.TapOn(chattest.Alice, chattest.Telegrams(w.IDOf(data), list), data))
	require.NoError(t, err)
	key := w.MustHear(t, "for web")
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+web.ID.String())
	assert.NoError(t, then(t.Context()))
}

func TestTapCurrentOnMissingList(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	w.Telegram.OnEdit = func(outbox.Message) error { return &outbox.Refused{Err: errors.New("gone")} }
	assert.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, r)))
}

func TestTapCurrentKeepsListInLimit(t *testing.T) {
	w := chattest.NewWorld(t)
	var first session.Record
	for n := range 100 {
		r := w.Session(t, fmt.Sprintf("a-long-name-for-a-session-that-fills-the-list-%02d", n), session.Starting)
		if n == 0 {
			first = r
		}
	}
	require.NoError(t, w.TapSpot(t, chattest.Alice, w.Listed(t, first)))
	assert.LessOrEqual(t, w.Telegram.LastEdit(t).Text.Length(), 4096)
}

func TestP4_PersonDecidesUnprovenPrompt(t *testing.T) {
	for _, tt := range []struct {
		button   i18n.Key
		call     string
		said     i18n.Key
		reaction string
	}{
		{i18n.ButtonSendAgain, "send again", i18n.SentAgain, chattest.ReactionStored},
		{i18n.ButtonDrop, "drop", i18n.Dropped, chattest.ReactionNone},
	} {
		t.Run(tt.call, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Running)
			e, question := w.Unproven(t, r)
			require.NoError(t, w.TapShown(t, chattest.Bob, question, tt.button), "any allowed person may")
			assert.Equal(t, []string{tt.call + " " + e.Key + " for " + r.ID.String()}, w.Lifecycle.Done())
			assert.Equal(t, w.Named(tt.said, "api"), w.Telegram.LastEdit(t).Text.Text)
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
			assert.Equal(t, []string{tt.reaction}, w.Telegram.Reactions(e.MessageID))
		})
	}
}

func TestP4_FailedDecisionKeepsButtons(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		stale bool
	}{
		{"finished meanwhile", typing.ErrNoPrompt, true},
		{"the entry is finished", inbox.ErrNoEntry, true},
		{"the session is gone", session.ErrNotFound, true},
		{"the agent has ended", view.ErrNoAgent, false},
		{"the disk is full", chattest.ErrDisk, false},
	} {
		for _, button := range []i18n.Key{i18n.ButtonSendAgain, i18n.ButtonDrop} {
			t.Run(tt.name+": "+string(button), func(t *testing.T) {
				w := chattest.NewWorld(t)
				_, question := w.Unproven(t, w.Session(t, "api", session.Archived))
				w.Lifecycle.Decide = func(uuid.UUID, string) error { return chattest.Deep(tt.err) }
				err := w.TapShown(t, chattest.Alice, question, button)
				if errors.Is(tt.err, chattest.ErrDisk) {
					w.AssertErrorShown(t, err)
				} else {
					require.NoError(t, err)
					assert.NotEmpty(t, w.Telegram.Done())
				}
				if !tt.stale {
					assert.Empty(t, w.Telegram.Edited)
					return
				}
				assert.Equal(t, w.Word(i18n.PromptSettled), w.Telegram.LastEdit(t).Text.Text)
				assert.Empty(t, w.Telegram.LastEdit(t).Buttons, "only what is over loses its buttons")
			})
		}
	}
}

// A question closes when the prompt no longer needs an answer, also in a later run.
func TestQuestionClosesWithPrompt(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(w *chattest.World, r session.Record, e inbox.Entry) error
	}{
		{"the proof came late", func(w *chattest.World, r session.Record, e inbox.Entry) error {
			return w.SessionNews(context.Background(), r, news.Delivered{Prompt: talk.Prompt{Key: e.Key}})
		}},
		{"its session is forgotten", func(w *chattest.World, _ session.Record, e inbox.Entry) error {
			return w.Prompts.Homeless(context.Background(), []string{e.Key})
		}},
		{"it was finished while no ccbot was there", func(w *chattest.World, _ session.Record, e inbox.Entry) error {
			if err := w.Inbox.Finish(e.Key); err != nil {
				return err
			}
			w.Again()
			return w.Feature("prompt").Run(cancelled())
		}},
		{"a kill came between the decision and this", func(w *chattest.World, _ session.Record, e inbox.Entry) error {
			e.State = inbox.Held
			if err := w.Inbox.Save(e); err != nil {
				return err
			}
			w.Again()
			return w.Feature("prompt").Run(cancelled())
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", session.Running)
			e, question := w.Unproven(t, r)
			require.NoError(t, tt.ends(w, r, e))
			assert.Contains(t, []string{w.Word(i18n.PromptSettled), w.Named(i18n.PromptSent, "api")}, w.Telegram.LastEdit(t).Text.Text)
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
			require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonSendAgain))
			assert.Empty(t, w.Lifecycle.Done())
		})
	}
}

// A question is shown before the entry is in its state: a tap in between does not take it away.
func TestP4_QuestionStaysUntilDecision(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	e, question := w.Unproven(t, r)
	w.Becomes(t, e.Key, inbox.Typing)
	require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonDrop))
	assert.Empty(t, w.Lifecycle.Done())
	require.NoError(t, w.Feature("prompt").Run(cancelled()))
	w.Becomes(t, e.Key, inbox.Unproven)
	require.NoError(t, w.TapShown(t, chattest.Alice, question, i18n.ButtonDrop))
	assert.Equal(t, []string{"drop " + e.Key + " for " + r.ID.String()}, w.Lifecycle.Done())
}

// A prompt has one question: another reason sends a new message.
func TestNewReasonReplacesQuestion(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	e := w.Prompt(t, r, "text", inbox.Held)
	about := talk.Prompt{Key: e.Key, Text: "text"}
	for range 2 {
		require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldDraft, Prompt: about}))
	}
	require.Len(t, w.Telegram.Sent, 1, "the same once")
	draft := w.LastSent(t)
	w.Becomes(t, e.Key, inbox.Unproven)
	require.NoError(t, w.SessionNews(t.Context(), r, news.Unproven{Prompt: about}))
	require.Len(t, w.Telegram.Sent, 2)
	assert.Equal(t, 1, w.Telegram.LastEdit(t).ReplyTo)
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
	require.NoError(t, w.TapShown(t, chattest.Alice, draft, i18n.ButtonSendAnyway))
	assert.Empty(t, w.Lifecycle.Done())
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonSendAgain))
	assert.Equal(t, []string{"send again " + e.Key + " for " + r.ID.String()}, w.Lifecycle.Done())
}

// cancelled is a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Telegram refuses a button with more than 64 bytes of data. The test checks every button of every
// message, with the largest ids.
func TestCallbackDataFits(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.ShowsEveryButton(t)
		for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Edited, w.Telegram.Sent) {
			for _, d := range chattest.Data(m) {
				assert.LessOrEqual(t, len(d), 64, d)
				assert.NotEmpty(t, d)
				assert.True(t, chattest.IsButton(d), "it survives a restart: %s", d)
			}
		}
	})
}

// A truncated or forged button does nothing.
func FuzzTapData(f *testing.F) {
	for _, seed := range []string{"res:x", "try:AAAAAAAAAAAAAAAAAAAAAA", "open:AAAAAAAAAAAAAAAAAAAAAA:5", ":::",
		"AAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:0", "AAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		w := chattest.NewWorld(t)
		w.Session(t, "api", session.Running)
		w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
		require.NoError(t, w.TapButton(t, chattest.Alice, data))
		require.Empty(t, w.Lifecycle.Done())
		require.Len(t, w.Windows.All, 1)
	})
}

func TestLeaveViewAndSend(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	e := w.Prompt(t, r, "text", inbox.Held)
	about := talk.Prompt{Key: e.Key, Text: "text"}
	require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldScroll, Prompt: about}))
	question := w.LastSent(t)
	assert.Equal(t, w.WordsOf(i18n.ButtonLeaveView), chattest.Words(question))
	require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonLeaveView))
	assert.Equal(t, []string{"leave view for " + e.Key + " for " + r.ID.String()}, w.Lifecycle.Done())
	assert.Equal(t, w.Word(i18n.ViewLeft), w.Telegram.LastEdit(t).Text.Text)
}

func TestSendAnyway(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	ask := func() (e inbox.Entry, question outbox.Message) {
		e = w.Prompt(t, r, "text", inbox.Held)
		n := news.Held{Why: news.HeldDraft, Prompt: talk.Prompt{Key: e.Key, Text: "text"}}
		require.NoError(t, w.SessionNews(t.Context(), r, n))
		return e, w.LastSent(t)
	}
	e, question := ask()
	w.Again()
	w.Connect(w.Lifecycle, w.Windows)
	require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonSendAnyway))
	assert.Equal(t, []string{"send anyway " + e.Key + " for " + r.ID.String()}, w.Lifecycle.Done())
	assert.Equal(t, w.Word(i18n.SentAnyway), w.Telegram.LastEdit(t).Text.Text)
	_, question = ask()
	for want, err := range map[i18n.Key]error{i18n.BoxBusy: typing.ErrBoxBusy, i18n.DraftHidden: typing.ErrDraftHidden,
		i18n.AlreadyEnded: view.ErrNoAgent} {
		w.Lifecycle.Decide = func(uuid.UUID, string) error { return chattest.Deep(err) }
		require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonSendAnyway))
		assert.Contains(t, w.Telegram.Done(), "post "+w.Named(want, "api"))
	}
	assert.Len(t, w.Telegram.Edited, 1, "what was refused stays as it is")
	w.Lifecycle.Decide = func(uuid.UUID, string) error { return chattest.Deep(typing.ErrNoPrompt) }
	require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonSendAnyway))
	assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.StaleButton))
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons, "but what is over")
}

func TestAlertsFit(t *testing.T) {
	for _, lang := range i18n.Languages() {
		w := chattest.NewWorld(t)
		w.Lang = lang
		w.Again()
		for _, key := range []i18n.Key{i18n.BoxBusy, i18n.DraftHidden, i18n.AlreadyEnded, i18n.WritersChanged,
			i18n.FootAdoptElsewhere, i18n.RecoveredOver, i18n.WindowIgnored, i18n.NotForYou, i18n.StaleButton, i18n.Retrying, i18n.InternalError} {
			assert.LessOrEqual(t, chattest.Plain(w.Named(key, "a-name-as-they-are")).Length(), chattest.AlertLimit, "%s %s", lang, key)
		}
	}
	w, long := chattest.NewWorld(t), strings.Repeat("long", 100)
	w.Install([]chat.Feature{{Name: "talker", Cards: map[string]chat.OnTap{"talker": func(context.Context, chat.Tap) (chat.Answer, error) {
		return chat.Answer{Text: long}, nil
	}}}})
	require.NoError(t, w.TapButton(t, chattest.Alice, w.NewButton(t, "talker")))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+long[:chattest.AlertLimit])
}

// A prompt that was stopped before it was carried out is offered, though the agent had it: it is
// queued again, or it ends.
func TestP4_StoppedPromptIsOffered(t *testing.T) {
	for _, finished := range []bool{true, false} {
		for _, word := range []i18n.Key{i18n.ButtonSendAgain, i18n.ButtonDrop} {
			t.Run(fmt.Sprintf("finished %t, %s", finished, word), func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Running)
				e := w.Prompt(t, r, "text", inbox.Typing)
				if finished {
					require.NoError(t, w.Inbox.Finish(e.Key))
				}
				n := news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: "text"}}
				require.NoError(t, w.SessionNews(t.Context(), r, n))
				question := w.LastSent(t)
				assert.Contains(t, question.Text.Text, "text")
				now, err := w.Inbox.Load(e.Key)
				require.NoError(t, err)
				assert.Equal(t, inbox.Asked, now.State, "nothing types it")
				require.NoError(t, w.TapShown(t, chattest.Alice, question, word))
				w.Work(t)
				queued := slices.ContainsFunc(w.Lifecycle.Done(), func(s string) bool { return strings.HasPrefix(s, "queue ") })
				assert.Equal(t, word == i18n.ButtonSendAgain, queued)
				if _, err := w.Inbox.Load(e.Key); word == i18n.ButtonDrop {
					assert.ErrorIs(t, err, inbox.ErrNoEntry)
				}
			})
		}
	}
}

// A prompt that waited in the queue at a /stop is not typed by itself: a person sends it, or not.
func TestP4_StopOffersWaitingPrompts(t *testing.T) {
	for _, word := range []i18n.Key{i18n.ButtonSend, i18n.ButtonDrop} {
		t.Run(string(word), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			e := w.Prompt(t, r, "text", inbox.Held)
			n := news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: "text"}}
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			question := w.LastSent(t)
			assert.Equal(t, w.Named(i18n.StopHeld, "api")+"\ntext", question.Text.Text)
			now, err := w.Inbox.Load(e.Key)
			require.NoError(t, err)
			assert.Equal(t, inbox.Asked, now.State, "nothing types it")
			require.NoError(t, w.TapShown(t, chattest.Alice, question, word))
			w.Work(t)
			queued := slices.ContainsFunc(w.Lifecycle.Done(), func(s string) bool { return strings.HasPrefix(s, "queue ") })
			assert.Equal(t, word == i18n.ButtonSend, queued)
			if _, err := w.Inbox.Load(e.Key); word == i18n.ButtonDrop {
				assert.ErrorIs(t, err, inbox.ErrNoEntry)
			}
		})
	}
}

// A prompt without an entry in the inbox has no buttons: its text is still reported, because it is
// about to be removed from the agent's box.
func TestP4_StoppedPromptWithoutEntryIsReported(t *testing.T) {
	for name, corrupt := range map[string]func(marker string) error{
		"the marker is gone":  os.Remove,
		"the marker is empty": func(marker string) error { return os.Truncate(marker, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			e := w.Prompt(t, r, "text", inbox.Typing)
			require.NoError(t, w.Inbox.Finish(e.Key))
			require.NoError(t, corrupt(filepath.Join(w.Dir, "inbox", e.Key+".done")))
			n := news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: "text"}}
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			reported := w.Telegram.Last(t)
			assert.Contains(t, reported.Text.Text, w.Named(i18n.StopAsk, "api"))
			assert.Contains(t, reported.Text.Text, "text")
			assert.Empty(t, reported.Buttons)
		})
	}
}
