package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/claudeask"
	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func TestRequestIsOneMessageWithButtons(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		require.NoError(t, w.OnRequest(t.Context(), q.Request), "a redial")
		w.Work(t)
		w.Restart(t)
		require.Len(t, w.Telegram.Sent, 1)
		m := w.Telegram.Sent[0]
		assert.Equal(t, chattest.AtAlice, m.To)
		assert.Contains(t, m.Text.Text, "go test ./...")
		assert.True(t, w.Has(m, i18n.AskAllow))
		assert.Equal(t, 1, w.Message(t, q))
	})
}

func TestAllowedInTheChat(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Bob, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
		m := w.Telegram.LastEdit(t)
		assert.Contains(t, m.Text.Text, w.AllowedText(i18n.AskSent))
		assert.Empty(t, m.Buttons, "they are spent")
		assert.Equal(t, chattest.Bob, w.RequestState(t, q).By)
		w.Result(t, q, "allow", "ok", false)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskInChat))
		assert.Equal(t, outbox.Now, w.Telegram.LastEdit(t).Rank, "an open question goes first")
		assert.True(t, w.RequestState(t, q).HasEnded())
	})
}

func TestP9_DecisionNeedsAllowedPersonAndChat(t *testing.T) {
	for _, tt := range []struct {
		name  string
		from  int64
		chat  models.Chat
		card  string // of another message
		taken bool
	}{
		{"an allowed person", chattest.Alice, chattest.PrivateChat(chattest.Alice), "", true},
		{"another allowed person", chattest.Bob, chattest.PrivateChat(chattest.Alice), "", true},
		{"a stranger", chattest.Eve, chattest.PrivateChat(chattest.Alice), "", false},
		{"a stranger in a chat of theirs", chattest.Eve, chattest.PrivateChat(chattest.Eve), "", false},
		{"from another chat", chattest.Bob, chattest.PrivateChat(chattest.Bob), "", false},
		{"from the group", chattest.Alice, chattest.GroupChat(chattest.Ours), "", false},
		{"another card", chattest.Alice, chattest.PrivateChat(chattest.Alice), strings.Repeat("A", 13), false},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			_, q := w.Asking(t)
			m := w.Shows(t, 1)
			for _, word := range []i18n.Key{i18n.AskAllow, i18n.AskDeny, i18n.AskDenyWhy} {
				if tt.taken && word != i18n.AskAllow {
					continue
				}
				data := chattest.DataBehind(t, m, w.Word(word))
				w.TapAt(t, tt.from, tt.chat, 1, chattest.OfCard(data, tt.card))
			}
			if tt.taken {
				assert.Len(t, w.Relay.Done(), 1)
				return
			}
			assert.Empty(t, w.Relay.Done())
			assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
			assert.Nil(t, w.RequestState(t, q).Why)
			if tt.from == chattest.Eve {
				assert.Len(t, w.Telegram.Done(), 1, "strangers get silence")
			}
		})
	}
}

func TestP9_DecisionCountsOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		w.TapsLate(t, chattest.Alice, q, i18n.AskAllow)
		w.TapsLate(t, chattest.Bob, q, i18n.AskDeny)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
		assert.Equal(t, chattest.Alice, w.RequestState(t, q).By)
		said := w.Telegram.Done()
		assert.Contains(t, said[len(said)-1], w.AllowedText(i18n.AskSent), "who taps second is told what was decided")
		w.Result(t, q, "allow", "ok", false)
		w.TapsLate(t, chattest.Bob, q, i18n.AskDeny)
		said = w.Telegram.Done()
		assert.Contains(t, said[len(said)-1], w.Verdict(i18n.AskAllowed, i18n.AskInChat))
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
}

func TestAnsweredAtTheDesk(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Result(t, q, "", "ok", false)
		m := w.Telegram.LastEdit(t)
		assert.Contains(t, m.Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Empty(t, m.Buttons)
		assert.Equal(t, []string{"leave"}, w.Relay.Done(), "the hook need not wait any more")
	})
}

// The terminal was quicker, and the hook still waited: its answer is ignored.
func TestLateTapIsReported(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDeny)
		w.Result(t, q, "", "it ran", false)
		m := w.Telegram.LastEdit(t)
		assert.Contains(t, m.Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Contains(t, m.Text.Text, w.Word(i18n.AskLate))
	})
}

func TestP8_CrashBeforeMessageSendsOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Stops(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		assert.Empty(t, w.Telegram.Sent, "nothing waits for Telegram")
		w.Restart(t)
		w.Restart(t)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 1)
	})
}

