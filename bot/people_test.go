package bot_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

var (
	alice = models.User{ID: chattest.Alice, FirstName: "Alice", Username: "alice_a"}
	bob   = models.User{ID: chattest.Bob, FirstName: "Bob", Username: "bob_b"}
	eve   = models.User{ID: chattest.Eve, FirstName: "Eve", Username: "eve_e"} // is not allowed
)

// team is a group of Alice and Bob.
type team struct {
	*chattest.World
	group models.Chat
}

func newTeam(t *testing.T, group models.Chat) team {
	return team{chattest.NewWorld(t), group}
}

// writes handles a message in a topic (0: none), with the mention that it begins or ends with.
func (o team) writes(t *testing.T, thread int, by models.User, m models.Message) (key string, written *models.Message) {
	t.Helper()
	m.Chat, m.From, m.MessageThreadID, m.IsTopicMessage = o.group, &by, thread, thread != 0
	if i := strings.Index(m.Text, "@"); i >= 0 {
		word, _, _ := strings.Cut(m.Text[i:], " ")
		m.Entities = []models.MessageEntity{{Type: models.MessageEntityTypeMention, Offset: len(utf16.Encode([]rune(m.Text[:i]))), Length: len(word)}}
	}
	key, u := o.Accept(t, &m)
	require.NoError(t, o.HandleText(t, key, u))
	return key, &m
}

func (o team) says(t *testing.T, thread int, by models.User, text string) (key string, written *models.Message) {
	t.Helper()
	return o.writes(t, thread, by, models.Message{Text: text})
}

// hears reports whether an agent, or a person who is asked about it, gets a text.
func (o team) hears(t *testing.T, thread int, by models.User, text string) bool {
	t.Helper()
	return o.gets(t, thread, by, models.Message{Text: text})
}

func (o team) gets(t *testing.T, thread int, by models.User, m models.Message) bool {
	t.Helper()
	key, written := o.writes(t, thread, by, m)
	taken := o.EntryState(key) != inbox.Accepted
	assert.Equal(t, taken, o.Telegram.Reaction(written.ID) == "👀", "whoever sees it knows")
	return taken
}

// told are the messages that say which texts no agent gets.
func (o team) told() (all []outbox.Message) {
	for _, m := range o.Telegram.ShownOnce() {
		if m.Text.Text == o.In(chattest.InGroup).Say(i18n.NotForAgents, i18n.Args{"Bot": "@cc_bot"}) {
			all = append(all, m)
		}
	}
	return all
}

// newForumTeam has a session in the first topic that the bot has opened.
func newForumTeam(t *testing.T) (team, session.Record) {
	o := newTeam(t, chattest.Forum())
	o.says(t, 0, alice, "/new api /")
	r := named(t, o.World, "api")
	require.Equal(t, chattest.InForum(0), r.Conversation)
	return o, r
}

// From the second person's first text on a text for a person is no prompt, and the first of them is
// said once.
func TestTextForPersonIsNoPrompt(t *testing.T) {
	o, r := newForumTeam(t)
	assert.True(t, o.hears(t, chattest.FirstTopic, alice, "@bob_b look"), "nobody of this name has written")
	assert.True(t, o.hears(t, chattest.FirstTopic, bob, "run the tests"))
	assert.Empty(t, o.told())
	_, first := o.says(t, chattest.FirstTopic, alice, "@Bob_B look")
	require.Len(t, o.told(), 1)
	assert.Equal(t, chattest.InForum(0), o.told()[0].To)
	assert.Equal(t, first.ID, o.told()[0].ReplyTo)
	assert.False(t, o.told()[0].Sounds)
	assert.False(t, o.gets(t, chattest.FirstTopic, bob, models.Message{Text: "in a minute", ReplyToMessage: first}))
	assert.False(t, o.gets(t, chattest.FirstTopic, bob, models.Message{Text: "me", ReplyToMessage: &models.Message{ID: 3, From: &eve}}))
	assert.True(t, o.gets(t, chattest.FirstTopic, bob, models.Message{Text: "@cc_bot do what Alice says", ReplyToMessage: first}))
	assert.True(t, o.hears(t, chattest.FirstTopic, bob, "and the linter"))
	var typed []string
	for _, key := range o.Record(t, r.ID).Prompts {
		e, err := o.Inbox.Load(key)
		require.NoError(t, err)
		typed = append(typed, e.Text)
	}
	assert.Equal(t, []string{"@bob_b look", "run the tests", "do what Alice says", "and the linter"}, typed)
	o.StartsAnew(t)
	assert.False(t, o.hears(t, chattest.FirstTopic, alice, "@bob_b and?"), "who has written is on disk")
	assert.Len(t, o.told(), 1, "and that it was said")
}

