package botapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

type reply struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// call posts a form, as curl would, and decodes Telegram's envelope.
func call(t testing.TB, srv *botapi.Server, method string, fields map[string]string) reply {
	t.Helper()
	form := url.Values{}
	for k, v := range fields {
		form.Set(k, v)
	}
	resp, err := http.PostForm(srv.URL()+"/bot"+srv.Token()+"/"+method, form)
	require.NoError(t, err)
	defer resp.Body.Close()
	var r reply
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&r))
	if !r.OK {
		assert.Equal(t, r.Code, resp.StatusCode)
	}
	return r
}

const alice = 42

func started(t testing.TB, opt botapi.Options) (*botapi.Server, *botapi.Person) {
	srv := botapitest.Start(t, opt)
	p := srv.Person(alice, "Alice")
	p.Start()
	return srv, p
}

func TestLibraryMethods(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	b := newBot(t, srv)
	ctx := t.Context()

	me, err := b.GetMe(ctx)
	require.NoError(t, err)
	assert.True(t, me.IsBot)
	assert.Equal(t, b.ID(), me.ID)

	sent, err := b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: alice, Text: "a 🙂 bold https://x.example/y", Entities: []models.MessageEntity{
		{Type: "bold", Offset: 5, Length: 4}}, ReplyMarkup: keys([]models.InlineKeyboardButton{key("Go", "go:1", "success")})})
	require.NoError(t, err)
	assert.Equal(t, models.MessageEntityTypeURL, sent.Entities[1].Type, "links are detected")
	m, found := srv.Message(alice, sent.ID)
	require.True(t, found)
	assert.Equal(t, "a 🙂 bold https://x.example/y", m.Text)
	assert.Equal(t, botapi.Button{Text: "Go", Data: "go:1", Style: "success"}, m.Keyboard[0][0])
	assert.True(t, m.FromBot)

	edited, err := b.EditMessageText(ctx, &tgbot.EditMessageTextParams{ChatID: alice, MessageID: sent.ID, Text: "b"})
	require.NoError(t, err)
	assert.NotZero(t, edited.EditDate)
	m, _ = srv.Message(alice, sent.ID)
	assert.Equal(t, 1, m.Edits)
	assert.Empty(t, m.Keyboard, "an edit without reply_markup takes the keyboard away")
	_, err = b.EditMessageText(ctx, &tgbot.EditMessageTextParams{ChatID: alice, MessageID: sent.ID, Text: "b "})
	require.ErrorIs(t, err, tgbot.ErrorBadRequest)
	assert.ErrorContains(t, err, "message is not modified")
	_, err = b.EditMessageReplyMarkup(ctx, &tgbot.EditMessageReplyMarkupParams{ChatID: alice, MessageID: sent.ID,
		ReplyMarkup: keys([]models.InlineKeyboardButton{key("A", "a", "")})})
	require.NoError(t, err)

	_, err = b.SendChatAction(ctx, &tgbot.SendChatActionParams{ChatID: alice, Action: models.ChatActionTyping})
	require.NoError(t, err)
	asked := p.Send(alice, "hello")
	for emoji, ok := range map[string]bool{"👀": true, "👍": true, "🤷‍♂": true, "✅": false, "❤️": false} {
		_, err = b.SetMessageReaction(ctx, &tgbot.SetMessageReactionParams{ChatID: alice, MessageID: asked, Reaction: []models.ReactionType{
			{Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji}}}})
		if ok {
			assert.NoError(t, err, emoji)
		} else {
			assert.ErrorContains(t, err, "REACTION_INVALID", emoji)
		}
	}
	m, _ = srv.Message(alice, asked)
	assert.Len(t, m.Reactions, 1, "a bot has one reaction on a message")

	reply, err := b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: alice, Text: "re", ReplyParameters: &models.ReplyParameters{MessageID: asked}})
	require.NoError(t, err)
	assert.Equal(t, "hello", reply.ReplyToMessage.Text)
	_, err = b.PinChatMessage(ctx, &tgbot.PinChatMessageParams{ChatID: alice, MessageID: reply.ID})
	require.NoError(t, err)
	_, err = b.DeleteMessage(ctx, &tgbot.DeleteMessageParams{ChatID: alice, MessageID: reply.ID})
	require.NoError(t, err)
	_, err = b.DeleteMessage(ctx, &tgbot.DeleteMessageParams{ChatID: alice, MessageID: reply.ID})
	assert.ErrorContains(t, err, "message to delete not found")
	_, err = b.DeleteMessages(ctx, &tgbot.DeleteMessagesParams{ChatID: alice, MessageIDs: []int{asked, 9999}})
	require.NoError(t, err)
	_, found = srv.Message(alice, asked)
	assert.False(t, found)
	_, err = b.GetChat(ctx, &tgbot.GetChatParams{ChatID: alice})
	require.NoError(t, err)
	_, err = b.DeleteWebhook(ctx, &tgbot.DeleteWebhookParams{})
	require.NoError(t, err)
}