func TestP8_CrashAfterMessageRepeatsAtMost(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		w.Failpoint = func(name string) {
			if name == "card-sent" {
				runtime.Goexit() // killed
			}
		}
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Zero(t, w.Message(t, q))
		w.Failpoint = nil
		w.Restart(t)
		w.Restart(t)
		assert.Len(t, w.Telegram.Sent, 2)
		w.Press(t, chattest.Alice, 1, w.Word(i18n.AskAllow)) // the first one's button
		assert.Empty(t, w.Relay.Done(), "the newer message decides")
		assert.Empty(t, w.Shows(t, 1).Buttons, "the other one has no buttons any more")
		w.Press(t, chattest.Alice, 2, w.Word(i18n.AskAllow))
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
}

// Two taps come faster than the hook takes the first decision.
func TestSecondTapOnDecisionIsHarmless(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.HangsUp(q)
		id := w.Message(t, q)
		w.Press(t, chattest.Alice, id, w.Word(i18n.AskAllow))
		w.PressLate(t, chattest.Alice, id, w.Word(i18n.AskAllow))
		assert.Contains(t, w.Telegram.Done(), "answer query: "+w.AllowedText(i18n.AskSent))
	})
}

func TestP8_UndeliveredDecisionIsSentAtRedial(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.HangsUp(q)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Empty(t, w.Relay.Done())
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.AllowedText(i18n.AskNoted), "it is not sent yet")
		w.Restart(t)
		assert.Empty(t, w.Relay.Done())
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.AllowedText(i18n.AskSent))
		assert.Len(t, w.Telegram.Sent, 1)
	})
}

func TestHookDoesNotReconnect(t *testing.T) {
	for tap, want := range map[i18n.Key]ask.Stage{"": ask.StageAway, i18n.AskAllow: ask.StageSent} {
		chattest.RunsAs(t, string(tap), func(t *testing.T, w *chattest.World) {
			_, q := w.Asking(t)
			w.HangsUp(q)
			if tap != "" {
				w.TapsOn(t, chattest.Alice, q, tap)
			}
			w.Restart(t)
			w.Later(chattest.Round - time.Second)
			assert.NotEqual(t, ask.StageAway, w.RequestState(t, q).Stage, "it has some time to dial")
			w.Later(2 * time.Second)
			assert.Equal(t, want, w.RequestState(t, q).Stage)
			if want == ask.StageAway {
				assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.AskAway))
			}
			w.Dials(q)
			require.NoError(t, w.OnRequest(t.Context(), q.Request))
			w.Work(t)
			assert.Equal(t, tap != "", slices.Contains(w.Relay.Done(), "allow "), "what was decided is delivered even now")
		})
	}
}

func TestHookLeft(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Work(t)
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
		assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		w.TapsLate(t, chattest.Alice, q, i18n.AskAllow)
		assert.Empty(t, w.Relay.Done())
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.True(t, w.Has(w.Telegram.LastEdit(t), i18n.AskAllow), "it is back, so it can be answered")
		assert.Len(t, w.Telegram.Sent, 1)
	})
}

// At a stop every connection ends, and the hooks redial later.
func TestP8_StopEndsNoRequest(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Stop()
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Stops(t)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
	})
}

func TestSessionEndEndsRequests(t *testing.T) {
	for _, n := range []news.News{ending.Receipt{}, news.Ended{}, news.Lost{}, news.Failed{}} {
		chattest.RunsAs(t, fmt.Sprintf("%T", n), func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			other := w.AsksFor(t, w.Session(t, "web", session.Running), "Bash", chattest.Bash)
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			w.Work(t)
			assert.Equal(t, ask.Ended, w.RequestState(t, q).Outcome.What)
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
			assert.Contains(t, w.Relay.Done(), "leave")
			assert.Equal(t, ask.StageOpen, w.RequestState(t, other).Stage)
			w.TapsLate(t, chattest.Alice, q, i18n.AskAllow)
			assert.Equal(t, []string{"leave"}, w.Relay.Done())
		})
	}
}

func TestReplacedAgentHasEnded(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		w.Records.Change(r.ID, func(r *session.Record) { r.Binding.Agent.Start++ })
		w.Later(chattest.Round)
		assert.Equal(t, ask.Unknown, w.RequestState(t, q).Outcome.What, "nobody knows whether it took the decision")
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.AskUnknown))
	})
}

func TestClosedDialogEndsWait(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.Later(time.Minute)
		fresh := w.Request(t, r, "Bash", `{"command":"ls"}`)
		fresh.RequestedAt = w.Now() // at this very moment
		w.Dials(fresh)
		require.NoError(t, w.OnRequest(t.Context(), fresh.Request))
		w.Work(t)
		require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
		w.Work(t)
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, fresh).Stage, "its dialog is another one")
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
		w.Result(t, q, "", "ok", false)
		assert.Equal(t, ask.Allowed, w.RequestState(t, q).Outcome.What)
	})
}

