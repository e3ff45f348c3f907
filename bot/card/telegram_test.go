package card

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/alias"
	"ccbot/bot/outbox"
	"ccbot/internal/spool"
)

// callTakes is the duration of each call.
const callTakes = 50 * time.Millisecond

var (
	errForbidden = fmt.Errorf("%w, %s", tgbot.ErrorForbidden, "Forbidden: bot was blocked by the user")
	errGone      = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: message to edit not found")
	errSame      = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: message is not modified")
	errRefused   = fmt.Errorf("%w, %s", tgbot.ErrorBadRequest, "Bad Request: not this one")
	errDead      = errors.New("error do request: the process is dead")
)

// shownMessage is a message as people see it.
type shownMessage struct {
	at      outbox.Conversation
	id      int
	text    string
	buttons []models.InlineKeyboardButton
	deleted bool
}

// telegram is what people see; it outlives the bot's processes.
type telegram struct {
	mu       sync.Mutex
	messages []*shownMessage
	drawn    map[string]string // all labels that each button's data was shown with
	order    []string          // the data in the order of showing
	blocked  map[int64]bool
	became   map[int64]int64 // groups that have become other chats
	refuse   bool            // the next new message
	noEdit   bool            // the next edit is refused
	sends    int
	edits    int
	ids      map[int64]int // the newest of each chat
}

func newTelegram() *telegram {
	return &telegram{drawn: map[string]string{}, blocked: map[int64]bool{}, became: map[int64]int64{}, ids: map[int64]int{}}
}

// connection is one process's Bot API; calls after its end do nothing.
type connection struct {
	outbox.API // only the methods below are called
	*telegram
	dead *atomic.Bool
}

func (c connection) begin(chat int64) error {
	<-time.After(callTakes)
	c.mu.Lock()
	switch to, moved := c.became[chat]; {
	case c.dead.Load():
		return errDead
	case moved:
		return &tgbot.MigrateError{MigrateToChatID: int(to)}
	case c.blocked[chat]:
		return errForbidden
	}
	return nil
}

func (c connection) SendMessage(_ context.Context, p *tgbot.SendMessageParams) (*models.Message, error) {
	err := c.begin(p.ChatID.(int64))
	defer c.mu.Unlock()
	if err == nil && c.refuse {
		c.refuse, err = false, errRefused
	}
	if err != nil {
		return nil, err
	}
	c.sends++
	m := &shownMessage{at: outbox.Conversation{ChatID: p.ChatID.(int64), ThreadID: p.MessageThreadID}}
	c.ids[m.at.ChatID]++
	m.id = c.ids[m.at.ChatID]
	c.messages = append(c.messages, m)
	c.draw(m, p.Text, p.ReplyMarkup)
	return &models.Message{ID: m.id, MessageThreadID: m.at.ThreadID}, nil
}

func (c connection) EditMessageText(_ context.Context, p *tgbot.EditMessageTextParams) (*models.Message, error) {
	err := c.begin(p.ChatID.(int64))
	defer c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c.edits++
	if c.noEdit {
		c.noEdit = false
		return nil, errRefused
	}
	m := c.message(p.ChatID.(int64), p.MessageID)
	if m == nil || m.deleted {
		return nil, errGone
	}
	old := fmt.Sprint(m.text, m.buttons)
	if c.draw(m, p.Text, p.ReplyMarkup); old == fmt.Sprint(m.text, m.buttons) {
		return nil, errSame
	}
	return nil, nil
}

func (t *telegram) message(chat int64, id int) *shownMessage {
	for _, m := range t.messages {
		if m.at.ChatID == chat && m.id == id {
			return m
		}
	}
	return nil
}

func (t *telegram) draw(m *shownMessage, text string, markup models.ReplyMarkup) {
	m.text, m.buttons = text, nil
	if markup == nil {
		return
	}
	for _, row := range markup.(*models.InlineKeyboardMarkup).InlineKeyboard {
		for _, one := range row {
			m.buttons = append(m.buttons, one)
			if t.drawn[one.CallbackData] == "" {
				t.order = append(t.order, one.CallbackData)
			}
			t.drawn[one.CallbackData] = one.Text
		}
	}
}

// seen returns copies of the messages that people see.
func (t *telegram) seen() []shownMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []shownMessage
	for _, m := range t.messages {
		if !m.deleted {
			all = append(all, *m)
		}
	}
	return all
}

func (t *telegram) do(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
}

// payload is the payload of these tests' cards.
type payload struct {
	N int `json:"n"`
}

