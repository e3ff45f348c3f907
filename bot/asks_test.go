package bot

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/decisions"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// asked is a request whose hook waits, and what its transcript says.
type asked struct {
	hooks.Request
	cursor transcript.Cursor
}

// asksFor lets an agent ask for a tool. The request is new, and its message is in the chat.
func (w *world) asksFor(t *testing.T, r session.Record, tool, input string) asked {
	t.Helper()
	q := w.request(t, r, tool, input)
	require.NoError(t, w.Asked(t.Context(), q.Request))
	w.work(t)
	return q
}

// request is a request whose hook waits, before it is told.
func (w *world) request(t *testing.T, r session.Record, tool, input string) asked {
	t.Helper()
	id := uuid.New()
	agent := process.Identity{PID: 100, Start: 5, Boot: "boot"}
	w.records.change(r.ID, func(r *session.Record) { r.Binding = &session.Binding{Agent: agent} })
	at := w.Now().Add(-2 * time.Second)
	use, err := json.Marshal(map[string]any{"type": "assistant", "timestamp": at.Format(time.RFC3339Nano), "message": map[string]any{"id": "m-" + id.String(),
		"content": []any{map[string]any{"type": "tool_use", "id": "toolu_" + id.String(), "name": tool, "input": json.RawMessage(input)}}}})
	require.NoError(t, err)
	q := asked{cursor: transcriptOf(t, id.String()+".jsonl", string(use)+"\n")}
	q.Request = hooks.Request{ID: base64.RawURLEncoding.EncodeToString(id[:]), Session: r.ID, Agent: agent.Text(),
		Hook: "200.6.boot", Transcript: q.cursor.Path, Cwd: r.Dir,
		Tool: tool, Input: json.RawMessage(input), Asked: at}
	w.dials(q)
	return q
}

// dials lets the hook of a request wait.
func (w *world) dials(q asked) {
	w.relay.mu.Lock()
	defer w.relay.mu.Unlock()
	w.relay.waiting[q.ID] = q.Request
}

// hangsUp ends the hook's connection.
func (w *world) hangsUp(q asked) { w.relay.end(q.ID) }

// result is the line that says what became of the request: by a hook's decision, or by somebody at
// the desk. The next round reads it.
func (w *world) result(t *testing.T, q asked, byHook string, text string, denied bool) {
	t.Helper()
	w.writes(t, q, byHook, text, denied)
	w.later(round)
}

// writes is result that nobody has read yet.
func (w *world) writes(t *testing.T, q asked, byHook string, text string, denied bool) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(q.ID)
	require.NoError(t, err)
	tool, at := "toolu_"+uuid.UUID(raw).String(), w.Now().Format(time.RFC3339Nano)
	if byHook != "" {
		line, _ := json.Marshal(map[string]any{"type": "attachment", "timestamp": at,
			"attachment": map[string]any{"type": "hook_permission_decision", "decision": byHook, "toolUseID": tool}})
		grow(t, q.cursor, string(line)+"\n")
	}
	line, _ := json.Marshal(map[string]any{"type": "user", "timestamp": at, "message": map[string]any{"role": "user",
		"content": []any{map[string]any{"type": "tool_result", "tool_use_id": tool, "content": text, "is_error": denied}}}})
	grow(t, q.cursor, string(line)+"\n")
}

func (w *world) card(t *testing.T, q asked) ask.Card {
	t.Helper()
	c, ok := w.Asks.Get(q.ID)
	require.True(t, ok)
	return c
}

// shownBy are the cards of a kind for a request, as they are on disk.
func (w *world) shownBy(t *testing.T, q asked, kind string) (all []cardFile) {
	t.Helper()
	for _, name := range filesIn(t, w.dir, "cards") {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // a test stands in its way
		}
		var c cardFile
		require.NoError(t, json.Unmarshal(data, &c))
		var of struct{ Request string }
		_ = json.Unmarshal(c.Payload, &of) // of another kind it is something else
		if c.Kind == kind && (c.Key == q.ID || of.Request == q.ID) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b cardFile) int { // the open one is the last
		return cmp.Or(cmp.Compare(strconv.FormatBool(b.Closed), strconv.FormatBool(a.Closed)), cmp.Compare(a.Message, b.Message))
	})
	return all
}

// cardFile is what is on disk of a message that is kept.
type cardFile struct {
	Kind    string
	Key     string
	Message int
	Closed  bool
	Payload json.RawMessage
}

// message is the message that shows a request; 0: it is not in the chat, as far as the disk knows.
func (w *world) message(t *testing.T, q asked) int { return w.newest(t, q, "ask").Message }

// offer is the card of the text that is offered for a request.
func (w *world) offer(t *testing.T, q asked) cardFile { return w.newest(t, q, "question") }

func (w *world) newest(t *testing.T, q asked, kind string) (c cardFile) {
	t.Helper()
	if all := w.shownBy(t, q, kind); len(all) > 0 {
		c = all[len(all)-1]
	}
	return c
}

// verdict is what a card says that was decided, and where.
func (w *world) verdict(what, where i18n.Key) string {
	return w.word(what, i18n.Args{"Where": w.word(where)})
}

// allowed is what a card says while the permission is on its way.
func (w *world) allowed(key i18n.Key) string {
	return w.word(key, i18n.Args{"What": w.verdict(i18n.AskAllowed, i18n.AskInChat)})
}

