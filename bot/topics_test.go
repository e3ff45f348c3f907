package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port/news"
)

// named is the session with a name.
func named(t *testing.T, w *chattest.World, name string) session.Record {
	t.Helper()
	all := w.Records.List()
	i := slices.IndexFunc(all, func(r session.Record) bool { return r.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

// edits are the changes of topics so far.
func edits(w *chattest.World) []string {
	return slices.DeleteFunc(w.Telegram.Done(), func(line string) bool { return !strings.HasPrefix(line, "topic ") })
}

// shown is the message that has a text.
func shown(t *testing.T, w *chattest.World, text string) outbox.Message {
	t.Helper()
	all := w.Telegram.ShownOnce()
	i := slices.IndexFunc(all, func(m outbox.Message) bool { return m.Text.Text == text })
	require.GreaterOrEqual(t, i, 0, "%s in %v", text, w.Telegram.Texts())
	return all[i]
}

func opened(w *chattest.World) []string {
	return slices.DeleteFunc(w.Telegram.Done(), func(line string) bool { return !strings.HasPrefix(line, "open topic ") })
}

func TestForumSessionGetsTopic(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustSayInForum(t, 0, "/new api /")
	api := named(t, w, "api")
	assert.Equal(t, []string{"open topic api (open) in -100"}, opened(w))
	assert.Equal(t, chattest.InForum(0), api.Conversation)
	assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0), 0))
	assert.Equal(t, uuid.Nil, w.CurrentID(chattest.InGroup, 0), "the main lane is nobody's")
	assert.Len(t, w.Telegram.ShownOnce(), 1, "a new session is one message")
	begins := w.Word(i18n.Started, i18n.Args{"Name": "api", "Dir": "/"})
	assert.Equal(t, chattest.InForum(0), shown(t, w, begins).To, "it begins in its topic")

	w.MustSayInForum(t, chattest.FirstTopic, "/new web /")
	web := named(t, w, "web")
	assert.Equal(t, chattest.InForum(1), web.Conversation, "a topic belongs to one session")
	assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0), 0))

	w.MustSayInForum(t, chattest.FirstTopic, "do it")
	assert.Contains(t, w.Lifecycle.Done()[len(w.Lifecycle.Done())-1], api.ID.String(), "a text goes to the session of its topic")
}

func TestSessionStaysInPersonsTopic(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustSayInForum(t, 9, "/new api /")
	assert.Empty(t, opened(w))
	assert.Equal(t, session.Conversation{ChatID: chattest.Ours, ThreadID: 9}, named(t, w, "api").Conversation)
}

func TestPlainChatHasNoTopics(t *testing.T) {
	for name, threaded := range map[string]bool{"without threaded mode": false, "with it": true} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Threaded = threaded
			w.MustHear(t, "/new api /")
			assert.Equal(t, threaded, len(opened(w)) == 1)
			assert.Equal(t, threaded, named(t, w, "api").Conversation != chattest.AtAlice)
		})
	}
}

// TestP4_RepeatedNewGetsSameTopic after a kill at any step.
func TestP4_RepeatedNewGetsSameTopic(t *testing.T) {
	for _, tt := range []struct {
		at     string
		topics int
	}{{"topic-made", 2}, {"topic-noted", 1}} {
		t.Run(tt.at, func(t *testing.T) {
			w := chattest.NewWorld(t)
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.Forum(), Text: "/new api /"})
			w.Dies(t, tt.at, func() error { return w.Handle(t.Context(), key, u) })
			w.StartsAnew(t)
			require.NoError(t, w.Handle(t.Context(), key, u))
			assert.Len(t, opened(w), tt.topics)
			assert.Equal(t, chattest.InForum(tt.topics-1), named(t, w, "api").Conversation)
			assert.Len(t, w.Records.List(), 1)
		})
	}
}

