package outcome

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// Kind is the state of a turn.
type Kind int

// The kinds. Those after Open mean that no answer follows, or that a person has to act first.
const (
	Open         Kind = iota // the zero value: the turn is not over, or that is not known
	Answered                 // it has ended with a text
	Textless                 // it has ended without a text
	Stopped                  // it was interrupted
	Failed                   // it has ended with an error
	Withdrawn                // the prompt was taken out of the queue
	Unproven                 // it is not proven that the agent has the prompt
	Undecided                // the prompt waits for an answer in the chat
	SessionEnded             // the session has ended without an answer
	AgentEnded               // the agent has ended without an answer, and no bot updates the record
	Asks                     // the agent asks for something
	CommandDone              // a command was carried out that prints nothing
	IdleAgain                // the agent is idle, and the end of the turn was not seen
)

// Outcome is the state of a turn.
type Outcome struct {
	Kind    Kind
	Text    string       // of Answered
	Failure talk.Failure // of Failed
	Others  bool         // other prompts were submitted since this one was typed, see [Others]
}

const (
	// Settled is how long an agent is idle after a command until the command counts as done: the
	// effect of a command appears in the presence file and in the transcript a moment later.
	Settled = 2 * time.Second
	// Silence is how long an agent is idle after a prompt until no answer is expected: the cancel key
	// before the first word ends a turn without a trace in the transcript.
	Silence = 10 * time.Second
)

// Prompt is the prompt of a turn.
type Prompt struct {
	Text      string           `json:"text"`
	Class     talk.PromptClass `json:"class"`
	Mark      *talk.Mark       `json:"mark,omitempty"`      // nil: it was not typed
	Finished  bool             `json:"finished,omitempty"`  // the inbox has no more to do for it
	Unproven  bool             `json:"unproven,omitempty"`  // see [Unproven]
	Undecided bool             `json:"undecided,omitempty"` // see [Undecided]
}

// Answer returns the function that reads on in the answer to a prompt that was typed. It is nil
// before the prompt is finished, and before its transcript is there. by is the session's agent.
func (p Prompt) Answer(by agent.Agent, r session.Record) (read func() (talk.Reply, error), path string) {
	if p.Mark == nil || !p.Finished {
		return nil, ""
	}
	if path = cmp.Or(p.Mark.Path, transcriptOf(by.Transcripts, r, p.Mark.AgentSessionID)); path == "" {
		return nil, ""
	}
	return by.Replies.Reply(talk.Cursor{Path: path, Offset: p.Mark.Offset}, p.Mark.At, p.Text), path
}

// Others reports whether the transcript has another prompt than p after its mark, as one that a
// person has typed in the terminal. path is the transcript of [Prompt.Answer].
func (p Prompt) Others(by agent.Agent, path string) (bool, error) {
	return by.Replies.HasOthers(talk.Cursor{Path: path, Offset: p.Mark.Offset}, p.Mark.At, p.Text)
}

// transcriptOf is the transcript of a conversation that had none when the prompt was typed; empty:
// it is not there.
func transcriptOf(in agent.Transcripts, r session.Record, conversation uuid.UUID) string {
	for _, c := range slices.Backward(r.Cursors) {
		if conversation == uuid.Nil || in.Sibling(c.Path, conversation) == c.Path {
			return c.Path
		}
	}
	// else the record will say
	path, _ := in.Find(cmp.Or(conversation, r.AgentSessionID))
	return path
}

// Seen has the known facts about a turn at one time.
type Seen struct {
	State  session.State
	Phase  talk.Phase // as the record has it; empty: unknown
	Prompt Prompt
	Answer talk.Reply
	// How the agent is, by the kernel and by its presence file. All zero: it works, or nothing is
	// known.
	Gone bool          // it has ended; no bot updates the record
	Asks bool          // a dialog is open; no bot updates the record
	Idle time.Duration // idle time since the prompt was finished
}

// Outcome decides how the turn stands. It is pure.
func (s Seen) Outcome() Outcome {
	kind := s.kind()
	switch kind {
	case Answered:
		return Outcome{Kind: kind, Text: strings.Join(s.Answer.Texts, "\n\n")}
	case Failed:
		return Outcome{Kind: kind, Failure: s.Answer.Failure}
	}
	return Outcome{Kind: kind}
}

func (s Seen) kind() Kind {
	switch {
	case s.Answer.Ending == talk.EndedTurn && len(s.Answer.Texts) > 0:
		return Answered
	case s.Answer.Ending == talk.EndedTurn:
		return Textless
	case s.Answer.Ending == talk.StoppedTurn:
		return Stopped
	case s.Answer.Ending == talk.FailedTurn:
		return Failed
	case s.Prompt.Finished && s.Prompt.Mark == nil:
		return Withdrawn
	case !s.Prompt.Finished && s.Prompt.Unproven:
		return Unproven
	case !s.Prompt.Finished && s.Prompt.Undecided:
		return Undecided
	case !s.State.Live():
		return SessionEnded
	case s.Gone:
		return AgentEnded
	case s.Asks, s.Phase.Waiting():
		return Asks
	case s.Idle >= Settled && s.Prompt.Class == talk.ClassCommand:
		return CommandDone
	case s.Idle >= Silence:
		return IdleAgain
	}
	return Open
}