// TestSubagentRequestStaysUntilLeft: the terminal draws no dialog for it while its hook waits, so
// the screen shows nothing.
func TestSubagentRequestStaysUntilLeft(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		q.SubagentID, q.Subagent = "ac2a379c5157a4c20", "general-purpose"
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		w.Later(time.Minute)
		require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
		w.Work(t)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		toDesk := chattest.DataBehind(t, w.Shows(t, 1), w.Word(i18n.AskDesk))
		w.TapsOn(t, chattest.Alice, q, i18n.AskDesk)
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
		_, main := w.Asking(t)
		assert.False(t, w.Has(w.Shows(t, 2), i18n.AskDesk))
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 2, chattest.OfCard(toDesk, chattest.DataBehind(t, w.Shows(t, 2), w.Word(i18n.AskDeny))))
		assert.Equal(t, ask.StageOpen, w.RequestState(t, main).Stage, "the terminal asks that one already")
	})
}

func TestRefusedRequestIsLeftToTerminal(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { return &outbox.Refused{Err: errors.New("bad request")} }
		_, q := w.Asking(t)
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
		w.Restart(t)
		assert.Equal(t, ask.StageAway, w.RequestState(t, q).Stage)
		assert.Empty(t, w.Telegram.Sent, "it is not tried again")
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		assert.Equal(t, []string{"leave", "leave"}, w.Relay.Done(), "nor is its hook kept")
	})
}

func TestP9_RequestIsHiddenFromRemovedPerson(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		delete(w.People, chattest.Alice)
		require.Error(t, w.OnRequest(t.Context(), q.Request), "the terminal decides")
		w.Work(t)
		w.Silent(t)
	})
}

func TestReusedRequestIdIsRefused(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		q.Input = json.RawMessage(`{"command":"rm -rf /"}`)
		require.Error(t, w.OnRequest(t.Context(), q.Request))
		q = w.Request(t, session.Record{ID: uuid.New()}, "Bash", chattest.Bash)
		w.Records.Forget(r.ID)
		require.Error(t, w.OnRequest(t.Context(), q.Request), "a session that nobody knows")
	})
}

func TestCardStaysInItsChat(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		w.TapAt(t, chattest.Bob, chattest.GroupChat(chattest.Ours), 1, chattest.DataBehind(t, w.Shows(t, 1), w.Word(i18n.AskAllow)))
		assert.Empty(t, w.Relay.Done(), "it is not shown there")
		w.TapsLate(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
		assert.Equal(t, chattest.AtAlice, w.Telegram.LastEdit(t).To)
	})
}

func TestSeveralRequestsStandSideBySide(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, one := w.Asking(t)
		two := w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		w.TapsOn(t, chattest.Alice, two, i18n.AskDeny)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, one).Stage)
		assert.Equal(t, []string{"deny The user denied this from the chat."}, w.Relay.Done())
		w.TapsOn(t, chattest.Alice, one, i18n.AskAllow)
		assert.Len(t, w.Relay.Done(), 2)
		assert.Len(t, w.Telegram.Sent, 2)
	})
}

func TestShowAllAllowsOnlyDeliveredParts(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
		assert.False(t, w.Has(w.Telegram.Sent[0], i18n.AskAllow))
		w.AsksFor(t, r, "Bash", chattest.Bash)
		allow := chattest.DataBehind(t, w.Telegram.Sent[1], w.Word(i18n.AskAllow))
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, chattest.OfCard(allow, chattest.DataBehind(t, w.Telegram.Sent[0], w.Word(i18n.AskDeny))))
		assert.Empty(t, w.Relay.Done())
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { return &outbox.Refused{Err: chattest.ErrDisk} }
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		assert.False(t, w.RequestState(t, q).AllShown)
		assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.AskNotShown))
		w.Telegram.OnSend = nil
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		assert.Contains(t, w.Telegram.Sent[2].Text.Text, "U+202E")
		below := w.LastSent(t)
		assert.True(t, w.Has(below, i18n.AskAllow), "the message comes again below")
		assert.Equal(t, len(w.Telegram.Sent), w.Message(t, q))
		assert.Equal(t, w.Named(i18n.AskSeeBelow, "api"), w.Telegram.LastEdit(t).Text.Text)
		assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
}

// Reading the file may take long; a denial does not wait for that, and ends it.
func TestDenialEndsShowAll(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "Bash", `{"command":"`+strings.Repeat("echo hello; ", 2000)+`"}`)
		w.Telegram.OnSend = func(context.Context, outbox.Message) error {
			w.Telegram.OnSend = nil
			require.NoError(t, w.Pressing(t, chattest.Alice, 1, w.Word(i18n.AskDeny)))
			return nil
		}
		w.TapsOn(t, chattest.Alice, q, i18n.AskShowAll)
		assert.Len(t, w.Telegram.Sent, 2, "one part")
		assert.Len(t, w.Relay.Done(), 1)
	})
}