// TestP5_SessionStartsWithoutTopic: a refusal of Telegram is reported once.
func TestP5_SessionStartsWithoutTopic(t *testing.T) {
	refused, unsure := &outbox.Refused{Err: errors.New("not enough rights")}, errors.New("connection reset")
	for name, tt := range map[string]struct {
		err  error
		says []string
	}{
		"refused": {refused, []string{"", ""}},
		"unsure":  {unsure, []string{"one", "two"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Telegram.OnTopic = func() error { return tt.err }
			for _, session := range []string{"one", "two"} {
				w.MustSayInForum(t, 0, "/new "+session+" /")
				assert.Equal(t, chattest.InGroup, named(t, w, session).Conversation)
				assert.Equal(t, named(t, w, session).ID, w.CurrentID(chattest.InGroup, 0))
			}
			w.StartsAnew(t)
			w.MustSayInForum(t, 0, "/new three /")
			texts := w.Telegram.Texts()
			count := func(text string) (n int) {
				for _, one := range texts {
					if one == text {
						n++
					}
				}
				return n
			}
			if errors.Is(tt.err, unsure) {
				assert.Equal(t, 1, count(w.Named(i18n.TopicFailed, "one")))
				assert.Equal(t, 1, count(w.Named(i18n.TopicFailed, "three")))
			} else {
				assert.Equal(t, 1, count(w.Word(i18n.TopicsRefused)), "it is said once")
			}
			w.Telegram.OnTopic = nil
			w.MustSayInForum(t, 0, "/new four /")
			assert.Equal(t, chattest.InForum(0), named(t, w, "four").Conversation, "the bot may by now")
		})
	}
}

func TestResumeInForum(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		w.Records.Change(id, func(r *session.Record) { r.State = session.Restoring })
		return w.Record(t, id), nil
	}
	old := w.Session(t, "old", session.Archived)
	w.MustSayInForum(t, 0, "/resume old")
	assert.Equal(t, chattest.InForum(0), w.Record(t, old.ID).Conversation, "it has none there, so it gets one")

	w.Records.Change(old.ID, func(r *session.Record) { r.State = session.Archived })
	w.MustHear(t, "/resume old")
	assert.Equal(t, chattest.AtAlice, w.Record(t, old.ID).Conversation, "a session is shown where it was last used")
	w.Records.Change(old.ID, func(r *session.Record) { r.State = session.Archived })
	w.MustSayInForum(t, 0, "/resume old")
	assert.Equal(t, chattest.InForum(0), w.Record(t, old.ID).Conversation, "its topic is still there")
	assert.Len(t, opened(w), 1)
	lead := shown(t, w, w.Named(i18n.TopicItsOwn, "old"))
	assert.Equal(t, chattest.InGroup, lead.To)
	assert.Equal(t, []string{"old"}, bold(lead))
}

// A session that is used elsewhere in the chat stays in its topic, and another one takes no place
// there.
func TestSessionStaysInTopic(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustSayInForum(t, 0, "/new api /")
	api, plain := named(t, w, "api"), w.Session(t, "plain", session.Running)
	w.Records.Change(plain.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	require.NoError(t, w.Use(t.Context(), chattest.InGroup, 0, chattest.ViewOf(w.Record(t, api.ID))))
	assert.Equal(t, chattest.InForum(0), w.Record(t, api.ID).Conversation)
	assert.Equal(t, uuid.Nil, w.CurrentID(chattest.InGroup, 0))
	require.NoError(t, w.Use(t.Context(), chattest.InForum(0), 0, chattest.ViewOf(w.Record(t, plain.ID))))
	assert.Equal(t, chattest.InGroup, w.Record(t, plain.ID).Conversation)
	assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0), 0))
}

// inStep runs the features in a world with a session in a separate topic.
func inStep(t *testing.T, do func(t *testing.T, w *chattest.World, api session.Record)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.MustSayInForum(t, 0, "/new api /")
		api := named(t, w, "api")
		w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Running })
		stop := w.Running(t)
		synctest.Wait()
		do(t, w, w.Record(t, api.ID))
		require.NoError(t, stop())
	})
}

func TestTopicIconFollowsArchiveAndResume(t *testing.T) {
	inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
		for _, n := range []news.News{news.Ready{}, news.Typed{}, news.Delivered{}} {
			require.NoError(t, w.SessionNews(t.Context(), api, n))
		}
		w.Later(chattest.Timeout)
		assert.Empty(t, edits(w))
		require.NoError(t, w.SessionNews(t.Context(), api, ending.Receipt{}))
		w.Later(chattest.Timeout)
		w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Archived })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, api.ID), ending.Receipt{}))
		w.Later(chattest.Timeout)
		assert.Equal(t, []string{"topic 501 in -100:  (over)"}, edits(w), "once, also where news come twice")
		w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Running })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, api.ID), news.Ready{}))
		w.Later(chattest.Timeout)
		assert.Equal(t, []string{"topic 501 in -100:  (over)", "topic 501 in -100:  (open)"}, edits(w))
	})
}

