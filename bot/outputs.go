package bot

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// output is a message that shows what a command of bash mode prints while it runs,
// and what it has printed once it has ended.
type output struct {
	Session uuid.UUID `json:"session"`
	Prompt  string    `json:"prompt,omitempty"` // inbox key
	Message int       `json:"message"`
	Command string    `json:"command"` // with its sign
	// Path is the transcript when the command was typed, empty where there was none,
	// and Offset its end then: what the command has printed comes behind it.
	Path   string `json:"path,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Ended  int64  `json:"ended,omitempty"` // offset of the output that the message has; 0: of none
	Over   bool   `json:"over,omitempty"`  // nobody waits for its end any more
	// OverAt is when the command had been stopped.
	OverAt time.Time `json:"over_at,omitzero"`
}

// keptOutputs bounds chat.Outputs.
const keptOutputs = 20

// isOf says whether two messages are of one prompt, typed once.
func (o output) isOf(p output) bool {
	return o.Session == p.Session && o.Prompt == p.Prompt && o.Path == p.Path && o.Offset == p.Offset
}

// takes says whether an output may be the command's. What is younger than the end of
// one that was stopped is of another one, perhaps of the same words.
func (o output) takes(item transcript.Item) bool {
	return o.follows(item.At) && (!o.Over || !item.Time.After(o.OverAt))
}

func (o output) follows(at transcript.Cursor) bool {
	return (o.Ended == 0 || o.Ended == at.Offset) && (o.Path == "" || o.Path == at.Path && o.Offset <= at.Offset)
}

// isCommand compares commands as they are typed and as a transcript has them.
func (o output) isCommand(text string) bool {
	return slices.Equal(strings.Fields(strings.TrimPrefix(o.Command, "!")), strings.Fields(strings.TrimPrefix(text, "!")))
}

// noteOutput keeps a message that grows. Earlier ones of the session that have an
// output are not needed any more; that of one that counts as stopped may not have
// been read yet.
func (c *Chats) noteOutput(to session.Conversation, o output) error {
	return c.change(to, func(f *chat) {
		f.Outputs = slices.DeleteFunc(f.Outputs, func(k output) bool {
			return k.Session == o.Session && (k.Ended != 0 || k.Message == o.Message)
		})
		f.Outputs = append(f.Outputs, o)
		f.Outputs = f.Outputs[max(0, len(f.Outputs)-keptOutputs):]
	})
}

// changeOutput changes what is kept of a message that grows; it is forgotten where
// change says so.
func (c *Chats) changeOutput(to session.Conversation, message int, change func(o *output) (keep bool)) error {
	return c.change(to, func(f *chat) {
		i := slices.IndexFunc(f.Outputs, func(o output) bool { return o.Message == message })
		if i >= 0 && !change(&f.Outputs[i]) {
			f.Outputs = slices.Delete(f.Outputs, i, i+1)
		}
	})
}

// outputs are the messages that grow, by where they stand.
func (c *Chats) outputs() (map[session.Conversation][]output, error) {
	places, err := c.Conversations()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[session.Conversation][]output)
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

// outputsOf are those of a session in one conversation, oldest first.
func (c *Chats) outputsOf(to session.Conversation, id uuid.UUID) ([]output, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.readLocked(to)
	return slices.DeleteFunc(slices.Clone(f.Outputs), func(o output) bool { return o.Session != id }), err
}
