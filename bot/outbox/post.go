package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

// Owner knows messages by name. Of a named post only the name is kept on disk. At the turn of the
// post, in this run or a later one, the outbox asks the owner for the message. Posting a name that
// already waits adds nothing, because the owner is called after that anyway. The owner also gets
// the outcome of edits of its messages. The outbox holds no lock while it calls these methods, and
// they must not wait for the outbox.
type Owner interface {
	// Current returns the message for a place. It is called before each attempt. The message's To
	// is another place if the chat or topic has become another one. False means that nothing is
	// sent and the post has ended. Of a Text over render.Limit only the first part is sent, and
	// Rich is not sent.
	Current(name string, to address.Conversation) (m Message, wanted bool)
	// Sent reports that the message looks like m in the chat: it was posted (id 0: Telegram
	// returned no id), or edited. Sent returns nil once that is on disk. After an error the post's
	// file stays for the next run; in this run the message is not sent again.
	Sent(ctx context.Context, name string, to address.Conversation, messageID int, m Message) error
	// Refused reports that Telegram will never take a post (id 0), which is then over, or an edit.
	// For a post that the chat does not take now, why contains ErrBlocked: it waits until the chat
	// takes it. For an edit that is not made because too many edits of cards wait, why is
	// ErrDropped. An edit that is lost, because the chat accepts nothing or the program ends, is
	// not reported.
	Refused(ctx context.Context, name string, to address.Conversation, messageID int, why error)
}

// Post sends a message that must not be lost and that nothing would repeat (receipts, notices).
// When Post returns nil the message is on disk and will be sent, in order within its chat and rank,
// by this run or a later one; in a suspended chat it waits. If the program is killed while the
// message is being sent, the message comes twice at most. A text that is too long is split, with
// the buttons under the last part. A message that Telegram refuses for good goes to quarantine. Of
// a message with a Name only Name, To, Session and Rank count, see Owner. Post works without Run,
// and after it.
func (o *Outbox) Post(ctx context.Context, m Message) error {
	if m.Text.Blank() && m.Name == "" {
		return &Refused{errBlank}
	}
	err := context.Cause(ctx)
	if err == nil {
		err = o.Load()
	}
	if err == nil {
		err = o.posts.write(m)
	}
	if err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// Parts returns the messages that Post sends for m: one or more, cut to size, the buttons under the
// last. The first one sounds.
func Parts(m Message) []Message {
	texts := m.Text.Split(render.Limit)
	parts := make([]Message, len(texts))
	for i, text := range texts {
		parts[i] = Message{To: m.To, Text: text, Session: m.Session, Rank: m.Rank}
	}
	parts[0].ReplyTo, parts[0].Sounds = m.ReplyTo, m.Sounds // not blank: there is a part
	parts[len(parts)-1].Buttons = m.Buttons
	return parts
}

// Load queues, once, the posts of earlier runs, and puts unreadable files into quarantine, as
// spool.Unreported. It runs before anything else is queued, so that old messages go before new
// ones.
func (o *Outbox) Load() error { return o.posts.load() }

func (o *Outbox) queuePosts(files []string, first string, m Message) {
	o.with(func(q *queues) {
		for _, file := range files {
			if q.closed == nil { // after the end the post waits for the next run
				q.add(&job{kind: post, rank: m.Rank, to: m.To, session: m.Session, file: file, name: m.Name, first: first})
			}
		}
	})
}

// fetch sets the message of a post when its turn comes; false means that there is nothing to send.
func (o *Outbox) fetch(j *job) bool {
	var ok bool
	m := j.message
	switch {
	case j.name != "":
		o.posts.asks(j.name, j.file, true)
		if m, ok = o.Named.Current(j.name, j.to); !ok || m.Text.Blank() {
			return false
		}
		limit := render.Limit
		if m.Picture != nil {
			limit = MaxCaption
		}
		m.Text, m.Rich = m.Text.Begin(limit), ""
		if digest(m.Text) != digest(j.message.Text) {
			j.plain = false // Telegram refused the formatting of another text
		}
	case !m.Text.Blank():
		return true // an earlier attempt read it
	default:
		var l storedPost
		if l, ok = o.posts.read(j.file); !ok { // a file that cannot be read now is queued again later
			return false
		}
		m = l.Message
	}
	if m.To != j.to { // the place has changed, and the message that it answers is not there
		m.ReplyTo = 0
	}
	j.message = m
	return ok
}

// file removes, keeps or quarantines the file of a post, as the answer requires, and reports to the
// owner of a name.
func (o *Outbox) file(ctx context.Context, j job, id int, v verdict) {
	if j.name != "" {
		o.posts.asks(j.name, j.file, v.final())
	}
	settle := func() (err error) {
		switch {
		case j.name != "":
			err = o.reportOutcome(ctx, j, id, v)
		case v.answer == refused:
			err = o.posts.folder.Quarantine(j.file, o.posts.side.Quarantine, v.err.Error())
		}
		if err == nil && (v.answer == taken || v.final() && j.name != "") {
			err = o.posts.folder.Remove(j.file)
		}
		return err
	}
	if j.name == "" {
		o.left.do(settle)
	} else if err := settle(); err != nil { // the next start asks the owner again
		o.log.Error("outbox_disk_refused", logkey.File, j.file, logkey.Error, err)
	}
}

// reportOutcome reports the outcome of a post or an edit to the owner of its name.
func (o *Outbox) reportOutcome(ctx context.Context, j job, id int, v verdict) error {
	m := j.message
	switch name := cmp.Or(j.name, m.Name); {
	case v.answer == taken:
		return o.Named.Sent(ctx, name, j.to, id, m)
	case v.answer == refused, v.answer == blocked && j.kind == post && !j.unsure:
		o.Named.Refused(ctx, name, j.to, j.messageID, v.err)
	}
	return nil
}

const (
	postVersion = 1
	maxPost     = 1 << 20 // bytes of a file; a message with 4096 characters has a fraction of it
)

// storedPost is one file in outbox/: a message that must reach the chat. Its name is the time of
// writing in nanoseconds, with leading zeros, so that the order of the names is the order of
// posting, also over restarts.
type storedPost struct {
	Version int     `json:"version"`
	Message Message `json:"message"`
	First   string  `json:"first,omitempty"` // the file of the text's first part, if it has several
}

type postStore struct {
	folder spool.Folder
	side   spool.Loader
	log    *slog.Logger
	// queue gets the parts of a message, or the file of one from an earlier run, and what job.first is.
	queue func(files []string, first string, m Message)
	left  *leftWork

	mu       sync.Mutex // held during disk writes and queueing, so that both have the same order
	loaded   bool       // the posts of earlier runs are queued
	lastName int64
	named    map[string]string // the file of each name whose owner must still be called
}

// load queues, at its first call, the posts of earlier runs. Only the names of the files are kept
// in memory; the chat of each post decides its queue.
func (s *postStore) load() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return nil
	}
	files, err := s.folder.List()
	if err = errors.Join(err, s.folder.Tidy()); err != nil {
		return err
	}
	for _, file := range files {
		if n, err := strconv.ParseInt(strings.TrimSuffix(file, ".json"), 10, 64); err == nil {
			s.lastName = max(s.lastName, n)
		}
		if l, ok := s.read(file); ok {
			s.named[l.Message.Name] = file
			s.queue([]string{file}, l.First, l.Message)
		}
	}
	s.loaded = true
	return nil
}

