package appserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/witness"
)

// Thread is a conversation that a server has loaded.
type Thread struct {
	ID        uuid.UUID
	Path      string // of its rollout, which is made at the first prompt
	Dir       string
	Status    witness.Status // empty: unknown
	Asks      bool           // a request waits for an answer
	Questions bool           // with Asks: the agent asks a question
	UpdatedAt time.Time      // UTC, in whole seconds; zero when it is not known
}

// thread is a Thread as the server writes it.
type thread struct {
	ID           string `json:"id"`
	Path         string `json:"path"`
	Cwd          string `json:"cwd"`
	Ephemeral    bool   `json:"ephemeral"`
	ThreadSource string `json:"threadSource"`
	Parent       string `json:"parentThreadId"`
	Status       status `json:"status"`
	UpdatedAt    int64  `json:"updatedAt"` // Unix time in seconds
}

type status struct {
	Type  string   `json:"type"`
	Flags []string `json:"activeFlags"`
}

// note notes the status in the words of package agent.
func (t *Thread) note(s status) {
	switch {
	case s.Type == "idle", s.Type == "systemError": // after a failed turn the next one may begin
		t.Status = witness.Idle
	case s.Type == "active" && len(s.Flags) > 0: // waitingOnApproval, waitingOnUserInput
		t.Status, t.Asks = witness.Waiting, true
		t.Questions = slices.Contains(s.Flags, "waitingOnUserInput")
	case s.Type == "active":
		t.Status = witness.Busy
	case s.Type != "notLoaded":
		t.Status = witness.Status(s.Type)
	}
}

// isPersons reports whether a person leads the conversation. Codex makes others for titles, for
// side questions and for subagents.
func (t thread) isPersons() bool {
	return !t.Ephemeral && t.Parent == "" && (t.ThreadSource == "" || t.ThreadSource == "user")
}

func (t thread) of() (Thread, error) {
	id, err := uuid.Parse(t.ID)
	if err != nil {
		return Thread{}, fmt.Errorf("appserver: conversation %q: %w", t.ID, err)
	}
	shown := Thread{ID: id, Path: t.Path, Dir: t.Cwd}
	if t.UpdatedAt > 0 {
		shown.UpdatedAt = time.Unix(t.UpdatedAt, 0).UTC()
	}
	shown.note(t.Status)
	return shown, nil
}

// maxLoaded is more conversations than a server has loaded at once.
const maxLoaded = 1000

// Loaded returns the loaded conversations that a person leads.
func (c *Conn) Loaded(ctx context.Context) (all []Thread, err error) {
	var loaded struct {
		Data []string `json:"data"`
		Next *string  `json:"nextCursor"`
	}
	if err := c.call(ctx, "thread/loaded/list", map[string]int{"limit": maxLoaded}, &loaded); err != nil {
		return nil, err
	}
	if loaded.Next != nil {
		return nil, fmt.Errorf("appserver: more than %d conversations", maxLoaded)
	}
	for _, id := range loaded.Data {
		found, err := c.read(ctx, id)
		if err != nil {
			return nil, err // it may have been closed since; the caller tries again
		}
		if !found.isPersons() {
			continue
		}
		t, err := found.of()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// read reads a conversation that is loaded.
func (c *Conn) read(ctx context.Context, id string) (thread, error) {
	var found struct {
		Thread thread `json:"thread"`
	}
	err := c.call(ctx, "thread/read", map[string]string{"threadId": id}, &found)
	return found.Thread, err
}

// leastTitle is the least part of an id in a title that counts: the time of the id and random bits.
const leastTitle = 23

// ErrSeveral is returned if a server has several conversations, and the title names none of them.
var ErrSeveral = errors.New("appserver: it is unknown which conversation the terminal shows")

// errNone is returned if a server has no conversation yet.
var errNone = errors.New("appserver: no conversation is loaded")

// Title returns the title of the terminal that the conversations of a server are shown at; empty:
// it is unknown.
type Title func(ctx context.Context, server int) string

// Shown returns the conversation that a server's terminal shows. The title is read only if
// several are loaded.
func (c *Conn) Shown(ctx context.Context, title Title, server int) (Thread, error) {
	all, err := c.Loaded(ctx)
	switch {
	case err != nil:
		return Thread{}, err
	case len(all) == 0:
		return Thread{}, errNone
	case len(all) == 1:
		return all[0], nil
	case title == nil:
		return Thread{}, ErrSeveral
	}
	return shown(all, title(ctx, server))
}

// shown returns the conversation that a title names. It begins with the id, which Codex cuts:
// "01a218c1-a6ca-7152-825d-d8ab3... | Ready".
func shown(all []Thread, title string) (Thread, error) {
	id, _, _ := strings.Cut(title, " ")
	id = strings.TrimRight(id, ".…")
	if len(id) >= leastTitle {
		all = slices.DeleteFunc(slices.Clone(all), func(t Thread) bool { return !strings.HasPrefix(t.ID.String(), id) })
	}
	if len(all) != 1 {
		return Thread{}, ErrSeveral
	}
	return all[0], nil
}

// Join subscribes to a conversation that is loaded, which t must be: any other would be loaded, and
// the server would become its writer. Its open requests then come from Next. Its status is read after
// that: what it becomes while the server answers is in neither the answer nor an event.
func (c *Conn) Join(ctx context.Context, t Thread) (Thread, error) {
	var joined struct {
		Thread thread `json:"thread"`
	}
	if err := c.call(ctx, "thread/resume", map[string]any{"threadId": t.ID, "excludeTurns": true}, &joined); err != nil {
		return Thread{}, err
	}
	if joined.Thread.ID != t.ID.String() {
		return Thread{}, fmt.Errorf("appserver: thread/resume: %s instead of %s", joined.Thread.ID, t.ID)
	}
	now, err := c.read(ctx, t.ID.String())
	if err != nil {
		return Thread{}, err
	}
	return now.of()
}

// begun returns the patches of the running turn by the ids of their calls. A conversation that is joined after a patch
// has begun gets no event about it, and no other call than this one tells it (0.171.0).
func (c *Conn) begun(ctx context.Context, t Thread) (map[string]string, error) {
	var joined struct {
		Page struct {
			Data []struct{ Items []item }
		} `json:"initialTurnsPage"`
	}
	last := map[string]any{"limit": 1, "itemsView": "full"}
	if err := c.call(ctx, "thread/resume", map[string]any{"threadId": t.ID, "excludeTurns": true, "initialTurnsPage": last}, &joined); err != nil {
		return nil, err
	}
	patches := make(map[string]string)
	for _, turn := range joined.Page.Data {
		for _, one := range turn.Items {
			if one.Type == changesFiles {
				patches[one.ID] = patchOf(one.Changes)
			}
		}
	}
	return patches, nil
}

// Interrupt ends the running turn. The rollout shows its end.
func (c *Conn) Interrupt(ctx context.Context, t Thread, turn string) error {
	return c.call(ctx, "turn/interrupt", map[string]any{"threadId": t.ID, "turnId": turn}, nil)
}