func TestLibraryFiles(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	b := newBot(t, srv)
	ctx := t.Context()

	doc, err := b.SendDocument(ctx, &tgbot.SendDocumentParams{ChatID: alice, Caption: "c", Document: &models.InputFileUpload{Filename: "a.txt", Data: strings.NewReader("data")}})
	require.NoError(t, err)
	assert.Equal(t, "a.txt", doc.Document.FileName)
	again, err := b.SendDocument(ctx, &tgbot.SendDocumentParams{ChatID: alice, Document: &models.InputFileString{Data: doc.Document.FileID}})
	require.NoError(t, err)
	assert.Equal(t, doc.Document.FileID, again.Document.FileID)
	_, err = b.SendDocument(ctx, &tgbot.SendDocumentParams{ChatID: alice, Document: &models.InputFileUpload{Filename: "e", Data: strings.NewReader("")}})
	assert.ErrorContains(t, err, "file must be non-empty")

	photo, err := b.SendPhoto(ctx, &tgbot.SendPhotoParams{ChatID: alice, Photo: &models.InputFileUpload{Filename: "p.png", Data: bytes.NewReader(picture(t, 60, 40))}})
	require.NoError(t, err)
	assert.Equal(t, 60, photo.Photo[0].Width)
	_, err = b.SendPhoto(ctx, &tgbot.SendPhotoParams{ChatID: alice, Photo: &models.InputFileUpload{Filename: "p.png", Data: strings.NewReader("no picture")}})
	assert.ErrorContains(t, err, "IMAGE_PROCESS_FAILED")
	_, err = b.EditMessageMedia(ctx, &tgbot.EditMessageMediaParams{ChatID: alice, MessageID: photo.ID, Media: &models.InputMediaPhoto{
		Media: "attach://new.png", MediaAttachment: bytes.NewReader(picture(t, 80, 40)), Caption: "new"}})
	require.NoError(t, err)
	m, _ := srv.Message(alice, photo.ID)
	assert.Equal(t, 80, m.Photo[0].Width)
	_, err = b.EditMessageCaption(ctx, &tgbot.EditMessageCaptionParams{ChatID: alice, MessageID: photo.ID, Caption: "newer"})
	require.NoError(t, err)
	album, err := b.SendMediaGroup(ctx, &tgbot.SendMediaGroupParams{ChatID: alice, Media: []models.InputMedia{
		&models.InputMediaDocument{Media: "attach://1", MediaAttachment: strings.NewReader("1")},
		&models.InputMediaDocument{Media: "attach://2", MediaAttachment: strings.NewReader("2")}}})
	require.NoError(t, err)
	assert.Len(t, album, 2)
	assert.NotEmpty(t, album[0].MediaGroupID)

	id := p.SendFile(alice, "in.log", "text/plain", []byte("from a person"), "look")
	in, _ := srv.Message(alice, id)
	f, err := b.GetFile(ctx, &tgbot.GetFileParams{FileID: in.Document.FileID})
	require.NoError(t, err)
	resp, err := http.Get(b.FileDownloadLink(f))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, "from a person", string(body))
	_, err = b.GetFile(ctx, &tgbot.GetFileParams{FileID: "none"})
	require.ErrorIs(t, err, tgbot.ErrorBadRequest)
}

