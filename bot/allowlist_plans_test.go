package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

var (
	atBob  = session.Conversation{ChatID: chattest.Bob}
	atOurs = session.Conversation{ChatID: chattest.Ours}
)

// admits replaces the lists, as a reload of the settings does.
func admits(t *testing.T, w *chattest.World, groups map[int64]bool, people ...int64) {
	t.Helper()
	l := conversation.Lists{People: map[int64]bool{}, Groups: groups}
	for _, one := range people {
		l.People[one] = true
	}
	require.NoError(t, w.Readmit(t.Context(), l))
	w.Work(t)
}

// everybody is as the world begins.
func everybody(t *testing.T, w *chattest.World) {
	t.Helper()
	admits(t, w, map[int64]bool{chattest.Ours: true}, chattest.Alice, chattest.Bob)
}

// bobSays sends a message of Bob, who uses a session in a chat.
func bobSays(t *testing.T, w *chattest.World, in models.Chat, text string) {
	t.Helper()
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: in, Text: text, Date: int(w.Chat.Now().Unix())})
	require.NoError(t, w.Handle(t.Context(), key, u))
	w.Work(t)
}

// bobs is a session that Bob uses in a chat.
func bobs(t *testing.T, w *chattest.World, at session.Conversation, lines ...talk.Cursor) session.Record {
	t.Helper()
	require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Telegram = "en" })) // her chat is known
	r := w.Session(t, "api", session.Running, lines...)
	r.Conversation, r.Owner = at, chattest.Bob
	w.Records.Put(r)
	require.NoError(t, w.Chats.SetCurrent(at, r.ID))
	return r
}

// sentTo are the messages that a chat has got since the first n, without the lines that name sessions
// which nobody sees.
func sentTo(w *chattest.World, n int, chat int64) (all []outbox.Message) {
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	for _, m := range w.Telegram.Sent[n:] {
		if m.To.ChatID == chat && !strings.HasSuffix(m.Text.Text, "/list opens the session here.") {
			all = append(all, m)
		}
	}
	return all
}

// places are the chats in which a plan is barred, with the lists that bar it.
var places = []struct {
	name   string
	at     session.Conversation
	in     models.Chat
	groups map[int64]bool
	people []int64
	home   session.Conversation // of the session, after Alice has taken the plan over
}{
	{"the person's private chat", atBob, chattest.PrivateChat(chattest.Bob), nil, []int64{chattest.Alice}, chattest.AtAlice},
	{"a group, the person has left", atOurs, chattest.GroupChat(chattest.Ours), map[int64]bool{chattest.Ours: true}, []int64{chattest.Alice}, atOurs},
	{"a group that was taken off", atOurs, chattest.GroupChat(chattest.Ours), nil, []int64{chattest.Alice, chattest.Bob}, chattest.AtAlice},
}

// TestP9_SchedulesOfPeopleWhoLeftAreBarred: each person who is allowed is asked once, and may take
// the schedule over or remove it. Who is back finds it as it was.
func TestP9_SchedulesOfPeopleWhoLeftAreBarred(t *testing.T) {
	for _, tt := range places {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := bobs(t, w, tt.at)
				bobSays(t, w, tt.in, "/every day 09:00 run the tests")
				only := func() port.Schedule { return w.ScheduleList(t)[0] }
				require.Equal(t, port.Planner{By: chattest.Bob}, only().Planner)
				before := w.Telegram.LastID()
				for range 2 {
					admits(t, w, tt.groups, tt.people...)
					w.Later(time.Minute)
				}
				assert.Equal(t, port.Planner{By: chattest.Bob, Barred: true}, only().Planner)
				asked := sentTo(w, before, chattest.Alice)
				require.Len(t, asked, 1, "once")
				assert.Contains(t, asked[0].Text.Text, "The schedule of api is paused: every day 09:00.")
				assert.Equal(t, []string{"Run it as mine", "Remove"}, chattest.Words(asked[0]))
				if !slices.Contains(tt.people, chattest.Bob) {
					assert.Empty(t, sentTo(w, before, chattest.Bob))
				}

				everybody(t, w)
				assert.Equal(t, port.Planner{By: chattest.Bob}, only().Planner, "it goes on by itself")
				assert.Empty(t, chattest.Words(w.Shows(t, w.IDOf(chattest.Data(asked[0])[0]))))

				before = w.Telegram.LastID()
				admits(t, w, tt.groups, tt.people...)
				w.Press(t, chattest.Alice, w.IDOf(chattest.Data(sentTo(w, before, chattest.Alice)[0])[0]), "Run it as mine")
				assert.Equal(t, port.Planner{By: chattest.Alice}, only().Planner)
				now, _ := w.Records.Get(r.ID)
				assert.Equal(t, tt.home, now.Conversation, "somebody sees the answers")

				everybody(t, w)
				require.NoError(t, w.Move(t.Context(), r.ID, tt.at, port.AtOnce))
				bobSays(t, w, tt.in, "/every day 10:00 run them again")
				require.Len(t, w.ScheduleList(t), 2)
				before = w.Telegram.LastID()
				admits(t, w, tt.groups, tt.people...)
				for _, m := range sentTo(w, before, chattest.Alice) {
					w.Press(t, chattest.Alice, w.IDOf(chattest.Data(m)[0]), "Remove")
				}
				for _, s := range w.ScheduleList(t) {
					assert.False(t, s.Barred, "what was not removed is Alice's, in a place that she sees")
				}
			})
		})
	}
}

