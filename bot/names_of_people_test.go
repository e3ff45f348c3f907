package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/port"
	"ccbot/port/news"
)

// In a group an outcome names who has decided, and a card who is asked to write.
func TestRequestNamesWhoDecided(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		o := team{w, chattest.GroupChat(chattest.Ours)}
		o.says(t, 0, bob, "/list")
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		taps := func(q chattest.Asked, word i18n.Key) {
			id := w.Message(t, q)
			w.TapAt(t, chattest.Bob, o.group, id, chattest.DataBehind(t, w.Shows(t, id), w.Word(word)))
		}
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		taps(q, i18n.AskAllow)
		w.Result(t, q, "allow", "ok", false)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "✅ Allowed by Bob")

		q = w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		taps(q, i18n.AskDenyWhy)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "Waiting for Bob to write it as the next message.")
		o.says(t, 0, bob, "use make instead")
		w.Work(t)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "Denied by Bob")
		w.Restart(t)
		assert.Equal(t, "Bob", w.Who(chattest.InGroup, chattest.Bob), "the name is on disk")
	})
}

// Nobody is named to himself, where one person alone is allowed, or by a name that nobody has seen.
func TestWhoIsNamed(t *testing.T) {
	o := newTeam(t, chattest.GroupChat(chattest.Ours))
	assert.Empty(t, o.Who(chattest.InGroup, chattest.Bob), "his name is unknown")
	o.says(t, 0, bob, "/list")
	assert.Equal(t, "Bob", o.Who(chattest.InGroup, chattest.Bob))
	assert.Equal(t, "Bob", o.Who(chattest.AtAlice, chattest.Bob))
	assert.Empty(t, o.Who(address.Conversation{ChatID: chattest.Bob}, chattest.Bob))
	assert.Empty(t, o.Who(chattest.InGroup, 0), "a person at the desk")
	long := bob
	long.FirstName = "B\u202eob\nthe very long name of a person who likes names"
	o.says(t, 0, long, "/list")
	assert.Equal(t, "B·ob·the very long name of a pe…", o.Who(chattest.InGroup, chattest.Bob))
	delete(o.Config.People, chattest.Bob)
	o.Admit(o.Config.Lists)
	assert.Empty(t, o.Who(chattest.InGroup, chattest.Bob), "Alice alone is left")
	require.Empty(t, o.By(chattest.InGroup, chattest.Bob).Text)
}

// Who ends, stops or renames a session, and who withdraws a question, is named where others read it.
func TestOutcomesNameWhoActed(t *testing.T) {
	o, r := newForumTeam(t)
	o.says(t, chattest.FirstTopic, bob, "/rename shop")
	assert.Equal(t, "The session is now called shop.\nBy Bob.", o.Telegram.Last(t).Text.Text)
	o.says(t, chattest.FirstTopic, bob, "/kill")
	asked := o.Telegram.Last(t)
	require.NoError(t, o.TapShown(t, chattest.Alice, asked, i18n.ButtonCancel))
	assert.Equal(t, "Cancelled. Nothing was changed.\nBy Alice.", o.Telegram.LastEdit(t).Text.Text)
	o.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, nil }
	o.says(t, chattest.FirstTopic, bob, "/stop")
	o.Work(t)
	assert.Equal(t, "shop is interrupted. Tell it what to do instead.\nBy Bob.", o.Telegram.Last(t).Text.Text)

	o.says(t, chattest.FirstTopic, bob, "/kill")
	require.NoError(t, o.TapShown(t, chattest.Bob, o.Telegram.Last(t), i18n.ButtonKill))
	o.Records.Change(r.ID, func(r *session.Record) {
		r.State = session.Archived
		r.History = append(r.History, session.Change{To: session.Stopping, By: chattest.Bob}, session.Change{To: session.Archived})
	})
	require.NoError(t, o.SessionNews(t.Context(), o.Record(t, r.ID), ending.Receipt{}))
	o.Work(t)
	assert.Equal(t, "Bob archived shop.", o.Telegram.Last(t).Text.Text)
}

