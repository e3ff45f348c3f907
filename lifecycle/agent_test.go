package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/tmux"
)

// agent is a scripted Claude Code. Its fields are changed with set.
type agent struct {
	mu         sync.Mutex
	id         process.Identity
	server     process.Identity // its second process; zero: it has none
	pane       tmux.PaneID
	session    uuid.UUID // the one in its presence file
	dir        string    // the folder there
	box        string
	shell      bool   // bash mode: "!" is shown in place of the prompt sign
	running    string // the command of bash mode that runs
	status     presence.Status
	waitingFor string
	since      time.Time // updatedAt of the presence file
	dialog     bool
	menu       *menu // asks this instead of showing a box
	hidden     bool  // its screen shows nothing that is known
	silent     bool  // it writes no presence file
	strange    bool  // its presence file is of an earlier process with its pid
	unreadable error
	deaf       bool     // it does not take Enter, nor Esc
	mute       bool     // it has written nothing yet: Esc puts the text back
	background bool     // its subagents work in the background
	beside     bool     // with background: a turn runs also
	ended      bool     // that turn was interrupted
	retry      string   // says that a request has failed, and when it is made again
	continues  bool     // after a limit it continues by itself, until Esc
	slow       bool     // it draws nothing of what is typed
	modes      []string // permission modes as the footer calls them, in the order of their key; none: it has one, and no key for it
	mode       int      // index into modes
	models     []string // of its list; none: it has no list
	model      int      // index into models
	onMode     func(a *agent)
	onModels   func(a *agent)
	onPaste    func(a *agent)
	onEnter    func(a *agent)
	onClear    func(a *agent)

	said    []string // submitted texts
	inputs  int      // how often something was typed
	chosen  int      // how often Enter went into a dialog
	strayed string   // text that went into a dialog
	escapes int
	escaped time.Time // when the last Esc came
	cleared int       // how often the box was cleared
	folded  bool      // the draft is shown as a placeholder
	stuck   bool      // it does not take the key that clears

	vim  string // the mode of vim, as the footer calls it; "NORMAL" has no name there; empty: no vim
	exit int    // C-c presses at an empty box that follow each other
}

func (a *agent) set(change func(a *agent)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// writer is the process that writes the conversation. The server is set at the launch only.
func (a *agent) writer() process.Identity {
	if a.server.Valid() {
		return a.server
	}
	return a.id
}

func (a *agent) pidText() string { return strconv.Itoa(a.id.PID) }

func (a *agent) heard() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.said)
}

func (a *agent) input(data string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inputs++
	switch {
	case a.menu != nil:
		a.menu.press(a, data)
	case data == "\r" && a.dialog:
		a.chosen++
	case data == "\r" && (a.deaf || strings.HasPrefix(a.vim, "VISUAL")):
	case data == "\r", data == "\x13": // C-s, which a person may have bound
		a.said, a.box, a.shell = append(a.said, a.box), "", false
		if a.onEnter != nil {
			a.onEnter(a)
		}
	case data == "\x15" && a.dialog:
	case data == "\x15":
		a.cleared++
		a.shell = a.shell && a.box != ""
		switch {
		case a.stuck:
		case a.vim == "NORMAL" && a.box != "":
			a.box = a.box[len(a.box)-1:]
		default:
			a.box = ""
		}
		if a.onClear != nil {
			a.onClear(a)
		}
	case data == "\x03":
		a.interrupted()
	case data == "\x1b[Z" && !a.dialog:
		if a.mode++; a.mode >= len(a.modes) {
			a.mode = 0
		}
		if a.onMode != nil {
			a.onMode(a)
		}
	case data == "\x1bp" && !a.dialog:
		if a.models != nil {
			a.menu = a.modelList()
		}
		if a.onModels != nil {
			a.onModels(a)
		}
	case data == "\x1b":
		a.escapes++
		a.escaped = time.Now()
		switch {
		case a.vim != "" && a.vim != "NORMAL":
			a.vim = "NORMAL"
		case a.running != "":
			a.box, a.shell, a.running, a.status = a.running, true, "", presence.Idle
		case a.status == presence.Busy && a.mute:
			a.box, a.status = a.said[len(a.said)-1], presence.Idle
		case a.continues:
			a.continues = a.deaf
		case a.status == presence.Busy && a.beside:
			a.ended = true // its presence file stays as it is
		case a.status == presence.Busy && !a.deaf:
			a.status = presence.Idle
		}
	case a.dialog:
		a.strayed += data
	default:
		if rest, ok := strings.CutPrefix(data, "!"); ok && a.box == "" {
			a.shell, data = true, rest
		}
		a.box += data
		if a.onPaste != nil {
			a.onPaste(a)
		}
	}
}

