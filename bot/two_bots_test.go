package bot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/internal/longtest"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// shared is the forum of both bots.
const shared = int64(-1_001_000_000_007)

// member is one of the bots of the forum: a whole chat among fakes, with a Telegram and an inbox
// that are real.
type member struct {
	*chattest.World
	api   *botapi.Server
	mu    sync.Mutex
	acted map[string]int // how often it was handed each message, and each edit
	end   func()
}

// join starts a bot that knows of other bots in the forum.
func join(t *testing.T, options botapi.Options) *member {
	t.Helper()
	m := &member{World: chattest.NewWorld(t), api: botapitest.Start(t, options), acted: make(map[string]int)}
	m.Config.Groups[shared], m.Username = true, options.BotUsername
	m.Again()
	require.NoError(t, m.Chats.ResetBots(shared, true))
	m.gives(t, 0)
	return m
}

// gives makes a session the current one of a topic, so that texts there are prompts.
func (m *member) gives(t *testing.T, thread int) {
	t.Helper()
	r := m.Session(t, fmt.Sprint("s", thread), session.Running)
	require.NoError(t, m.Chats.SetCurrent(session.Conversation{ChatID: shared, ThreadID: thread}, r.ID))
}

// run polls until stopped is called. Accepted updates are handled first.
func (m *member) run(t *testing.T) {
	t.Helper()
	intake := inbox.NewIntake(inbox.Config{Client: http.DefaultClient, API: m.api.URL(), Token: m.api.Token(), Store: m.Inbox.Store,
		Handler: m, Reporter: m, Log: slog.New(slog.DiscardHandler),
		IsAuthorized: func(_ string, person int64, chat models.Chat, update json.RawMessage) (bool, error) {
			if !m.IsAuthorized(person, chat) {
				return false, nil
			}
			return m.Several.Acts(t.Context(), update)
		}})
	polling, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- intake.Run(context.WithoutCancel(t.Context()), polling) }()
	m.end = func() { stop(); require.NoError(t, <-ended) }
}

// Handle notes what the bot acts on, and lets the chat do it. The chat among fakes takes one
// message at a time.
func (m *member) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case u != nil && u.Message != nil:
		m.acted[strconv.Itoa(u.Message.ID)]++
	case u != nil && u.EditedMessage != nil:
		m.acted["edit of "+strconv.Itoa(u.EditedMessage.ID)]++
	}
	return m.World.Handle(ctx, key, u, rest...)
}

func (m *member) count() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, times := range m.acted {
		n += times
	}
	return n
}

// call calls a method of the Bot API as the bot, and returns a number of the result.
func (m *member) call(t *testing.T, method, number string, params url.Values) int {
	t.Helper()
	params.Set("chat_id", strconv.FormatInt(shared, 10))
	r, err := http.PostForm(m.api.URL()+"/bot"+m.api.Token()+"/"+method, params)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	var answer struct{ Result map[string]any }
	require.NoError(t, json.Unmarshal(body, &answer), "%s", body)
	n, ok := answer.Result[number].(float64)
	require.True(t, ok, "%s", body)
	return int(n)
}

// opens opens a topic for a session, as the chat does it.
func (m *member) opens(t *testing.T) (thread int) {
	t.Helper()
	thread = m.call(t, "createForumTopic", "message_thread_id", url.Values{"name": {"topic"}})
	at := session.Conversation{ChatID: shared, ThreadID: thread}
	require.NoError(t, m.Chats.NoteTopic(at, conversation.Topic{For: uuid.NewString(), Name: "topic"}))
	m.gives(t, thread)
	return thread
}

// day is a person's writing in the forum, with the addressed bot of each message and each edit.
type day struct {
	t      *testing.T
	bots   [2]*member
	person *botapi.Person
	owners map[int]int    // of each topic; 0 is what is outside of topics
	want   map[string]int // the bot of each message
	texts  map[int]string // texts that may be edited
	rand   *rand.Rand
}

func pick[T any](d *day, of ...T) T { return of[d.rand.IntN(len(of))] }

func (d *day) topics() (all []int) {
	for thread := range 10_000 {
		if _, known := d.owners[thread]; known {
			all = append(all, thread)
		}
	}
	return all
}