// A topic is opened without an icon while Telegram's icons are unknown; it gets one later.
func TestUnknownIconIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		fails := 3
		w.Telegram.OnIcons = func() error {
			if fails--; fails >= 0 {
				return errors.New("connection reset")
			}
			return nil
		}
		w.MustSayInForum(t, 0, "/new api /")
		assert.Equal(t, []string{"open topic api () in -100"}, opened(w))
		api := named(t, w, "api")
		stop := w.Running(t)
		w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Archived })
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, api.ID), ending.Receipt{}))
		w.Later(20 * chattest.Timeout)
		assert.Equal(t, []string{"topic 501 in -100:  (over)"}, edits(w))
		require.NoError(t, stop())
	})
}

// Telegram may take long to open a topic, or make a chat wait: the topics of other chats do not.
func TestTopicWaitsOnlyForItsChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		w.Threaded = true
		answers, first := make(chan struct{}), sync.Once{}
		w.Telegram.OnTopic = func() error {
			first.Do(func() { <-answers })
			return nil
		}
		slow := make(chan error, 1)
		go func() { slow <- w.SaysInForum(t, 0, models.Message{Text: "/new slow /"}) }()
		synctest.Wait()
		w.Telegram.OnTopic = nil
		w.MustHear(t, "/new quick /")
		assert.Equal(t, []string{"open topic slow (open) in -100", "open topic quick (open) in 7"}, opened(w))
		close(answers)
		require.NoError(t, <-slow)
	})
}

func TestTopicFollowsSessionName(t *testing.T) {
	inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
		w.Records.Change(api.ID, func(r *session.Record) { r.Name = "web" })
		fails := 1
		w.Telegram.OnTopic = func() error {
			if fails--; fails >= 0 {
				return errors.New("connection reset")
			}
			return nil
		}
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, api.ID), news.Typed{}))
		w.Later(chattest.Timeout)
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, api.ID), news.Delivered{}))
		w.Later(10 * chattest.Timeout)
		assert.Equal(t, []string{"topic 501 in -100: web ()", "topic 501 in -100: web ()"}, edits(w), "what failed is tried again, and no more")
	})
}

func TestSessionFollowsTopicName(t *testing.T) {
	renames := func(t *testing.T, w *chattest.World, called string) {
		require.NoError(t, w.SaysInForum(t, chattest.FirstTopic,
			models.Message{ForumTopicEdited: &models.ForumTopicEdited{Name: called}}))
		w.Later(chattest.Timeout)
	}
	for _, tt := range []struct {
		name   string
		rename func(w *chattest.World, id uuid.UUID, name string) error
		called string
		edits  []string
	}{
		{"as it is", func(w *chattest.World, id uuid.UUID, name string) error {
			w.Records.Change(id, func(r *session.Record) { r.Name = name })
			return nil
		}, "web", nil},
		{"where that name is taken", func(w *chattest.World, id uuid.UUID, name string) error {
			w.Records.Change(id, func(r *session.Record) { r.Name = name + "-2" })
			return nil
		}, "web-2", []string{"topic 501 in -100: web-2 ()"}},
		{"where it cannot be called so", func(*chattest.World, uuid.UUID, string) error { return errors.New("no") }, "api", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
				w.Topics.Rename = func(_ context.Context, id uuid.UUID, name string) error { return tt.rename(w, id, name) }
				renames(t, w, "web")
				assert.Equal(t, tt.called, w.Record(t, api.ID).Name)
				assert.ElementsMatch(t, tt.edits, edits(w), "no echo")
			})
		})
	}
	t.Run("where nothing renames", func(t *testing.T) {
		inStep(t, func(t *testing.T, w *chattest.World, _ session.Record) {
			w.Topics.Rename = nil
			renames(t, w, "web")
			assert.Empty(t, edits(w), "a person's name for the topic stays")
		})
	})
}