const bash = `{"command":"go test ./..."}`

func (w *world) asking(t *testing.T) (session.Record, asked) {
	t.Helper()
	r := w.currentSession(t, "api", session.Running)
	return r, w.asksFor(t, r, "Bash", bash)
}

func TestARequestIsOneMessageWithButtons(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		require.NoError(t, w.Asked(t.Context(), q.Request), "a redial")
		w.work(t)
		w.restart(t)
		require.Len(t, w.sender.sent, 1)
		m := w.sender.sent[0]
		assert.Equal(t, atAlice, m.To)
		assert.Contains(t, m.Text.Text, "go test ./...")
		assert.True(t, w.has(m, i18n.AskAllow))
		assert.Equal(t, 1, w.message(t, q))
	})
}

func TestAllowedInTheChat(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, bob, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.relay.done())
		m := w.sender.lastEdit(t)
		assert.Contains(t, m.Text.Text, w.allowed(i18n.AskSent))
		assert.Empty(t, m.Buttons, "they are spent")
		assert.Equal(t, bob, w.card(t, q).By)
		w.result(t, q, "allow", "ok", false)
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.verdict(i18n.AskAllowed, i18n.AskInChat))
		assert.True(t, w.card(t, q).IsOver())
	})
}

// ofCard is the data of a button, made up to be of the card that another button is of.
func ofCard(data, other string) string {
	if other == "" {
		return data
	}
	mine, rest, _ := strings.Cut(data, ":")
	card, _, _ := strings.Cut(other, ":")
	if len(mine) != len(card) {
		panic("not a button of a card: " + data)
	}
	return card + ":" + rest
}

func TestP9_ADecisionCountsFromAllowedPeopleInItsChatOnly(t *testing.T) {
	for _, tt := range []struct {
		name  string
		from  int64
		chat  models.Chat
		card  string // of another message
		taken bool
	}{
		{"an allowed person", alice, privateChat(alice), "", true},
		{"another allowed person", bob, privateChat(alice), "", true},
		{"a stranger", eve, privateChat(alice), "", false},
		{"a stranger in a chat of theirs", eve, privateChat(eve), "", false},
		{"from another chat", bob, privateChat(bob), "", false},
		{"from the group", alice, groupChat(ours), "", false},
		{"another card", alice, privateChat(alice), strings.Repeat("A", 13), false},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			_, q := w.asking(t)
			m := w.shows(t, 1)
			for _, word := range []i18n.Key{i18n.AskAllow, i18n.AskDeny, i18n.AskDenyWhy} {
				if tt.taken && word != i18n.AskAllow {
					continue
				}
				data := dataBehind(t, m, w.word(word))
				w.tapAt(t, tt.from, tt.chat, 1, ofCard(data, tt.card))
			}
			if tt.taken {
				assert.Len(t, w.relay.done(), 1)
				return
			}
			assert.Empty(t, w.relay.done())
			assert.Equal(t, ask.StateOpen, w.card(t, q).State)
			assert.Nil(t, w.card(t, q).Why)
			if tt.from == eve {
				assert.Len(t, w.sender.done(), 1, "strangers get silence")
			}
		})
	}
}

func TestP9_ADecisionCountsOnce(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		w.tapsLate(t, alice, q, i18n.AskAllow)
		w.tapsLate(t, bob, q, i18n.AskDeny)
		assert.Equal(t, []string{"allow "}, w.relay.done())
		assert.Equal(t, alice, w.card(t, q).By)
		said := w.sender.done()
		assert.Contains(t, said[len(said)-1], w.allowed(i18n.AskSent), "who taps second is told what was decided")
		w.result(t, q, "allow", "ok", false)
		w.tapsLate(t, bob, q, i18n.AskDeny)
		said = w.sender.done()
		assert.Contains(t, said[len(said)-1], w.verdict(i18n.AskAllowed, i18n.AskInChat))
		assert.Equal(t, []string{"allow "}, w.relay.done())
	})
}

func TestAnsweredAtTheDesk(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.result(t, q, "", "ok", false)
		m := w.sender.lastEdit(t)
		assert.Contains(t, m.Text.Text, w.verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Empty(t, m.Buttons)
		assert.Equal(t, []string{"leave"}, w.relay.done(), "the hook need not wait any more")
	})
}

// The terminal was quicker, and the hook still waited: its answer is ignored.
func TestATapThatCameTooLateIsToldSo(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskDeny)
		w.result(t, q, "", "it ran", false)
		m := w.sender.lastEdit(t)
		assert.Contains(t, m.Text.Text, w.verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Contains(t, m.Text.Text, w.word(i18n.AskLate))
	})
}

func TestP8_ACrashBeforeTheMessageSendsItOnce(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		w.stops(t)
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		assert.Empty(t, w.sender.sent, "nothing waits for Telegram")
		w.restart(t)
		w.restart(t)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.Len(t, w.sender.sent, 1)
	})
}

func TestP8_ACrashAfterTheMessageRepeatsItAtMost(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		w.Failpoint = func(name string) {
			if name == "card-sent" {
				runtime.Goexit() // killed
			}
		}
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.Zero(t, w.message(t, q))
		w.Failpoint = nil
		w.restart(t)
		w.restart(t)
		assert.Len(t, w.sender.sent, 2)
		w.press(t, alice, 1, w.word(i18n.AskAllow)) // the first one's button
		assert.Empty(t, w.relay.done(), "the newer message decides")
		assert.Empty(t, w.shows(t, 1).Buttons, "the other one has no buttons any more")
		w.press(t, alice, 2, w.word(i18n.AskAllow))
		assert.Equal(t, []string{"allow "}, w.relay.done())
	})
}

