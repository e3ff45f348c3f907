package conversation

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// Output is a message that shows what a command of bash mode prints while it runs,
// and what it has printed once it has ended.
type Output struct {
	Session uuid.UUID `json:"session"`
	Prompt  string    `json:"prompt,omitempty"` // inbox key
	Message int       `json:"message"`
	Command string    `json:"command"` // with its sign
	// Path is the transcript when the command was typed, empty where there was none,
	// and Offset its end then: what the command has printed comes behind it.
	Path   string `json:"path,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Ended  int64  `json:"ended,omitempty"` // offset of the Output that the message has; 0: of none
	Over   bool   `json:"over,omitempty"`  // nobody waits for its end any more
	// OverAt is when the command had been stopped.
	OverAt time.Time `json:"over_at,omitzero"`
}

// maxOutputs bounds file.Outputs.
const maxOutputs = 20

// isOf says whether two messages are of one prompt, typed once.
func (o Output) Same(p Output) bool {
	return o.Session == p.Session && o.Prompt == p.Prompt && o.Path == p.Path && o.Offset == p.Offset
}

// takes says whether an Output may be the command's. What is younger than the end of
// one that was stopped is of another one, perhaps of the same words.
func (o Output) Takes(item transcript.Item) bool {
	return o.follows(item.At) && (!o.Over || !item.Time.After(o.OverAt))
}

func (o Output) follows(at transcript.Cursor) bool {
	return (o.Ended == 0 || o.Ended == at.Offset) && (o.Path == "" || o.Path == at.Path && o.Offset <= at.Offset)
}

// isCommand compares commands as they are typed and as a transcript has them.
func (o Output) IsCommand(text string) bool {
	return slices.Equal(strings.Fields(strings.TrimPrefix(o.Command, "!")), strings.Fields(strings.TrimPrefix(text, "!")))
}

// NoteOutput keeps a message that grows. Earlier ones of the session that have an
// Output are not needed any more; that of one that counts as stopped may not have
// been read yet.
func (c *Store) NoteOutput(to session.Conversation, o Output) error {
	return c.change(to, func(f *file) {
		f.Outputs = slices.DeleteFunc(f.Outputs, func(k Output) bool {
			return k.Session == o.Session && (k.Ended != 0 || k.Message == o.Message)
		})
		f.Outputs = append(f.Outputs, o)
		f.Outputs = f.Outputs[max(0, len(f.Outputs)-maxOutputs):]
	})
}

// ChangeOutput changes what is kept of a message that grows; it is forgotten where
// change says so.
func (c *Store) ChangeOutput(to session.Conversation, message int, change func(o *Output) (keep bool)) error {
	return c.change(to, func(f *file) {
		i := slices.IndexFunc(f.Outputs, func(o Output) bool { return o.Message == message })
		if i >= 0 && !change(&f.Outputs[i]) {
			f.Outputs = slices.Delete(f.Outputs, i, i+1)
		}
	})
}

// outputs are the messages that grow, by where they stand.
func (c *Store) Outputs() (map[session.Conversation][]Output, error) {
	places, err := c.All()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[session.Conversation][]Output)
	for _, to := range places {
		f, err := c.readLocked(to)
		if err != nil {
			return nil, err
		}
		if len(f.Outputs) > 0 {
			all[to] = slices.Clone(f.Outputs)
		}
	}
	return all, nil
}

// OutputsOf are those of a session in one conversation, oldest first.
func (c *Store) OutputsOf(to session.Conversation, id uuid.UUID) ([]Output, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	return slices.DeleteFunc(slices.Clone(f.Outputs), func(o Output) bool { return o.Session != id }), err
}