func TestClosingATopicAsksToArchive(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustSayInForum(t, 0, "/new api /")
	api := named(t, w, "api")
	require.NoError(t, w.SaysInForum(t, chattest.FirstTopic, models.Message{ForumTopicClosed: &models.ForumTopicClosed{}}))
	asked := w.Telegram.Last(t)
	assert.Equal(t, chattest.InForum(0), asked.To)
	assert.Equal(t, w.Named(i18n.TopicClosedAsk, "api"), asked.Text.Text)
	assert.NotContains(t, strings.Join(w.Lifecycle.Done(), " "), "archive", "only a tap archives")
	require.NoError(t, w.TapShown(t, chattest.Bob, asked, i18n.ButtonArchive))
	assert.NotContains(t, strings.Join(w.Lifecycle.Done(), " "), "archive", "and only of who was asked")
	require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonArchive))
	assert.Contains(t, strings.Join(w.Lifecycle.Done(), " "), "archive "+api.ID.String())

	posted := len(w.Telegram.Texts())
	require.NoError(t, w.SaysInForum(t, chattest.FirstTopic, models.Message{ForumTopicReopened: &models.ForumTopicReopened{}}))
	assert.Len(t, w.Telegram.Texts(), posted, "it is open still")
	w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Archived })
	require.NoError(t, w.SaysInForum(t, chattest.FirstTopic, models.Message{ForumTopicReopened: &models.ForumTopicReopened{}}))
	assert.Equal(t, []string{w.Word(i18n.ButtonResume)}, chattest.Words(w.Telegram.Last(t)))
	require.NoError(t, w.SaysInForum(t, chattest.FirstTopic, models.Message{ForumTopicClosed: &models.ForumTopicClosed{}}))
	assert.Len(t, w.Telegram.Texts(), posted+1, "of a session that is over nothing is asked")
}

// A reopened topic removes its question; questions about other sessions stay.
func TestReopeningTopicRemovesQuestion(t *testing.T) {
	inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
		w.MustSayInForum(t, 0, "/new docs /")
		for _, topic := range []int{0, 1} {
			require.NoError(t, w.SaysInForum(t, chattest.FirstTopic+topic, models.Message{ForumTopicClosed: &models.ForumTopicClosed{}}))
		}
		w.Work(t)
		docs := w.Telegram.LastID()
		require.NoError(t, w.SaysInForum(t, chattest.FirstTopic, models.Message{ForumTopicReopened: &models.ForumTopicReopened{}}))
		w.Work(t)
		asked := w.Telegram.Now(docs - 1)
		assert.Equal(t, w.Word(i18n.Cancelled), asked.Text.Text)
		assert.Empty(t, asked.Buttons)
		assert.Equal(t, w.Named(i18n.TopicClosedAsk, "docs"), w.Telegram.Now(docs).Text.Text)
		assert.NotEmpty(t, w.Telegram.Now(docs).Buttons)
	})
}

// An anonymous admin, or a person not allowed, sends nothing to the bot, and the topic is still
// open.
func TestReopenedTopicTakesMessages(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Telegram.OnParked = map[int64]bool{chattest.Ours: true}
	says := func(m models.Message) {
		m.Chat, m.From, m.MessageThreadID = chattest.Forum(), &models.User{ID: chattest.Eve}, 9
		key, u := w.Accept(t, &m)
		require.NoError(t, w.HandleText(t, key, u))
	}
	says(models.Message{ForumTopicClosed: &models.ForumTopicClosed{}})
	assert.True(t, w.Telegram.IsSuspended(chattest.Ours))
	says(models.Message{ForumTopicReopened: &models.ForumTopicReopened{}})
	assert.False(t, w.Telegram.IsSuspended(chattest.Ours))
}

func TestStrangersTopicEventsAreIgnored(t *testing.T) {
	w := chattest.NewWorld(t)
	w.MustSayInForum(t, 0, "/new api /")
	w.Telegram.Forget()
	w.Lifecycle.Forget()
	w.Topics.Rename = func(context.Context, uuid.UUID, string) error { panic("a stranger is heard") }
	for _, m := range []models.Message{{ForumTopicEdited: &models.ForumTopicEdited{Name: "x"}}, {ForumTopicClosed: &models.ForumTopicClosed{}}} {
		m.From, m.Chat, m.MessageThreadID, m.IsTopicMessage = &models.User{ID: chattest.Eve}, chattest.Forum(), chattest.FirstTopic, true
		key, u := w.Accept(t, &m)
		require.NoError(t, w.Handle(t.Context(), key, u))
	}
	w.Silent(t)
}