func TestP8_ADecisionThatWasNotDeliveredIsDeliveredAtTheRedial(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.hangsUp(q)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		assert.Empty(t, w.relay.done())
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.allowed(i18n.AskNoted), "it is not sent yet")
		w.restart(t)
		assert.Empty(t, w.relay.done())
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.Equal(t, []string{"allow "}, w.relay.done())
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.allowed(i18n.AskSent))
		assert.Len(t, w.sender.sent, 1)
	})
}

func TestP8_TheCardIsOnDiskBeforeTheHookHears(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.hangsUp(q)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		again, err := ask.Open(filepath.Join(w.dir, "asks"), w.dir, w.Log)
		require.NoError(t, err)
		c, ok := again.Get(q.ID)
		require.True(t, ok)
		assert.Equal(t, ask.StateSent, c.State)
		assert.True(t, c.Decision.Allows())
	})
}

func TestAHookThatDoesNotComeBack(t *testing.T) {
	for tap, want := range map[i18n.Key]ask.State{"": ask.StateAway, i18n.AskAllow: ask.StateSent} {
		runsAs(t, string(tap), func(t *testing.T, w *world) {
			r, q := w.asking(t)
			w.hangsUp(q)
			if tap != "" {
				w.tapsOn(t, alice, q, tap)
			}
			w.restart(t)
			w.later(round - time.Second)
			assert.NotEqual(t, ask.StateAway, w.card(t, q).State, "it has some time to dial")
			w.later(2 * time.Second)
			assert.Equal(t, want, w.card(t, q).State)
			if want == ask.StateAway {
				assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(i18n.AskAway))
				assert.Contains(t, w.sessions.done(), "wake "+r.ID.String(), "the terminal's own dialog is looked at")
			}
			w.dials(q)
			require.NoError(t, w.Asked(t.Context(), q.Request))
			w.work(t)
			assert.Equal(t, tap != "", slices.Contains(w.relay.done(), "allow "), "what was decided is delivered even now")
		})
	}
}

func TestAHookThatLeft(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		w.hangsUp(q)
		w.Left(t.Context(), q.Request)
		w.work(t)
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		assert.Empty(t, w.sender.lastEdit(t).Buttons)
		assert.Contains(t, w.sessions.done(), "wake "+r.ID.String())
		w.tapsLate(t, alice, q, i18n.AskAllow)
		assert.Empty(t, w.relay.done())
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.True(t, w.has(w.sender.lastEdit(t), i18n.AskAllow), "it is back, so it can be answered")
		assert.Len(t, w.sender.sent, 1)
	})
}

// At a stop every connection ends, and the hooks redial later.
func TestP8_AStopEndsNoRequest(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.cancel()
		w.hangsUp(q)
		w.Left(t.Context(), q.Request)
		w.stops(t)
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
	})
}

func TestTheEndOfASessionEndsItsRequests(t *testing.T) {
	for _, kind := range []lifecycle.NoteKind{lifecycle.NoteStopped, lifecycle.NoteEnded, lifecycle.NoteLost, lifecycle.NoteFailed} {
		runsAs(t, string(kind), func(t *testing.T, w *world) {
			r, q := w.asking(t)
			other := w.asksFor(t, w.session(t, "web", session.Running), "Bash", bash)
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r, Receipt: &lifecycle.Receipt{}}))
			w.work(t)
			assert.Equal(t, ask.Ended, w.card(t, q).Outcome.What)
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
			assert.Contains(t, w.relay.done(), "leave")
			assert.Equal(t, ask.StateOpen, w.card(t, other).State)
			w.tapsLate(t, alice, q, i18n.AskAllow)
			assert.Equal(t, []string{"leave"}, w.relay.done())
		})
	}
}

func TestAnAgentThatIsAnotherOneHasEnded(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		w.records.change(r.ID, func(r *session.Record) { r.Binding.Agent.Start++ })
		w.later(round)
		assert.Equal(t, ask.Unknown, w.card(t, q).Outcome.What, "nobody knows whether it took the decision")
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.word(i18n.AskUnknown))
	})
}

func TestADialogThatIsGoneEndsTheWait(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		w.later(time.Minute)
		fresh := w.request(t, r, "Bash", `{"command":"ls"}`)
		fresh.Asked = w.Now() // at this very moment
		w.dials(fresh)
		require.NoError(t, w.Asked(t.Context(), fresh.Request))
		w.work(t)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
		w.work(t)
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		assert.Equal(t, ask.StateOpen, w.card(t, fresh).State, "its dialog is another one")
		assert.Equal(t, []string{"leave"}, w.relay.done())
		w.result(t, q, "", "ok", false)
		assert.Equal(t, ask.Allowed, w.card(t, q).Outcome.What)
	})
}

