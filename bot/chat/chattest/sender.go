package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/bot/alias"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
)

// Deliver sends the named posts that wait, as the outbox does when their turn comes: one after the
// other in each chat, and failed posts are tried again later.
func (f *FakeSender) Deliver(ctx context.Context) {
	f.tellEdits(ctx)
	defer f.tellEdits(ctx)
	tried := make(map[string]bool)
	for post, ok := f.nextPost(tried); ok; post, ok = f.nextPost(tried) {
		f.deliverPost(ctx, post)
	}
}

// deliverEach is deliver in which no chat waits for another.
func (f *FakeSender) deliverEach(ctx context.Context) {
	f.Mu.Lock()
	chats := make(map[int64]bool)
	for _, m := range f.Waiting {
		chats[m.To.ChatID] = true
	}
	f.Mu.Unlock()
	go f.tellEdits(ctx)
	for range chats {
		go f.Deliver(ctx)
	}
}

// nextPost takes the first post that was not tried yet, of a chat to which nothing is being sent.
func (f *FakeSender) nextPost(tried map[string]bool) (outbox.Message, bool) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	i := slices.IndexFunc(f.Waiting, func(m outbox.Message) bool { return !tried[m.Name] && !f.busy[m.To.ChatID] })
	if i < 0 {
		return outbox.Message{}, false
	}
	post := f.Waiting[i]
	f.Waiting = slices.Delete(f.Waiting, i, i+1)
	tried[post.Name] = true
	f.busy[post.To.ChatID] = true
	return post, true
}

func (f *FakeSender) deliverPost(ctx context.Context, post outbox.Message) {
	defer func() {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		delete(f.busy, post.To.ChatID)
	}()
	again := func() {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if !slices.ContainsFunc(f.Waiting, func(k outbox.Message) bool { return k.Name == post.Name }) {
			f.Waiting = append(f.Waiting, post)
		}
	}
	m, wanted := f.named.Current(post.Name, post.To)
	switch {
	case !wanted:
		return
	case f.IsSuspended(m.To.ChatID):
		f.named.Refused(ctx, post.Name, post.To, 0, outbox.ErrBlocked)
		again()
		return
	}
	if m.To == f.Closed {
		m.To.ThreadID = 0
	}
	send := f.Send
	if f.posts(m.Name) {
		send = f.sendPost
	}
	id, err := send(ctx, m)
	if f.tell(ctx, edited{post.Name, m.To, id, m, err}); err != nil && !chat.IsRefused(err) { // the post waits on
		again()
	}
}

// edited is the result of an edit or a post.
type edited struct {
	name string
	to   session.Conversation
	id   int
	m    outbox.Message
	err  error
}

// tell reports a result to the owner of a name.
func (f *FakeSender) tell(ctx context.Context, e edited) {
	switch {
	case e.err == nil:
		_ = f.named.Sent(ctx, e.name, e.to, e.id, e.m) // the next run reports it
	case chat.IsRefused(e.err), e.id == 0 && errors.Is(e.err, outbox.ErrBlocked):
		f.named.Refused(ctx, e.name, e.to, e.id, e.err)
	}
}

// tellEdits reports the results of the edits so far to their owners.
func (f *FakeSender) tellEdits(ctx context.Context) {
	f.Mu.Lock()
	edits := f.edits
	f.edits = nil
	f.Mu.Unlock()
	for _, e := range edits {
		f.tell(ctx, e)
	}
}

// FakeSender keeps the messages; a function of the test may refuse one.
type FakeSender struct {
	log
	events   chan string
	OnSend   func(ctx context.Context, m outbox.Message) error
	OnSent   func(m outbox.Message, id int)
	OnPost   func(m outbox.Message) error
	OnEdit   func(m outbox.Message) error
	Upload   func(f outbox.File) error
	OnTyping func()

	OnEditNow func(m outbox.Message) error
	OnTopic   func() error         // the result of opening or changing a topic
	OnIcons   func() error         // and of asking for the icons
	OnPin     func() error         // and of pinning a message
	Closed    session.Conversation // a topic that is closed: General gets its posts
	Shut      session.Conversation // a place that is closed, as General is
	topics    int                  // how many were opened

	mayShow func(session.Conversation) bool
	aliases func() *alias.Table // messages are kept as people see them: in the newest chat
	named   outbox.Owner
	Waiting []outbox.Message // named posts whose turn has not come
	busy    map[int64]bool   // chats to which a named post is being sent
	edits   []edited         // whose owners have no result yet
	cards   string           // the folder of the cards
	asPosts map[int]bool     // ids of messages in sent that count as posted

	Sent, Posted, Edited []outbox.Message
	Ended                []outbox.Message // of EditNow
	Files                []outbox.File
	Buttons              [][]outbox.Button // that a message lost or got last
	Spent                int               // how often buttons were taken off
	Alerts               int               // how often a person had to close a sentence
	OnParked             map[int64]bool
	OnReact              map[int64]bool // chats that refuse reactions
	Noted                map[int64]bool // the chats whose refusal is on disk
	Rich                 bool
}