// Where one person writes, each text is a prompt, also where another one is allowed, taps, or writes
// without being allowed.
func TestTextsOfOnePersonArePrompts(t *testing.T) {
	o, _ := newForumTeam(t)
	o.writes(t, chattest.FirstTopic, eve, models.Message{Text: "hello"})
	o.writes(t, chattest.FirstTopic, bob, models.Message{ForumTopicEdited: &models.ForumTopicEdited{IconCustomEmojiID: "5"}})
	o.writes(t, 0, bob, models.Message{NewChatMembers: []models.User{bob}})
	said := &models.Message{ID: 3, From: &eve}
	for _, thread := range []int{0, chattest.FirstTopic, 77} {
		assert.True(t, o.hears(t, thread, alice, "@eve_e look"))
		assert.True(t, o.hears(t, thread, alice, "do it"))
		assert.True(t, o.gets(t, thread, alice, models.Message{Text: "do it", ReplyToMessage: said}))
	}
	o.says(t, chattest.FirstTopic, bob, "/list")
	assert.False(t, o.hears(t, chattest.FirstTopic, alice, "@bob_b look"))
	delete(o.Config.People, chattest.Bob)
	o.Admit(o.Config.Lists)
	assert.True(t, o.hears(t, chattest.FirstTopic, alice, "@bob_b look"), "he was taken off the list")
}

// Only the topics of sessions, and chats without topics, take plain texts of several people.
func TestPlainTextsOfPlaces(t *testing.T) {
	const lunch = 77
	o, r := newForumTeam(t)
	o.says(t, lunch, bob, "/list")
	for _, thread := range []int{0, lunch} {
		assert.False(t, o.hears(t, thread, alice, "pizza?"))
		assert.False(t, o.gets(t, thread, alice, models.Message{Caption: "the menu", Document: &models.Document{FileID: "a"}}))
		assert.True(t, o.hears(t, thread, alice, "@cc_bot pizza?"))
	}
	opening := &models.Message{ID: lunch, From: &bob, ForumTopicCreated: &models.ForumTopicCreated{Name: "lunch"}}
	o.says(t, lunch, bob, "/new web /")
	require.Equal(t, lunch, named(t, o.World, "web").Conversation.ThreadID)
	assert.True(t, o.gets(t, lunch, alice, models.Message{Text: "pizza?", ReplyToMessage: opening}), "it is the topic of a session now")

	require.NoError(t, o.Use(t.Context(), chattest.InGroup, 0, chattest.ViewOf(o.Record(t, r.ID))))
	require.NoError(t, o.MoveTo(t.Context(), chattest.InGroup, chattest.ViewOf(o.Record(t, r.ID))))
	o.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	require.NoError(t, o.Chats.SetCurrent(chattest.InGroup, r.ID))
	assert.True(t, o.hears(t, 0, bob, "go on"), "its topic was deleted, so it is shown here")

	plain := newTeam(t, chattest.GroupChat(chattest.Ours))
	plain.says(t, 0, bob, "/new api /")
	assert.True(t, plain.hears(t, 0, alice, "do it"))
	assert.False(t, plain.hears(t, 0, alice, "@bob_b look"))
	refused := newTeam(t, chattest.Forum())
	require.NoError(t, refused.Chats.NoteTopicsRefused(chattest.Ours, true))
	refused.says(t, 0, bob, "/list")
	assert.True(t, refused.hears(t, 0, alice, "do it"), "the bot may open no topics")
}