// TestP9_TextsOfPeopleWhoLeftAreKept: each person who is allowed is asked once, and may send them or
// remove them. Who is back finds them where they were, and is asked about one that waited long.
func TestP9_TextsOfPeopleWhoLeftAreKept(t *testing.T) {
	for _, tt := range places {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				w.HoldFor = time.Hour
				w.Restart(t)
				r := bobs(t, w, tt.at)
				says := func(text string) inbox.Entry {
					bobSays(t, w, tt.in, text)
					entries, err := w.Inbox.List()
					require.NoError(t, err)
					return entries[len(entries)-1]
				}
				bars := func() (card int) {
					before := w.Telegram.LastID()
					for range 2 {
						admits(t, w, tt.groups, tt.people...)
						w.Later(time.Minute)
					}
					asked := sentTo(w, before, chattest.Alice)
					require.Len(t, asked, 1, "once")
					assert.Equal(t, []string{"Run it as mine", "Remove"}, chattest.Words(asked[0]))
					return w.IDOf(chattest.Data(asked[0])[0])
				}
				e := says("fix it")
				require.Equal(t, inbox.Held, e.State)
				card := bars()
				assert.Equal(t, inbox.Barred, w.EntryState(e.Key))
				assert.Contains(t, w.Shows(t, card).Text.Text, "1 text for api is kept and not sent")
				assert.Contains(t, w.Shows(t, card).Text.Text, "fix it")
				w.Restart(t)
				require.NoError(t, w.Review(t.Context(), 0))

				everybody(t, w)
				assert.Equal(t, inbox.Held, w.EntryState(e.Key))
				assert.Empty(t, chattest.Words(w.Shows(t, card)))

				card = bars()
				w.Press(t, chattest.Alice, card, "Run it as mine")
				assert.Equal(t, inbox.Held, w.EntryState(e.Key))
				now, _ := w.Records.Get(r.ID)
				assert.Equal(t, tt.home, now.Conversation, "somebody sees the answers")
				require.NoError(t, w.TellPlanners(t.Context()))
				assert.Equal(t, inbox.Held, w.EntryState(e.Key), "it is Alice's")

				everybody(t, w)
				require.NoError(t, w.Move(t.Context(), r.ID, tt.at, port.AtOnce))
				e = says("and that")
				w.Press(t, chattest.Alice, bars(), "Remove")
				assert.Empty(t, w.EntryState(e.Key))

				everybody(t, w)
				e = says("the last one")
				bars()
				w.Later(time.Hour)
				everybody(t, w)
				assert.Equal(t, inbox.Asked, w.EntryState(e.Key), "it is old")
			})
		})
	}
}

// TestHiddenSessionsAreNamedOnce to the people who are left, who may open them.
func TestHiddenSessionsAreNamedOnce(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		chattest.RunsAs(t, fmt.Sprintf("restarted %t", restarted), func(t *testing.T, w *chattest.World) {
			r := bobs(t, w, atBob)
			w.NewCurrentSession(t, "web", session.Running)
			for range 2 {
				if restarted {
					w.Config.Lists = conversation.Lists{People: map[int64]bool{chattest.Alice: true}}
					w.Restart(t)
					require.NoError(t, w.TellPlanners(t.Context()))
					w.Work(t)
				} else {
					admits(t, w, nil, chattest.Alice)
				}
			}
			said := func() (n int) {
				for _, m := range w.Telegram.ShownOnce() {
					n += strings.Count(m.Text.Text, w.Word(i18n.SessionsHidden, i18n.Args{"Count": 1, "Names": "api"}))
				}
				return n
			}
			assert.Equal(t, 1, said())
			require.NoError(t, w.Use(t.Context(), chattest.AtAlice, 0, chattest.ViewOf(r)))
			now, _ := w.Records.Get(r.ID)
			assert.Equal(t, chattest.AtAlice, now.Conversation)
			require.NoError(t, w.TellPlanners(t.Context()))
			require.NoError(t, w.Move(t.Context(), r.ID, atBob, port.AtOnce))
			require.NoError(t, w.TellPlanners(t.Context()))
			w.Work(t)
			assert.Equal(t, 2, said(), "again")
		})
	}
}