// outward is a message as Telegram knows it, see package alias.
func (f *FakeSender) outward(to session.Conversation, id int) (session.Conversation, int, error) {
	lost := f.aliases().Lost(to.ChatID, id)
	to.ChatID, id = f.aliases().Out(to.ChatID, id)
	if lost {
		return to, 0, &outbox.Refused{Err: outbox.ErrMoved}
	}
	return to, id, nil
}

// keep adds a message to a list, and returns how many it has then. Two chats get messages at the
// same time, so another one may come before the caller could count them.
func (f *FakeSender) keep(list *[]outbox.Message, what string, m outbox.Message) (count int) {
	f.Add("%s %s", what, m.Text.Text)
	m.More = nil // nothing waits here
	if list != &f.Edited && list != &f.Ended {
		m.To, m.ReplyTo, _ = f.outward(m.To, m.ReplyTo)
	}
	f.Mu.Lock()
	defer f.Mu.Unlock()
	*list = append(*list, m)
	return len(*list)
}

func (f *FakeSender) Send(ctx context.Context, m outbox.Message) (int, error) {
	if !f.mayShow(m.To) {
		return 0, &outbox.Refused{Err: outbox.ErrBlocked}
	}
	if f.OnSend != nil {
		if err := f.OnSend(ctx, m); err != nil {
			return 0, err
		}
	}
	last := f.keep(&f.Sent, "send", m)
	f.events <- "send " + m.Text.Text
	chat, _ := f.aliases().Out(m.To.ChatID, 0)
	_, id := f.aliases().In(chat, last)
	if f.OnSent != nil {
		f.OnSent(m, id)
	}
	return id, nil
}

// posts reports whether a named post is of a card that is posted once, as other messages are. Tests
// look for these among the messages posted.
func (f *FakeSender) posts(name string) bool {
	id, _, _ := strings.Cut(name, "@")
	data, err := os.ReadFile(filepath.Join(f.cards, id+".json"))
	var c struct{ Kind string }
	return err == nil && json.Unmarshal(data, &c) == nil &&
		slices.Contains([]string{"link", "notice", "end", "resume", "begin", "writers", "windows", "window", "report", "status",
			"where", "topic", "page"}, strings.Split(c.Kind, "-")[0])
}

// sendPost sends a message that counts as posted. It has an id all the same.
func (f *FakeSender) sendPost(ctx context.Context, m outbox.Message) (int, error) {
	if f.OnSend != nil {
		if err := f.OnSend(ctx, m); err != nil {
			return 0, err
		}
	}
	f.keep(&f.Posted, "post", m)
	f.events <- "post " + m.Text.Text
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.asPosts == nil {
		f.asPosts = make(map[int]bool)
	}
	f.Sent = append(f.Sent, m)
	f.asPosts[len(f.Sent)] = true
	return len(f.Sent), nil
}

// LastID is the id of the message sent last: the first has 1.
func (f *FakeSender) LastID() int {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return len(f.Sent)
}

func (f *FakeSender) SendFile(_ context.Context, m outbox.File) (int, error) {
	if !f.mayShow(m.To) {
		return 0, &outbox.Refused{Err: outbox.ErrBlocked}
	}
	if f.Upload != nil {
		if err := f.Upload(m); err != nil {
			return 0, err
		}
	}
	f.Add("file %s", m.Name)
	f.Mu.Lock()
	f.Files = append(f.Files, m)
	f.Mu.Unlock()
	f.events <- "file " + m.Name
	return 1, nil
}

func (f *FakeSender) Post(ctx context.Context, m outbox.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.OnPost != nil {
		if err := f.OnPost(m); err != nil {
			return err
		}
	}
	if m.Name != "" {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if !slices.ContainsFunc(f.Waiting, func(k outbox.Message) bool { return k.Name == m.Name }) {
			f.Waiting = append(f.Waiting, m)
		}
		return nil
	}
	for _, part := range outbox.Parts(m) { // as the outbox does
		f.keep(&f.Posted, "post", part)
	}
	f.events <- "post " + m.Text.Text
	return nil
}

func (f *FakeSender) Edit(_ context.Context, to session.Conversation, id int, m outbox.Message) (err error) {
	if f.OnEdit != nil {
		err = f.OnEdit(m)
	}
	if m.Name != "" {
		f.Mu.Lock()
		f.edits = append(f.edits, edited{m.Name, to, id, m, err})
		f.Mu.Unlock()
	}
	if err != nil {
		return nil // an edit does not wait
	}
	if m.To, m.ReplyTo, err = f.outward(to, id); err != nil {
		return err
	}
	f.keep(&f.Edited, "edit", m)
	if m.Name != "" {
		f.Mu.Lock()
		defer f.Mu.Unlock()
		f.draws(m.Buttons)
	}
	return nil
}