func TestDeletedTopicIsCheckedOnce(t *testing.T) {
	for name, word := range map[string]i18n.Key{"a new one": i18n.ButtonNewTopic, "archive": i18n.ButtonArchive} {
		t.Run(name, func(t *testing.T) {
			inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
				for range 2 {
					w.Bot.Moves.TopicGone(chattest.InForum(0))
				}
				w.Later(chattest.Timeout)
				w.Work(t)
				lost := w.Word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "api"})
				asked := shown(t, w, lost)
				assert.Equal(t, chattest.InGroup, asked.To)
				assert.Equal(t, chattest.InGroup, w.Record(t, api.ID).Conversation)
				assert.Equal(t, 1, strings.Count(strings.Join(w.Telegram.Texts(), "\n"), lost))
				m := w.AsTelegram(asked)
				m.Chat = chattest.Forum()
				s := w.Spot(t, asked, word)
				require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, m, s.Button.Data)))
				w.Work(t)
				if word == i18n.ButtonArchive {
					assert.Equal(t, w.Named(i18n.KillConfirm, "api"), w.Telegram.Last(t).Text.Text, "only a second tap ends it")
					return
				}
				assert.Equal(t, chattest.InForum(1), w.Record(t, api.ID).Conversation)
				assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(1), 0))
				assert.Contains(t, w.Telegram.Texts(), w.Named(i18n.TopicGoesOn, "api"))
			})
		})
	}
}

// The messages of a deleted topic are not repeated.
func TestP5_MissingTopicDoesNotRepeatStart(t *testing.T) {
	inStep(t, func(t *testing.T, w *chattest.World, _ session.Record) {
		w.MustSayInForum(t, 0, "/new web /")
		web := named(t, w, "web")
		w.Work(t)
		require.NoError(t, w.SessionNews(t.Context(), web, news.Ready{}))
		w.Work(t)
		before := len(w.Telegram.Texts())
		w.Bot.Moves.TopicGone(web.Conversation)
		w.Later(chattest.Timeout)
		w.Work(t)
		assert.Equal(t, []string{w.Word(i18n.TopicLost, i18n.Args{"Count": 1, "Names": "web"})}, w.Telegram.Texts()[before:])
	})
}

func TestSwitcherHasEightSessionsAndRest(t *testing.T) {
	w := chattest.NewWorld(t)
	var all []session.Record
	for _, name := range strings.Fields("a b c d e f g h i j") {
		all = append(all, w.Session(t, name, session.Running))
	}
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, all[0].ID))
	w.MustHear(t, "/list")
	assert.Equal(t, []int{1, 10}, []int{w.Lifecycle.Rounds, w.Lifecycle.Looked}, "each once, and all with one look")
	rows := w.Telegram.Last(t).Buttons
	var words []string
	for _, row := range rows {
		assert.LessOrEqual(t, len(row), 2)
		for _, o := range row {
			words = append(words, o.Text)
		}
	}
	assert.Equal(t, append(strings.Split("✓ a,b,c,d,e,f,g,h", ","), w.Word(i18n.ButtonAll, i18n.Args{"Count": 10})), words)
	assert.Len(t, w.Resumer.Row(chattest.AtAlice), 3)
	assert.Empty(t, w.Resumer.Row(chattest.InForum(0)), "a topic is of one session")

	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.Key(w.Word(i18n.ButtonAll, i18n.Args{"Count": 10}))))
	pick := w.Telegram.Last(t)
	assert.True(t, strings.HasPrefix(pick.Text.Text, w.Word(i18n.SwitchPick)))
	i := slices.IndexFunc(chattest.Words(pick), func(word string) bool { return strings.HasPrefix(word, "b,") })
	require.GreaterOrEqual(t, i, 0, "%v", chattest.Words(pick))
	require.NoError(t, w.TapSpot(t, chattest.Alice, chattest.Spots(pick)[i]))
	w.CurrentIs(t, all[1].ID)
}

func TestSwitcherOmitsSingleSession(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	assert.Empty(t, w.Resumer.Row(chattest.AtAlice))
	w.MustHear(t, "/list")
	assert.Len(t, w.Telegram.Last(t).Buttons, 1)
}