// TestASubagentsRequestStaysUntilItIsLeftToTheDesk: no dialog of it is drawn while its hook waits,
// so that the terminal says nothing about it.
func TestASubagentsRequestStaysUntilItIsLeftToTheDesk(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		q.SubagentID, q.Subagent = "ac2a379c5157a4c20", "general-purpose"
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		w.later(time.Minute)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
		w.work(t)
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
		toDesk := dataBehind(t, w.shows(t, 1), w.word(i18n.AskDesk))
		w.tapsOn(t, alice, q, i18n.AskDesk)
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		assert.Equal(t, []string{"leave"}, w.relay.done())
		assert.Contains(t, w.sessions.done(), "wake "+r.ID.String(), "the terminal's own dialog is looked at")
		_, main := w.asking(t)
		assert.False(t, w.has(w.shows(t, 2), i18n.AskDesk))
		w.tapAt(t, alice, privateChat(alice), 2, ofCard(toDesk, dataBehind(t, w.shows(t, 2), w.word(i18n.AskDeny))))
		assert.Equal(t, ask.StateOpen, w.card(t, main).State, "the terminal asks that one already")
	})
}

func TestARequestTheChatDoesNotTakeIsLeftToTheTerminal(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		w.sender.send = func(context.Context, outbox.Message) error { return &outbox.Refused{Err: errors.New("bad request")} }
		r, q := w.asking(t)
		assert.Equal(t, []string{"leave"}, w.relay.done())
		assert.Contains(t, w.sessions.done(), "wake "+r.ID.String())
		w.restart(t)
		assert.Equal(t, ask.StateAway, w.card(t, q).State)
		assert.Empty(t, w.sender.sent, "it is not tried again")
		w.dials(q)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		assert.Equal(t, []string{"leave", "leave"}, w.relay.done(), "nor is its hook kept")
	})
}

func TestP9_ARequestIsNotShownToWhoIsNotAllowedAnyMore(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		delete(w.Allowed, alice)
		require.Error(t, w.Asked(t.Context(), q.Request), "the terminal decides")
		w.work(t)
		w.silent(t)
	})
}

func TestAnotherRequestUnderAKnownIDIsRefused(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		q.Input = json.RawMessage(`{"command":"rm -rf /"}`)
		require.Error(t, w.Asked(t.Context(), q.Request))
		q = w.request(t, session.Record{ID: uuid.New()}, "Bash", bash)
		w.records.all = nil
		require.Error(t, w.Asked(t.Context(), q.Request), "a session that nobody knows")
	})
}

func TestACardStaysWhereItIsShown(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
		w.tapAt(t, bob, groupChat(ours), 1, dataBehind(t, w.shows(t, 1), w.word(i18n.AskAllow)))
		assert.Empty(t, w.relay.done(), "it is not shown there")
		w.tapsLate(t, alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.relay.done())
		assert.Equal(t, atAlice, w.sender.lastEdit(t).To)
	})
}

func TestSeveralRequestsStandSideBySide(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, one := w.asking(t)
		two := w.asksFor(t, r, "Bash", `{"command":"ls"}`)
		w.tapsOn(t, alice, two, i18n.AskDeny)
		assert.Equal(t, ask.StateOpen, w.card(t, one).State)
		assert.Equal(t, []string{"deny " + decisions.Denied}, w.relay.done())
		w.tapsOn(t, alice, one, i18n.AskAllow)
		assert.Len(t, w.relay.done(), 2)
		assert.Len(t, w.sender.sent, 2)
	})
}

func TestShowAllAllowsOnlyWhatWasDelivered(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "Bash", `{"command":"echo a\u202eb"}`)
		assert.False(t, w.has(w.sender.sent[0], i18n.AskAllow))
		w.asksFor(t, r, "Bash", bash)
		allow := dataBehind(t, w.sender.sent[1], w.word(i18n.AskAllow))
		w.tapAt(t, alice, privateChat(alice), 1, ofCard(allow, dataBehind(t, w.sender.sent[0], w.word(i18n.AskDeny))))
		assert.Empty(t, w.relay.done())
		w.sender.send = func(context.Context, outbox.Message) error { return &outbox.Refused{Err: errDisk} }
		w.tapsOn(t, alice, q, i18n.AskShowAll)
		assert.False(t, w.card(t, q).AllShown)
		assert.Contains(t, w.sender.texts(), w.word(i18n.AskNotShown))
		w.sender.send = nil
		w.tapsOn(t, alice, q, i18n.AskShowAll)
		assert.Contains(t, w.sender.sent[2].Text.Text, "U+202E")
		below := w.lastSent(t)
		assert.True(t, w.has(below, i18n.AskAllow), "the message comes again below")
		assert.Equal(t, len(w.sender.sent), w.message(t, q))
		assert.Equal(t, w.named(i18n.AskSeeBelow, "api"), w.sender.lastEdit(t).Text.Text)
		assert.Empty(t, w.sender.lastEdit(t).Buttons)
		w.tapsOn(t, alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.relay.done())
	})
}

// What is read may take long; a denial does not wait for that, and ends it.
func TestADenialEndsShowAll(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "Bash", `{"command":"`+strings.Repeat("echo hello; ", 2000)+`"}`)
		w.sender.send = func(context.Context, outbox.Message) error {
			w.sender.send = nil
			require.NoError(t, w.pressing(t, alice, 1, w.word(i18n.AskDeny)))
			return nil
		}
		w.tapsOn(t, alice, q, i18n.AskShowAll)
		assert.Len(t, w.sender.sent, 2, "one part")
		assert.Len(t, w.relay.done(), 1)
	})
}