// Where a topic is closed, its cards are shown in General: they answer the request too, and take its reason.
func TestP5_CardOutsideOfClosedTopicAnswers(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Telegram.Closed = session.Conversation{ChatID: chattest.Ours, ThreadID: 5}
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = w.Telegram.Closed })
		taps := func(q chattest.Asked, word i18n.Key) {
			id := w.Message(t, q)
			w.TapAt(t, chattest.Bob, chattest.GroupChat(chattest.Ours), id, chattest.DataBehind(t, w.Shows(t, id), w.Word(word)))
		}
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		taps(q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())

		w.Relay.Forget()
		q = w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		taps(q, i18n.AskDenyWhy)
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.GroupChat(chattest.Ours), Text: "use make instead"})
		require.NoError(t, w.Handle(t.Context(), key, u))
		w.Work(t)
		require.Len(t, w.Relay.Done(), 1)
		assert.Contains(t, w.Relay.Done()[0], "use make instead")
	})
}

// A person who is about to write a reason in one topic may begin another one elsewhere: each waits in its own topic.
func TestReasonsOfTwoTopicsWaitApart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		var asked []chattest.Asked
		for i, name := range []string{"api", "web"} {
			r := w.NewCurrentSession(t, name, session.Running)
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Ours, ThreadID: 5 + i} })
			asked = append(asked, w.AsksFor(t, r, "Bash", chattest.Bash))
		}
		for _, q := range asked {
			w.Press(t, chattest.Bob, w.Message(t, q), w.Word(i18n.AskDenyWhy))
		}
		for i := range asked {
			w.Relay.Forget()
			reason := fmt.Sprintf("reason %d", i)
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.GroupChat(chattest.Ours), MessageThreadID: 5 + i, IsTopicMessage: true, Text: reason})
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
			require.Len(t, w.Relay.Done(), 1)
			assert.Contains(t, w.Relay.Done()[0], reason)
		}
	})
}

func TestP4_NextTextIsReason(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.MustHear(t, "/list")
		key := w.MustHear(t, "use make instead")
		w.Work(t)
		require.Len(t, w.Relay.Done(), 1)
		assert.Contains(t, w.Relay.Done()[0], "use make instead")
		assert.Contains(t, strings.Join(w.Telegram.Done(), "\n"), "react "+chattest.ReactionReceived)
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
		assert.Equal(t, key, w.RequestState(t, q).Prompt)
		_, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "use make instead"})
		require.NoError(t, w.Handle(t.Context(), key, u), "a crash brings it again")
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue", "it is not a prompt then either")
		w.MustHear(t, "and now a prompt")
		assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
	})
}

func TestPersonsNextTextIsReason(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Sticker: &models.Sticker{}})
		require.NoError(t, w.Handle(t.Context(), key, u))
		require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chattest.Bob}, r.ID))
		for _, from := range []struct {
			person int64
			chat   models.Chat
		}{{chattest.Bob, chattest.PrivateChat(chattest.Bob)}, {chattest.Bob, chattest.PrivateChat(chattest.Alice)}, {chattest.Alice, chattest.GroupChat(chattest.Ours)}} {
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: from.person}, Chat: from.chat, Text: "not for it"})
			require.NoError(t, w.Handle(t.Context(), key, u))
		}
		assert.Empty(t, w.Relay.Done())
		assert.NotNil(t, w.RequestState(t, q).Why)
		w.TapsOn(t, chattest.Alice, q, i18n.AskCancel)
		assert.Nil(t, w.RequestState(t, q).Why)
		w.MustHear(t, "a prompt")
		assert.Empty(t, w.Relay.Done())
	})
}

func TestPersonWritesForOneCard(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, one := w.Asking(t)
		two := w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		w.TapsOn(t, chattest.Alice, one, i18n.AskDenyWhy)
		w.TapsOn(t, chattest.Alice, two, i18n.AskDenyWhy)
		assert.Nil(t, w.RequestState(t, one).Why)
		w.MustHear(t, "no listing")
		w.Work(t)
		assert.Equal(t, ask.StageSent, w.RequestState(t, two).Stage)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, one).Stage)
	})
}

func TestQuestionsAreAnsweredInTurn(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "AskUserQuestion", chattest.Questions)
		w.TapsOn(t, chattest.Alice, q, i18n.AskOther)
		w.MustHear(t, "Green")
		w.Press(t, chattest.Alice, 1, "☐ S")
		w.Press(t, chattest.Alice, 1, "☐ L")
		assert.Empty(t, w.Relay.Done())
		w.TapsOn(t, chattest.Alice, q, i18n.AskDone)
		require.Len(t, w.Relay.Done(), 1)
		assert.JSONEq(t, `{"Which colour?":"Green","Which size?":"S, L"}`, string(answersOf(t, w.RequestState(t, q))))
	})
}