func TestLibraryTopicsAndCommands(t *testing.T) {
	srv, p := started(t, botapi.Options{Topics: true})
	b := newBot(t, srv)
	ctx := t.Context()
	topic, err := b.CreateForumTopic(ctx, &tgbot.CreateForumTopicParams{ChatID: alice, Name: "blog"})
	require.NoError(t, err)
	_, err = b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: alice, MessageThreadID: topic.MessageThreadID, Text: "here"})
	require.NoError(t, err)
	id := p.SendIn(alice, topic.MessageThreadID, "answer")
	m, _ := srv.Message(alice, id)
	assert.Equal(t, topic.MessageThreadID, m.Thread)
	_, err = b.EditForumTopic(ctx, &tgbot.EditForumTopicParams{ChatID: alice, MessageThreadID: topic.MessageThreadID, Name: "blog ✅"})
	require.NoError(t, err)
	_, err = b.CloseForumTopic(ctx, &tgbot.CloseForumTopicParams{ChatID: alice, MessageThreadID: topic.MessageThreadID})
	require.NoError(t, err)
	_, err = b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: alice, MessageThreadID: topic.MessageThreadID, Text: "late"})
	assert.ErrorContains(t, err, "TOPIC_CLOSED")
	_, err = b.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: alice, MessageThreadID: 777, Text: "where"})
	assert.ErrorContains(t, err, "message thread not found")

	set := []models.BotCommand{{Command: "new", Description: "Start"}}
	_, err = b.SetMyCommands(ctx, &tgbot.SetMyCommandsParams{Commands: set, Scope: &models.BotCommandScopeAllPrivateChats{}})
	require.NoError(t, err)
	got, err := b.GetMyCommands(ctx, &tgbot.GetMyCommandsParams{Scope: &models.BotCommandScopeAllPrivateChats{}})
	require.NoError(t, err)
	assert.Equal(t, set, got)
	got, err = b.GetMyCommands(ctx, &tgbot.GetMyCommandsParams{})
	require.NoError(t, err)
	assert.Empty(t, got, "another scope is another list")
	_, err = b.DeleteMyCommands(ctx, &tgbot.DeleteMyCommandsParams{Scope: &models.BotCommandScopeAllPrivateChats{}})
	require.NoError(t, err)
}

func TestTapIsAnsweredOnce(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	b := newBot(t, srv)
	m, err := b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "?", ReplyMarkup: keys([]models.InlineKeyboardButton{
		key("Yes", "y", ""), {Text: "Off", Disabled: &models.DisabledButton{}}})})
	require.NoError(t, err)
	_, err = p.Tap(alice, m.ID, "other")
	require.ErrorIs(t, err, botapi.ErrNoButton)
	_, err = p.Tap(alice, 999, "y")
	require.ErrorIs(t, err, botapi.ErrNoMessage)

	answers := make(chan botapi.Answer, 1)
	go func() {
		answer, err := p.Tap(alice, m.ID, "y")
		assert.NoError(t, err)
		answers <- answer
	}()
	r := call(t, srv, "getUpdates", map[string]string{"timeout": "20"})
	var updates []models.Update
	require.NoError(t, json.Unmarshal(r.Result, &updates))
	q := updates[0].CallbackQuery
	assert.Equal(t, "y", q.Data)
	assert.Equal(t, m.ID, q.Message.Message.ID)
	_, err = b.AnswerCallbackQuery(t.Context(), &tgbot.AnswerCallbackQueryParams{CallbackQueryID: q.ID, Text: strings.Repeat("x", 201)})
	assert.ErrorContains(t, err, "MESSAGE_TOO_LONG")
	_, err = b.AnswerCallbackQuery(t.Context(), &tgbot.AnswerCallbackQueryParams{CallbackQueryID: q.ID, Text: "done", ShowAlert: true})
	require.NoError(t, err)
	assert.Equal(t, botapi.Answer{Text: "done", Alert: true}, <-answers)
	_, err = b.AnswerCallbackQuery(t.Context(), &tgbot.AnswerCallbackQueryParams{CallbackQueryID: q.ID})
	assert.ErrorContains(t, err, "query ID is invalid")
}