func TestP4_TheNextTextIsTheReason(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		w.mustHear(t, "/list")
		key := w.mustHear(t, "use make instead")
		w.work(t)
		require.Len(t, w.relay.done(), 1)
		assert.Contains(t, w.relay.done()[0], "use make instead")
		assert.Contains(t, strings.Join(w.sender.done(), "\n"), "react "+reactionReceived)
		assert.NotContains(t, strings.Join(w.sessions.done(), "\n"), "queue")
		assert.Equal(t, key, w.card(t, q).Prompt)
		_, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "use make instead"})
		require.NoError(t, w.Handle(t.Context(), key, u), "a crash brings it again")
		assert.NotContains(t, strings.Join(w.sessions.done(), "\n"), "queue", "it is not a prompt then either")
		w.mustHear(t, "and now a prompt")
		assert.Contains(t, strings.Join(w.sessions.done(), "\n"), "queue")
	})
}

func TestOnlyTheNextTextOfThatPersonIsTheReason(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Sticker: &models.Sticker{}})
		require.NoError(t, w.Handle(t.Context(), key, u))
		require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: bob}, r.ID))
		for _, from := range []struct {
			person int64
			chat   models.Chat
		}{{bob, privateChat(bob)}, {bob, privateChat(alice)}, {alice, groupChat(ours)}} {
			key, u := w.accept(t, &models.Message{From: &models.User{ID: from.person}, Chat: from.chat, Text: "not for it"})
			require.NoError(t, w.Handle(t.Context(), key, u))
		}
		assert.Empty(t, w.relay.done())
		assert.NotNil(t, w.card(t, q).Why)
		w.tapsOn(t, alice, q, i18n.AskCancel)
		assert.Nil(t, w.card(t, q).Why)
		w.mustHear(t, "a prompt")
		assert.Empty(t, w.relay.done())
	})
}

func TestAPersonWritesForOneCardAtATime(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, one := w.asking(t)
		two := w.asksFor(t, r, "Bash", `{"command":"ls"}`)
		w.tapsOn(t, alice, one, i18n.AskDenyWhy)
		w.tapsOn(t, alice, two, i18n.AskDenyWhy)
		assert.Nil(t, w.card(t, one).Why)
		w.mustHear(t, "no listing")
		w.work(t)
		assert.Equal(t, ask.StateSent, w.card(t, two).State)
		assert.Equal(t, ask.StateOpen, w.card(t, one).State)
	})
}

const questions = `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]},
{"question":"Which size?","header":"Size","multiSelect":true,"options":[{"label":"S"},{"label":"M"},{"label":"L"}]}]}`

func TestQuestionsAreAnsweredInTurn(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "AskUserQuestion", questions)
		w.tapsOn(t, alice, q, i18n.AskOther)
		w.mustHear(t, "Green")
		w.press(t, alice, 1, "☐ S")
		w.press(t, alice, 1, "☐ L")
		assert.Empty(t, w.relay.done())
		w.tapsOn(t, alice, q, i18n.AskDone)
		require.Len(t, w.relay.done(), 1)
		assert.JSONEq(t, `{"Which colour?":"Green","Which size?":"S, L"}`, string(answersOf(t, w.card(t, q))))
	})
}

func answersOf(t *testing.T, c ask.Card) json.RawMessage {
	t.Helper()
	var input struct{ Answers json.RawMessage }
	require.NotNil(t, c.Decision)
	require.NoError(t, json.Unmarshal(c.Decision.UpdatedInput, &input))
	return input.Answers
}

func TestAPlanIsApproved(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "ExitPlanMode", `{"plan":"# Plan\n\n- one"}`)
		w.tapsOn(t, alice, q, i18n.AskApprove)
		assert.Equal(t, []string{"allow "}, w.relay.done())
	})
}

// heldBehind is a prompt that waits behind the dialog of a request, with the id of the message that
// says so.
func (w *world) heldBehind(t *testing.T, r session.Record) (e inbox.Entry, notice int) {
	t.Helper()
	e = w.prompt(t, r, "use make", inbox.Held)
	e.Class = string(lifecycle.ClassPrompt)
	require.NoError(t, w.entries.Save(e))
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r,
		Prompt: lifecycle.Prompt{Key: e.Key, Text: e.Text}}))
	w.work(t)
	return e, w.sender.lastID()
}

func (w *world) lastSent(t *testing.T) outbox.Message {
	t.Helper()
	require.NotEmpty(t, w.sender.sent)
	return w.sender.sent[len(w.sender.sent)-1]
}

func TestP4_DenyWithThisTakesThePromptOutOfTheQueueFirst(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		e, notice := w.heldBehind(t, r)
		assert.Equal(t, []string{w.word(i18n.ButtonDenyWith), w.word(i18n.ButtonSendAfter)}, words(w.shows(t, notice)))
		w.sessions.withdraw = func(uuid.UUID, string) error {
			assert.Empty(t, w.relay.done(), "Claude hears of it only when it is not typed any more")
			assert.Equal(t, ask.StateSent, w.card(t, q).State, "and it is on disk by then")
			return w.entries.Finish(e.Key)
		}
		w.press(t, alice, notice, w.word(i18n.ButtonDenyWith))
		require.Len(t, w.relay.done(), 1)
		assert.Contains(t, w.relay.done()[0], "use make")
		assert.Contains(t, w.sessions.done(), "withdraw "+e.Key+" of "+r.ID.String())
		w.pressLate(t, alice, notice, w.word(i18n.ButtonDenyWith))
		assert.Len(t, w.relay.done(), 1, "once")
	})
}

