package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/address"
	"ccbot/internal/clip"
	"ccbot/internal/git"
	"ccbot/internal/keepjson"
	"ccbot/internal/process"
	"ccbot/port"
	"ccbot/port/talk"
)

// Version is the schema version that this program writes.
const Version = 2

// Limits of a record's history, which is kept for years. The oldest lines are removed first.
const (
	historyLimit = 100
	whyLimit     = 1000 // bytes; evidence may quote an error of any length
)

// Conversation is the place in the chat that shows a session.
type Conversation = address.Conversation

// Server is one run of a tmux server: after a restart the socket is reused, but the pid with its
// start time is not.
type Server struct {
	Socket string `json:"socket"`
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"`
}

// Binding names the pane and the process of a session's agent. Window and pane ids start again at 0
// with every tmux server, so they are valid only together with Server, and the agent's pid only
// with its start time and boot.
type Binding struct {
	Server Server           `json:"server"`
	Window string           `json:"window"`
	Pane   string           `json:"pane"`
	Agent  process.Identity `json:"agent"`
	// Command is tmux's pane_current_command once the agent was ready, or since its process has started its program again.
	Command string    `json:"command,omitempty"`
	BoundAt time.Time `json:"bound_at"`
	// Exe and ArgvDigest (a SHA-256 of the arguments, in hex) describe the agent's process when it
	// was bound: a process that runs another program now is not the agent.
	Exe        string `json:"exe,omitempty"`
	ArgvDigest string `json:"argv_digest,omitempty"`
	// Adopted means that a person opened the pane: ccbot never closes it. Shell is the process of
	// the pane if that is not the agent itself, 0 otherwise.
	Adopted bool `json:"adopted,omitempty"`
	Shell   int  `json:"shell,omitempty"`
	// AgentServer is the agent's second process, if it runs in two: the server writes the
	// conversation, and Agent holds the terminal.
	AgentServer process.Identity `json:"agent_server,omitzero"`
	// Schedules is how many schedules of its own the agent had at the end of its last turn. They end
	// with its process.
	Schedules int `json:"schedules,omitempty"`
}

// Writer is the process that writes the conversation.
func (b Binding) Writer() process.Identity {
	if b.AgentServer.Valid() {
		return b.AgentServer
	}
	return b.Agent
}

// PanePID is the pid that tmux reports for the pane.
func (b Binding) PanePID() int {
	if b.Shell != 0 {
		return b.Shell
	}
	return b.Agent.PID
}

// Rule names the code that decided a change.
type Rule = port.Rule

// BroughtBack is the rule of a record that a person has restored from a copy.
const BroughtBack Rule = "recover.restore"

// Change is one line of a record's history.
type Change = port.Change

// Launch holds the options with which an agent was started; a restore starts it with the same
// flags.
type Launch = agent.Launch

// The reason for which a record is closed for good, or was lost, where its state does not say it.
const (
	// ClosedStale: too old to be the intended session when its conversation was found again.
	ClosedStale  = "stale"
	ClosedReboot = "reboot"     // the machine went down while it ran
	ClosedTmux   = "tmux_ended" // its tmux server went down while it ran
	// ClosedSilent: no sign of life for too long, and whether it ran could not be seen.
	ClosedSilent = "silent"
)

// Exit describes how an agent ended by itself.
type Exit struct {
	Status int       `json:"status"`
	Signal int       `json:"signal,omitempty"`
	Known  bool      `json:"known"` // false: the pane was gone before its status could be read
	Screen string    `json:"screen,omitempty"`
	At     time.Time `json:"at"`
}

// Crashed reports whether the agent ended in another way than by a clean exit.
func (e Exit) Crashed() bool { return e.Known && (e.Status != 0 || e.Signal != 0) }