// says writes a message for a bot.
func (d *day) says(thread int, text string, bot int) {
	id := d.person.SendIn(shared, thread, text)
	d.want[strconv.Itoa(id)] = bot
	if text[0] != '/' {
		d.texts[id] = text
	}
}

// writes writes the next message.
func (d *day) writes(n int) {
	bot, thread := d.rand.IntN(2), pick(d, d.topics()...)
	name := d.bots[bot].Username
	switch kind := d.rand.IntN(100); {
	case kind < 45:
		d.says(thread, fmt.Sprint("text ", n), d.owners[thread])
	case kind < 60:
		d.says(thread, pick(d, "/list", "/help", "/queue", "/default", "/here"), d.owners[thread])
	case kind < 75:
		d.says(thread, pick(d, "/list@", "/help@", "/status@")+name, bot)
	case kind < 82:
		d.says(thread, "/default@"+name, bot)
		d.owners[0] = bot
	case kind < 89:
		d.says(thread, "/here@"+name, bot)
		d.owners[thread] = bot
	case kind < 97:
		params := url.Values{"text": {"an answer"}}
		if thread != 0 {
			params.Set("message_thread_id", strconv.Itoa(thread))
		}
		answer := d.bots[bot].call(d.t, "sendMessage", "message_id", params)
		d.want[strconv.Itoa(d.person.ReplyIn(shared, thread, answer, fmt.Sprint("reply ", n)))] = bot
	default:
		own := d.bots[bot].opens(d.t)
		d.owners[own] = bot
		d.says(own, fmt.Sprint("first ", n), bot)
	}
}

// edits edits an earlier text.
func (d *day) edits() {
	for id, text := range d.texts {
		require.NoError(d.t, d.person.Edit(shared, id, text+", edited"))
		d.want["edit of "+strconv.Itoa(id)] = d.want[strconv.Itoa(id)]
		delete(d.texts, id)
		return
	}
}

// TestP4_OnlyAddressedBotActs: two bots share a forum, and a person writes many messages
// there: texts, commands, replies and picks, inside and outside topics of either bot. Telegram
// repeats some of them, and each bot restarts several times. The addressed bot alone acts on each
// message and edit once.
func TestP4_OnlyAddressedBotActs(t *testing.T) {
	messages, life := longtest.Size(150, 1000), longtest.Size(25, 90)
	first := join(t, botapi.Options{BotUsername: "laptop_bot", Person: botapi.User{ID: chattest.Alice}})
	second := join(t, botapi.Options{BotUsername: "desktop_bot", Person: botapi.User{ID: chattest.Alice}, Beside: first.api})
	first.api.Group(shared, "team", true)
	d := &day{t: t, bots: [2]*member{first, second}, person: first.api.PagePerson(), owners: make(map[int]int),
		want: make(map[string]int), texts: make(map[int]string), rand: rand.New(rand.NewPCG(1, 2))}
	for _, m := range d.bots {
		m.run(t)
	}
	d.says(0, "/default@laptop_bot", 0)
	d.owners[0] = 0
	for n := 1; n < messages; n++ {
		d.writes(n)
		if n%20 == 0 {
			d.edits()
		}
		if m := d.bots[d.rand.IntN(2)]; n%50 == 0 {
			m.api.Redeliver(30)
		} else if n%life == 0 {
			m.end()
			m.run(t)
		}
	}
	waittest.Until(t, func() bool {
		return first.api.Pending()+second.api.Pending() == 0 && first.count()+second.count() >= len(d.want)
	})
	for _, m := range d.bots {
		m.end()
	}
	wrong, both, neither := 0, 0, 0
	for key, bot := range d.want {
		right, other := d.bots[bot].acted[key], d.bots[1-bot].acted[key]
		assert.LessOrEqual(t, right, 1, "%s is handled once", key)
		switch {
		case right > 0 && other > 0:
			both++
		case other > 0:
			wrong++
		case right == 0:
			neither++
		}
	}
	t.Logf("%d messages and %d edits to two bots (%d and %d acted on): %d acted on by the wrong bot, %d by both, %d by neither",
		messages, len(d.want)-messages, first.count(), second.count(), wrong, both, neither)
	assert.Zero(t, wrong+both+neither)
	assert.Equal(t, len(d.want), first.count()+second.count())
}