func TestP4_APromptThatWasTypedIsNoReason(t *testing.T) {
	for err, failed := range map[error]bool{fs.ErrNotExist: false, errDisk: true} {
		runs(t, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			_, notice := w.heldBehind(t, r)
			w.sessions.withdraw = func(uuid.UUID, string) error { return err }
			require.NoError(t, w.pressing(t, alice, notice, w.word(i18n.ButtonDenyWith)))
			w.work(t)
			assert.Equal(t, failed, contains(w.sender.texts(), w.word(i18n.InternalError)))
			assert.Empty(t, w.relay.done(), "nothing is denied")
			assert.Equal(t, ask.StateOpen, w.card(t, q).State)
			assert.Nil(t, w.card(t, q).Decision)
			assert.Empty(t, w.card(t, q).Prompt)
		})
	}
}

func TestP8_ACrashInDenyWithThisIsFinishedAtTheRedial(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, _ := w.asking(t)
		e, notice := w.heldBehind(t, r)
		w.dies(t, "ask-denied-with", func() error { return w.pressing(t, alice, notice, w.word(i18n.ButtonDenyWith)) })
		w.restart(t)
		assert.Contains(t, w.sessions.done(), "withdraw "+e.Key+" of "+r.ID.String())
		require.Len(t, w.relay.done(), 1)
		assert.Contains(t, w.relay.done()[0], "use make")
	})
}

func TestP4_AReasonThatWasNotReadIsTold(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		e, notice := w.heldBehind(t, r)
		w.press(t, alice, notice, w.word(i18n.ButtonDenyWith))
		w.result(t, q, "", "it ran", false)
		assert.Equal(t, warning+w.named(i18n.AskTextLost, "api"), w.sender.last(t).Text.Text)
		assert.Equal(t, e.MessageID, w.sender.last(t).ReplyTo, "under the text itself")
		assert.Equal(t, reactionNone, w.sender.reaction(e.MessageID))
	})
}

func TestAPromptIsOfferedAsAReasonOnlyWhereItCanBeOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class lifecycle.Class
		tap   i18n.Key
		want  int
	}{
		{"a prompt", lifecycle.ClassPrompt, "", 2},
		{"a command", lifecycle.ClassCommand, "", 0},
		{"a line for the shell", lifecycle.ClassBash, "", 0},
		{"decided by now", lifecycle.ClassPrompt, i18n.AskAllow, 0},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			e := w.prompt(t, r, "x", inbox.Held)
			e.Class = string(tt.class)
			require.NoError(t, w.entries.Save(e))
			if tt.tap != "" {
				w.tapsOn(t, alice, q, tt.tap)
			}
			n := lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r, Prompt: lifecycle.Prompt{Key: e.Key}}
			require.NoError(t, w.SessionNews(t.Context(), n))
			w.work(t)
			if tt.want == 0 {
				assert.Empty(t, data(w.sender.last(t)))
				return
			}
			assert.Len(t, data(w.lastSent(t)), tt.want)
		})
	}
}

// One sentence is enough for all prompts that wait behind a request.
func TestAPromptBehindARequestIsOfferedAtOnce(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		var keys []string
		for _, text := range []string{"first", "second"} {
			key := w.mustHear(t, text)
			w.work(t)
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Empty(t, e.Told, "it may come to wait behind something else")
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteHeldDialog, Session: r, Prompt: lifecycle.Prompt{Key: key}}))
			w.work(t)
			keys = append(keys, key)
		}
		require.Len(t, w.sender.sent, 2)
		m := w.lastSent(t)
		assert.Equal(t, w.named(i18n.HeldAsk, "api"), m.Text.Text)
		assert.Equal(t, []string{w.word(i18n.ButtonDenyWith), w.word(i18n.ButtonSendAfter)}, words(m))
		assert.Equal(t, keys[0], w.offer(t, q).Key)
		e, err := w.entries.Load(keys[0])
		require.NoError(t, err)
		assert.Equal(t, e.MessageID, m.ReplyTo)
		assert.Empty(t, w.sender.posted)
		w.result(t, q, "", "ok", false)
		assert.Empty(t, w.shows(t, w.offer(t, q).Message).Buttons, "its buttons are spent, too")
	})
}

func TestANoticeThatACrashKeptBackIsSentAtTheStart(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.mustHear(t, "use make")
		w.restart(t)
		w.restart(t)
		assert.Len(t, w.sender.sent, 2, "once")
		assert.NotZero(t, w.offer(t, q).Message)
	})
}

func TestP4_AnswerWithThisAnswersTheLastQuestion(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.asksFor(t, r, "AskUserQuestion", `{"questions":[{"question":"Which colour?","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]}]}`)
		e, notice := w.heldBehind(t, r)
		w.tapAt(t, bob, groupChat(ours), notice, dataBehind(t, w.shows(t, notice), w.word(i18n.ButtonAnswerWith)))
		assert.Equal(t, ask.StateOpen, w.card(t, q).State, "it counts in its chat only")
		w.pressLate(t, alice, notice, w.word(i18n.ButtonAnswerWith))
		assert.JSONEq(t, `{"Which colour?":"use make"}`, string(answersOf(t, w.card(t, q))))
		assert.Contains(t, w.sessions.done(), "withdraw "+e.Key+" of "+r.ID.String())
		assert.Equal(t, []string{"allow "}, w.relay.done())
		assert.Contains(t, w.sender.done(), "react 👌 to 77 in 7", "the hook has it")
	})
}