func TestTapWithoutAnswer(t *testing.T) {
	srv, p := started(t, botapi.Options{TapTimeout: time.Millisecond})
	r := call(t, srv, "sendMessage", map[string]string{"chat_id": "42", "text": "?", "reply_markup": `{"inline_keyboard":[[{"text":"Y","callback_data":"y"}]]}`})
	require.True(t, r.OK, r.Description)
	_, err := p.Tap(alice, 1, "y")
	require.ErrorIs(t, err, botapi.ErrNoAnswer)
}

func TestRefusals(t *testing.T) {
	long := strings.Repeat("x", 4097)
	markup := func(button string) string { return `{"inline_keyboard":[[` + button + `]]}` }
	tests := []struct {
		name   string
		method string
		fields map[string]string
		want   string // "" is ok
	}{
		{"plain", "sendMessage", map[string]string{"text": "x"}, ""},
		{"any case of the method", "SENDmessage", map[string]string{"text": "x"}, ""},
		{"4096 units", "sendMessage", map[string]string{"text": strings.Repeat("🙂", 2048)}, ""},
		{"4097 units", "sendMessage", map[string]string{"text": long}, "Bad Request: message is too long"},
		{"4098 units in 2049 characters", "sendMessage", map[string]string{"text": strings.Repeat("🙂", 2049)}, "Bad Request: message is too long"},
		{"no text", "sendMessage", map[string]string{}, "Bad Request: message text is empty"},
		{"blank", "sendMessage", map[string]string{"text": " \n\t "}, "Bad Request: text must be non-empty"},
		{"invisible", "sendMessage", map[string]string{"text": "\u200b\ufeff"}, "Bad Request: text must be non-empty"},
		{"not UTF-8", "sendMessage", map[string]string{"text": "a\xff"}, "Bad Request: strings must be encoded in UTF-8"},
		{"unknown chat", "sendMessage", map[string]string{"chat_id": "7", "text": "x"}, "Bad Request: chat not found"},
		{"empty chat", "sendMessage", map[string]string{"chat_id": "", "text": "x"}, "Bad Request: chat_id is empty"},
		{"parse_mode", "sendMessage", map[string]string{"text": "x", "parse_mode": "HTML"}, "Bad Request: stand-in: parse_mode is not supported, send entities"},
		{"entity past the end", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"bold","offset":1,"length":3}]`}, "Bad Request: entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 4"},
		{"entity splits a pair", "sendMessage", map[string]string{"text": "🙂", "entities": `[{"type":"bold","offset":1,"length":1}]`}, "Bad Request: entity begins in a middle of a UTF-16 symbol at UTF-16 offset 1"},
		{"entity ends in a pair", "sendMessage", map[string]string{"text": "🙂", "entities": `[{"type":"bold","offset":0,"length":1}]`}, "Bad Request: entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at UTF-16 offset 1"},
		{"negative entity", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"bold","offset":-1,"length":1}]`}, "Bad Request: receive an entity with incorrect offset -1"},
		{"bold in code", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"code","offset":0,"length":3},{"type":"bold","offset":1,"length":1}]`}, "Bad Request: can't parse entities: code at UTF-16 offset 0 overlaps bold at 1"},
		{"code in a link", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"text_link","url":"https://x.example","offset":0,"length":3},{"type":"code","offset":1,"length":1}]`}, "Bad Request: can't parse entities: text_link at UTF-16 offset 0 overlaps code at 1"},
		{"code in a quote", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"blockquote","offset":0,"length":3},{"type":"code","offset":1,"length":1}]`}, ""},
		{"quote in a quote", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"blockquote","offset":0,"length":3},{"type":"expandable_blockquote","offset":1,"length":1}]`}, "Bad Request: can't parse entities: blockquotes at UTF-16 offsets 0 and 1 overlap"},
		{"bold crosses italic", "sendMessage", map[string]string{"text": "abc", "entities": `[{"type":"bold","offset":0,"length":2},{"type":"italic","offset":1,"length":2}]`}, ""},
		{"unreadable entities", "sendMessage", map[string]string{"text": "abc", "entities": `{`}, "Bad Request: can't parse entities: unexpected end of JSON input"},
		{"64 bytes of data", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":"a","callback_data":"` + strings.Repeat("d", 64) + `"}`)}, ""},
		{"65 bytes of data", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":"a","callback_data":"` + strings.Repeat("d", 65) + `"}`)}, "Bad Request: BUTTON_DATA_INVALID"},
		{"no data", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":"a","callback_data":""}`)}, "Bad Request: BUTTON_DATA_INVALID"},
		{"button without a text", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":" ","callback_data":"a"}`)}, "Bad Request: inline keyboard button text must be non-empty"},
		{"button of no kind", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":"a"}`)}, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"},
		{"button with a local address", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":"a","url":"http://localhost/x"}`)}, "Bad Request: inline keyboard button URL 'http://localhost/x' is invalid: Wrong HTTP URL"},
		{"button of an unknown style", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(`{"text":"a","callback_data":"a","style":"pink"}`)}, "Bad Request: can't parse inline keyboard button: invalid button style specified"},
		{"101 buttons", "sendMessage", map[string]string{"text": "x", "reply_markup": markup(strings.TrimSuffix(strings.Repeat(`{"text":"a","callback_data":"a"},`, 101), ","))}, "Bad Request: reply markup is too long"},
		{"markup is no object", "sendMessage", map[string]string{"text": "x", "reply_markup": `[]`}, "Bad Request: object expected as reply markup"},
		{"reply to nothing", "sendMessage", map[string]string{"text": "x", "reply_parameters": `{"message_id":99}`}, "Bad Request: message to be replied not found"},
		{"reply to nothing anyway", "sendMessage", map[string]string{"text": "x", "reply_parameters": `{"message_id":99,"allow_sending_without_reply":true}`}, ""},
		{"edit of nothing", "editMessageText", map[string]string{"message_id": "99", "text": "x"}, "Bad Request: message to edit not found"},
		{"edit of a person's message", "editMessageText", map[string]string{"message_id": "1", "text": "x"}, "Bad Request: message can't be edited"},
		{"reaction to nothing", "setMessageReaction", map[string]string{"message_id": "99"}, "Bad Request: message to react not found"},
		{"unknown action", "sendChatAction", map[string]string{"action": "dance"}, "Bad Request: wrong parameter action in request"},
		{"command in capitals", "setMyCommands", map[string]string{"commands": `[{"command":"New","description":"x"}]`}, "Bad Request: BOT_COMMAND_INVALID"},
		{"command of 33", "setMyCommands", map[string]string{"commands": `[{"command":"` + strings.Repeat("a", 33) + `","description":"x"}]`}, "Bad Request: BOT_COMMAND_INVALID"},
		{"command without a description", "setMyCommands", map[string]string{"commands": `[{"command":"a","description":""}]`}, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID"},
		{"101 commands", "setMyCommands", map[string]string{"commands": `[` + strings.TrimSuffix(strings.Repeat(`{"command":"a","description":"x"},`, 101), ",") + `]`}, "Bad Request: BOT_COMMANDS_TOO_MUCH"},
		{"caption of 1025", "sendDocument", map[string]string{"caption": strings.Repeat("c", 1025), "document": "x"}, "Bad Request: message caption is too long"},
		{"file by address", "sendDocument", map[string]string{"document": "https://x.example/a"}, "Bad Request: stand-in: files by URL are not fetched"},
		{"unknown method", "sendRichMessage", map[string]string{"text": "x"}, "Not Found"},
	}
	srv, p := started(t, botapi.Options{})
	p.Send(alice, "mine")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fields := map[string]string{"chat_id": "42"}
			for k, v := range tt.fields {
				fields[k] = v
			}
			r := call(t, srv, tt.method, fields)
			assert.Equal(t, tt.want, r.Description)
			assert.Equal(t, tt.want == "", r.OK)
		})
	}
}