// A group may choose that only texts to the bot are prompts.
func TestGroupChoosesPlainTexts(t *testing.T) {
	o, _ := newForumTeam(t)
	o.Restart(t)
	id := opensSettings(t, o.World, o.group, chattest.Bob)
	o.Press(t, chattest.Bob, id, o.Word(i18n.SettingTexts))
	o.Press(t, chattest.Bob, id, o.Word(i18n.TextsNamed))
	assert.Equal(t, conversation.Settings{Texts: conversation.Named}, o.Chats.Settings(chattest.Ours))
	assert.Contains(t, o.Shows(t, id).Text.Text, "Plain texts: only with @bot or as a reply")
	assert.False(t, o.hears(t, chattest.FirstTopic, alice, "do it"), "also of one person: a person has chosen it")
	assert.Empty(t, o.told(), "that is not the reason")
	assert.Equal(t, o.Word(i18n.NotForAgentsChosen, i18n.Args{"Bot": "@cc_bot"}), o.Telegram.Last(t).Text.Text)
	was := o.Telegram.LastID()
	assert.False(t, o.hears(t, chattest.FirstTopic, alice, "do that"))
	assert.Equal(t, was, o.Telegram.LastID(), "it was said")
	assert.True(t, o.hears(t, chattest.FirstTopic, alice, "do it, @cc_bot"))
	assert.True(t, o.gets(t, chattest.FirstTopic, alice, models.Message{Text: "do it",
		ReplyToMessage: &models.Message{ID: 3, From: &models.User{ID: 99, IsBot: true, Username: "cc_bot"}}}))
	o.Press(t, chattest.Bob, id, o.Shows(t, id).Buttons[0][0].Text)
	assert.True(t, o.hears(t, chattest.FirstTopic, alice, "do it"))
	o.says(t, 0, bob, "/list")
	assert.False(t, o.hears(t, chattest.FirstTopic, alice, "@bob_b look"))
	assert.Len(t, o.told(), 1, "the rule is another one")
	assert.False(t, o.hears(t, chattest.FirstTopic, alice, "@bob_b look again"))
	assert.Len(t, o.told(), 1)
}

// What a request or a page has waited for goes there, whatever it looks like.
func TestAwaitedTextMayBeginWithPerson(t *testing.T) {
	o, _ := newForumTeam(t)
	o.says(t, chattest.FirstTopic, bob, "/list")
	o.says(t, 0, alice, "/new")
	assert.True(t, o.hears(t, 0, alice, "@bob_b look"), "it is the first prompt of a new session")

	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		o := team{w, chattest.GroupChat(chattest.Ours)}
		r := o.hasSession(t, w.Session(t, "api", session.Running), "/")
		o.says(t, 0, alice, "/list")
		o.says(t, 0, bob, "/list")
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		assert.False(t, o.hears(t, 0, bob, "@alice_a wait"))
		o.says(t, 0, alice, "@bob_b has a better one")
		w.Work(t)
		assert.Contains(t, strings.Join(w.Relay.Done(), "\n"), "@bob_b has a better one")
	})
}

// hasSession shows a session in the group.
func (o team) hasSession(t *testing.T, r session.Record, dir string) session.Record {
	t.Helper()
	o.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Dir = chattest.InGroup, dir })
	require.NoError(t, o.Chats.SetCurrent(chattest.InGroup, r.ID))
	return o.Record(t, r.ID)
}

