package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/render"
	"ccbot/internal/spool"
)

const (
	postVersion = 1
	maxPost     = 1 << 20 // bytes of a file; a message with 4096 characters has a fraction of it
)

// letter is one file in outbox/: a message that must reach the chat. Names are the time of writing
// in nanoseconds, with leading zeros, so that their order is the order of posting, over restarts
// too.
type letter struct {
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Message Message   `json:"message"`
}

// Post is for what nothing can repeat (receipts, notices): when it returns nil the message is on
// disk and will be sent, in order within its chat and rank, by this run or a later one; in a parked
// chat it waits. A kill while it is being sent makes it come twice at most. A text that is too long
// is split, the buttons under the last part. When Telegram refuses it for good it goes to
// quarantine. Of a message with a Name only Name, To and Rank count, see Owner. Post works without
// Run, and after it.
func (o *Outbox) Post(ctx context.Context, m Message) error {
	if m.Text.Blank() && m.Name == "" {
		return &Refused{errBlank}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("post: %w", context.Cause(ctx))
	}
	o.posting.Lock()
	defer o.posting.Unlock()
	if err := o.loadHeld(); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	parts := o.partsHeld(m)
	var names []string
	for _, part := range parts {
		name, err := o.write(part)
		if err != nil {
			return fmt.Errorf("post: %w", errors.Join(err, o.unwrite(names)))
		}
		names = append(names, name)
	}
	o.named[m.Name] = true
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed != nil {
		return nil // for the next run
	}
	for _, name := range names {
		o.addLocked(&job{kind: post, rank: m.Rank, to: m.To, file: name, name: m.Name})
	}
	return nil
}

// Parts is what Post sends of a message: one or more, cut to size, the buttons under the last.
func Parts(m Message) []Message {
	texts := m.Text.Split(render.Limit)
	parts := make([]Message, len(texts))
	for i, text := range texts {
		parts[i] = Message{To: m.To, Text: text, Silent: m.Silent, Session: m.Session, Rank: m.Rank}
	}
	parts[0].ReplyTo = m.ReplyTo // not blank: there is a part
	parts[len(parts)-1].Buttons = m.Buttons
	return parts
}

// write makes the file of a message. posting is held: a clock that goes back must not reorder.
func (o *Outbox) write(m Message) (string, error) {
	now := time.Now()
	o.lastName = max(now.UnixNano(), o.lastName+1)
	name := fmt.Sprintf("%020d.json", o.lastName)
	data, err := json.Marshal(letter{Version: postVersion, Created: now.UTC(), Message: m})
	if err != nil {
		return "", err
	}
	return name, o.folder.Put(name, data)
}

func (o *Outbox) unwrite(names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, o.folder.Remove(name))
	}
	return errors.Join(errs...)
}

// load queues what earlier runs left on disk. It is done before anything else is queued, so that
// old comes before new.
func (o *Outbox) load() error {
	o.posting.Lock()
	defer o.posting.Unlock()
	return o.loadHeld()
}

// loadHeld is load with posting held. Only names are kept; the chat of each decides its queue.
func (o *Outbox) loadHeld() error {
	if o.loaded {
		return nil
	}
	names, err := o.folder.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if n, err := strconv.ParseInt(strings.TrimSuffix(name, ".json"), 10, 64); err == nil {
			o.lastName = max(o.lastName, n)
		}
		m, err := o.read(name)
		if err != nil {
			o.putAside(name, err)
			continue
		}
		o.named[m.Name] = true
		o.mu.Lock()
		o.addLocked(&job{kind: post, rank: m.Rank, to: m.To, file: name, name: m.Name})
		o.mu.Unlock()
	}
	o.loaded = true
	return nil
}

var errLetter = errors.New("not a message of this version")

func (o *Outbox) read(name string) (Message, error) {
	data, err := o.folder.Read(name)
	if err != nil {
		return Message{}, err
	}
	var l letter
	if err := json.Unmarshal(data, &l); err != nil {
		return Message{}, fmt.Errorf("%w: %w", errLetter, err)
	}
	if l.Version != postVersion || l.Message.To.ChatID == 0 || l.Message.Text.Blank() && l.Message.Name == "" {
		return Message{}, errLetter
	}
	return l.Message, nil
}

// putAside moves a file that will never be readable to quarantine. One that may be readable later
// stays for the next start.
func (o *Outbox) putAside(name string, why error) {
	log := o.log.With("file", name, "error", why)
	forGood := []error{errLetter, spool.ErrForeign, spool.ErrTooBig}
	if !slices.ContainsFunc(forGood, func(e error) bool { return errors.Is(why, e) }) {
		log.Warn("queued message cannot be read now")
		return
	}
	if err := o.folder.Quarantine(name, o.quarantine, why.Error()); err != nil {
		log.Error("queued message cannot be put aside", "reason", err)
		return
	}
	log.Warn("queued message put aside")
}

// fetch reads the message of a post when its turn comes; false: there is nothing to send.
func (o *Outbox) fetch(j *job) bool {
	if j.name != "" {
		return o.fetchNamed(j)
	}
	if !j.change.message.Text.Blank() {
		return true // an earlier attempt read it
	}
	m, err := o.read(j.file)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			o.putAside(j.file, err)
		}
		return false
	}
	if m.To != j.to { // it goes elsewhere by now, where there is nothing to answer
		m.ReplyTo = 0
	}
	j.change = change{message: m}
	return true
}

// file does to the file of a post what the answer means. again: it stays, and has another turn.
func (o *Outbox) file(ctx context.Context, j job, id int, v verdict) (again bool) {
	var err error
	switch {
	case j.name != "" && v.final():
		again, err = o.fileNamed(ctx, j, id, v)
	case v.answer == taken:
		err = o.folder.Remove(j.file)
	case v.answer == refused:
		err = o.folder.Quarantine(j.file, o.quarantine, v.err.Error())
	}
	if err != nil {
		// The message is in the chat, or never will be; the next start tries it once more.
		o.log.Error("sent message is still on disk", "file", j.file, "error", err)
	}
	return again
}
