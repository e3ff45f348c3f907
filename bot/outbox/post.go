package outbox

import (
	"cmp"
	"context"
	"fmt"

	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// Owner knows messages by name. A named post keeps only the name on disk; when its turn comes, also
// in a later run, the owner is asked what to send. Posting a name that waits adds nothing, and the
// owner is asked after that. The owner of a message hears what becomes of its edits, too. Methods
// are called without locks of the outbox and must not wait for it.
type Owner interface {
	// Current gives the message that goes to a place now, before each attempt; its To differs when
	// the chat or topic has become another one. False: nothing is sent, and the post is over. Of a
	// Text over render.Limit only the first part is sent; Rich is not.
	Current(name string, to address.Conversation) (m Message, wanted bool)
	// Sent reports that the message looks like m in the chat: it was posted (id 0: Telegram did not
	// say which message it is), or edited. It returns nil when that is on disk. After an error the
	// post's file stays for the next run; in this run the message is not sent again.
	Sent(ctx context.Context, name string, to address.Conversation, messageID int, m Message) error
	// Refused reports that Telegram will never take a post (id 0), which is over, or an edit. An edit
	// that is lost, because the chat takes nothing or the program ends, is not reported.
	Refused(ctx context.Context, name string, to address.Conversation, messageID int, why error)
}

// Post is for what nothing can repeat (receipts, notices): when it returns nil the message is on
// disk and will be sent, in order within its chat and rank, by this run or a later one; in a parked
// chat it waits. A kill while it is being sent makes it come twice at most. A text that is too long
// is split, the buttons under the last part. When Telegram refuses it for good it goes to
// quarantine. Of a message with a Name only Name, To, Session and Rank count, see Owner. Post works without
// Run, and after it.
func (o *Outbox) Post(ctx context.Context, m Message) error {
	if m.Text.Blank() && m.Name == "" {
		return &Refused{errBlank}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("post: %w", context.Cause(ctx))
	}
	err := o.Load()
	if err == nil {
		err = o.posts.write(m, o.queuePosts)
	}
	if err != nil {
		return fmt.Errorf("post: %w", err)
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

// Load queues, once, what earlier runs left on disk, and puts into quarantine, as spool.Untold, what cannot be read. It is
// done before anything else is queued, so that old comes before new.
func (o *Outbox) Load() error { return o.posts.load(o.queuePosts) }

func (o *Outbox) queuePosts(files []string, m Message) {
	o.with(func(q *queues) {
		for _, file := range files {
			if q.closed == nil { // else it is for the next run
				q.add(&job{kind: post, rank: m.Rank, to: m.To, session: m.Session, file: file, name: m.Name})
			}
		}
	})
}

// fetch gives a post its message when its turn comes; false: there is nothing to send.
func (o *Outbox) fetch(j *job) bool {
	var ok bool
	m := j.change.message
	switch {
	case j.name != "":
		o.posts.asks(j.name, j.file, true)
		if m, ok = o.Named.Current(j.name, j.to); !ok || m.Text.Blank() {
			return false
		}
		m.Text, m.Rich = m.Text.Split(render.Limit)[0], ""
		if digest(m.Text) != digest(j.change.message.Text) {
			j.plain = false // what was refused was another text
		}
	case !m.Text.Blank():
		return true // an earlier attempt read it
	default:
		m, ok = o.posts.read(j.file)
	}
	if m.To != j.to { // it goes elsewhere by now, where there is nothing to answer
		m.ReplyTo = 0
	}
	j.change = change{message: m}
	return ok
}

// file does to the file of a post what the answer means, and tells the owner of a name.
func (o *Outbox) file(ctx context.Context, j job, id int, v verdict) {
	var err error
	switch {
	case !v.final() && j.name != "":
		o.posts.asks(j.name, j.file, false)
	case v.answer == refused && j.name == "":
		err = o.posts.putAside(j.file, v.err)
	case v.final() && j.name != "":
		err = o.tell(ctx, j, id, v)
	}
	if err == nil && (v.answer == taken || v.final() && j.name != "") {
		err = o.posts.folder.Remove(j.file)
	}
	if err != nil {
		// The message is in the chat, or never will be; the next start tries it once more.
		o.log.Error("sent_message_not_removed", logkey.File, j.file, logkey.Error, err)
	}
}

// tell has the owner of a name hear what became of a post or an edit.
func (o *Outbox) tell(ctx context.Context, j job, id int, v verdict) error {
	m := j.change.message
	switch name := cmp.Or(j.name, m.Name); v.answer {
	case taken:
		return o.Named.Sent(ctx, name, j.to, id, m)
	case refused:
		o.Named.Refused(ctx, name, j.to, j.messageID, v.err)
	}
	return nil
}
