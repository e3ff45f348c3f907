package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// promptOf returns the entry that continues an interrupted session.
func promptOf(t *testing.T, w *chattest.World, r session.Record) inbox.Entry {
	t.Helper()
	e, err := w.Inbox.Load(talk.PromptKey(r.ContinueID()))
	require.NoError(t, err)
	return e
}

// promptKeys are the keys of the prompts that wait.
func promptKeys(t *testing.T, w *chattest.World) (keys []string) {
	t.Helper()
	all, err := w.Inbox.List()
	require.NoError(t, err)
	for _, e := range all {
		if e.State == inbox.Held {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

func TestReportNamesInterruptedWork(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.CutShort(t, "api", session.ClosedReboot)
	waits := w.CutShort(t, "web", session.ClosedReboot)
	w.Records.Change(waits.ID, func(r *session.Record) {
		r.Interruption.Waited, r.Interruption.TasksTotal, r.Interruption.Step = true, 0, ""
	})
	w.Lost(t, "docs", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{Booted: chattest.Started}))
	m := w.Telegram.Last(t)
	assert.Equal(t, chattest.Lines("All sessions are checked. What has changed:",
		"• 3 sessions ended when the machine shut down: api, web, docs. The machine was restarted at "+chattest.Started.Local().Format("15:04")+".",
		"",
		"• api: It was working when it died.",
		"• web: It was waiting for you when it died.",
		"Resume one: /resume and its name. What happened: /why and its name."), m.Text.Text)
	assert.Equal(t, []string{"Resume all", "Choose", "Continue"}, chattest.Words(m))

	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue))
	assert.Equal(t, chattest.Restores(r, waits), w.Restored(), "what was idle stays where it is")
	for _, one := range []session.Record{r, waits} {
		e := promptOf(t, w, one)
		assert.Equal(t, chattest.GoOn, e.Text)
		assert.Equal(t, inbox.Held, e.State)
		assert.Equal(t, one.ID, e.Session)
	}
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonContinue))
	assert.Len(t, promptKeys(t, w), 2, "a second tap sends nothing more")
	assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Now(1)), "one is still lost")
}

// Without a text in the settings the prompt is in the language of the chat.
func TestContinueHasLanguageOfChat(t *testing.T) {
	for lang, want := range map[string]string{
		"en": "You were interrupted: your process ended before you were done. Check what is done and what is not, then go on.",
		"ru": "Работа прервалась: твой процесс завершился раньше времени. Проверь, что сделано, а что нет, и продолжай.",
		"zh": "工作被中断：你的进程在完成之前结束了。请检查哪些已经完成、哪些还没有，然后继续。",
	} {
		w := chattest.NewWorld(t)
		w.ContinueText = ""
		w.Again()
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = lang }))
		r := w.CutShort(t, "api", session.ClosedReboot)
		require.NoError(t, w.TapShown(t, chattest.Alice, w.RecoveredMessage(t), i18n.ButtonContinue))
		assert.Equal(t, want, promptOf(t, w, r).Text)
	}
}

// A session that is back and has not continued its work can still continue it.
func TestResumeAllKeepsContinue(t *testing.T) {
	w := chattest.NewWorld(t)
	api, web := w.CutShort(t, "api", session.ClosedReboot), w.Lost(t, "web", session.ClosedReboot)
	m := w.RecoveredMessage(t)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	assert.Equal(t, chattest.Restores(api, web), w.Restored())
	assert.Equal(t, []string{"Continue"}, chattest.Words(w.Telegram.Now(1)))
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Now(1), i18n.ButtonContinue))
	assert.Equal(t, chattest.GoOn, promptOf(t, w, api).Text)
	assert.Empty(t, w.Telegram.Now(1).Buttons)
}

