package appserver

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/witness"
	"ccbot/internal/lazyregexp"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Receipts knows which texts a conversation shows.
type Receipts interface {
	HasReceipt(conversation uuid.UUID, of agent.Sent) (bool, error)
}

// Delivery is the agent.Delivery of Codex.
type Delivery struct {
	Processes Processes
	Receipts  Receipts
	Title     Title
}

// Deliver sends a text to a server, or asks it to shorten the conversation. It does not join the conversation: a new one has no rollout
// yet, and then the server refuses that.
func (d Delivery) Deliver(ctx context.Context, to agent.Recipient, id uuid.UUID, text string) error {
	c, t, err := d.reach(ctx, to)
	if err != nil {
		return fmt.Errorf("%w: %w", agent.ErrNotDelivered, err)
	}
	defer c.Close()
	if strings.TrimSpace(text) == talk.Compact { // other commands are for its terminal
		return c.call(ctx, "thread/compact/start", map[string]any{"threadId": t.ID}, nil)
	}
	input := []map[string]any{{"type": "text", "text": text}}
	for _, path := range pictures(text, t.Dir) {
		input = append(input, map[string]any{"type": "localImage", "path": path})
	}
	return c.call(ctx, "turn/start", map[string]any{"threadId": t.ID, "clientUserMessageId": id, "input": input}, nil)
}

// isPicture matches the name of a file that models take as a picture.
var isPicture = lazyregexp.New(`(?i)\.(png|jpe?g|gif|webp)$`)

// pictures returns the pictures from the chat that a text names, for an agent in a folder.
func pictures(text, dir string) (paths []string) {
	for line := range strings.Lines(text) {
		path, is := strings.CutPrefix(strings.TrimRight(line, "\n"), folders.Attached)
		if !is || !isPicture.MatchString(path) || filepath.Base(filepath.Dir(path)) != folders.InboxName {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		paths = append(paths, path)
	}
	return paths
}

// reach proves that a server takes a text for a conversation.
func (d Delivery) reach(ctx context.Context, to agent.Recipient) (c *Conn, t Thread, err error) {
	if c, err = Dial(ctx, d.Processes, to.PID, to.ProcStart); err != nil {
		return nil, t, err
	}
	t, err = c.Shown(ctx, d.Title, to.PID)
	switch {
	case err != nil:
	case t.ID != to.Conversation:
		err = fmt.Errorf("appserver: the terminal shows %s", t.ID)
	case t.Status == "", t.Status == witness.Busy, t.Status == witness.Waiting: // another word has been judged by the screen
		err = fmt.Errorf("appserver: it is %q", t.Status)
	}
	if err != nil {
		_ = c.Close() // it was only asked
		return nil, t, err
	}
	return c, t, nil
}

// HasReceipt reads the rollout.
func (d Delivery) HasReceipt(conversation uuid.UUID, of agent.Sent) (bool, error) {
	return d.Receipts.HasReceipt(conversation, of)
}