func TestSendAfterLeavesThePromptInTheQueue(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		_, notice := w.heldBehind(t, r)
		w.press(t, alice, notice, w.word(i18n.ButtonSendAfter))
		assert.Equal(t, lines(w.named(i18n.HeldAsk, "api"), "", w.named(i18n.SendAfter, "api")), w.sender.lastEdit(t).Text.Text)
		assert.Empty(t, w.relay.done())
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
		w.pressLate(t, alice, notice, w.word(i18n.ButtonDenyWith))
		assert.Empty(t, w.relay.done(), "it was decided what becomes of the text")
	})
}

func TestAfterSendAfterTheNextTextIsOffered(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		_, notice := w.heldBehind(t, r)
		w.press(t, alice, notice, w.word(i18n.ButtonSendAfter))
		key := w.mustHear(t, "not on a Friday")
		w.work(t)
		assert.True(t, w.has(w.lastSent(t), i18n.ButtonDenyWith))
		assert.Equal(t, key, w.offer(t, q).Key)
		w.press(t, alice, w.sender.lastID(), w.word(i18n.ButtonDenyWith))
		require.Len(t, w.relay.done(), 1)
		assert.Contains(t, w.relay.done()[0], "not on a Friday")
	})
}

func TestP9_DenyWithThisCountsInItsChatOnly(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		_, notice := w.heldBehind(t, r)
		data := dataBehind(t, w.shows(t, notice), w.word(i18n.ButtonDenyWith))
		w.tapAt(t, bob, groupChat(ours), notice, data)
		w.tapAt(t, eve, privateChat(alice), notice, data)
		web := w.session(t, "web", session.Running)
		w.asksFor(t, web, "Bash", bash)
		_, other := w.heldBehind(t, web)
		w.tapAt(t, alice, privateChat(alice), notice, ofCard(data, dataBehind(t, w.shows(t, other), w.word(i18n.ButtonDenyWith))))
		assert.Empty(t, w.relay.done())
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
	})
}

// The whole of it, as it runs: a hook waits in the relay, and its decision comes from a tap.
func TestARunningBotAnswersAHook(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		relay := hooks.NewRelay(w.Now, w.Log)
		w.Decisions = host.Decisions{Relay: relay, Records: w.records}
		w.restart(t)
		relay.Connect(w)
		type answer struct {
			d  hooks.Decision
			ok bool
		}
		answers := make(chan answer, 1)
		go func() {
			d, ok, err := relay.Wait(t.Context(), q.Request)
			assert.NoError(t, err)
			answers <- answer{d, ok}
		}()
		w.work(t)
		assert.Contains(t, w.lastSent(t).Text.Text, "go test")
		w.tapsOn(t, alice, q, i18n.AskAllow)
		got := receive(t, answers)
		assert.True(t, got.ok)
		assert.True(t, got.d.Allows())
	})
}

func TestP8_TheLastEditIsDoneAgainAtAStart(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.result(t, q, "", "ok", false)
		edits := len(w.sender.edited)
		w.restart(t)
		assert.Len(t, w.sender.edited, edits+1)
		assert.Empty(t, w.sender.lastEdit(t).Buttons)
		w.stops(t)
		w.later(7*24*time.Hour + time.Hour)
		w.restart(t)
		assert.Empty(t, w.Asks.List())
		assert.Len(t, w.sender.edited, edits+1)
	})
}

// What Telegram does not take for a while is tried again; nothing is decided by that.
func TestAMessageThatIsNotTakenIsTriedAgain(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		var takes atomic.Bool
		w.sender.send = func(context.Context, outbox.Message) error {
			if takes.Load() {
				return nil
			}
			return outbox.ErrClosed
		}
		_, q := w.asking(t)
		assert.Zero(t, w.message(t, q))
		takes.Store(true)
		w.work(t)
		assert.Len(t, w.sender.sent, 1)
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
	})
}

// It is answered at the desk while Telegram does not take its message.
func TestAMessageThatIsOldWhenItIsTakenIsBroughtUpToDate(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		q := w.request(t, r, "Bash", bash)
		taken := make(chan struct{})
		w.sender.send = func(context.Context, outbox.Message) error { <-taken; return nil }
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.work(t)
		w.result(t, q, "", "ok", false)
		require.Empty(t, w.sender.sent)
		close(taken)
		w.work(t)
		require.Len(t, w.sender.sent, 1)
		assert.Contains(t, w.sender.lastEdit(t).Text.Text, w.verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		assert.Empty(t, w.sender.lastEdit(t).Buttons)
	})
}

func TestAChatThatIsHeldUpHoldsUpNoOther(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, group := w.session(t, "api", session.Running), w.session(t, "web", session.Running)
		group.Conversation = inGroup
		w.records.put(group)
		held := make(chan struct{})
		w.sender.send = func(_ context.Context, m outbox.Message) error {
			if m.To == atAlice {
				<-held
			}
			return nil
		}
		one, two := w.request(t, r, "Bash", bash), w.request(t, group, "Bash", `{"command":"ls"}`)
		require.NoError(t, w.Asked(t.Context(), one.Request), "nor the hook")
		require.NoError(t, w.Asked(t.Context(), two.Request))
		w.work(t)
		require.Len(t, w.sender.sent, 1)
		assert.Contains(t, w.lastSent(t).Text.Text, "ls")
		close(held)
		w.work(t)
		assert.Contains(t, w.lastSent(t).Text.Text, "go test")
	})
}