// [Resume all] sends one message with a line for each session, with its kept prompts and its
// readiness.
func TestResumeAllIsOneMessage(t *testing.T) {
	w := chattest.NewWorld(t)
	api, web, docs := w.Lost(t, "api", session.ClosedReboot), w.Lost(t, "web", session.ClosedReboot), w.Lost(t, "docs", session.ClosedReboot)
	kept := w.Prompt(t, api, "fix the test", inbox.Held)
	w.Records.Change(api.ID, func(r *session.Record) { r.Prompts = []string{kept.Key} })
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		if id == docs.ID {
			return w.Record(t, id), errors.New("no tmux")
		}
		return w.Record(t, id), nil
	}
	m := w.RecoveredMessage(t)
	before := trafficOf(w)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	w.Work(t)
	id := 0
	for i, sent := range w.Telegram.Sent {
		if strings.HasPrefix(sent.Text.Text, "3 sessions come back:") {
			id = i + 1
		}
	}
	assert.Equal(t, "3 sessions come back:\n• api: on its way — kept for it: “fix the test”\n• web: on its way\n• docs: not back", w.Shows(t, id).Text.Text)
	for _, r := range []session.Record{web, api, api} { // news may come twice
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ready{}))
		w.Work(t)
	}
	assert.Equal(t, "3 sessions come back:\n• api: ready — kept for it: “fix the test”\n• web: ready\n• docs: not back", w.Shows(t, id).Text.Text)
	assert.LessOrEqual(t, trafficOf(w).minus(before).Messages, 3, "the list, why docs is not back, and news that were told twice")
}

// TestReportEndsWithItsSessions: a report offers nothing, and reports no queue, after its sessions
// are back in whichever way.
func TestReportEndsWithItsSessions(t *testing.T) {
	for name, resume := range map[string]func(t *testing.T, w *chattest.World, m outbox.Message){
		"by the report": func(t *testing.T, w *chattest.World, m outbox.Message) {
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
		},
		"by a command": func(t *testing.T, w *chattest.World, _ outbox.Message) {
			w.MustHear(t, "/resume api")
			w.MustHear(t, "/resume web")
		},
		"for a text": func(t *testing.T, w *chattest.World, _ outbox.Message) {
			require.NoError(t, w.Reports.ResumeAll(t.Context(), chattest.AtAlice, chattest.Alice))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			api, web := w.Lost(t, "api", session.ClosedReboot), w.Lost(t, "web", session.ClosedReboot)
			kept := w.Prompt(t, api, "fix the test", inbox.Held)
			w.Records.Change(api.ID, func(r *session.Record) { r.Prompts = []string{kept.Key} })
			m := w.RecoveredMessage(t)
			require.Contains(t, m.Text.Text, "1 message is still queued")
			require.Contains(t, m.Text.Text, "/resume")
			w.Reopened(t)
			resume(t, w, m)
			for _, r := range []session.Record{api, web} {
				w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
				require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ready{}))
				w.Work(t)
				if r.ID == api.ID && name != "by the report" {
					assert.NotContains(t, w.Telegram.Now(1).Text.Text, "still queued")
				}
			}
			assert.NotContains(t, w.Telegram.Now(1).Text.Text, "still queued")
			assert.NotContains(t, w.Telegram.Now(1).Text.Text, "/resume")
			assert.Empty(t, w.Telegram.Now(1).Buttons)
		})
	}
}

// TestReportOffersAFailedResumeAgain: a session that is on its way back when another one is ready
// is offered again if its resume fails.
func TestReportOffersAFailedResumeAgain(t *testing.T) {
	w := chattest.NewWorld(t)
	api, web := w.Lost(t, "api", session.ClosedReboot), w.Lost(t, "web", session.ClosedReboot)
	m := w.RecoveredMessage(t)
	become := func(r session.Record, state session.State, n news.News) {
		w.Records.Change(r.ID, func(r *session.Record) { r.State, r.ClosedReason = state, "" })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), n))
		w.Work(t)
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	become(web, session.Restoring, news.Doing{})
	become(api, session.Running, news.Ready{})
	assert.Empty(t, w.Telegram.Now(1).Buttons)
	become(web, session.Failed, news.Failed{})
	assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Now(1)))
	w.Lifecycle.Forget()
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Now(1), i18n.ButtonResume))
	assert.Equal(t, chattest.Restores(web), w.Restored())
}