// requeue queues the post of a file that could not be read before.
func (s *postStore) requeue(file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok, err := s.readOnce(file)
	if ok {
		s.named[l.Message.Name] = file
		s.queue([]string{file}, l.First, l.Message)
	}
	return err
}

// write keeps a message on disk, all of it or nothing, and queues it. Of a named message only the
// name is kept, unless a post of that name waits already.
func (s *postStore) write(m Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := []Message{{Name: m.Name, To: m.To, Session: m.Session, Rank: m.Rank}}
	switch {
	case m.Name == "":
		parts = Parts(m)
	case s.named[m.Name] != "":
		return nil
	}
	var files []string
	first := ""
	for _, part := range parts {
		s.lastName = max(time.Now().UnixNano(), s.lastName+1) // a clock that is set back must not change the order
		file := fmt.Sprintf("%020d.json", s.lastName)
		if len(parts) > 1 {
			first = cmp.Or(first, file)
		}
		data, err := json.Marshal(storedPost{Version: postVersion, Message: part, First: first})
		if err == nil {
			err = s.folder.Put(file, data)
		}
		if err != nil { // the file may be there all the same, and the caller posts the message again
			for _, file := range append(files, file) {
				s.left.do(func() error { return s.folder.Remove(file) })
			}
			return err
		}
		files = append(files, file)
		s.named[m.Name] = file
	}
	s.queue(files, first, m)
	return nil
}

// read returns the message of a file, or false if there is none. A file that will never be readable
// goes to quarantine, as spool.Unreported; a file that cannot be read now is queued again later.
func (s *postStore) read(file string) (storedPost, bool) {
	l, ok, err := s.readOnce(file)
	if err != nil {
		s.left.failed(err, func() error { return s.requeue(file) })
	}
	return l, ok
}

func (s *postStore) readOnce(file string) (l storedPost, ok bool, err error) {
	_, err = s.side.LoadOne(s.folder, file, func(data []byte) error {
		if json.Unmarshal(data, &l) != nil || l.Version != postVersion || l.Message.To.ChatID == 0 ||
			l.Message.Text.Blank() && l.Message.Name == "" {
			return errors.New("not a message of this version")
		}
		ok = true
		return nil
	})
	return l, ok, err
}

// asks notes whether the outbox is asking the owner of a post's name, or the post still waits. Only
// a post that still waits makes another post of the same name needless.
func (s *postStore) asks(name, file string, being bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case being && s.named[name] == file:
		delete(s.named, name)
	case !being && s.named[name] == "":
		s.named[name] = file
	}
}
