package lifecycle

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/claudeui"
	"ccbot/internal/git"
	"ccbot/internal/process"
)

// memories is what a Service remembers of sessions between steps. A restart loses it, which costs
// at most a repeated report.
type memories struct {
	mu sync.Mutex
	of map[uuid.UUID]memory
}

// memory is what is remembered of one launch of a session.
type memory struct {
	agent    process.Identity // the agent that was seen alive
	unready  bool             // it was reported that the agent is not ready
	failures int              // steps that have failed in a row
	dialog   dialogMemory
	turn     turnMemory
	prompt   promptMemory
	box      boxMemory
	git      *gitLook // the newest look at the repository
}

// dialogMemory is what was seen of dialogs, and what was reported of them.
type dialogMemory struct {
	told   string    // the dialog that was reported
	open   string    // the dialog that is open
	openAt time.Time // since when this process has seen the dialog without a request
	asked  bool      // a request waited for the chat at the last look
	gone   time.Time // View.Asked of the newest request whose dialog was reported as gone
}

// turnMemory is what the agent was last seen doing.
type turnMemory struct {
	phase    Phase
	since    time.Time // of this phase
	idleBy   time.Time // when the presence file that says idle was written
	toldBy   time.Time // until this time more lines of the previous turn may come
	retrying bool      // it was reported that requests of this turn fail
}

// promptMemory is how far prompts have come on their way into the agent.
type promptMemory struct {
	head   string    // key of the prompt whose turn it is
	headAt time.Time // since when it is that prompt's turn
	pasted string    // key of the prompt whose paste tmux has taken: it is on its way to the box
	last   Prompt    // the prompt that the agent took last
}

// boxMemory is the prompt box as it was last seen.
type boxMemory struct {
	still   still
	stillAt time.Time // since when it has been seen in this state
	escAt   time.Time // when ccbot pressed Esc last
}

// still is what has to stay the same for a screen to count as unchanged: idleness, prompt box and
// presence file.
type still struct {
	idle bool
	box  claudeui.Box
	by   time.Time
}

func (m *memories) recall(id uuid.UUID) memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of[id]
}

func (m *memories) remember(id uuid.UUID, change func(*memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.of[id]
	change(&one)
	m.of[id] = one
}

// gitLook is the result of one look at a session's repository.
type gitLook struct{ state *git.State }