// TestReportKeepsItsHintWithoutButtons: the hint is about the sessions that stay closed, not only
// about those that a button offers.
func TestReportKeepsItsHintWithoutButtons(t *testing.T) {
	w := chattest.NewWorld(t)
	api, docs := w.Lost(t, "api", session.ClosedReboot), w.Lost(t, "docs", "")
	m := w.RecoveredMessage(t)
	require.Equal(t, []string{"Resume"}, chattest.Words(m))
	for _, r := range []session.Record{api, docs} {
		assert.Contains(t, w.Telegram.Now(1).Text.Text, "/resume")
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ready{}))
		w.Work(t)
		assert.Empty(t, w.Telegram.Now(1).Buttons)
	}
	assert.NotContains(t, w.Telegram.Now(1).Text.Text, "/resume")
}

// A prompt is typed once, after any number of taps on [Continue] and a crash at any point.
func TestP4_ContinueIsOnePrompt(t *testing.T) {
	for _, point := range []string{"continue-held", "kept", "restored"} {
		t.Run(point, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.CutShort(t, "api", "")
			w.MustHear(t, "/why api")
			m := w.Telegram.Last(t)
			assert.Equal(t, []string{"Resume", "Continue"}, chattest.Words(m))
			assert.Contains(t, m.Text.Text, "It was working when it died.")

			died := errors.New("died")
			w.Failpoint = func(at string) {
				if at == point {
					panic(died)
				}
			}
			switch point {
			case "kept":
				w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return died }
			case "restored":
				w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return session.Record{}, died }
			}
			_ = w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue)
			w.Failpoint, w.Lifecycle.OnQueue, w.Lifecycle.OnRestore = nil, nil, nil
			w.Again()
			for range 2 {
				require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue))
			}
			assert.Equal(t, []string{talk.PromptKey(r.ContinueID())}, promptKeys(t, w))
			assert.Equal(t, session.Restoring, w.Record(t, r.ID).State)

			require.NoError(t, w.Inbox.Finish(talk.PromptKey(r.ContinueID()))) // it is typed, and proven
			w.Records.Change(r.ID, func(r *session.Record) { r.Interruption.Followed = true })
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue))
			assert.Empty(t, promptKeys(t, w), "it is over")
		})
	}
}

// The agent of a session that is back takes the prompt at once, so that the prompt is in no queue a
// moment later.
func TestP4_ContinueConfirmsImmediatelyTypedPrompt(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.CutShort(t, "api", "")
	w.MustHear(t, "/why api")
	m, before := w.Telegram.Last(t), len(w.Telegram.Texts())
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
	w.Lifecycle.OnToFront = func(string) error { return typing.ErrNoPrompt }
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue))
	assert.Equal(t, []string{w.Named(i18n.Continues, "api") + "\n" + chattest.GoOn}, w.Telegram.Texts()[before:], "once, and no failure")
	assert.Equal(t, r.ID, w.Chats.Current(chattest.AtAlice))
}