// Moments at which a process can be killed while a message's id is stored.
const (
	notKilled  = int32(iota)
	beforeNote // Telegram has accepted it
	afterNote  // the id is on disk, and so is the post's file
)

// process is one life of the bot: a real outbox and a board on one folder.
type process struct {
	*outbox.Outbox
	board  *Board
	kind   Kind[payload]
	dir    string
	dead   atomic.Bool
	killAt atomic.Int32
	rescue string // the copy of the folder at the kill
	stop   func()

	mu      sync.Mutex
	refused []string
	moves   int
}

func (p *process) Current(name string, to outbox.Conversation) (outbox.Message, bool) {
	return p.board.Current(name, to)
}

func (p *process) Sent(ctx context.Context, name string, to outbox.Conversation, id int, m outbox.Message) error {
	card, _, _ := strings.Cut(name, "@")
	isPost := p.board.get(card).Message == 0
	if isPost && p.killAt.Load() == beforeNote {
		p.kill()
		return errDead
	}
	err := p.board.Sent(ctx, name, to, id, m)
	if isPost && p.killAt.Load() == afterNote {
		p.kill()
	}
	return err
}

func (p *process) Refused(ctx context.Context, name string, to outbox.Conversation, id int, why error) {
	p.board.Refused(ctx, name, to, id, why)
}

// kill keeps a copy of the folder; later actions of the process have no effect.
func (p *process) kill() {
	if p.dead.Swap(true) {
		return
	}
	p.rescue = p.dir + "+"
	for _, part := range []string{"outbox", "cards", "chats"} { // in this order the copy is one that a kill could leave
		to := filepath.Join(p.rescue, part)
		for os.CopyFS(to, os.DirFS(filepath.Join(p.dir, part))) != nil {
			_ = os.MkdirAll(filepath.Join(p.dir, part), 0o700)
			_ = os.RemoveAll(to) // a file was removed in the meantime
		}
	}
}

// startProcess runs the bot on a folder.
func startProcess(t *testing.T, dir string, chat *telegram, mayShow func(outbox.Conversation) bool) *process {
	t.Helper()
	p := openProcess(t, dir, chat, mayShow)
	p.start(t)
	return p
}

// openProcess opens the files of a process that sends nothing before start.
func openProcess(t *testing.T, dir string, chat *telegram, mayShow func(outbox.Conversation) bool) *process {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	p := &process{dir: dir}
	p.Outbox = outbox.New(connection{telegram: chat, dead: &p.dead}, "https://api.example", filepath.Join(dir, "outbox"), log)
	var err error
	p.Aliases, err = alias.Open(spool.Folder{Path: filepath.Join(dir, "chats"), MaxSize: 1 << 20}, spool.Loader{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	p.board, err = Open(filepath.Join(dir, "cards"), filepath.Join(dir, "quarantine"), p.Outbox, mayShow, log)
	require.NoError(t, err)
	p.kind = NewKind(p.board, "test", func(_ context.Context, c Card[payload], _ error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refused = append(p.refused, c.Key)
	}).Asking()
	p.Named = p
	p.OnMigrate = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.moves++
	}
	return p
}

// start runs a process until its stop is called.
func (p *process) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, p.board.Run(ctx)) })
	running.Go(func() { assert.NoError(t, p.Run(ctx)) })
	p.stop = func() { cancel(); running.Wait() }
	t.Cleanup(p.stop)
}

// reopened kills a process, unless it is dead, and opens its files in another one.
func (p *process) reopened(t *testing.T, chat *telegram, mayShow func(outbox.Conversation) bool) *process {
	t.Helper()
	p.kill()
	p.stop()
	return openProcess(t, p.rescue, chat, mayShow)
}

// restarted kills a process, unless it is dead, and starts another one with its files.
func (p *process) restarted(t *testing.T, chat *telegram, mayShow func(outbox.Conversation) bool) *process {
	t.Helper()
	successor := p.reopened(t, chat, mayShow)
	successor.start(t)
	return successor
}

// inside returns a message's place and number inside ccbot.
func (p *process) inside(m shownMessage) (at outbox.Conversation, id int) {
	at = m.at
	at.ChatID, id = p.Aliases.In(m.at.ChatID, m.id)
	return at, id
}

// renumbered returns where messages are after groups have become other chats.
func (p *process) renumbered(at outbox.Conversation, message int) (to outbox.Conversation, there bool) {
	return at, !p.Aliases.Lost(at.ChatID, message)
}

func anywhere(outbox.Conversation) bool { return true }

// filesIn returns the names of the files in a folder.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
