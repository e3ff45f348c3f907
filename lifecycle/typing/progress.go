package typing

import (
	"time"

	"ccbot/agent"
)

// progress holds what a Typist remembers of one agent of a session.
type progress struct {
	head   string    // key of the prompt whose turn it is
	headAt time.Time // since when it is that prompt's turn
	pasted string    // key of the prompt whose paste tmux has taken: it is on its way to the box
	last   Prompt    // the prompt that the agent took last
	// unwanted is the prompt whose text the agent has put back into the box, and that was not typed
	// again.
	unwanted   Prompt
	unwantedAt time.Time // when that was seen
	silent     string    // key of the prompt whose wait during a silence of tmux was reported

	still       still     // the prompt box as it was last seen
	stillAt     time.Time // since when it has been seen in this state
	cancelledAt time.Time // when ccbot pressed the cancel key last
	unstopped   bool      // a stop of this turn has not ended it
}

// still holds what must not change for a screen to count as unchanged: idleness, prompt box and
// presence file.
type still struct {
	idle bool
	box  agent.Box
	by   time.Time
}

// NoteHead notes that it is the turn of a prompt, and sets Since of the prompt. The time before its
// turn, in which a prompt waited for other prompts or for the session to come back, is not worth a
// report.
func (w *Session) NoteHead(head *Prompt) {
	w.remember(func(m *progress) {
		if m.head != head.Key {
			m.head, m.headAt = head.Key, w.now()
		}
		head.Since = m.headAt
	})
}

// NoteStill notes the prompt box that the terminal shows, and sets Still of the terminal's view.
func (w *Session) NoteStill() {
	v := &w.term.View
	w.remember(func(m *progress) {
		now := still{idle: v.IsBoxFree(), box: v.Screen.Box, by: v.State.Since}
		if m.still != now || m.stillAt.After(v.Now) {
			m.still, m.stillAt = now, v.Now
		}
		v.Still = v.Now.Sub(m.stillAt)
	})
}

// NoteIdle notes that the turn of the agent has ended.
func (w *Session) NoteIdle() { w.remember(func(m *progress) { m.unstopped = false }) }