// The news of a crash, and of a restored session, offer to continue; not if no work was
// interrupted, or if a waiting prompt will follow anyway.
func TestNewsOfInterruptedWork(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.CutShort(t, "api", "")
	r.Exit = &session.Exit{Known: true, Status: 143}
	require.NoError(t, w.SessionNews(t.Context(), r, news.Ended{Screen: "bye"}))
	m := w.Telegram.Last(t)
	assert.Equal(t, []string{"Resume", "Continue"}, chattest.Words(m))
	assert.Contains(t, m.Text.Text, "api crashed (exit code 143)")
	assert.Contains(t, m.Text.Text, "bye\nIt was working when it died.")
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonContinue))
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api continues. This is sent:\n"+chattest.GoOn)
	assert.Equal(t, chattest.Restores(r), w.Restored())
	assert.Contains(t, w.Lifecycle.Done(), fmt.Sprintf("to front %s of %s", talk.PromptKey(r.ContinueID()), r.ID), "what waits comes after it")

	r.State = session.Restoring
	require.NoError(t, w.SessionNews(t.Context(), r, news.Ready{}))
	assert.Equal(t, []string{"Continue"}, chattest.Words(w.Telegram.Last(t)))
	r.Prompts = []string{"1"}
	require.NoError(t, w.SessionNews(t.Context(), r, news.Ready{}))
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Named(i18n.Ready, "api"))
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
}

func TestWhySaysThatItCrashed(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Completed)
	w.Records.Change(r.ID, func(r *session.Record) { r.Exit = &session.Exit{Known: true, Signal: 9} })
	w.MustHear(t, "/why api")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api was ended by signal 9.")
	assert.Equal(t, []string{"Resume"}, chattest.Words(w.Telegram.Last(t)))
}

// With CCBOT_RESUME_ON_START=continue the sessions last seen at work continue, two at a time; the
// others ended by a reboot are only restored.
func TestContinueOnStart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.SetResumeOnStart(chattest.ResumeContinue)
		corrupt := map[string]func(i *session.Interruption){
			"waited": func(i *session.Interruption) { i.Waited = true },
			"unseen": func(i *session.Interruption) { i.Unseen = true },
			"again":  func(i *session.Interruption) { i.Again = true },
		}
		var all, alone []session.Record
		for _, name := range []string{"one", "two", "three", "waited", "unseen", "again", "left"} {
			r := w.CutShort(t, name, session.ClosedReboot)
			if name == "left" { // by its person, who may not act any more
				w.Records.Change(r.ID, func(r *session.Record) { r.Owner = chattest.Eve })
			} else if change := corrupt[name]; change != nil {
				w.Records.Change(r.ID, func(r *session.Record) { change(r.Interruption) })
			} else {
				alone = append(alone, r)
			}
			all = append(all, r)
		}
		w.CutShort(t, "tmux", session.ClosedTmux)
		var now, most atomic.Int32
		w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
			r := w.Record(t, id)
			if strings.Contains("one two three", r.Name) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
			}
			w.Records.Change(id, func(r *session.Record) { r.State = session.Restoring })
			return w.Record(t, id), nil
		}
		require.NoError(t, w.Recovered(context.WithoutCancel(t.Context()), recovery.Report{}))
		assert.Equal(t, chattest.Restores(all...), w.Restored())
		assert.EqualValues(t, 2, most.Load())
		m := w.Telegram.Posted[0]
		assert.Contains(t, m.Text.Text, "Continued automatically: one, two, three.")
		assert.Equal(t, []string{"Resume", "Continue"}, chattest.Words(m), "for the others, and what tmux took")
		want := []string{}
		for _, r := range alone {
			want = append(want, talk.PromptKey(r.ContinueID()))
		}
		assert.ElementsMatch(t, want, promptKeys(t, w))
	})
}

func TestDiskLow(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	require.NoError(t, w.DiskLow(t.Context(), 900_000_000))
	assert.Equal(t, []string{"⚠ The disk of ~/.ccbot is almost full (900 MB left). Free some space: on a full disk no message can be kept."}, w.Telegram.Texts())
}

func TestTmuxSilenceIsTold(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	for _, silent := range []bool{true, false} {
		require.NoError(t, w.SessionNews(t.Context(), session.Record{}, news.TmuxSilence{Ended: !silent}))
	}
	assert.Equal(t, []string{"⚠ tmux has not answered on the machine for 30 seconds. Whether the agents work is unknown; messages wait, " +
		"and nothing is started or ended until tmux answers.", "tmux answers again. Messages that waited are handled now."}, w.Telegram.Texts())
}
