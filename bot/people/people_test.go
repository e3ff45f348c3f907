package people

import (
	"regexp"
	"testing"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

var (
	ann  = models.User{ID: 1, FirstName: "Ann", Username: "user_a"}
	ben  = models.User{ID: 2, FirstName: "Ben", Username: "user_b"}
	carl = models.User{ID: 3, FirstName: "Carl"} // may not speak to the bot
	ours = models.User{ID: 99, IsBot: true, Username: "team_bot"}
)

// mentions are those of a text, as Telegram marks them: letters and underscores behind an @.
func mentions(text string) (all []models.MessageEntity) {
	for _, at := range regexp.MustCompile(`@\w+`).FindAllStringIndex(text, -1) {
		all = append(all, models.MessageEntity{Type: models.MessageEntityTypeMention,
			Offset: len(utf16.Encode([]rune(text[:at[0]]))), Length: at[1] - at[0]})
	}
	return all
}

func wrote(by models.User, text string, to *models.Message) *models.Message {
	return &models.Message{From: &by, Text: text, Entities: mentions(text), ReplyToMessage: to}
}

func said(by models.User) *models.Message { return &models.Message{From: &by, Text: "something"} }

var (
	topic   = Place{Several: true, Agents: true}
	lunch   = Place{Several: true} // a topic of people, and General of a forum
	alone   = Place{Agents: true}
	onlyBot = Place{Several: true, Agents: true, Named: true}
)

func decide(m *models.Message, in Place) bool {
	knows := func(name string) bool { return name == "user_a" || name == "user_b" || name == "notes" }
	return IsPrompt(Of(m, ours.Username, knows, func(name string) bool { return name == "notes" }), in)
}

// The texts of a day of two people, each where it was written.
func TestTextsOfADay(t *testing.T) {
	for _, tt := range []struct {
		text  *models.Message
		in    Place
		want  bool
		named bool // it is a prompt where only texts to the bot are
	}{
		{wrote(ann, "@user_b can you look at the staging server?", nil), topic, false, false},
		{wrote(ben, "yes, in five minutes", said(ann)), topic, false, false},
		{wrote(ann, "me!", said(carl)), topic, false, false},
		{wrote(ben, "@other_person hello", nil), topic, true, false}, // nobody known: a file that does not exist yet
		{wrote(ann, "+1", said(ben)), topic, false, false},
		{wrote(ben, "is that safe on a friday?", nil), topic, true, false}, // nothing says that it is for a person
		{wrote(ben, "wait, I look first", said(ann)), topic, false, false},
		{wrote(ann, "@user_b please check staging", nil), topic, false, false},
		{wrote(ben, "+1", nil), topic, true, false},
		{wrote(ann, "lunch: pizza?", nil), lunch, false, false},
		{wrote(ben, "yes", nil), lunch, false, false},
		{wrote(ann, "at one", nil), lunch, false, false},
		{wrote(ben, "ok", nil), lunch, false, false},
		{wrote(ben, "hello everybody", nil), lunch, false, false},
		{wrote(ann, "@user_b delete the staging data base when you are back", nil), topic, false, false},
	} {
		t.Run(tt.text.Text, func(t *testing.T) {
			assert.Equal(t, tt.want, decide(tt.text, tt.in))
			assert.Equal(t, tt.named, decide(tt.text, onlyBot), "only texts to the bot")
			assert.True(t, decide(tt.text, alone), "one person")
		})
	}
}

func TestIsPrompt(t *testing.T) {
	opening := &models.Message{From: &ann, ForumTopicCreated: &models.ForumTopicCreated{Name: "lunch"}}
	mention := func(who *models.User) *models.Message {
		m := wrote(ann, "Carl look", nil)
		m.Entities = []models.MessageEntity{{Type: models.MessageEntityTypeTextMention, Length: 4, User: who}}
		return m
	}
	caption := wrote(ann, "@user_b look", nil)
	caption.Text, caption.Caption, caption.Entities, caption.CaptionEntities = "", caption.Text, nil, caption.Entities
	forwarded := wrote(ann, "@user_b look", nil)
	forwarded.ForwardOrigin = &models.MessageOrigin{MessageOriginUser: &models.MessageOriginUser{SenderUser: carl}}
	anonymous := said(models.User{ID: 1087968824, IsBot: true, Username: "GroupAnonymousBot"})
	anonymous.SenderChat = &models.Chat{ID: -100}
	broken := wrote(ann, "hello", nil)
	broken.Entities = []models.MessageEntity{{Type: models.MessageEntityTypeMention, Length: 400}}
	for _, tt := range []struct {
		name                string
		text                *models.Message
		topic, lunch, named bool
	}{
		{"a plain text", wrote(ann, "fix it", nil), true, false, false},
		{"a command", wrote(ann, "/list", nil), true, true, true},
		{"a text with the bot's name", wrote(ann, "@team_bot fix it", nil), true, true, true},
		{"the bot's name in other letters, at the end", wrote(ann, "😀 fix it @Team_Bot", nil), true, true, true},
		{"a person, and then the bot", wrote(ann, "@user_b has time, @team_bot not", nil), true, true, true},
		{"the bot's name as a reply to a person", wrote(ann, "@team_bot", said(ben)), true, true, true},
		{"a reply to the bot", wrote(ann, "go on", said(ours)), true, true, true},
		{"a reply to another bot", wrote(ann, "go on", said(models.User{ID: 98, IsBot: true, Username: "other_bot"})), true, false, false},
		{"a reply to an anonymous administrator", wrote(ann, "me too", anonymous), false, false, false},
		{"a reply to oneself", wrote(ann, "and then this", said(ann)), true, false, false},
		{"the first text of a topic", wrote(ann, "pizza?", opening), true, false, false},
		{"a person alone", wrote(ann, "@user_b", nil), false, false, false},
		{"a person later in the text", wrote(ann, "ask @user_b about it", nil), true, false, false},
		{"a person without a name", mention(&carl), false, false, false},
		{"a bot without a name", mention(&models.User{IsBot: true}), true, false, false},
		{"a file in a folder", wrote(ann, "@user_b/main.go fix it", nil), true, false, false},
		{"a file with an ending", wrote(ann, "@user_b.txt fix it", nil), true, false, false},
		{"a file with a dash", wrote(ann, "@user_b-config fix it", nil), true, false, false},
		{"a file of the session", wrote(ann, "@notes sum it up", nil), true, false, false},
		{"a name of nobody", wrote(ann, "@handler fix it", nil), true, false, false},
		{"a caption for a person", caption, false, false, false},
		{"a forwarded text for a person", forwarded, true, false, false},
		{"a mention beyond the text", broken, true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.topic, decide(tt.text, topic), "in the topic of a session")
			assert.Equal(t, tt.lunch, decide(tt.text, lunch), "in a topic of people")
			assert.Equal(t, tt.named, decide(tt.text, onlyBot), "only texts to the bot")
			assert.True(t, decide(tt.text, alone), "one person")
		})
	}
}