func TestTokens(t *testing.T) {
	srv := botapitest.Start(t, botapi.Options{Token: "123456:secret"})
	tests := []struct {
		name, path string
		want       int
	}{
		{"right", "/bot123456:secret/getMe", http.StatusOK},
		{"of nobody", "/bot123456:other/getMe", http.StatusUnauthorized},
		{"no colon", "/botnonsense/getMe", http.StatusNotFound},
		{"no secret", "/bot123456:/getMe", http.StatusNotFound},
		{"no token", "/bot/getMe", http.StatusNotFound},
		{"right, unknown method", "/bot123456:secret/getNothing", http.StatusNotFound},
		{"file with a wrong token", "/file/bot123456:other/documents/file_1", http.StatusUnauthorized},
		{"file that is not there", "/file/bot123456:secret/documents/file_1", http.StatusNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := http.Get(srv.URL() + tt.path)
			require.NoError(t, err)
			defer resp.Body.Close()
			assert.Equal(t, tt.want, resp.StatusCode)
			assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		})
	}
	_, err := tgbot.New("123456:other", tgbot.WithServerURL(srv.URL()))
	require.ErrorIs(t, err, tgbot.ErrorUnauthorized)
}

func TestParametersInEveryForm(t *testing.T) {
	srv, _ := started(t, botapi.Options{})
	base := srv.URL() + "/bot" + srv.Token() + "/sendMessage"
	resp, err := http.Post(base, "application/json", strings.NewReader(`{"chat_id":42,"text":"json","reply_markup":{"inline_keyboard":[[{"text":"a","callback_data":"a"}]]}}`))
	require.NoError(t, err)
	resp.Body.Close()
	resp, err = http.Get(base + "?chat_id=42&text=query")
	require.NoError(t, err)
	resp.Body.Close()
	var texts []string
	for _, m := range srv.Messages(alice) {
		texts = append(texts, m.Text)
	}
	assert.Equal(t, []string{"json", "query"}, texts)
}