// Run is the current or last launch of the agent. A restore and an adoption begin a new one.
type Run struct {
	Binding   *Binding  `json:"binding,omitempty"`
	Exit      *Exit     `json:"exit,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	// Attach is the command that shows the conversation, if it went on in the agent's own background
	// when the agent ended.
	Attach string `json:"attach,omitempty"`
	// InAuto means that the agent has begun in auto mode although the launch asked for bypass, and
	// that its footer has named no other mode since.
	InAuto    bool      `json:"in_auto,omitempty"`
	ReportsAt time.Time `json:"reports_at,omitzero"` // SessionStart
	ReadyAt   time.Time `json:"ready_at,omitzero"`
	// Phase is the last activity of the agent that was seen (a talk.Activity, with PhaseWhat and
	// PhaseUntil); PhaseAt is its start.
	Phase      string    `json:"phase,omitempty"`
	PhaseAt    time.Time `json:"phase_at,omitzero"`
	PhaseWhat  string    `json:"phase_what,omitempty"`
	PhaseUntil time.Time `json:"phase_until,omitzero"`
}

// Closing concerns only an ended session. A restore and an adoption empty it.
type Closing struct {
	Cleanup *CleanupError `json:"cleanup,omitempty"`
	// ClosedReason is one of the Closed… reasons, or empty.
	ClosedReason string `json:"closed_reason,omitempty"`
	// Unreported means that recovery closed the session and this was not yet reported in the chat.
	Unreported bool `json:"unreported,omitempty"`
}

// LastEnd is the last end of the session. It stays until the next one, or until an adoption.
type LastEnd struct {
	EndedAt time.Time `json:"ended_at,omitzero"`
	// RequestedMoment and EndedMoment are those of the request for the end and of the end, on the
	// kernel's clock: a person who started a process after them did it knowing of the end.
	RequestedMoment process.Moment `json:"requested_moment,omitzero"`
	EndedMoment     process.Moment `json:"ended_moment,omitzero"`
	// TranscriptEnd is the size of the transcript when the session ended. TranscriptKnown is the size
	// up to which the writers since then are known. GrowthReported means that further growth was
	// reported.
	TranscriptEnd   int64 `json:"transcript_end,omitempty"`
	TranscriptKnown int64 `json:"transcript_known,omitempty"`
	GrowthReported  bool  `json:"growth_reported,omitempty"`
}

// Record is ccbot's record of one conversation with an agent. Its ID never changes; AgentSessionID
// is the agent's and may change (/clear, fork).
type Record struct {
	Version int       `json:"version"`
	ID      uuid.UUID `json:"id"`
	Name    string    `json:"name"`
	// NamedBy is the rule that made the name; empty: a person. FormerNames still lead to the
	// session, the newest last. NameDue means that the window does not have the name yet.
	NamedBy     Namer    `json:"named_by,omitempty"`
	FormerNames []string `json:"former_names,omitempty"`
	NameDue     bool     `json:"name_due,omitempty"`

	Dir               string       `json:"dir"`               // directory of the start, or of the last resume that named one, absolute
	NowDir            string       `json:"now_dir,omitempty"` // the one into which the agent has gone since; empty: it is in Dir
	Host              string       `json:"host"`
	State             State        `json:"state"`
	AgentName         string       `json:"agent_name,omitempty"` // see agent.Agents
	AgentSessionID    uuid.UUID    `json:"agent_session_id"`
	EarlierSessionIDs []uuid.UUID  `json:"earlier_session_ids,omitempty"`
	Conversation      Conversation `json:"conversation"`
	// Terms is the chat whose budgets and limits hold for it; 0: that of Conversation, until the first move to
	// another chat.
	Terms int64 `json:"terms,omitempty"`
	Owner int64 `json:"owner"` // the person who started it
	// Origin is the inbox key of the command that made the record, by which a replay finds it.
	Origin string `json:"origin,omitempty"`
	Final  State  `json:"final,omitempty"` // the state that stopping leads to
	// RestoredFrom stays when a restore fails; only people read it.
	RestoredFrom State `json:"restored_from,omitempty"`
	Run
	Closing
	LastEnd
	// Cursors hold how much of each unfinished transcript the chat had shown at the last save. The
	// last one is for the transcript that is being written, after those from before a /clear.
	Cursors []talk.Cursor `json:"cursors,omitempty"`
	// Earlier are the places of turns that the chat had not shown whole when the session moved on to
	// another place with a prompt, oldest first.
	Earlier []talk.Shown `json:"earlier,omitempty"`
	// Next is where a person wants to see the session from its next turn on; zero: where it is.
	Next    Conversation `json:"next,omitzero"`
	Prompts []string     `json:"prompts,omitempty"` // inbox keys, in order of typing
	Usage   *port.Usage  `json:"usage,omitempty"`   // nil: not reported yet
	// IdleAfter is how long the session may be idle before it is archived, as the chat wants it; 0:
	// for ever; nil: as configured. It is replaced, never changed in place.
	IdleAfter *time.Duration `json:"idle_after,omitempty"`
	// Budget is whether prompts may be typed, as the chat has told it.
	Budget    port.Budget `json:"budget,omitzero"`
	CreatedAt time.Time   `json:"created_at"`
	UpdatedAt time.Time   `json:"updated_at"` // of the last save
	// ActiveAt is the last sign of life: the last save that was not Upkeep.
	ActiveAt time.Time `json:"active_at,omitzero"`
	// ReturnedAt is the time at which a person restored the record from a copy: the time until its
	// removal counts from then.
	ReturnedAt time.Time `json:"returned_at,omitzero"`
	// SinceMoment is when the conversation became this session's own, on the kernel's clock: a process that started before it is not a leftover of this session.
	SinceMoment process.Moment `json:"since_moment,omitzero"`
	// Exe is the program of the agent's process, as last seen.
	Exe string `json:"exe,omitempty"`
	// Bound are the agents that this record bound and that are not proven gone.
	Bound []process.Identity `json:"bound,omitempty"`
	// Descendants are the processes that ran below a process that had to be killed. They are on disk
	// before the KILL and are ended after it.
	Descendants []Tool `json:"descendants,omitempty"`
	// SecondWriters are the second writers that were reported to the person.
	SecondWriters []process.Identity `json:"second_writers,omitempty"`
	// ForkOf is the id of the conversation that this one copied at its start.
	ForkOf uuid.UUID `json:"fork_of,omitzero"`
	// Launch holds the options of the current or last agent; nil: not started by ccbot.
	Launch *Launch `json:"launch,omitempty"`
	// HookDigest is the SHA-256 of ccbot-hook, in hex, when this ccbot launched the agent. A
	// process below the agent that runs this program is the agent's hook, also after an upgrade.
	HookDigest string `json:"hook_digest,omitempty"`
	// Progress is the work as the transcript has it: turns, to-do items, tokens.
	Progress history.Progress `json:"progress,omitzero"`
	// ModeRequest is the requested setting of the present agent until it was read back, or nil.
	ModeRequest *ModeRequest `json:"mode_request,omitempty"`
	// Interruption is the last turn that was cut short; nil: none. See Unfinished.
	Interruption *Interruption `json:"interruption,omitempty"`
	// GitStart and GitNow are the state of the directory's repository at the first launch and at
	// the end of the last turn; nil: there is no repository, or git did not answer.
	GitStart *git.State `json:"git_start,omitempty"`
	GitNow   *git.State `json:"git_now,omitempty"`
	// News are the news that the chat may not have yet, in order. LastNews is the number of the last
	// news, whether the chat has it or not.
	News     []News   `json:"news,omitempty"`
	LastNews int64    `json:"last_news,omitempty"`
	History  []Change `json:"history,omitempty"`

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
	short   bool             // the history is in the file only
	upkeep  bool             // see Upkeep
}

// ModeRequest is a permission mode and a model that a person requested for an agent. A key is noted
// here before it is pressed.
type ModeRequest struct {
	Agent  process.Identity `json:"agent"`
	Mode   string           `json:"mode,omitempty"`   // in the agent's words
	Passed []string         `json:"passed,omitempty"` // the modes at which a key was pressed, in order
	Model  string           `json:"model,omitempty"`  // as the list of models names it
	Opened int              `json:"opened,omitempty"` // how often that list was opened
	// Ccbot has opened it, and has not seen it closed since.
	Listed bool `json:"listed,omitempty"`
	Chosen bool `json:"chosen,omitempty"` // the model was chosen there
	Waits  bool `json:"waits,omitempty"`  // the prompt box was not free when it was wanted
}

// Tool is a process that ran below a process that had to be killed.
type Tool struct {
	Process process.Identity `json:"process"`
	Of      process.Identity `json:"of"` // the process that had to be killed
}

// CleanupFailure is one thing that an archive could not prove.
type CleanupFailure struct {
	Kind   string `json:"kind"`          // an ending.FailureKind
	PID    int    `json:"pid,omitempty"` // 0 where the failure is not about a process
	Detail string `json:"detail"`        // English
}

// CleanupError stores the processes that an archive could not prove dead.
type CleanupError struct {
	Processes []process.Identity `json:"processes"`
	Reason    string             `json:"reason"` // the first of Failures, in English
	Failures  []CleanupFailure   `json:"failures,omitempty"`
	Attempts  int                `json:"attempts"`
	NotBefore time.Time          `json:"not_before"`
}

// Upkeep makes the next save no sign of life: ccbot tidies up, and nothing happens in the session.
func (r *Record) Upkeep() { r.upkeep = true }

// Become moves the record to state next and records the rule that decided it and the evidence, or
// returns an error when the transition table does not allow it. It changes only the value in
// memory; the worker's save writes it to disk.
func (r *Record) Become(next State, now time.Time, rule Rule, why string) error {
	if !CanBecome(r.State, next) {
		return fmt.Errorf("a session cannot go from %q to %q", r.State, next)
	}
	r.note(r.change(next, now, rule, why))
	r.State = next
	return nil
}

// GoOn shows the session in another place from the turn on that begins at or after a position. The
// turns before it keep their place until the chat has all of them.
func (r *Record) GoOn(to Conversation, from talk.Cursor) {
	r.Earlier = slices.DeleteFunc(slices.Clone(r.Earlier), func(e talk.Shown) bool {
		i := slices.IndexFunc(r.Cursors, e.Until.IsBeside)
		return i < 0 || e.Until.Precedes(r.Cursors[i])
	})
	if r.Conversation.ChatID != 0 && from.Path != "" {
		r.Earlier = append(r.Earlier, talk.Shown{Until: from, In: r.Conversation})
	}
	r.Move(to)
}

// Stay takes back what GoOn has done for a prompt that has begun no turn, and reports whether it had done anything.
func (r *Record) Stay(to Conversation, from talk.Cursor) bool {
	last := len(r.Earlier) - 1
	if last < 0 || r.Conversation != to || r.Earlier[last].Until != from {
		return false
	}
	r.Conversation, r.Earlier = r.Earlier[last].In, r.Earlier[:last:last]
	return true
}

// LaunchMode returns the permission mode in which the agent has begun; empty: the agent's own choice.
func (r *Record) LaunchMode() string {
	switch {
	case r.InAuto:
		return string(port.ModeAuto)
	case r.Launch != nil:
		return r.Launch.PermissionMode
	}
	return ""
}

// Turns counts the turns of the session that its transcript shows. It is at least 1 if anything was
// said, also before a /clear, and 0 only if nothing was.
func (r *Record) Turns() int {
	n := r.Progress.Turns
	if r.Progress.OpenTurn != nil {
		n++
	}
	shown := slices.ContainsFunc(r.Cursors, func(c talk.Cursor) bool { return c.Offset > 0 })
	if shown || r.Progress.Offset > 0 || len(r.EarlierSessionIDs) > 0 || r.Phase == string(talk.PhaseWorking) || talk.Phase(r.Phase).Waiting() {
		n = max(n, 1)
	}
	return n
}

// Move shows the session in another place. The limits that it was started with go with it.
func (r *Record) Move(to Conversation) {
	r.Next = Conversation{}
	if r.Terms == 0 && to.ChatID != r.Conversation.ChatID {
		r.Terms = r.Conversation.ChatID
	}
	r.Conversation = to
}

// Note adds a line to the history that changes no state. If the line equals the last one, only the
// time of the last one is updated.
func (r *Record) Note(now time.Time, rule Rule, why string) {
	c := r.change(r.State, now, rule, why)
	if last := len(r.History) - 1; last >= 0 {
		before := r.History[last]
		if before.At = c.At; before == c {
			r.History[last] = c
			return
		}
	}
	r.note(c)
}

func (r *Record) change(to State, now time.Time, rule Rule, why string) Change {
	return Change{At: now.UTC(), From: r.State, To: to, Rule: rule, Why: clip.Bytes(why, whyLimit, "…")}
}

func (r *Record) note(c Change) {
	r.History = append(r.History, c)
	if extra := len(r.History) - historyLimit; extra > 0 {
		r.History = slices.Delete(r.History, 0, extra)
	}
}

// Namer is the rule that made a session's name.
type Namer string

// The rules that make names; a name that a person chose has none and is never replaced by one.
const (
	NamedByFolder Namer = "folder" // until the first prompt names the session's subject
	NamedByPrompt Namer = "prompt"
)

// formerNames bounds the names that still lead to a session.
const formerNames = 5

// Rename sets another name of the session. The former one still leads to it.
func (r *Record) Rename(name string, by Namer) {
	former := slices.DeleteFunc(append(r.FormerNames, r.Name), func(n string) bool { return n == name || n == "" })
	former = slices.Clone(former[max(0, len(former)-formerNames):])
	r.Name, r.NamedBy, r.FormerNames = name, by, former
}

// Owns reports whether the conversation may stand for this session: it was not closed as stale in
// favour of another one.
func (r *Record) Owns() bool { return r.ClosedReason != ClosedStale }

// Agent returns the process that the session is bound to, or zero.
func (r *Record) Agent() process.Identity {
	if r.Binding == nil {
		return process.Identity{}
	}
	return r.Binding.Agent
}

// Processes returns every process that the record knows as the session's own, alive or not.
func (r *Record) Processes() []process.Identity {
	all := slices.Clone(r.Bound)
	if b := r.Binding; b != nil {
		all = append(all, b.Agent)
		if b.AgentServer.Valid() {
			all = append(all, b.AgentServer)
		}
	}
	for _, tool := range r.Descendants {
		all = append(all, tool.Process)
	}
	if r.Cleanup != nil {
		all = append(all, r.Cleanup.Processes...)
	}
	return all
}

// HasAgent reports whether a process is the bound agent, or the server of that agent.
func (r *Record) HasAgent(id process.Identity) bool {
	b := r.Binding
	return b != nil && (b.Agent == id || id.Valid() && b.AgentServer == id)
}

// Interrupted reports whether a restore has no known window: the restore was cut short, or has not
// made its window yet.
func (r *Record) Interrupted() bool { return r.State == Restoring && r.Binding == nil }

// Enqueue appends the prompts that are not in the queue yet, and reports whether there were any.
func (r *Record) Enqueue(keys ...string) bool {
	before := len(r.Prompts)
	for _, key := range keys {
		if !slices.Contains(r.Prompts, key) {
			r.Prompts = append(r.Prompts, key)
		}
	}
	return len(r.Prompts) > before
}

// Crashed reports whether the session is completed because its agent crashed.
func (r Record) Crashed() bool {
	return r.State == Completed && r.Exit != nil && r.Exit.Crashed()
}

// shorten drops the history of an ended session.
func (r *Record) shorten() {
	if r.short = r.State.HasEnded() && len(r.History) > 0; r.short {
		r.History = nil
	}
}

// Folder is the directory in which the session works.
func (r Record) Folder() string { return cmp.Or(r.NowDir, r.Dir) }

// Clone returns a deep copy.
func (r Record) Clone() Record {
	r.EarlierSessionIDs, r.FormerNames = slices.Clone(r.EarlierSessionIDs), slices.Clone(r.FormerNames)
	r.Cursors, r.Earlier = slices.Clone(r.Cursors), slices.Clone(r.Earlier)
	r.Prompts = slices.Clone(r.Prompts)
	r.Bound, r.Descendants, r.SecondWriters = slices.Clone(r.Bound), slices.Clone(r.Descendants), slices.Clone(r.SecondWriters)
	r.History, r.News = slices.Clone(r.History), slices.Clone(r.News)
	r.unknown = maps.Clone(r.unknown) // the values are never changed in place
	r.Binding, r.IdleAfter = clone(r.Binding), clone(r.IdleAfter)
	r.Exit = clone(r.Exit)
	r.Usage = clone(r.Usage)
	if r.ModeRequest = clone(r.ModeRequest); r.ModeRequest != nil {
		r.ModeRequest.Passed = slices.Clone(r.ModeRequest.Passed)
	}
	r.Interruption, r.Progress.OpenTurn = clone(r.Interruption), clone(r.Progress.OpenTurn)
	r.GitStart, r.GitNow = clone(r.GitStart), clone(r.GitNow)
	r.Progress.Tasks = slices.Clone(r.Progress.Tasks)
	r.Launch = clone(r.Launch)
	if r.Launch != nil {
		r.Launch.Flags = slices.Clone(r.Launch.Flags)
	}
	r.Cleanup = clone(r.Cleanup)
	if r.Cleanup != nil {
		r.Cleanup.Processes = slices.Clone(r.Cleanup.Processes)
		r.Cleanup.Failures = slices.Clone(r.Cleanup.Failures)
	}
	return r
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// check returns the reason for which a record cannot be used.
func (r *Record) check() error {
	switch {
	case r.ID == uuid.Nil:
		return fmt.Errorf("id is missing")
	case !isValid(r.State):
		return fmt.Errorf("state %q is not known", r.State)
	case r.Dir == "":
		return fmt.Errorf("dir is missing")
	case r.AgentSessionID == uuid.Nil:
		return fmt.Errorf("agent_session_id is missing")
	case r.CreatedAt.IsZero():
		return fmt.Errorf("created_at is missing")
	}
	return nil
}
