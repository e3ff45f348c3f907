package outbox

import (
	"context"
	"time"

	"ccbot/internal/session"
)

type kind int

const (
	send   kind = iota // the caller waits
	post               // a file waits
	edit               // nobody waits
	remove             // the caller waits
	upload             // the caller waits, and keeps the file open
)

func (k kind) String() string { return [...]string{"send", "post", "edit", "delete", "file"}[k] }

// job is one thing to do in a chat's queue. Its fields belong to the outbox's lock; while it is flying the delivery
// has a copy.
type job struct {
	kind      kind
	to        session.Conversation
	change    change      // send: the message; edit: what to change; upload: its caption
	messageID int         // edit, remove
	file      string      // post: the name of its file
	body      *File       // upload
	done      chan result // send, remove, upload: one result, buffered

	plain     bool // formatting was refused
	unsure    bool // a call broke: it may have been carried out
	abandoned bool // the caller is gone; the call under way is the last one
	flying    bool
	newer     *change // edit: what came while it was flying
}

type result struct {
	messageID int
	err       error
}

func (j *job) formatted() bool {
	return !j.change.buttonsOnly && len(j.change.message.Text.Entities) > 0
}

// message is what to say in this attempt.
func (j *job) message() Message {
	m := j.change.message
	if j.plain {
		m.Text.Entities = nil
	}
	return m
}

// finish tells the caller, when there is one.
func (j *job) finish(r result) {
	if j.done != nil {
		j.done <- r
	}
}

// aside is a best-effort call outside the queue. A newer one with the same key replaces it; after expires it is
// pointless.
type aside struct {
	key     string
	expires time.Time
	call    func(ctx context.Context, to int64) error
}

// put adds an aside; the oldest goes when there are too many.
func (l *lane) put(a *aside) {
	for i, old := range l.asides {
		if old.key == a.key {
			l.asides[i] = a
			return
		}
	}
	if len(l.asides) >= maxAsides {
		l.asides = l.asides[1:]
	}
	l.asides = append(l.asides, a)
}

// expire drops the asides that are too old to be of use.
func (l *lane) expire(now time.Time) {
	kept := l.asides[:0]
	for _, a := range l.asides {
		if now.Before(a.expires) {
			kept = append(kept, a)
		}
	}
	clear(l.asides[len(kept):])
	l.asides = kept
}