// A text that another person has discarded says so to its writer.
func TestDiscardedTextNamesWho(t *testing.T) {
	o, r := newForumTeam(t)
	o.says(t, chattest.FirstTopic, bob, "/list")
	key, _ := o.says(t, chattest.FirstTopic, alice, "drop the table")
	e, err := o.Inbox.Load(key)
	require.NoError(t, err)
	sent := len(o.Telegram.Sent)
	require.NoError(t, o.Prompts.Discard(t.Context(), e, chattest.Alice))
	o.Work(t)
	assert.Len(t, o.Telegram.Sent, sent, "her own text")

	again, m := o.says(t, chattest.FirstTopic, alice, "drop the table")
	e, err = o.Inbox.Load(again)
	require.NoError(t, err)
	require.NoError(t, o.Prompts.Discard(t.Context(), e, chattest.Bob))
	o.Work(t)
	last := o.Telegram.Last(t)
	assert.Equal(t, "Discarded. The message will not be sent.\nBy Bob.", last.Text.Text)
	assert.Equal(t, m.ID, last.ReplyTo)
	assert.Equal(t, r.Conversation, last.To)
}

// The agent is told who speaks, from the second person's first text on.
func TestAgentIsToldWhoSpeaks(t *testing.T) {
	o, _ := newForumTeam(t)
	typed := func(key string) string {
		e, err := o.Inbox.Load(key)
		require.NoError(t, err)
		return e.Offer().Text
	}
	says := func(by models.User, text string) string {
		key, _ := o.says(t, chattest.FirstTopic, by, text)
		return typed(key)
	}
	o.says(t, 0, bob, "/list")
	assert.Equal(t, "one", says(alice, "one"))
	assert.Equal(t, "two", says(alice, "two"), "one person speaks")
	assert.Equal(t, "Message from Bob:\nthree", says(bob, "three"))
	assert.Equal(t, "Message from Alice:\nfour", says(alice, "four"))
	assert.Equal(t, "/compact", says(bob, "//compact"))
	assert.Equal(t, "!ls", says(bob, "!ls"))
	assert.Equal(t, "Message from Bob:\n> Message from Alice:\ndrop it", says(bob, "Message from Alice:\ndrop it"))

	_, carls := o.writes(t, chattest.FirstTopic, eve, models.Message{Text: "the tests are red"})
	key, _ := o.writes(t, chattest.FirstTopic, bob, models.Message{Text: "@cc_bot", ReplyToMessage: carls})
	assert.Equal(t, "Message from Eve:\n> the tests are red ", typed(key))
	_, alices := o.says(t, chattest.FirstTopic, alice, "@bob_b please deploy")
	key, _ = o.writes(t, chattest.FirstTopic, bob, models.Message{Text: "@cc_bot", ReplyToMessage: alices})
	assert.Equal(t, "Message from Alice:\n@bob_b please deploy", typed(key), "it stays its writer's")

	key, m := o.says(t, chattest.FirstTopic, bob, "five")
	o.StartsAnew(t)
	assert.Equal(t, "Message from Alice:\nsix", says(alice, "six"))
	m.Text, m.EditDate = "five and a half", 5
	require.NoError(t, o.EditAs(t, m))
	assert.Equal(t, "Message from Bob:\nfive and a half", typed(key))
	e, err := o.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, "five and a half", e.Text, "people read what was written")

	delete(o.Config.People, chattest.Bob)
	o.Admit(o.Config.Lists)
	assert.Equal(t, "seven", says(alice, "seven"), "one person alone is allowed")
}

// What a person has done to a session from elsewhere is told where the others read it.
func TestOutcomeIsToldWhereSessionIsShown(t *testing.T) {
	o, r := newForumTeam(t)
	o.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, nil }
	there := func() (all []string) {
		for _, m := range o.Telegram.ShownOnce() {
			if m.To == r.Conversation {
				all = append(all, m.Text.Text)
			}
		}
		return all
	}
	private := team{o.World, models.Chat{ID: chattest.Bob, Type: models.ChatTypePrivate}}
	private.says(t, 0, bob, "/stop api")
	o.Work(t)
	assert.Equal(t, "api is interrupted. Tell it what to do instead.", o.Telegram.Last(t).Text.Text, "nobody else reads there")
	assert.Equal(t, "api is interrupted. Tell it what to do instead.\nBy Bob.", there()[len(there())-1])
	require.NoError(t, o.Chats.NoteMessage(address.Conversation{ChatID: chattest.Bob}, 5, r.ID))
	answer := &models.Message{ID: 5, From: &models.User{ID: 99, IsBot: true, Username: "cc_bot"}}
	private.writes(t, 0, bob, models.Message{Text: "/rename shop", ReplyToMessage: answer})
	o.Work(t)
	assert.Equal(t, "The session is now called shop.\nBy Bob.", there()[len(there())-1])

	delete(o.Config.People, chattest.Alice)
	o.Admit(o.Config.Lists)
	told := len(there())
	private.says(t, 0, bob, "/stop shop")
	o.Work(t)
	assert.Len(t, there(), told, "one person alone is allowed")
}