// An album is for whom one of its messages says: the one that names the bot, or the one with the caption.
func TestAlbumIsForWhomItsCaptionNames(t *testing.T) {
	said := &models.Message{ID: 3, From: &bob}
	for name, tt := range map[string]struct {
		captions []string
		to       *models.Message
		want     bool
	}{
		"for a person":                      {[]string{"", "@bob_b look", ""}, nil, false},
		"for a person in one of them":       {[]string{"@bob_b look", "and this"}, nil, false},
		"without a caption":                 {[]string{"", ""}, nil, true},
		"for the bot, in reply to a person": {[]string{"", "@cc_bot look"}, said, true},
		"for the bot in one of them":        {[]string{"@bob_b look", "", "@cc_bot too"}, nil, true},
		"in reply to a person":              {[]string{"", "look"}, said, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := chattest.NewMediaWorld(t)
			o := team{d.World, chattest.GroupChat(chattest.Ours)}
			o.hasSession(t, d.R, d.Dir)
			o.says(t, 0, alice, "/list")
			o.says(t, 0, bob, "/list")
			var all []*models.Update
			var first string
			for i, caption := range tt.captions {
				m := chattest.Part("g", "a", caption)
				m.Chat, m.From, m.ReplyToMessage = o.group, &alice, tt.to
				if word, _, _ := strings.Cut(caption, " "); strings.HasPrefix(word, "@") {
					m.CaptionEntities = []models.MessageEntity{{Type: models.MessageEntityTypeMention, Length: len(word)}}
				}
				key, u := o.Accept(t, &m)
				if all = append(all, u); i == 0 {
					first = key
				}
			}
			require.NoError(t, o.Handle(t.Context(), first, all[0], all[1:]...))
			assert.Equal(t, tt.want, o.EntryState(first) != inbox.Accepted)
			assert.Equal(t, tt.want, len(o.told()) == 0)
		})
	}
}

// A file of the session that has a person's name is the agent's.
func TestFileWithNameOfPerson(t *testing.T) {
	for name, body := range map[string]string{"a file": "x", "an empty file": "", "a file in a folder": "/x"} {
		t.Run(name, func(t *testing.T) {
			d := chattest.NewFileWorld(t)
			o := team{d.World, chattest.GroupChat(chattest.Ours)}
			o.hasSession(t, d.R, d.Dir)
			o.says(t, 0, alice, "/list")
			o.says(t, 0, bob, "/list")
			assert.False(t, o.hears(t, 0, alice, "@bob_b sum it up"))
			if dir, ok := strings.CutPrefix(body, "/"); ok {
				d.Inside(t, "bob_b/"+dir, "x")
			} else {
				d.Inside(t, "bob_b", body)
			}
			assert.True(t, o.hears(t, 0, alice, "@bob_b sum it up"))
		})
	}
}

// The name of the bot alone sends the message that it answers, with its writer; what somebody wrote
// who is not allowed is a quotation.
func TestNameOfBotSendsAnsweredText(t *testing.T) {
	o, r := newForumTeam(t)
	_, text := o.says(t, chattest.FirstTopic, bob, "@alice_a the tests are red")
	key, _ := o.writes(t, chattest.FirstTopic, alice, models.Message{Text: "@cc_bot", ReplyToMessage: text})
	e, err := o.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, "@alice_a the tests are red", e.Text)
	assert.Equal(t, r.ID, e.Session)
	assert.Equal(t, "👀", o.Telegram.Reaction(text.ID), "it is the text that waits")
	edited := *text
	edited.Text, edited.EditDate = "@alice_a the linter is red", 5
	require.NoError(t, o.EditAs(t, &edited))
	assert.Contains(t, strings.Join(o.Lifecycle.Done(), "\n"), "the linter is red", "its writer may edit it")
	o.says(t, chattest.FirstTopic, bob, "/queue")
	o.Work(t)
	assert.Contains(t, o.Telegram.Last(t).Text.Text, "Bob")

	strange := &models.Message{ID: 3, From: &eve, Chat: o.group, Text: "rm -rf /"}
	key, _ = o.writes(t, chattest.FirstTopic, alice, models.Message{Text: "@CC_bot ", ReplyToMessage: strange})
	e, err = o.Inbox.Load(key)
	require.NoError(t, err)
	assert.Equal(t, "Message from Eve:\n> rm -rf / ", e.Text)
	require.NoError(t, o.Review(t.Context(), 0))
	assert.Equal(t, e.State, o.EntryState(key), "an allowed person has sent it")
	delete(o.Config.People, chattest.Alice)
	o.Admit(o.Config.Lists)
	require.NoError(t, o.Review(t.Context(), 0))
	assert.NotEqual(t, e.State, o.EntryState(key), "no longer")
	o.Config.People[chattest.Alice] = true
	o.Admit(o.Config.Lists)
	key, _ = o.writes(t, chattest.FirstTopic, alice, models.Message{Text: "@cc_bot", ReplyToMessage: &models.Message{ID: 4, From: &eve, Document: &models.Document{FileID: "a"}}})
	assert.NotContains(t, o.Record(t, r.ID).Prompts, key, "a stranger's file is not fetched")
	assert.Contains(t, o.Telegram.Last(t).Text.Text, o.Word(i18n.BlankText))
	key, _ = o.writes(t, chattest.FirstTopic, eve, models.Message{Text: "@cc_bot", ReplyToMessage: text})
	assert.Equal(t, inbox.Accepted, o.EntryState(key), "a stranger sends nothing")
}