// interrupted handles C-c: it ends a turn, otherwise it empties the box in every mode of vim. A
// second C-c at an empty box ends Claude Code.
func (a *agent) interrupted() {
	switch {
	case a.status == presence.Busy && a.mute:
		a.box, a.status = a.said[len(a.said)-1], presence.Idle
	case a.status == presence.Busy:
		a.status = presence.Idle
	case a.box != "":
		a.cleared++
		a.box = ""
	default:
		a.exit++
	}
}

func (a *agent) screen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	rule := strings.Repeat("─", 60)
	if a.hidden {
		return "something else\n"
	}
	if a.menu != nil {
		return a.menu.screen()
	}
	if a.dialog {
		return "● Running Bash.\n\n" + rule + "\n Bash command\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	}
	mode := "⏸ manual mode on"
	if len(a.modes) > 0 {
		mode = a.modes[a.mode]
	}
	if a.vim != "" && a.vim != "NORMAL" {
		mode = "-- " + a.vim + " -- " + mode
	}
	footer := "  " + mode + " · ? for shortcuts"
	if a.status == presence.Busy && (!a.background || a.beside && !a.ended) {
		footer = "  " + mode + " · esc to interrupt"
	}
	if a.continues {
		footer = "  ⚠ Usage limit reached · limit resets 9:23pm\n    Continuing automatically at 9:23pm · Esc to cancel\n" + footer
	}
	box := a.box
	if a.slow {
		box = ""
	}
	if a.folded && box != "" {
		box = "[Pasted text #1 +30 lines]"
	}
	sign := "❯"
	if a.shell {
		sign = "!"
	}
	said := "● hello\n\n"
	if a.running != "" {
		said += "! " + a.running + "\n  ⎿  one\n     two\n     … +3 lines (2s)\n     (ctrl+b ctrl+b (twice) to run in background)\n\n"
	}
	if a.retry != "" {
		said += "✻ " + a.retry + "\n\n"
	}
	if a.background {
		said += "✻ Waiting for 1 background agent to finish\n\n"
		footer += "\n\n  ● main\n  ◯ general-purpose  an agent     3s"
	}
	if a.background && a.beside {
		said += "❯ hello\n\n● word\n"
	}
	if a.background && a.ended {
		said += "  ⎿ \u00a0Interrupted · What should Claude do instead?\n\n"
	}
	return said + rule + "\n" + sign + "\u00a0" + strings.ReplaceAll(box, "\n", "\n  ") + "\n" + rule + "\n" + footer + "\n"
}

// modelList is its list of models.
func (a *agent) modelList() *menu {
	m := &menu{head: []string{"  Select model", "  Your pick is the default for new sessions."},
		foot: "  s to use this session only · Enter to save · Esc to cancel", selected: a.model}
	for i, name := range a.models {
		if i == a.model {
			name += " ✔"
		}
		m.options = append(m.options, fmt.Sprintf("%-24s what it is good for", name))
	}
	m.onKey = func(m *menu, key string) {
		if key == "s" {
			a.model = m.selected
			a.menu = nil
		}
	}
	return m
}

// TestFakeAgentLooksReal holds the stand-in to what the reader of screens sees.
func TestFakeAgentLooksReal(t *testing.T) {
	a := &agent{status: presence.Idle}
	s := claudeui.Read(a.screen())
	assert.True(t, s.Box.Present && s.Box.Empty && !s.Box.Bash && s.Dialog == nil && !s.Busy)
	a.input("one\ntwo")
	s = claudeui.Read(a.screen())
	assert.True(t, s.Box.Present && !s.Box.Empty && claudeui.Reader{}.Holds(s.Box, "one\ntwo"), "%+v", s.Box)
	a.status = presence.Busy
	assert.True(t, claudeui.Read(a.screen()).Busy)
	assert.False(t, claudeui.Read(a.screen()).Background)
	a.background = true
	assert.False(t, claudeui.Read(a.screen()).Busy)
	assert.True(t, claudeui.Read(a.screen()).Background)
	a.dialog = true
	s = claudeui.Read(a.screen())
	require.NotNil(t, s.Dialog)
	assert.False(t, s.Box.Present)
	assert.Equal(t, []string{"Yes", "No"}, s.Dialog.Options)
	a = &agent{hidden: true}
	s = claudeui.Read(a.screen())
	assert.False(t, s.Box.Present || s.Dialog != nil)
	a = &agent{}
	a.input("!ls")
	s = claudeui.Read(a.screen())
	assert.True(t, s.Box.Bash && s.Box.Text == "ls")
}