// TestP9_ScheduleOfNobodyIsOfItsPlace: one that was made at the desk, or by an earlier version.
func TestP9_ScheduleOfNobodyIsOfItsPlace(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		private, group := bobs(t, w, atBob), bobs(t, w, atOurs)
		for _, r := range []session.Record{private, group} {
			_, err := w.Schedules.Add(t.Context(), port.ScheduleRequest{Key: uuid.New(), Session: r.ID, When: "every day 09:00", Text: "x"})
			require.NoError(t, err)
		}
		admits(t, w, map[int64]bool{chattest.Ours: true}, chattest.Alice, chattest.Bob)
		assert.Empty(t, schedulesAsked(w), "nobody has left")
		for range 2 {
			admits(t, w, map[int64]bool{chattest.Ours: true}, chattest.Alice)
			w.Later(time.Minute)
		}
		for _, s := range w.ScheduleList(t) {
			assert.Equal(t, s.Session == private.ID, s.Barred)
		}
		asked := schedulesAsked(w)
		require.Len(t, asked, 2, "each once")
		i := slices.IndexFunc(asked, func(m outbox.Message) bool {
			return strings.Contains(m.Text.Text, "goes on: every day 09:00. It does not say who planned it")
		})
		require.GreaterOrEqual(t, i, 0, "that of the group")
		w.Press(t, chattest.Alice, w.IDOf(chattest.Data(asked[i])[0]), "Run it as mine")
		assert.Contains(t, each.As(w.ScheduleList(t), func(s port.Schedule) port.Planner { return s.Planner }), port.Planner{By: chattest.Alice})
	})
}

// schedulesAsked are the questions about schedules that Alice has got.
func schedulesAsked(w *chattest.World) []outbox.Message {
	return slices.DeleteFunc(sentTo(w, 0, chattest.Alice), func(m outbox.Message) bool { return !strings.HasPrefix(m.Text.Text, "The schedule of ") })
}

// TestP9_AwayMachineIsToldLater: the schedules and the texts of people who left, on a machine that
// did not answer then.
func TestP9_AwayMachineIsToldLater(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		bobs(t, w, atBob)
		bobSays(t, w, chattest.PrivateChat(chattest.Bob), "/every day 09:00 run the tests")
		w.Link.Set(wire.Faults{Unreachable: true})
		bobSays(t, w, chattest.PrivateChat(chattest.Bob), "a text that waits")
		l := conversation.Lists{People: map[int64]bool{chattest.Alice: true}}
		assert.Error(t, w.Readmit(t.Context(), l))
		waits := func() (all []inbox.Entry) {
			entries, err := w.Inbox.List()
			require.NoError(t, err)
			return slices.DeleteFunc(entries, func(e inbox.Entry) bool { return e.Text == "" })
		}
		require.Len(t, waits(), 1)
		w.Link.Set(wire.Faults{})
		w.Later(2 * time.Minute)
		assert.True(t, w.ScheduleList(t)[0].Barred)
		assert.Equal(t, inbox.Barred, waits()[0].State, "it is not offered to its machine again")
	})
}

// TestP9_TextOnAwayMachineIsTakenBackLater: a text of somebody who left that waits on a machine that does not answer prevents no start.
// It is taken out of the queue there, and asked about once, when that machine answers.
func TestP9_TextOnAwayMachineIsTakenBackLater(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		r := bobs(t, w, atBob)
		bobSays(t, w, chattest.PrivateChat(chattest.Bob), "a text that waits")
		key := w.Record(t, r.ID).Prompts[0]
		w.Inbox.TakeBack = func(e inbox.Entry, held bool) error {
			return w.Deps.Sessions.TakeBack(t.Context(), e.Session, e.Key, e.Number, held)
		}
		w.Link.Set(wire.Faults{Unreachable: true})
		w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}})
		told := func() (n int) {
			for _, m := range w.Telegram.ShownOnce() {
				n += strings.Count(m.Text.Text, w.Word(i18n.PersonLeft))
			}
			return n
		}
		require.NoError(t, w.Review(t.Context(), 0))
		w.Informer.Wake() // as at a start
		w.Later(3 * time.Minute)
		assert.Zero(t, told(), "its machine may type it")
		assert.Equal(t, inbox.Held, w.EntryState(key))
		w.Link.Set(wire.Faults{})
		w.Later(3 * time.Minute)
		assert.Equal(t, 1, told())
		assert.Equal(t, inbox.Barred, w.EntryState(key))
	})
}

