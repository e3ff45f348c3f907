package outbox

import (
	"context"

	"ccbot/bot/render"
	"ccbot/internal/address"
)

// Owner knows messages by name. A named post keeps only the name on disk; when its turn comes, also
// in a later run, the owner is asked what to send. Posting a name that waits adds nothing, and the
// owner is asked after that. Methods are called without locks of the outbox and must not wait for it.
type Owner interface {
	// Current gives the message that goes to a place now, before each attempt; its To differs when
	// the chat or topic has become another one. False: nothing is sent, and the post is over. Of a
	// Text over render.Limit only the first part is sent; Rich is not.
	Current(name string, to address.Conversation) (m Message, wanted bool)
	// Sent reports that m is in the chat (id 0: Telegram did not say which), and returns nil when
	// that is on disk. After an error the post's file stays for the next run; in this run the
	// message is not sent again.
	Sent(ctx context.Context, name string, to address.Conversation, messageID int, m Message) error
	// Refused reports that Telegram will never take the message; the post is over.
	Refused(ctx context.Context, name string, why error)
}

// partsHeld is what a post writes: of a named one its name, unless that waits already.
func (o *Outbox) partsHeld(m Message) []Message {
	if m.Name == "" {
		return Parts(m)
	}
	if _, waits := o.named[m.Name]; waits {
		return nil
	}
	return []Message{{Name: m.Name, To: m.To, Rank: m.Rank}}
}

// fetchNamed asks the owner of a post for its message; false: there is nothing to send.
func (o *Outbox) fetchNamed(j *job) bool {
	o.posting.Lock()
	o.named[j.name] = false
	o.posting.Unlock()
	m, wanted := o.Named.Current(j.name, j.to)
	if !wanted || m.Text.Blank() {
		return false
	}
	m.Text, m.Rich = m.Text.Split(render.Limit)[0], ""
	if m.To != j.to {
		m.ReplyTo = 0
	}
	if digest(m.Text) != digest(j.change.message.Text) {
		j.plain = false // what was refused was another text
	}
	j.change = change{message: m}
	return true
}

// fileNamed ends a named post: the owner hears of it, then the file goes. again: the name was
// posted after the owner had been asked, so the file stays.
func (o *Outbox) fileNamed(ctx context.Context, j job, id int, v verdict) (again bool, err error) {
	switch {
	case v.answer == taken && o.Aliases.Lost(j.to.ChatID, id):
		return true, nil // the group became another chat in this moment, and the message is not there
	case v.answer == taken:
		err = o.Named.Sent(ctx, j.name, j.to, id, j.change.message)
	case v.answer == refused:
		o.Named.Refused(ctx, j.name, v.err)
	}
	o.posting.Lock()
	defer o.posting.Unlock()
	if err == nil && o.named[j.name] {
		return true, nil
	}
	delete(o.named, j.name)
	if err != nil {
		return false, err
	}
	return false, o.folder.Remove(j.file)
}

// requeue gives a post whose file stayed another turn.
func (o *Outbox) requeue(j job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addLocked(&job{kind: post, rank: j.rank, to: j.to, file: j.file, name: j.name})
}
