package lifecycle

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
)

// memories is what a Service remembers of sessions between steps. It is lost in a
// restart, which costs a repeated notice at most.
type memories struct {
	mu sync.Mutex
	of map[uuid.UUID]memory
}

// memory is what is remembered of one launch of a session.
type memory struct {
	agent    process.Identity // the agent, as it was seen alive
	unready  bool             // "is not ready" was told
	failures int              // steps that have failed in a row
	dialog   dialogMemory
	turn     turnMemory
	prompt   promptMemory
	box      boxMemory
	git      *gitLook // the newest look at the repository
}

// dialogMemory is what was seen and told of dialogs.
type dialogMemory struct {
	told   string    // the dialog that was told
	open   string    // the dialog that is open
	openAt time.Time // since when this process sees it without a request
	asked  bool      // a request waited for the chat at the last look
	gone   time.Time // Asked of the newest request whose dialog was told to be gone
}

// turnMemory is what the agent was last seen doing.
type turnMemory struct {
	phase    Phase
	since    time.Time // of this phase
	idleBy   time.Time // when the presence file was written that said idle
	toldBy   time.Time // until then more may come of the previous turn
	retrying bool      // it was told that requests of this turn fail
}

// promptMemory is where prompts are on their way into the agent.
type promptMemory struct {
	head   string    // key of the prompt whose turn it is
	headAt time.Time // since when
	pasted string    // key of the prompt whose paste tmux has taken: it is on its way to the box
	last   Prompt    // the one that the agent took last
}

// boxMemory is the prompt box as it was last seen.
type boxMemory struct {
	still   still
	stillAt time.Time // since when it is seen so
	escAt   time.Time // when ccbot pressed Esc last
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