// TestP9_HangingMachineIsAskedOnce about the texts of people who left in one pass, however many there are.
func TestP9_HangingMachineIsAskedOnce(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		bobs(t, w, atBob)
		for range 3 {
			bobSays(t, w, chattest.PrivateChat(chattest.Bob), "a text that waits")
		}
		asked := 0
		w.Inbox.TakeBack = func(inbox.Entry, bool) error { asked++; return refusal.ErrUnreachable }
		w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}})
		away, err := prompt.TellPlanners(t.Context(), w.Prompts)
		require.NoError(t, err)
		require.ErrorIs(t, away, refusal.ErrUnreachable)
		assert.Equal(t, 1, asked)
	})
}

// TestP9_ContinuationsOfPeopleWhoLeftWait: what a limit holds is asked about as schedules are, also once it is due.
func TestP9_ContinuationsOfPeopleWhoLeftWait(t *testing.T) {
	const kept = "What was to be sent to api"
	for _, tt := range places {
		for _, tc := range []struct {
			name  string
			then  func(t *testing.T, w *limited, asked outbox.Message)
			typed int
		}{
			{"the person is back before", func(t *testing.T, w *limited, asked outbox.Message) {
				t.Helper()
				everybody(t, w.World)
				assert.Empty(t, chattest.Words(w.Shows(t, w.IDOf(chattest.Data(asked)[0]))))
			}, 1},
			{"the person is back after", func(t *testing.T, w *limited, _ outbox.Message) {
				t.Helper()
				w.Later(time.Hour)
				everybody(t, w.World)
			}, 0},
			{"taken over before", func(t *testing.T, w *limited, asked outbox.Message) {
				t.Helper()
				w.Press(t, chattest.Alice, w.IDOf(chattest.Data(asked)[0]), "Run it as mine")
				w.Later(time.Minute)
				assert.Empty(t, promptKeys(t, w.World), "it is not due")
			}, 1},
			{"taken over after", func(t *testing.T, w *limited, asked outbox.Message) {
				t.Helper()
				w.Later(time.Hour)
				w.Press(t, chattest.Alice, w.IDOf(chattest.Data(asked)[0]), "Run it as mine")
			}, 1},
			{"removed", func(t *testing.T, w *limited, asked outbox.Message) {
				t.Helper()
				w.Press(t, chattest.Alice, w.IDOf(chattest.Data(asked)[0]), "Remove")
				everybody(t, w.World)
			}, 0},
			{"its machine has not answered since a start", func(t *testing.T, w *limited, asked outbox.Message) {
				t.Helper()
				known := w.Record(t, w.r.ID)
				w.Records.Change(w.r.ID, func(r *session.Record) {
					r.State, r.Conversation = session.State(port.StateUnknown), session.Conversation{}
				})
				w.Later(time.Hour)
				assert.NotEmpty(t, chattest.Words(w.Shows(t, w.IDOf(chattest.Data(asked)[0]))))
				w.Records.Change(w.r.ID, func(r *session.Record) { *r = known })
				w.Press(t, chattest.Alice, w.IDOf(chattest.Data(asked)[0]), "Run it as mine")
			}, 1},
			{"its session ends", func(t *testing.T, w *limited, asked outbox.Message) {
				t.Helper()
				w.Records.Change(w.r.ID, func(r *session.Record) { r.State = session.Completed })
				w.Later(time.Hour)
				assert.Empty(t, chattest.Words(w.Shows(t, w.IDOf(chattest.Data(asked)[0]))))
			}, 0},
		} {
			t.Run(tt.name+", "+tc.name, func(t *testing.T) {
				chattest.Runs(t, func(t *testing.T, w *chattest.World) {
					w.Talk.Reported, w.ContinueText = true, ""
					w.Restart(t)
					id := uuid.New()
					c := chattest.TranscriptOf(t, id.String()+".jsonl", chattest.PromptLine("go"))
					l := reachesLimit(t, w, bobs(t, w, tt.at, c), c, id)
					w.Press(t, chattest.Bob, l.cardID(), l.word())
					before := w.Telegram.LastID()
					for range 2 {
						admits(t, w, tt.groups, tt.people...)
						w.Later(time.Minute)
					}
					asked := slices.DeleteFunc(sentTo(w, before, chattest.Alice), func(m outbox.Message) bool { return !strings.Contains(m.Text.Text, kept) })
					require.Len(t, asked, 1, "once")
					assert.Equal(t, []string{"Run it as mine", "Remove"}, chattest.Words(asked[0]))
					tc.then(t, l, asked[0])
					w.Later(time.Hour)
					assert.Len(t, promptKeys(t, w), tc.typed)
					assert.Empty(t, chattest.Words(w.Shows(t, w.IDOf(chattest.Data(asked[0])[0]))), "nothing is asked any more")
				})
			})
		}
	}
}