// The reader of the transcript tells that there is something to look at. It waits for the file
// itself, so no time is skipped here: the next round is far away.
func TestTheTranscriptTellsTheOutcome(t *testing.T) {
	const user = `{"type":"user","message":{"role":"user","content":[`
	for name, line := range map[string]string{
		"a tool's result": user + `{"type":"tool_result","tool_use_id":"toolu_other","content":"ok"}]}}`,
		"a decision":      `{"type":"attachment","attachment":{"type":"hook_permission_decision","decision":"allow","toolUseID":"toolu_other"}}`,
		"an interrupt":    user + `{"type":"text","text":"[Request interrupted by user]"}]}}`,
		"a turn's end":    strings.TrimSpace(turnEnd),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			told := make(chan string, 100)
			w.sender.edit = func(m outbox.Message) error { told <- m.Text.Text; return nil }
			own := transcriptOf(t, "own.jsonl", says("hello"))
			r := w.currentSession(t, "api", session.Running, own)
			q := w.request(t, r, "Bash", bash)
			w.running(t)
			require.NoError(t, w.Asked(t.Context(), q.Request))
			// All that the start and the requests have looked at is over once a newer one has left.
			gone := w.request(t, r, "Bash", `{"command":"ls"}`)
			gone.Asked = gone.Asked.Add(time.Second)
			w.dials(gone)
			require.NoError(t, w.Asked(t.Context(), gone.Request))
			w.sender.deliver(t.Context())
			for want := map[string]bool{"hello": true, "go test": true, "ls": true, "advance": true}; len(want) > 0; {
				event := receive(t, w.events)
				maps.DeleteFunc(want, func(part string, _ bool) bool { return strings.Contains(event, part) })
			}
			w.hangsUp(gone)
			w.Left(t.Context(), gone.Request)
			awaits(t, told, w.word(i18n.AskAway))
			w.writes(t, q, "", "ok", false) // of which nothing tells
			grow(t, own, line+"\n")
			awaits(t, told, w.verdict(i18n.AskAllowed, i18n.AskAtTerminal))
		})
	}
}

// awaits passes over texts until one has a part in it.
func awaits(t *testing.T, texts <-chan string, part string) {
	t.Helper()
	for !strings.Contains(receive(t, texts), part) {
		continue
	}
}

func TestTheListShowsModelAndContext(t *testing.T) {
	for _, tt := range []struct {
		name  string
		usage *session.Usage
		want  string
	}{
		{"nothing is known", nil, "idle, ~/api"},
		{"both", &session.Usage{Model: "Opus 5.5", Context: 41.6}, "idle, Opus 5.5, 42 % of context, ~/api"},
		{"no answer yet", &session.Usage{Model: "Opus 5.5", Context: -1}, "idle, Opus 5.5, ~/api"},
		{"no model", &session.Usage{Context: 0}, "idle, 0 % of context, ~/api"},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			w.currentSession(t, "api", session.Running)
			w.sessions.look = lifecycle.Look{Phase: lifecycle.PhaseIdle, Usage: tt.usage}
			w.mustHear(t, "/list")
			assert.Contains(t, w.sender.last(t).Text.Text, tt.want)
		})
	}
}

// Esc and "No" write two lines: the refusal of the tool, then the interrupt.
func TestARefusalAtTheDeskMayBeAnInterrupt(t *testing.T) {
	for _, tt := range []struct {
		name      string
		interrupt bool
		want      ask.What
	}{{"both lines come", true, ask.Interrupted}, {"only one does", false, ask.Denied}} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			_, q := w.asking(t)
			w.refused(t, q, false)
			w.later(round)
			assert.Equal(t, ask.StateOpen, w.card(t, q).State, "the next line may be under way")
			if tt.interrupt {
				w.interrupted(t, q)
			}
			w.later(time.Second)
			assert.Equal(t, tt.want, w.card(t, q).Outcome.What)
		})
	}
}

// TestP7_AProjectThatAnswersItselfIsTold: a repository's own hooks may answer before a person does,
// and its rules have nothing asked. No setting of a launch takes them away.
func TestP7_AProjectThatAnswersItselfIsTold(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Starting)
		w.sessions.answerers = []decisions.Answerer{decisions.AnswersByHook, decisions.AnswersByRule}
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteReady, Session: r}))
		assert.Equal(t, w.named(i18n.Ready, "api")+"\n⚠ This project's own settings answer permission requests: hooks, allow rules.", w.sender.last(t).Text.Text)
		w.asksFor(t, r, "Bash", bash)
		const line = "⚠ This project's own settings answer permission requests: hooks."
		assert.Contains(t, w.sender.sent[0].Text.Text, line, "a rule says nothing of what is asked")
		w.sessions.answerers = []decisions.Answerer{decisions.AnswersByRule}
		w.asksFor(t, r, "Bash", bash)
		assert.NotContains(t, w.sender.sent[1].Text.Text, "own settings")
	})
}
