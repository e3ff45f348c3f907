package outbox

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"

	"ccbot/bot/render"
	"ccbot/internal/session"
)

// call is one call of the Bot API as the fake saw it.
type call struct {
	at       time.Duration // since the fake was made
	method   string
	chat     int64
	message  int
	text     string
	thread   int
	reply    int
	entities int
	buttons  string
	taken    bool
}

// fake is a Bot API in memory. reply, when set, may refuse or delay a call; n counts the calls from
// 1.
type fake struct {
	reply func(ctx context.Context, n int, c call) error
	start time.Time

	strays int // the thread of a topic that was deleted, in a private chat

	guard sync.Mutex
	calls []call
	ids   int
}

func (f *fake) do(ctx context.Context, c call) (int, error) {
	f.guard.Lock()
	c.at = time.Since(f.start)
	f.calls = append(f.calls, c)
	n := len(f.calls)
	f.guard.Unlock()
	if f.reply != nil {
		if err := f.reply(ctx, n, c); err != nil {
			return 0, err
		}
	}
	f.guard.Lock()
	defer f.guard.Unlock()
	f.calls[n-1].taken = true
	f.ids++
	return f.ids, nil
}

// message is one that was taken.
func (f *fake) message(id, thread int) *models.Message {
	if thread == f.strays {
		thread = 0
	}
	return &models.Message{ID: id, MessageThreadID: thread}
}

// seen returns the calls of a method ("": any), or only the accepted ones.
func (f *fake) seen(method string, takenOnly bool) []call {
	f.guard.Lock()
	defer f.guard.Unlock()
	var out []call
	for _, c := range f.calls {
		if (method == "" || c.method == method) && (c.taken || !takenOnly) {
			out = append(out, c)
		}
	}
	return out
}

func texts(calls []call) []string {
	var out []string
	for _, c := range calls {
		out = append(out, c.text)
	}
	return out
}

func buttonsOf(m models.ReplyMarkup) string {
	if m == nil {
		return ""
	}
	return fmt.Sprint(m.(*models.InlineKeyboardMarkup).InlineKeyboard[0][0].Text)
}

func (f *fake) SendMessage(ctx context.Context, p *tgbot.SendMessageParams) (*models.Message, error) {
	id, err := f.do(ctx, call{method: "send", chat: p.ChatID.(int64), thread: p.MessageThreadID, reply: replyOf(p.ReplyParameters), text: p.Text, entities: len(p.Entities), buttons: buttonsOf(p.ReplyMarkup)})
	return f.message(id, p.MessageThreadID), err
}

func (f *fake) SendRichMessage(ctx context.Context, p *tgbot.SendRichMessageParams) (*models.Message, error) {
	id, err := f.do(ctx, call{method: "rich", chat: p.ChatID.(int64), thread: p.MessageThreadID, reply: replyOf(p.ReplyParameters), text: p.RichMessage.Markdown, buttons: buttonsOf(p.ReplyMarkup)})
	return f.message(id, p.MessageThreadID), err
}

func (f *fake) SendDocument(ctx context.Context, p *tgbot.SendDocumentParams) (*models.Message, error) {
	return f.file(ctx, call{method: "file", chat: p.ChatID.(int64), thread: p.MessageThreadID, entities: len(p.CaptionEntities)}, p.Document, p.Caption)
}

func (f *fake) SendPhoto(ctx context.Context, p *tgbot.SendPhotoParams) (*models.Message, error) {
	return f.file(ctx, call{method: "photo", chat: p.ChatID.(int64), thread: p.MessageThreadID, entities: len(p.CaptionEntities)}, p.Photo, p.Caption)
}

func (f *fake) file(ctx context.Context, c call, file models.InputFile, caption string) (*models.Message, error) {
	up := file.(*models.InputFileUpload)
	body, err := io.ReadAll(up.Data)
	if err != nil {
		return nil, err
	}
	c.text = fmt.Sprintf("%s: %s (%s)", up.Filename, body[:min(len(body), 20)], caption)
	id, err := f.do(ctx, c)
	return f.message(id, c.thread), err
}

func (f *fake) GetMe(ctx context.Context) (*models.User, error) {
	_, err := f.do(ctx, call{method: "me"})
	return &models.User{ID: 42}, err
}

func replyOf(p *models.ReplyParameters) int {
	if p == nil {
		return 0
	}
	return p.MessageID
}

func (f *fake) EditMessageMedia(ctx context.Context, p *tgbot.EditMessageMediaParams) (*models.Message, error) {
	c := call{method: "media", chat: p.ChatID.(int64), message: p.MessageID, buttons: buttonsOf(p.ReplyMarkup)}
	switch media := p.Media.(type) {
	case *models.InputMediaPhoto:
		c.text = "photo " + media.Caption
	case *models.InputMediaDocument:
		c.text = "file " + media.Caption
	}
	_, err := f.do(ctx, c)
	return nil, err
}