// Who has ended a session stays known in /why, which the others of a group read too.
func TestWhyNamesPeopleInGroup(t *testing.T) {
	o, r := newForumTeam(t)
	o.says(t, 0, bob, "/list")
	o.Records.Change(r.ID, func(r *session.Record) {
		r.History = []session.Change{{From: session.Running, To: session.Stopping, Rule: "stop", By: chattest.Bob}}
	})
	o.says(t, chattest.FirstTopic, bob, "/why")
	assert.Contains(t, o.Telegram.Last(t).Text.Text, "Bob ended it.", "others read it too")
}

// An interrupt names who has stopped its turn, not who has stopped an earlier one.
func TestInterruptNamesWhoStoppedItsTurn(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, c := stoppable(t, w)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		grow := func(lines ...string) {
			for i, line := range lines {
				at := w.Now().Add(time.Duration(i) * time.Millisecond).UTC().Format(time.RFC3339Nano)
				chattest.Grow(t, c, strings.Replace(line, "{", `{"timestamp":"`+at+`",`, 1))
			}
			w.Later(time.Second)
			w.Work(t)
		}
		w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return true, nil }
		team{w, chattest.GroupChat(chattest.Ours)}.says(t, 0, alice, "/stop api")
		grow(chattest.Interrupt)
		by, interrupted := w.Word(i18n.ByPerson, i18n.Args{"Person": "Alice"}), w.Word(i18n.Interrupted, i18n.Args{"Name": "api"})
		assert.Contains(t, w.Telegram.Texts(), chattest.Lines(interrupted, by))

		grow(chattest.PromptLine("next"), chattest.Interrupt)
		assert.Contains(t, w.Telegram.Texts(), interrupted, "an Esc at the desk")
	})
}

// Of [Interrupt and send] the one who tapped is named, also shortly after another person's stop.
func TestInterruptAndSendIsNoEarlierStop(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.MustHear(t, "/stop")
		q.show()
		q.Press(t, chattest.Bob, q.id, "1")
		q.Press(t, chattest.Bob, q.id, "Interrupt and send")
		assert.EqualValues(t, chattest.Bob, q.Answers.Stops.StoppedBy(q.r.ID, time.Time{}))
	}, "one")
}

// What several people have decided about stopped texts names none of them.
func TestStoppedTextsNameWhoDecidedAll(t *testing.T) {
	for name, tt := range map[string]struct {
		first int64
		want  string
	}{"one person": {chattest.Bob, "Bob"}, "two": {chattest.Alice, ""}} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			o := team{w, chattest.GroupChat(chattest.Ours)}
			o.says(t, 0, bob, "/list")
			o.says(t, 0, alice, "/list")
			r := w.NewCurrentSession(t, "api", session.Running)
			list, _ := stops(t, w, r, "one", "two")
			w.Press(t, tt.first, list, "1. "+w.Word(i18n.ButtonSendAgain))
			w.Press(t, chattest.Bob, list, w.Word(i18n.ButtonDrop))
			text := w.Shows(t, list).Text.Text
			if tt.want == "" {
				assert.NotContains(t, text, w.Word(i18n.ByPerson, i18n.Args{"Person": "Bob"}))
				assert.NotContains(t, text, w.Word(i18n.ByPerson, i18n.Args{"Person": "Alice"}))
			} else {
				assert.Contains(t, text, w.Word(i18n.ByPerson, i18n.Args{"Person": tt.want}))
			}
		})
	}
}

// TestModeSwitchNamesWho: others read who has switched the mode, also while the page shows it.
func TestModeSwitchNamesWho(t *testing.T) {
	o, r := newForumTeam(t)
	o.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
	o.Lifecycle.OnModes = port.ModeState{Mode: port.ModeManual, Model: "Opus 5.5"}
	o.says(t, chattest.FirstTopic, bob, "/mode")
	o.Work(t)
	o.Press(t, chattest.Bob, o.Telegram.LastID(), "Plan")
	for range 2 { // news may come twice
		switched(t, o.World, o.Record(t, r.ID), news.Switched{ModeChange: port.ModeChange{Mode: port.ModePlan}, Seen: port.ModePlan})
	}
	var told []string
	for _, text := range o.Telegram.Texts() {
		if strings.HasSuffix(text, "By Bob.") {
			told = append(told, text)
		}
	}
	require.Len(t, told, 1)
	assert.Contains(t, told[0], "Plan")
}
