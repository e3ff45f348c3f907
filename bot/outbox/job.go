package outbox

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/address"
)

type kind int

const (
	send   kind = iota // the caller waits
	post               // a file waits
	edit               // nobody waits, except callers of EditNow
	upload             // the caller waits, and keeps the file open
)

func (k kind) String() string { return [...]string{"send", "post", "edit", "file"}[k] }

// job is one thing to do in a chat's queue. Its fields belong to the outbox's lock; while the job
// is flying the delivery works on a copy.
type job struct {
	kind      kind
	rank      Rank
	to        address.Conversation
	session   uuid.UUID     // the session that the message is of; nil: none
	change    change        // send: the message; edit: what to change; upload: its caption
	messageID int           // edit
	file      string        // post: the name of its file
	name      string        // post: what its owner calls the message; empty: the file has the message
	body      *File         // upload
	since     time.Time     // send: when it was asked for
	done      []chan result // the callers that wait; each gets one result, buffered

	plain      bool // formatting was refused
	asDocument bool // an upload or a picture: it was refused as a photo
	unsure     bool // a call broke: Telegram may have carried it out
	abandoned  bool // the caller is gone; the call under way is the last one
	flying     bool
}

type result struct {
	messageID int
	err       error
}

func (j *job) isNew() bool { return j.kind == send || j.kind == post || j.kind == upload }

func (j *job) isRich() bool { return !j.change.buttonsOnly && j.change.message.Rich != "" }

// isPhoto reports whether the job shows a photo, which Telegram may refuse as one.
func (j *job) isPhoto() bool {
	p := j.picture()
	return !j.asDocument && (p != nil && !p.Exact || j.kind == upload && j.body.isPhoto())
}

// picture is that of the message; nil: there is none, or the call does not touch it.
func (j *job) picture() *Picture {
	if j.change.buttonsOnly {
		return nil
	}
	return j.change.message.Picture
}

func (j *job) formatted() bool {
	return !j.change.buttonsOnly && !j.isRich() && len(j.change.message.Text.Entities) > 0
}

func (j *job) message() Message {
	m := j.change.message
	if j.plain {
		m.Text.Entities = nil
	}
	return m
}

// become makes an edit that waits a newer one. A card that waits at a turning point still shows it.
func (j *job) become(newer *job) {
	if j.rank != Turning || !newer.isCard() {
		j.rank = newer.rank
	}
	j.change, j.plain, j.asDocument, j.done = j.change.then(newer.change), false, false, append(j.done, newer.done...)
}

func (j *job) finish(r result) {
	for _, done := range j.done {
		done <- r
	}
}

// doubt adds ErrUnsure to err when the job may have been carried out.
func (j *job) doubt(err error) error {
	if j.unsure || j.flying {
		return fmt.Errorf("%w: %w", ErrUnsure, err)
	}
	return err
}

// settleIn moves a job to another place, and drops its ReplyTo, because the message that it answers
// is not there.
func (j *job) settleIn(to address.Conversation) {
	if j.to != to {
		j.to, j.change.message.ReplyTo = to, 0
	}
}