// A person ticks quicker than the message is drawn, and one who taps twice does not take a tick back.
func TestQuickTicksCount(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "AskUserQuestion", chattest.Questions)
		w.Press(t, chattest.Alice, 1, "Blue")
		first := w.Shows(t, 1)
		for _, text := range []string{"☐ S", "☐ L", "☐ L"} {
			w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, chattest.DataBehind(t, first, text))
		}
		w.TapsOn(t, chattest.Alice, q, i18n.AskDone)
		assert.JSONEq(t, `{"Which colour?":"Blue","Which size?":"S, L"}`, string(answersOf(t, w.RequestState(t, q))))
	})
}

// TestP7_AnswerToOtherContentIsNotGiven: the agent's side refuses an answer to what it does not
// ask. The terminal then decides.
func TestP7_AnswerToOtherContentIsNotGiven(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Relay.Decides(func() error { return claudeask.ErrNotShown })
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		w.Work(t)
		assert.Equal(t, []string{"leave"}, w.Relay.Done())
		c := w.RequestState(t, q)
		assert.Equal(t, ask.StageAway, c.Stage)
		assert.True(t, c.InTerminal)
	})
}

func answersOf(t *testing.T, c ask.State) json.RawMessage {
	t.Helper()
	var input struct{ Answers json.RawMessage }
	require.NotNil(t, c.Answer)
	d, err := claudeask.Decide(c.Request, *c.Answer)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(d.UpdatedInput, &input))
	return input.Answers
}

func TestPlanIsApproved(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "ExitPlanMode", `{"plan":"# Plan\n\n- one"}`)
		w.TapsOn(t, chattest.Alice, q, i18n.AskApprove)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
}

func TestP4_DenyWithThisUnqueuesPromptFirst(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		e, notice := w.HeldBehind(t, r)
		assert.Equal(t, []string{w.Word(i18n.ButtonShowQuestion), w.Word(i18n.ButtonDenyWith)}, chattest.Words(w.Shows(t, notice)))
		w.Lifecycle.OnWithdraw = func(uuid.UUID, string) error {
			assert.Empty(t, w.Relay.Done(), "Claude hears of it only when it is not typed any more")
			assert.Equal(t, ask.StageSent, w.RequestState(t, q).Stage, "and it is on disk by then")
			return w.Inbox.Finish(e.Key)
		}
		w.Press(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith))
		require.Len(t, w.Relay.Done(), 1)
		assert.Contains(t, w.Relay.Done()[0], "use make")
		assert.Contains(t, w.Lifecycle.Done(), "withdraw "+e.Key+" of "+r.ID.String())
		w.PressLate(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith))
		assert.Len(t, w.Relay.Done(), 1, "once")
	})
}

// While the decision is carried out, the session may report again that a text waits.
func TestP4_DenialEndsItsList(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, _ := w.Asking(t)
		e, notice := w.HeldBehind(t, r)
		w.Lifecycle.OnWithdraw = func(uuid.UUID, string) error {
			about := talk.Prompt{Key: e.Key, Text: e.Text}
			require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.HeldDialog, Prompt: about}))
			return w.Inbox.Finish(e.Key)
		}
		w.Press(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith))
		assert.Contains(t, w.Shows(t, notice).Text.Text, w.Named(i18n.DeniedWith, r.Name))
	})
}

func TestP4_TypedPromptIsNotReason(t *testing.T) {
	for err, failed := range map[error]bool{typing.ErrNoPrompt: false, chattest.ErrDisk: true} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			_, notice := w.HeldBehind(t, r)
			w.Lifecycle.OnWithdraw = func(uuid.UUID, string) error { return err }
			require.NoError(t, w.Pressing(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith)))
			w.Work(t)
			assert.Equal(t, failed, chattest.Contains(w.Telegram.Texts(), w.Word(i18n.InternalError)))
			assert.Empty(t, w.Relay.Done(), "nothing is denied")
			assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
			assert.Nil(t, w.RequestState(t, q).Answer)
			assert.Empty(t, w.RequestState(t, q).Prompt)
		})
	}
}

func TestP8_CrashedDenialEndsAtRedial(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, _ := w.Asking(t)
		e, notice := w.HeldBehind(t, r)
		w.Dies(t, "ask-denied-with", func() error { return w.Pressing(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith)) })
		w.Restart(t)
		assert.Contains(t, w.Lifecycle.Done(), "withdraw "+e.Key+" of "+r.ID.String())
		require.Len(t, w.Relay.Done(), 1)
		assert.Contains(t, w.Relay.Done()[0], "use make")
	})
}