// draws notes the buttons that a message has now.
func (f *FakeSender) draws(buttons [][]outbox.Button) {
	f.Buttons = buttons
	if len(buttons) == 0 {
		f.Spent++
	}
}

func (f *FakeSender) EditNow(ctx context.Context, to session.Conversation, id int, m outbox.Message) (err error) {
	if f.OnEditNow != nil {
		err = f.OnEditNow(m)
	}
	f.tell(ctx, edited{m.Name, to, id, m, err})
	if err != nil {
		return err
	}
	if m.To, m.ReplyTo, err = f.outward(to, id); err != nil {
		return err
	}
	f.keep(&f.Ended, "edit now", m)
	f.events <- "edit now " + m.Text.Text
	return nil
}

func (f *FakeSender) DropButtons(_ context.Context, to session.Conversation, id int) {
	if _, id, err := f.outward(to, id); err == nil {
		f.Add("buttons of %d: 0", id)
	}
}

func (f *FakeSender) React(_ context.Context, to session.Conversation, id int, emoji string) {
	if to, id, err := f.outward(to, id); err == nil {
		f.Add("react %s to %d in %d", emoji, id, to.ChatID)
	}
}

func (f *FakeSender) Typing(_ context.Context, to session.Conversation) {
	if f.OnTyping != nil {
		f.OnTyping()
	}
	f.Add("typing in %d", to.ChatID)
}

// IsSuspended reports whether a chat takes nothing.
func (f *FakeSender) IsSuspended(chat int64) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.OnParked[chat] || !f.mayShow(session.Conversation{ChatID: chat})
}

// Refuses reports whether a chat takes nothing, or has taken nothing since it refused a message.
func (f *FakeSender) Refuses(chat int64) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.OnParked[chat] || f.Noted[chat] || !f.mayShow(session.Conversation{ChatID: chat})
}

// IsClosed reports whether a place takes nothing because General is closed too.
func (f *FakeSender) IsClosed(to session.Conversation) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Shut != session.Conversation{} && f.Shut == to
}

// TakesReactions reports whether a chat has not refused them.
func (f *FakeSender) TakesReactions(chat int64) bool {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return !f.OnReact[chat]
}

func (f *FakeSender) Resume(chat int64) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	delete(f.Noted, chat)
	delete(f.OnParked, chat)
}

func (f *FakeSender) TakesRich() bool { return f.Rich }

func (f *FakeSender) Answer(_ context.Context, _ session.Conversation, query, text string, alert bool) {
	if alert {
		f.Mu.Lock()
		f.Alerts++
		f.Mu.Unlock()
	}
	f.Add("answer %s: %s", query, text)
}

// Reaction returns the reaction of a message; "none yet" if it never had one.
func (f *FakeSender) Reaction(message int) string {
	all := f.Reactions(message)
	if len(all) == 0 {
		return "none yet"
	}
	return all[len(all)-1]
}

// Reactions returns the reactions that a message had, in order.
func (f *FakeSender) Reactions(message int) (all []string) {
	for _, line := range f.Done() {
		rest, ok := strings.CutPrefix(line, "react ")
		if emoji, at, _ := strings.Cut(rest, " to "); ok && strings.HasPrefix(at, strconv.Itoa(message)+" ") {
			all = append(all, emoji)
		}
	}
	return all
}

// Texts are the messages posted so far.
func (f *FakeSender) Texts() []string { return TextsOf(f, &f.Posted) }

// ShownOnce are the messages posted and sent, each once.
func (f *FakeSender) ShownOnce() []outbox.Message {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	all := slices.Clone(f.Posted)
	for i, m := range f.Sent {
		if !f.asPosts[i+1] {
			all = append(all, m)
		}
	}
	return all
}

// AnswersSent are the messages sent so far.
func (f *FakeSender) AnswersSent() (texts []string) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for i, m := range f.Sent {
		if !f.asPosts[i+1] {
			texts = append(texts, m.Text.Text)
		}
	}
	return texts
}

func TextsOf(f *FakeSender, list *[]outbox.Message) []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var texts []string
	for _, m := range *list {
		texts = append(texts, m.Text.Text)
	}
	return texts
}

// Last is the newest message posted.
func (f *FakeSender) Last(t *testing.T) outbox.Message {
	t.Helper()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	require.NotEmpty(t, f.Posted, "nothing was posted")
	return f.Posted[len(f.Posted)-1]
}

func (f *FakeSender) LastEdit(t *testing.T) outbox.Message {
	t.Helper()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	require.NotEmpty(t, f.Edited, "nothing was edited")
	return f.Edited[len(f.Edited)-1]
}

// Data are the callback data of a message's buttons.
func Data(m outbox.Message) []string {
	var all []string
	for _, row := range m.Buttons {
		for _, b := range row {
			all = append(all, b.Data)
		}
	}
	return all
}
