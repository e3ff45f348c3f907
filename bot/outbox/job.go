package outbox

import "ccbot/internal/address"

type kind int

const (
	send   kind = iota // the caller waits
	post               // a file waits
	edit               // nobody waits
	remove             // the caller waits
	upload             // the caller waits, and keeps the file open
)

func (k kind) String() string { return [...]string{"send", "post", "edit", "delete", "file"}[k] }

// job is one thing to do in a chat's queue. Its fields belong to the outbox's lock; while it is
// flying the delivery has a copy.
type job struct {
	kind      kind
	rank      Rank
	to        address.Conversation
	change    change      // send: the message; edit: what to change; upload: its caption
	messageID int         // edit, remove
	file      string      // post: the name of its file
	name      string      // post: what its owner calls the message; empty: the file has the message
	body      *File       // upload
	done      chan result // send, remove, upload: one result, buffered

	plain      bool // formatting was refused
	asDocument bool // upload: it was refused as a photo
	unsure     bool // a call broke: it may have been carried out
	abandoned  bool // the caller is gone; the call under way is the last one
	flying     bool
	newer      *change // edit: what came while it was flying
}

type result struct {
	messageID int
	err       error
}

// isNew says whether it brings a message into the chat.
func (j *job) isNew() bool { return j.kind == send || j.kind == post || j.kind == upload }

func (j *job) isRich() bool { return !j.change.buttonsOnly && j.change.message.Rich != "" }

func (j *job) isPhoto() bool { return j.kind == upload && j.body.isPhoto() && !j.asDocument }

func (j *job) formatted() bool {
	return !j.change.buttonsOnly && !j.isRich() && len(j.change.message.Text.Entities) > 0
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