// TestP9_LoopsOfPeopleWhoLeftPause: until a person takes them over.
func TestP9_LoopsOfPeopleWhoLeftPause(t *testing.T) {
	for _, tt := range places {
		t.Run(tt.name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := bobs(t, w, tt.at)
				l := port.Loop{ID: uuid.New(), Session: r.ID, Name: "api", By: chattest.Bob, State: port.LoopRunning, Step: port.LoopTurn, Iteration: 1, Attempt: 1}
				w.Loops(t, r, l, true)
				admits(t, w, tt.groups, tt.people...)
				require.NotEmpty(t, w.Looping.Changes())
				require.Equal(t, port.LoopChange{Loop: l.ID, Session: r.ID, Do: port.LoopPause, Barred: true}, w.Looping.Changes()[0])
				before := w.Telegram.LastID()
				l.State, l.Reason = port.LoopPaused, port.WhyBarred
				w.Loops(t, r, l, true)
				everybody(t, w)
				all := w.Looping.Changes()
				require.Equal(t, port.LoopChange{Loop: l.ID, Session: r.ID, Do: port.LoopResume, By: chattest.Bob, Barred: true}, all[len(all)-1], "it goes on by itself")
				admits(t, w, tt.groups, tt.people...)
				place := chattest.Alice
				if tt.home == atOurs {
					place = chattest.Ours
				}
				asked := sentTo(w, before, place)
				require.Len(t, asked, 1)
				assert.Contains(t, asked[0].Text.Text, w.Word(i18n.LoopKey.Of(string(port.WhyBarred))))
				require.NoError(t, w.TapOnShown(t, chattest.Alice, w.IDOf(chattest.Data(asked[0])[0]), i18n.ButtonRunAsMine))
				w.Work(t)
				assert.Contains(t, w.Looping.Changes()[len(all):], port.LoopChange{Loop: l.ID, Session: r.ID, Do: port.LoopResume, By: chattest.Alice})
				now, _ := w.Records.Get(r.ID)
				assert.Equal(t, tt.home, now.Conversation)
			})
		})
	}
}

// TestP9_TapsOfPeopleWhoLeftAreNotTyped: a prompt that a button has made carries its person.
func TestP9_TapsOfPeopleWhoLeftAreNotTyped(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	keys := make(map[int64]string)
	for _, by := range []int64{0, chattest.Alice, chattest.Bob} {
		e := inbox.Entry{Key: talk.PromptKey(uuid.New()), State: inbox.Held, Session: r.ID, Conversation: chattest.AtAlice, By: by, Text: "x"}
		_, err := w.Inbox.Add(e)
		require.NoError(t, err)
		keys[by] = e.Key
	}
	w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}})
	require.NoError(t, w.TellPlanners(t.Context()))
	assert.Equal(t, inbox.Barred, w.EntryState(keys[chattest.Bob]))
	assert.Equal(t, []inbox.State{inbox.Held, inbox.Held}, []inbox.State{w.EntryState(keys[0]), w.EntryState(keys[chattest.Alice])})
}