func TestP4_UnreadReasonIsReported(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		e, notice := w.HeldBehind(t, r)
		w.Press(t, chattest.Alice, notice, w.Word(i18n.ButtonDenyWith))
		w.Result(t, q, "", "it ran", false)
		assert.Equal(t, chattest.Warning+w.Named(i18n.AskTextLost, "api"), w.Telegram.Last(t).Text.Text)
		assert.Equal(t, e.MessageID, w.Telegram.Last(t).ReplyTo, "under the text itself")
		assert.Equal(t, chattest.ReactionNone, w.Telegram.Reaction(e.MessageID))
	})
}

func TestOnlyPossibleReasonsAreOffered(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class talk.PromptClass
		tap   i18n.Key
		want  int
	}{
		{"a prompt", talk.ClassPlain, "", 2},
		{"a command", talk.ClassCommand, "", 0},
		{"a line for the shell", talk.ClassBash, "", 0},
		{"decided by now", talk.ClassPlain, i18n.AskAllow, 0},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			e := w.Prompt(t, r, "x", inbox.Held)
			e.Class = tt.class
			require.NoError(t, w.Inbox.Save(e))
			if tt.tap != "" {
				w.TapsOn(t, chattest.Alice, q, tt.tap)
			}
			n := news.Held{Why: news.HeldDialog, Prompt: talk.Prompt{Key: e.Key}}
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			w.Work(t)
			if tt.want == 0 {
				assert.Equal(t, w.WordsOf(i18n.ButtonShowQuestion), chattest.Words(w.LastSent(t)))
				return
			}
			assert.Len(t, chattest.Data(w.LastSent(t)), tt.want)
		})
	}
}

func TestCrashedNoticeComesAtStart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.MustHear(t, "use make")
		w.Restart(t)
		w.Restart(t)
		assert.Len(t, w.Telegram.Sent, 2, "once")
		assert.NotZero(t, w.Offer(t, q).Message)
	})
}

func TestP4_AnswerWithThisAnswersLastQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.AsksFor(t, r, "AskUserQuestion", `{"questions":[{"question":"Which colour?","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]}]}`)
		e, notice := w.HeldBehind(t, r)
		w.TapAt(t, chattest.Bob, chattest.GroupChat(chattest.Ours), notice, chattest.DataBehind(t, w.Shows(t, notice), w.Word(i18n.ButtonAnswerWith)))
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage, "it counts in its chat only")
		w.PressLate(t, chattest.Alice, notice, w.Word(i18n.ButtonAnswerWith))
		assert.JSONEq(t, `{"Which colour?":"use make"}`, string(answersOf(t, w.RequestState(t, q))))
		assert.Contains(t, w.Lifecycle.Done(), "withdraw "+e.Key+" of "+r.ID.String())
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
		assert.Contains(t, w.Telegram.Done(), "react 👌 to 77 in 7", "the hook has it")
	})
}

func TestP9_DenyWithThisNeedsItsChat(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		_, notice := w.HeldBehind(t, r)
		data := chattest.DataBehind(t, w.Shows(t, notice), w.Word(i18n.ButtonDenyWith))
		w.TapAt(t, chattest.Bob, chattest.GroupChat(chattest.Ours), notice, data)
		w.TapAt(t, chattest.Eve, chattest.PrivateChat(chattest.Alice), notice, data)
		web := w.Session(t, "web", session.Running)
		w.AsksFor(t, web, "Bash", chattest.Bash)
		_, other := w.HeldBehind(t, web)
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), notice, chattest.OfCard(data, chattest.DataBehind(t, w.Shows(t, other), w.Word(i18n.ButtonDenyWith))))
		assert.Empty(t, w.Relay.Done())
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
	})
}

// The whole of it, as it runs: a hook waits in the relay, and its decision comes from a tap.
func TestRunningBotAnswersHook(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		relay := hooks.NewRelay(w.Now, w.Log)
		w.Decisions = host.Decisions{Relay: relay, Agents: agent.Agents{agent.Default: claude.New("", agent.Launch{}, nil)}, Records: w.Records}
		w.Restart(t)
		relay.Connect(w)
		answers := make(chan hooks.Decision, 1)
		go func() {
			d, err := relay.Wait(t.Context(), claudeask.Asks{}, q.Request)
			assert.NoError(t, err)
			answers <- d
		}()
		w.Work(t)
		assert.Contains(t, w.LastSent(t).Text.Text, "go test")
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.JSONEq(t, `{"behavior":"allow"}`, string(chattest.Receive(t, answers)))
	})
}

// A start calls nothing of Telegram about requests that were decided, and shown so.
func TestStartEditsNoDecidedCard(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.Result(t, q, "", "ok", false)
		for n := range 6 {
			one := w.AsksFor(t, r, "Bash", fmt.Sprintf(`{"command":"ls %d"}`, n))
			w.TapsOn(t, chattest.Alice, one, i18n.AskAllow)
			w.Result(t, one, "", "ok", false)
		}
		w.Later(time.Minute)
		calls := len(w.Telegram.Done())
		w.Restart(t)
		w.Later(time.Minute)
		assert.Empty(t, w.Telegram.Done()[calls:])
	})
}