func TestPeople(t *testing.T) {
	srv := botapitest.Start(t, botapi.Options{})
	b := newBot(t, srv)
	p := srv.Person(alice, "Alice")
	_, err := b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "hi"})
	require.ErrorContains(t, err, "chat not found", "a bot cannot begin a conversation")

	id := p.Send(alice, "  /new@ccbot_sandbox_bot blog /list and https://x.example/a. @someone \n")
	m, _ := srv.Message(alice, id)
	assert.Equal(t, "/new@ccbot_sandbox_bot blog /list and https://x.example/a. @someone", m.Text)
	var kinds []string
	for _, e := range m.Entities {
		kinds = append(kinds, string(e.Type)+" "+m.Text[e.Offset:e.Offset+e.Length])
	}
	assert.Equal(t, []string{"bot_command /new@ccbot_sandbox_bot", "bot_command /list", "url https://x.example/a", "mention @someone"}, kinds)

	assert.Zero(t, p.Send(alice, " \n "), "the apps do not send blanks")
	first := p.Send(alice, strings.Repeat("🙂", 3000))
	assert.Len(t, srv.Messages(alice), 3, "the apps cut long texts")
	m, _ = srv.Message(alice, first)
	assert.Len(t, []rune(m.Text), 2048)

	require.NoError(t, p.Edit(alice, id, "changed"))
	require.ErrorIs(t, srv.Person(43, "Bob").Edit(alice, id, "x"), botapi.ErrNoMessage)
	p.Block(true)
	_, err = b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: alice, Text: "hi"})
	require.ErrorIs(t, err, tgbot.ErrorForbidden)

	srv.Group(-100, "team", false)
	p.Send(-100, "in a group")
	_, err = b.SendMessage(t.Context(), &tgbot.SendMessageParams{ChatID: -100, Text: "hi all"})
	require.NoError(t, err)
}

func TestWaitMessage(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	go p.Send(alice, "late")
	m := botapitest.Wait(t, srv, alice, func(m botapi.Message) bool { return m.Text == "late" })
	assert.False(t, m.FromBot)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := srv.WaitMessage(ctx, alice, func(botapi.Message) bool { return false })
	require.ErrorIs(t, err, context.Canceled)
}
