package uninstall

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/host/received"
	"ccbot/internal/each"
	"ccbot/internal/process"
	"ccbot/tmux"
)

// Do is one step.
type Do int

// The steps, in their order.
const (
	EndAgents Do = iota
	StopBot
	RemoveHooks
	CloseTmux
	ClearInboxes
	RemoveCompletions
	RemoveState
)

// order are all steps.
var order = []Do{EndAgents, StopBot, RemoveHooks, CloseTmux, ClearInboxes, RemoveCompletions, RemoveState}

// Step is a step with something to do.
type Step struct {
	Do       Do
	What     []string // found, a line each
	Question string
	Kept     string // the reason why the step is not taken now; "": it may be taken
}

// World is everything on which Plan decides.
type World struct {
	Dir    string // CCBOT_DIR
	LinkTo string // the target of Dir if it is a link

	Sessions []Session
	Doubts   []string // the reasons why it is not proven that all other agents have ended
	Messages int      // accepted and not finished
	Posts    int      // not sent
	Unsaid   int      // sessions with an answer that is not sent

	Bot  int    // the process of the running bot; 0: none
	Unit string // file of the service of this folder; "": none

	Hooks     []string // events with hooks of this folder
	HooksFile string
	HooksErr  string // the reason why the file cannot be read or edited

	TmuxSession string
	Sleepers    []tmux.Pane // the panes that ccbot has made for no session, in TmuxSession
	Control     string      // the control client's session; "": the server has no such session

	Boxes       []received.Box
	Completions []string

	Known   []string // entries of Dir that are ccbot's
	Unknown []string

	Others []string // found, and never removed, a line each
}

// Plan returns the steps that have something to do. It is pure.
func Plan(w World) (steps []Step) {
	ends, runs := w.unended(), w.running()
	for _, s := range []Step{
		{EndAgents, w.sessions(), fmt.Sprintf("End %s? Each agent is ended with proof; its conversation stays.",
			terminal.Several(len(w.Sessions), "session")), ""},
		{StopBot, w.bot(), "Stop the bot, and remove its service?", ""},
		{RemoveHooks, w.hooks(), "Take ccbot's hooks out of Claude Code's settings?", cmp.Or(ends, runs, w.HooksErr)},
		{CloseTmux, w.tmux(), "Close ccbot's own windows in tmux, in which nothing but `sleep` runs?", cmp.Or(ends, runs)},
		{ClearInboxes, w.inboxes(), "Remove the files from the chat in these folders?", cmp.Or(ends, runs)},
		{RemoveCompletions, w.Completions, "Remove the completions of the shell?", ""},
		{RemoveState, w.state(), w.stateQuestion(), cmp.Or(ends, runs, w.linked(), w.hooked())},
	} {
		if len(s.What) > 0 {
			steps = append(steps, s)
		}
	}
	return steps
}

// unended is the reason why hooks and state stay: an agent lives, or its end is not proven.
func (w World) unended() string {
	switch {
	case len(w.Sessions) > 0:
		return terminal.Several(len(w.Sessions), "session") + " not ended"
	case len(w.Doubts) > 0:
		return strings.Join(w.Doubts, "; ")
	}
	return ""
}

func (w World) running() string {
	switch {
	case w.Bot != 0:
		return fmt.Sprintf("the bot runs, process %d", w.Bot)
	case w.Unit != "":
		return "the service would start the bot again"
	}
	return ""
}

// linked is the reason why a folder that is a link stays.
func (w World) linked() string {
	if w.LinkTo == "" {
		return ""
	}
	return fmt.Sprintf("it is a link to %s; remove the link and that folder by hand", terminal.Printable(w.LinkTo))
}

// hooked is the reason why the folder stays as long as hooks write into it.
func (w World) hooked() string {
	if len(w.hooks()) == 0 {
		return ""
	}
	return "the hooks in " + terminal.Printable(w.HooksFile) + " write into it"
}

func (w World) sessions() []string {
	return each.As(w.Sessions, func(s Session) string {
		lives := map[process.Liveness]string{process.Alive: "its agent lives", process.Gone: "its agent has ended"}[s.Agent]
		return fmt.Sprintf("%s, %s in %s: %s", terminal.Printable(s.Name), s.State, terminal.Printable(s.Dir),
			cmp.Or(lives, "it is not known whether its agent lives"))
	})
}

func (w World) bot() (all []string) {
	if w.Bot != 0 {
		all = append(all, fmt.Sprintf("the bot, process %d", w.Bot))
	}
	if w.Unit != "" {
		all = append(all, "its service, "+terminal.Printable(w.Unit))
	}
	return all
}

func (w World) hooks() []string {
	if len(w.Hooks) == 0 && w.HooksErr == "" {
		return nil
	}
	return []string{strings.TrimSpace("hooks in " + terminal.Printable(w.HooksFile) + " " + strings.Join(w.Hooks, ", "))}
}

func (w World) tmux() (all []string) {
	if len(w.Sleepers) > 0 {
		all = append(all, "the sleeping window of the tmux session "+terminal.Printable(w.TmuxSession))
	}
	if w.Control != "" {
		all = append(all, "the tmux session "+terminal.Printable(w.Control))
	}
	return all
}

// inboxes are the folders with something to remove. A file that is not on record stays, and its
// folder with it.
func (w World) inboxes() (all []string) {
	for _, b := range w.Boxes {
		if b.Recorded > 0 || len(b.Others) == 0 {
			all = append(all, terminal.Printable(filepath.Join(b.Dir, received.Folder)))
		}
	}
	return all
}

func (w World) state() []string {
	if len(w.Known) == 0 {
		return nil
	}
	return []string{"the state folder " + terminal.Printable(w.Dir)}
}

// stateQuestion names what a person may want to keep, and what is lost.
func (w World) stateQuestion() string {
	var named []string
	for _, name := range []string{"ccbot.env", "prices.json"} {
		if slices.Contains(w.Known, name) {
			named = append(named, name)
		}
	}
	for _, name := range []string{"backups", "quarantine"} {
		if slices.Contains(w.Known, name) {
			named = append(named, name+"/")
		}
	}
	text := "Delete the state folder " + terminal.Printable(w.Dir)
	if len(named) > 0 {
		text += " with its " + strings.Join(named, ", ")
	}
	if w.Messages+w.Posts+w.Unsaid > 0 {
		text += ", and " + w.unfinished()
	}
	return text + "? This cannot be undone."
}

// unfinished counts the messages and answers that a deletion of the state loses.
func (w World) unfinished() string {
	return fmt.Sprintf("%s not finished, %s not sent, %s with an answer that is not sent",
		terminal.Several(w.Messages, "accepted message"), terminal.Several(w.Posts, "message"), terminal.Several(w.Unsaid, "session"))
}

// living counts the agents that live, and the agents that may live.
func (w World) living() (alive, unknown int) {
	for _, s := range w.Sessions {
		switch s.Agent {
		case process.Alive:
			alive++
		case process.Unknown:
			unknown++
		}
	}
	return alive, unknown
}