func (f *fake) EditMessageText(ctx context.Context, p *tgbot.EditMessageTextParams) (*models.Message, error) {
	_, err := f.do(ctx, call{method: "edit", chat: p.ChatID.(int64), message: p.MessageID, text: p.Text, entities: len(p.Entities), buttons: buttonsOf(p.ReplyMarkup)})
	return nil, err
}

func (f *fake) EditMessageReplyMarkup(ctx context.Context, p *tgbot.EditMessageReplyMarkupParams) (*models.Message, error) {
	_, err := f.do(ctx, call{method: "buttons", chat: p.ChatID.(int64), message: p.MessageID, buttons: buttonsOf(p.ReplyMarkup)})
	return nil, err
}

func (f *fake) SendChatAction(ctx context.Context, p *tgbot.SendChatActionParams) (bool, error) {
	_, err := f.do(ctx, call{method: "typing", chat: p.ChatID.(int64), thread: p.MessageThreadID})
	return err == nil, err
}

func (f *fake) SetMessageReaction(ctx context.Context, p *tgbot.SetMessageReactionParams) (bool, error) {
	c := call{method: "react", chat: p.ChatID.(int64), message: p.MessageID}
	if len(p.Reaction) > 0 {
		c.text = p.Reaction[0].ReactionTypeEmoji.Emoji
	}
	_, err := f.do(ctx, c)
	return err == nil, err
}

func (f *fake) AnswerCallbackQuery(ctx context.Context, p *tgbot.AnswerCallbackQueryParams) (bool, error) {
	_, err := f.do(ctx, call{method: "answer", text: p.Text})
	return err == nil, err
}

// Errors as the library makes them.
var (
	errBroken    = fmt.Errorf("error do request for method sendMessage, %w", context.DeadlineExceeded)
	errServer    = fmt.Errorf("error response from telegram for method %s, %d %s", "sendMessage", 500, "Internal Server Error")
	errEntities  = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: can't parse entities")
	errGone      = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: message to edit not found")
	errSame      = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: message is not modified: specified new message content …")
	errMute      = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: not enough rights to send text messages to the chat")
	errNoFiles   = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: not enough rights to send documents to the chat")
	errForbidden = fmt.Errorf("%w, %s", tgbot.ErrorForbidden, "Forbidden: bot was blocked by the user")
	errMissing   = fmt.Errorf("%w, %s", tgbot.ErrorNotFound, "Not Found: method not found")
	errNoTopic   = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: message thread not found")
	errPhoto     = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: PHOTO_INVALID_DIMENSIONS")
	errToken     = fmt.Errorf("%w, %s", tgbot.ErrorUnauthorized, "Unauthorized")
)

func tooMany(seconds int) error {
	return &tgbot.TooManyRequestsError{Message: "Too Many Requests: retry after", RetryAfter: seconds}
}

func to(chat int64) session.Conversation { return session.Conversation{ChatID: chat} }

func say(chat int64, text string) Message { return Message{To: to(chat), Text: render.Plain(text)} }

// bench is an outbox that runs against a fake.
type bench struct {
	*Outbox
	*fake
	dir  string
	stop func() error // ends Run and returns its error
}

// idle waits for d, and until nothing more can happen without time passing.
func (b *bench) idle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func newBench(t *testing.T, dir string, reply func(context.Context, int, call) error) *bench {
	t.Helper()
	f := &fake{reply: reply, start: time.Now()}
	o := New(f, "https://api.example", filepath.Join(dir, "outbox"), slog.New(slog.DiscardHandler))
	o.began = o.began.Add(-time.Hour)        // no earlier run was just there
	o.jitter = func() float64 { return 0.5 } // backoffs of 1, 2, 4 … seconds
	return &bench{Outbox: o, fake: f, dir: dir}
}

func (b *bench) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	b.stop = func() error {
		cancel()
		err := <-ended
		ended <- err // a test may stop it again
		return err
	}
	t.Cleanup(func() { assert.NotPanics(t, func() { _ = b.stop() }) })
}

// inBubble runs a test on fake time with a running outbox.
func inBubble(t *testing.T, reply func(context.Context, int, call) error, test func(t *testing.T, b *bench)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, reply)
		b.run(t)
		test(t, b)
	})
}

// sendLater sends in the background; the result comes in the channel.
func (b *bench) sendLater(ctx context.Context, m Message) <-chan result {
	out := make(chan result, 1)
	go func() {
		id, err := b.Send(ctx, m)
		out <- result{id, err}
	}()
	synctest.Wait() // it is queued: the order of sends is the order of these calls
	return out
}

// callLater makes a call in the background; its outcome comes in the channel.
func (b *bench) callLater(ctx context.Context, chat int64) <-chan error {
	out := make(chan error, 1)
	go func() {
		out <- b.Call(ctx, to(chat), func(ctx context.Context, at session.Conversation) error {
			_, err := b.do(ctx, call{method: "call", chat: at.ChatID})
			return err
		})
	}()
	return out
}