// TestP8_LastEditIsRepeatedAtStart only if it is unknown whether the chat has it.
func TestP8_LastEditIsRepeatedAtStart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.Telegram.OnEdit = func(outbox.Message) error { return errors.New("no answer") } // before the kill
		w.Result(t, q, "", "ok", false)
		w.Telegram.OnEdit = nil
		edits := len(w.Telegram.Edited)
		w.Restart(t)
		assert.Len(t, w.Telegram.Edited, edits+1)
		assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		w.Restart(t)
		assert.Len(t, w.Telegram.Edited, edits+1, "the chat has it now")
		w.Stops(t)
		w.Later(7*24*time.Hour + time.Hour)
		w.Restart(t)
		assert.Empty(t, w.Asks.List())
		assert.Len(t, w.Telegram.Edited, edits+1)
	})
}

// A message that Telegram refuses for a while is retried; that decides nothing.
func TestRefusedMessageIsRetried(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		var takes atomic.Bool
		w.Telegram.OnSend = func(context.Context, outbox.Message) error {
			if takes.Load() {
				return nil
			}
			return outbox.ErrClosed
		}
		_, q := w.Asking(t)
		assert.Zero(t, w.Message(t, q))
		takes.Store(true)
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 1)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
	})
}

// It is answered in the terminal while Telegram refuses its message.
func TestLateMessageIsUpdated(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		q := w.Request(t, r, "Bash", chattest.Bash)
		taken := make(chan struct{})
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { <-taken; return nil }
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Work(t)
		w.Result(t, q, "", "ok", false)
		require.Empty(t, w.Telegram.Sent)
		close(taken)
		w.Work(t)
		require.Len(t, w.Telegram.Sent, 1)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
	})
}

func TestSlowChatDelaysNoOther(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, group := w.Session(t, "api", session.Running), w.Session(t, "web", session.Running)
		group.Conversation = chattest.InGroup
		w.Records.Put(group)
		held := make(chan struct{})
		w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
			if m.To == chattest.AtAlice {
				<-held
			}
			return nil
		}
		one, two := w.Request(t, r, "Bash", chattest.Bash), w.Request(t, group, "Bash", `{"command":"ls"}`)
		require.NoError(t, w.OnRequest(t.Context(), one.Request), "nor the hook")
		require.NoError(t, w.OnRequest(t.Context(), two.Request))
		w.Work(t)
		require.Len(t, w.Telegram.Sent, 1)
		assert.Contains(t, w.LastSent(t).Text.Text, "ls")
		close(held)
		w.Work(t)
		assert.Contains(t, w.LastSent(t).Text.Text, "go test")
	})
}

// The reader of the transcript tells that there is something to look at. It waits for the file
// itself, so no time is skipped here: the next round is far away.
func TestTranscriptHasOutcome(t *testing.T) {
	const user = `{"type":"user","message":{"role":"user","content":[`
	for name, line := range map[string]string{
		"a tool's result": user + `{"type":"tool_result","tool_use_id":"toolu_other","content":"ok"}]}}`,
		"a decision":      `{"type":"attachment","attachment":{"type":"hook_permission_decision","decision":"allow","toolUseID":"toolu_other"}}`,
		"an interrupt":    user + `{"type":"text","text":"[Request interrupted by user]"}]}}`,
		"a turn's end":    strings.TrimSpace(chattest.TurnEnd),
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			reported := make(chan string, 100)
			w.Telegram.OnEdit = func(m outbox.Message) error { reported <- m.Text.Text; return nil }
			own := chattest.TranscriptOf(t, "own.jsonl", chattest.Says("hello"))
			r := w.NewCurrentSession(t, "api", session.Running, own)
			q := w.Request(t, r, "Bash", chattest.Bash)
			w.Running(t)
			require.NoError(t, w.OnRequest(t.Context(), q.Request))
			// All requests read at the start have ended once a newer one has left.
			gone := w.Request(t, r, "Bash", `{"command":"ls"}`)
			gone.RequestedAt = gone.RequestedAt.Add(time.Second)
			w.Dials(gone)
			require.NoError(t, w.OnRequest(t.Context(), gone.Request))
			waittest.Until(t, func() bool {
				w.Telegram.Deliver(t.Context())
				return w.Message(t, q) > 0 && w.Message(t, gone) > 0
			})
			for want := map[string]bool{"hello": true, "go test": true, "ls": true, "advance": true}; len(want) > 0; {
				event := chattest.Receive(t, w.Order)
				maps.DeleteFunc(want, func(part string, _ bool) bool { return strings.Contains(event, part) })
			}
			w.HangsUp(gone)
			w.OnLeft(t.Context(), gone.Request)
			awaits(t, reported, w.Word(i18n.AskAway))
			w.Writes(t, q, "", "ok", false) // without any news
			chattest.Grow(t, own, line+"\n")
			awaits(t, reported, w.Verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		})
	}
}