// A text that would act is a quotation when another person sends it.
func TestNameOfBotRunsNoCommand(t *testing.T) {
	for text, want := range map[string]string{
		"/stop":               "Message from Bob:\n> / stop ",
		"/resume shop":        "Message from Bob:\n> / resume shop ",
		"@cc_bot /stop":       "Message from Bob:\n> @ cc_bot / stop ",
		"/stop@cc_bot":        "Message from Bob:\n> / stop@cc_bot ",
		"/start@helper_bot":   "Message from Bob:\n> / start@helper_bot ",
		"!rm -rf build":       "Message from Bob:\n> !rm -rf build ",
		"/compact":            "/compact",
		"fix the linter /now": "fix the linter /now",
	} {
		t.Run(text, func(t *testing.T) {
			o, _ := newForumTeam(t)
			meant := &models.Message{ID: 3, From: &bob, Chat: o.group, Text: text}
			key, _ := o.writes(t, chattest.FirstTopic, alice, models.Message{Text: "@cc_bot", ReplyToMessage: meant})
			e, err := o.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, want, e.Text)
		})
	}
}

// The name of another bot alone is a text of its writer, also to those who read it later.
func TestNameOfAnotherBotIsAText(t *testing.T) {
	o, r := newForumTeam(t)
	strange := &models.Message{ID: 3, From: &eve, Chat: o.group, Text: "rm -rf /"}
	key, written := o.writes(t, chattest.FirstTopic, alice, models.Message{Text: "@helper_bot", ReplyToMessage: strange})
	e, err := o.Inbox.Load(key)
	require.NoError(t, err)
	require.Equal(t, "@helper_bot", e.Text)
	assert.Equal(t, r.ID, e.Session)
	o.says(t, chattest.FirstTopic, bob, "/queue")
	o.Work(t)
	assert.Contains(t, o.Telegram.Last(t).Text.Text, "Alice")
	assert.NotContains(t, o.Telegram.Last(t).Text.Text, "Eve")
	edited := *written
	edited.Text, edited.Entities, edited.EditDate = "@helper_bot look", nil, 5
	require.NoError(t, o.EditAs(t, &edited))
	assert.Contains(t, strings.Join(o.Lifecycle.Done(), "\n"), "@helper_bot look")
}

// The edit of a text that no agent got changes nothing.
func TestEditOfTextForPerson(t *testing.T) {
	o, _ := newForumTeam(t)
	o.says(t, chattest.FirstTopic, bob, "/list")
	_, text := o.says(t, chattest.FirstTopic, alice, "@bob_b look")
	was := len(o.Telegram.Done())
	text.Text, text.EditDate = "look", 5
	require.NoError(t, o.EditAs(t, text))
	assert.Len(t, o.Telegram.Done(), was)
}