// TestP9_ReaderAsksBeforeEachAnswer: the reader follows the transcript when the people are taken off
// the list. They get the answers when they are back (P5), also of a session that has ended.
func TestP9_ReaderAsksBeforeEachAnswer(t *testing.T) {
	for _, tt := range places {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				w.Talk.Reported = true
				answers := func() []string {
					hidden := w.Word(i18n.SessionsHidden, i18n.Args{"Count": 1, "Names": "api"})
					return slices.DeleteFunc(w.Telegram.AnswersSent(), func(text string) bool { return text == hidden })
				}
				c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
				r := bobs(t, w, tt.at, c)
				w.Running(t)
				synctest.Wait()
				require.Equal(t, []string{"one"}, answers())
				gone := conversation.Lists{People: map[int64]bool{chattest.Alice: true}}
				require.NoError(t, w.Readmit(t.Context(), gone))
				chattest.Grow(t, c, chattest.Says("two"), chattest.TurnEnd)
				time.Sleep(time.Minute)
				assert.Equal(t, []string{"one"}, answers())
				w.Records.Change(r.ID, func(r *session.Record) { r.State, r.EndedAt = session.Completed, time.Now() })
				w.NewTranscript(t, r)
				time.Sleep(2 * time.Minute)
				assert.Equal(t, []string{"one"}, answers())
				require.NoError(t, w.Readmit(t.Context(), conversation.Lists{People: map[int64]bool{chattest.Alice: true, chattest.Bob: true}, Groups: map[int64]bool{chattest.Ours: true}}))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				assert.Equal(t, []string{"one", "two"}, answers())
			})
		})
	}
}

// TestP9_QuestionsOfHiddenSessionsAreSeen: no agent waits unseen, whether it asks before or after
// its place was taken off.
func TestP9_QuestionsOfHiddenSessionsAreSeen(t *testing.T) {
	gone := []int64{chattest.Alice}
	chattest.RunsAs(t, "an open request", func(t *testing.T, w *chattest.World) {
		q := w.AsksFor(t, bobs(t, w, atBob), "Bash", chattest.Bash)
		admits(t, w, nil, gone...)
		w.Later(chattest.Round)
		assert.Equal(t, chattest.AtAlice, w.RequestState(t, q).Conversation)
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
	chattest.RunsAs(t, "a later request", func(t *testing.T, w *chattest.World) {
		r := bobs(t, w, atOurs)
		admits(t, w, nil, gone...)
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		assert.Equal(t, chattest.AtAlice, w.RequestState(t, q).Conversation)
	})
	chattest.RunsAs(t, "a dialog", func(t *testing.T, w *chattest.World) {
		r := bobs(t, w, atBob)
		admits(t, w, nil, gone...)
		before := w.Telegram.LastID()
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Work(t)
		assert.Len(t, sentTo(w, before, chattest.Alice), 1)
	})
	chattest.RunsAs(t, "an open dialog", func(t *testing.T, w *chattest.World) {
		r := bobs(t, w, atBob)
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Work(t)
		w.Lifecycle.OnDialog = chattest.Trust
		w.Lifecycle.OnDialog.Fingerprint = "as the desk has moved its cursor"
		before := w.Telegram.LastID()
		admits(t, w, nil, gone...)
		w.Work(t)
		moved := slices.DeleteFunc(sentTo(w, before, chattest.Alice), func(m outbox.Message) bool { return m.Buttons == nil })
		require.Len(t, moved, 1, "besides the line about the session")
	})
	chattest.RunsAs(t, "each person sees it", func(t *testing.T, w *chattest.World) {
		for _, to := range []session.Conversation{chattest.AtAlice, atBob} {
			require.NoError(t, w.Chats.SetCurrent(to, w.Session(t, "web", session.Running).ID))
		}
		r, before := bobs(t, w, atOurs), w.Telegram.LastID()
		admits(t, w, nil, chattest.Alice, chattest.Bob)
		w.AsksFor(t, r, "Bash", chattest.Bash)
		w.Later(chattest.Round)
		for _, person := range []int64{chattest.Alice, chattest.Bob} {
			asked := sentTo(w, before, person)
			require.NotEmpty(t, asked)
			assert.Contains(t, chattest.Words(asked[len(asked)-1]), w.Word(i18n.AskAllow))
		}
	})
	chattest.RunsAs(t, "a private chat that refuses the bot", func(t *testing.T, w *chattest.World) {
		w.Telegram.OnParked = map[int64]bool{chattest.Alice: true}
		require.NoError(t, w.Chats.SetCurrent(atBob, w.Session(t, "web", session.Running).ID))
		r := bobs(t, w, atOurs)
		w.Records.Change(r.ID, func(r *session.Record) { r.Owner = chattest.Alice })
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		admits(t, w, nil, chattest.Alice, chattest.Bob)
		w.Later(chattest.Round)
		assert.Equal(t, atBob, w.RequestState(t, q).Conversation)
	})
}