// awaits passes over texts until one has a part in it.
func awaits(t *testing.T, texts <-chan string, part string) {
	t.Helper()
	for !strings.Contains(chattest.Receive(t, texts), part) {
		continue
	}
}

func TestListShowsModelAndContext(t *testing.T) {
	for _, tt := range []struct {
		name  string
		usage *port.Usage
		want  string
	}{
		{"nothing is known", nil, "💤 ✓ api · idle\n~/api"},
		{"all", &port.Usage{Model: "Opus 5.5", Context: 41.6, Cost: 0.214}, "idle · Bypass · $0.21\n~/api"},
		{"no answer yet", &port.Usage{Model: "Opus 5.5", Context: -1}, "idle · Opus 5.5\n~/api"},
		{"no model", &port.Usage{Context: 0}, "idle · 0% of context\n~/api"},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			if tt.name == "all" {
				w.Records.Change(r.ID, func(r *session.Record) { r.Launch = &session.Launch{PermissionMode: "bypass"} })
			}
			w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle, Usage: tt.usage}
			w.MustHear(t, "/list")
			assert.Contains(t, w.Telegram.Last(t).Text.Text, tt.want)
		})
	}
}

// With a name of seven letters the line of a session has its context in each language: also of one
// that waits for a person.
func TestListKeepsContextInEachLanguage(t *testing.T) {
	for _, lang := range i18n.Languages() {
		chattest.RunsAs(t, lang, func(t *testing.T, w *chattest.World) {
			require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = lang }))
			w.NewCurrentSession(t, "gateway", session.Running)
			w.Lifecycle.OnLook.Phase, w.Lifecycle.OnLook.Usage = talk.PhaseIdle, &port.Usage{Context: 42}
			w.MustHear(t, "/list")
			p := w.In(chattest.AtAlice)
			column := " · " + p.Say(i18n.ListContext, i18n.Args{"Percent": p.Percent(42)}) + "\n"
			assert.Contains(t, w.Telegram.Last(t).Text.Text, column)
			w.NewCurrentSession(t, "web", session.Running)
			for _, asked := range []string{"Bash", "AskUserQuestion", "ExitPlanMode", ""} {
				w.Lifecycle.OnLook.Now = talk.Activity{Phase: talk.PhaseWaitingPermission, What: asked}
				w.MustHear(t, "/list")
				line := regexp.MustCompile(`❓ gateway.*\n`).FindString(w.Telegram.Last(t).Text.Text)
				assert.Contains(t, line, column, "waits for %q", asked)
			}
		})
	}
}

// Esc and "No" write two lines: the refusal of the tool, then the interrupt.
func TestTerminalDenialMayBeInterrupt(t *testing.T) {
	for _, tt := range []struct {
		name      string
		interrupt bool
		want      ask.What
	}{{"both lines come", true, ask.Interrupted}, {"only one does", false, ask.Denied}} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			_, q := w.Asking(t)
			w.Refused(t, q, false)
			w.Later(chattest.Round)
			assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage, "the next line may be under way")
			if tt.interrupt {
				w.Interrupted(t, q)
			}
			w.Later(time.Second)
			assert.Equal(t, tt.want, w.RequestState(t, q).Outcome.What)
		})
	}
}

// TestP7_ProjectsOwnAnswersAreReported: a repository's own hooks may answer before a person does,
// and its rules have nothing asked. No setting of a launch takes them away.
func TestP7_ProjectsOwnAnswersAreReported(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Starting)
		w.Lifecycle.Answerers = []talk.Answerer{talk.AnswersByHook, talk.AnswersByRule}
		require.NoError(t, w.SessionNews(t.Context(), r, news.Ready{}))
		assert.Equal(t, w.Named(i18n.Ready, "api")+"\n⚠ This project's own settings answer permission requests: hooks, allow rules.", w.Telegram.Last(t).Text.Text)
		w.AsksFor(t, r, "Bash", chattest.Bash)
		const line = "⚠ This project's own settings answer permission requests: hooks."
		assert.Contains(t, w.Telegram.Sent[0].Text.Text, line, "a rule says nothing of what is asked")
		w.Lifecycle.Answerers = []talk.Answerer{talk.AnswersByRule}
		w.AsksFor(t, r, "Bash", chattest.Bash)
		assert.NotContains(t, w.Telegram.Sent[1].Text.Text, "own settings")
	})
}
