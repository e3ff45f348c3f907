package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// Outcomes of a text during whose typing an event occurs.
const (
	outOnce  = "delivered once"
	outAsked = "asked"
	outKept  = "in the box" // the agent had taken it, and an Esc has put it back
	outTwice = "twice"
	outAfter = "after /stop"
	outLost  = "lost"
)

// typedRow is an event during the typing of a text into the real CLI.
type typedRow struct {
	name string
	text string // the text; WORD is the row's own word
	kill string // the failpoint at which ccbot dies; "": it lives
	seen string // the chat's text if the prompt arrived; "": see the transcript
	// before runs before the text is sent, act after the kill, or after the text is sent.
	before, act func(d *typedTerminal)
	want        []string // the outcomes that are right
}

// typedGroup are rows that one world takes one after another: its sessions have the same hook.
type typedGroup struct {
	name    string
	event   string // of a hook in the project's settings; "": none
	command string
	adopted bool
	rows    []typedRow
}

// typedTerminal is the state of a row after its text was sent.
type typedTerminal struct {
	*world
	desk    *personTerminal
	at      string // the pane of the agent, for tmux
	row     typedRow
	word    string
	sent    int  // message of the text
	before  int  // how often the transcripts had the word when it was stopped
	stopped bool // the chat has sent /stop
	escaped bool // Esc was pressed, by ccbot or in the terminal
	down    bool // ccbot is dead
	keeps   bool // a person's paste is in the box
	handed  bool // after Esc the agent has put the text back into its box
}

// waitsForRelease is a hook that lasts until its row makes the file "released", however slow the machine is.
const waitsForRelease = `until [ -e "$CLAUDE_PROJECT_DIR/released" ]; do sleep 0.2; done; true`

const longText = "say WORD\n2\n3\n4\n5\n6"

// typedGroups are the rows of docs/claude-code.md, "A typed prompt".
var typedGroups = []typedGroup{
	{name: "before the first token", rows: []typedRow{
		{name: "/stop", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.stop() }, want: []string{outAsked}},
		{name: "/stop of a long paste", text: "mute 60 WORD\n2\n3\n4\n5\n6", act: func(d *typedTerminal) { d.taken(); d.stop() }, want: []string{outAsked}},
		{name: "/stop, then a kill", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.hurriedStop(); d.die() }, want: []string{outAsked, outKept}},
		{name: "Esc in the terminal", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.key("Escape"); d.inBox() }, want: []string{outKept}},
		{name: "Esc in the terminal, then a kill", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.key("Escape"); d.inBox(); d.die() }, want: []string{outKept}},
	}},
	{name: "slow UserPromptSubmit hook", event: "UserPromptSubmit", command: "grep -q word- && " + waitsForRelease, rows: []typedRow{
		{name: "no Esc", text: "say WORD", act: func(d *typedTerminal) { d.works() }, want: []string{outOnce}},
		{name: "no Esc, a kill", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.die() }, want: []string{outOnce}},
	}},
	{name: "slow UserPromptSubmit hook, a stop", event: "UserPromptSubmit", command: "grep -q word- && " + waitsForRelease, rows: []typedRow{
		{name: "/stop", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.stop() }, want: []string{outAsked}},
		{name: "/stop, then a kill", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.hurriedStop(); d.die() }, want: []string{outAsked, outKept}},
	}},
	{name: "slow UserPromptSubmit hook, the terminal", event: "UserPromptSubmit", command: "grep -q word- && " + waitsForRelease, rows: []typedRow{
		{name: "Esc in the terminal", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.key("Escape"); d.inBox() }, want: []string{outKept}},
	}},
	{name: "slow UserPromptSubmit hook, the terminal and a kill", event: "UserPromptSubmit", command: "grep -q word- && " + waitsForRelease, rows: []typedRow{
		{name: "Esc in the terminal, then a kill", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.key("Escape"); d.inBox(); d.die() }, want: []string{outKept}},
	}},
	{name: "slow SessionStart hook", event: "SessionStart", command: waitsForRelease, rows: []typedRow{
		{name: "no Esc", text: "say WORD", act: func(d *typedTerminal) { d.works() }, want: []string{outOnce}},
		{name: "no Esc, a kill", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.die() }, want: []string{outOnce}},
	}},
	{name: "slow SessionStart hook, a stop", event: "SessionStart", command: waitsForRelease, rows: []typedRow{
		{name: "/stop", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.stop() }, want: []string{outAsked}},
		{name: "/stop, then a kill", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.hurriedStop(); d.die() }, want: []string{outAsked}},
	}},
	{name: "slow SessionStart hook, the terminal", event: "SessionStart", command: waitsForRelease, rows: []typedRow{
		{name: "Esc in the terminal", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.key("Escape"); d.inBox() }, want: []string{outAsked}},
	}},
	{name: "slow SessionStart hook, the terminal and a kill", event: "SessionStart", command: waitsForRelease, rows: []typedRow{
		{name: "Esc in the terminal, then a kill", text: "say WORD", act: func(d *typedTerminal) { d.works(); d.key("Escape"); d.inBox(); d.die() }, want: []string{outAsked}},
	}},
	{name: "blocking UserPromptSubmit hook", event: "UserPromptSubmit",
		command: `grep -q blocked && printf '{"decision":"block","reason":"not on a Friday"}' || true`, rows: []typedRow{
			{name: "it refuses", text: "say blocked WORD", seen: "not on a Friday", want: []string{outOnce}},
			{name: "it refuses, a kill at Enter", kill: "entered+0", text: "say blocked WORD", seen: "not on a Friday", want: []string{outOnce}},
		}},
	{name: "the conversation changes", rows: []typedRow{
		{name: "/clear in the terminal after Enter", text: "say WORD", kill: "entered+0", act: func(d *typedTerminal) { d.taken(); d.line("/clear") }, want: []string{outOnce}},
		{name: "/compact in the terminal after Enter", text: "say WORD", kill: "entered+0", act: func(d *typedTerminal) { d.taken(); d.line("/compact") }, want: []string{outOnce}},
		{name: "/clear before the paste", text: "say WORD", kill: "typing-marked", act: func(d *typedTerminal) { d.line("/clear") }, want: []string{outAsked}},
		{name: "/compact before the paste", text: "say WORD", kill: "typing-marked", act: func(d *typedTerminal) { d.line("/compact") }, want: []string{outAsked}},
		{name: "/clear in the terminal, then a kill", text: "say WORD", act: func(d *typedTerminal) { d.said(); d.line("/clear"); d.die() }, want: []string{outOnce}},
		{name: "/compact in the terminal, then a kill", text: "say WORD", act: func(d *typedTerminal) { d.said(); d.line("/compact"); d.die() }, want: []string{outOnce}},
		{name: "after /clear in the terminal, a kill at the mark", text: "say WORD", kill: "typing-marked", before: func(d *typedTerminal) { d.cleared() }, want: []string{outOnce}},
		{name: "after /clear in the terminal, a kill after Enter", text: "say WORD", kill: "entered+0", before: func(d *typedTerminal) { d.cleared() }, want: []string{outOnce}},
		{name: "after /compact in the terminal, a kill after Enter", text: "say WORD", kill: "entered+0", before: func(d *typedTerminal) { d.line("/compact") }, want: []string{outOnce}},
		{name: "after /clear from the chat, a kill at its Enter", text: "say WORD", kill: "entered+0", before: func(d *typedTerminal) { d.say("/clear") }, want: []string{outOnce}},
		{name: "after /compact from the chat, a kill at its Enter", text: "say WORD", kill: "entered+0", before: func(d *typedTerminal) { d.say("/compact") }, want: []string{outOnce}},
		{name: "/clear from the chat, a kill at its Enter", text: "/clear", kill: "entered+0", want: []string{outOnce, outAsked}},
		{name: "/compact from the chat, a kill at its Enter", text: "/compact WORD", kill: "entered+0", want: []string{outOnce, outAsked}},
	}},
	{name: "a person clears the box", rows: []typedRow{
		{name: "after the paste", text: "say WORD", kill: "pasted", act: func(d *typedTerminal) { d.key("C-u"); d.boxIs("") }, want: []string{outAsked}},
	}},
	{name: "a person presses Up", rows: []typedRow{
		{name: "after the paste", text: "say WORD", kill: "pasted", act: func(d *typedTerminal) { d.key("C-u"); d.boxIs(""); d.key("Up") }, want: []string{outAsked}},
	}},
	{name: "a person presses Up later", rows: []typedRow{
		{name: "after Enter", text: "say WORD", kill: "entered+0", act: func(d *typedTerminal) { d.taken(); d.idle(); d.key("Up"); d.inBox() }, want: []string{outOnce}},
	}},
	{name: "the queue", rows: []typedRow{
		{name: "/stop of the turn before it", text: "say WORD", before: func(d *typedTerminal) { d.busy() }, act: func(d *typedTerminal) { d.queued(); d.stop() }, want: []string{outAsked}},
		{name: "/stop of the turn before it, then a kill", text: "say WORD", before: func(d *typedTerminal) { d.busy() }, act: func(d *typedTerminal) { d.queued(); d.hurriedStop(); d.die() }, want: []string{outAsked}},
	}},
	{name: "a person types the same text", rows: []typedRow{
		{name: "after the paste", text: "say WORD", kill: "pasted", act: func(d *typedTerminal) {
			d.key("C-u")
			d.boxIs("")
			d.desk.tmux("send-keys", "-t", d.desk.last(), "-l", "--", "say "+d.word)
			d.inBox()
		}, want: []string{outOnce, outAsked}},
	}},
	{name: "a person pastes as many lines", rows: []typedRow{
		{name: "after the paste", text: longText, kill: "pasted", act: func(d *typedTerminal) {
			d.key("C-u")
			d.boxIs("")
			d.tmux("set-buffer", "-b", "other", "a person's own\n2\n3\n4\n5\n6")
			d.tmux("paste-buffer", "-p", "-r", "-d", "-b", "other", "-t", d.at)
			d.key("Left") // tmux does not count a paste as a key
			d.key("End")
			d.until("the placeholder shows", func() bool { return d.shows("[Pasted text #") })
			d.keeps = true
		}, want: []string{outAsked}},
	}},
	{name: "adopted", adopted: true, rows: []typedRow{
		{name: "a kill at the mark", text: "say WORD", kill: "typing-marked", want: []string{outOnce, outAsked}},
		{name: "a kill after the paste", text: "say WORD", kill: "pasted", want: []string{outOnce}},
		{name: "a kill after Enter", text: "say WORD", kill: "entered+0", want: []string{outOnce}},
		{name: "/stop before the first token", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.stop() }, want: []string{outAsked}},
		{name: "Esc in the terminal", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.key("Escape"); d.inBox() }, want: []string{outKept}},
		{name: "a person clears the box after the paste", text: "say WORD", kill: "pasted", act: func(d *typedTerminal) { d.key("C-u"); d.boxIs("") }, want: []string{outAsked}},
		{name: "/stop, then a kill", text: "mute 60 WORD", act: func(d *typedTerminal) { d.taken(); d.hurriedStop(); d.die() }, want: []string{outAsked, outKept}},
	}},
}

// TestRealP4_TypedPromptSurvivesEvents sends texts to the real CLI during events: Esc from the chat
// or the terminal, slow or refusing hooks, another conversation, keys, the end of ccbot. No text
// arrives twice or after a /stop, and the session accepts the next text.
func TestRealP4_TypedPromptSurvivesEvents(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	counts := make(map[string]map[string]int)
	t.Cleanup(func() {
		var rows strings.Builder
		for _, g := range typedGroups {
			for _, row := range g.rows {
				c := counts[g.name+": "+row.name]
				hook, _, _ := strings.Cut(g.name, ",") // without the part that only separates worlds
				fmt.Fprintf(&rows, "| %s: %s | %d | %d | %d | %d | %d | %d |\n", hook, row.name, c[outOnce], c[outAsked], c[outKept], c[outTwice], c[outAfter], c[outLost])
			}
		}
		reportTable(t, "Events during the typing, real CLI",
			"| | delivered once | asked | in the box | twice | after /stop | lost |\n|---|---:|---:|---:|---:|---:|---:|\n", rows.String())
	})
	for _, g := range typedGroups {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			w, _ := newRealWorld(t)
			if g.event != "" {
				w.projectHook(g.event, g.command)
			}
			w.start()
			name, at := "work", "=ccbot:=work"
			if g.adopted {
				_, at, _, _ = w.adopted()
			} else {
				w.open("work", w.dir)
				if g.event != "SessionStart" {
					w.hear(w.say("say the first"), "the first")
				}
			}
			for round := range rounds(t) {
				for i, row := range g.rows {
					if g.event == "SessionStart" && (i > 0 || round > 0) { // the hook runs once in a session
						w.end(name)
						name = fmt.Sprintf("work-%d-%d", i, round)
						w.open(name, w.dir)
						at = "=ccbot:=" + name
					}
					label := g.name + ": " + row.name
					got := w.comesUpon(at, row, fmt.Sprintf("word-%d-%d", i, round))
					mu.Lock()
					if counts[label] == nil {
						counts[label] = make(map[string]int)
					}
					counts[label][got]++
					mu.Unlock()
					assert.Contains(t, row.want, got, label)
				}
			}
			w.stop()
		})
	}
}

// projectHook adds a hook to the project.
func (w *world) projectHook(event, command string) {
	w.t.Helper()
	data, err := json.Marshal(map[string]any{"hooks": map[string]any{event: []any{map[string]any{
		"hooks": []any{map[string]any{"type": "command", "command": command, "timeout": 600}}}}}})
	require.NoError(w.t, err)
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, ".claude"), 0o700))
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, ".claude", "settings.json"), data, 0o600))
}

// comesUpon sends a text, runs the row's event, and returns the outcome of the text.
func (w *world) comesUpon(at string, row typedRow, word string) string {
	w.t.Helper()
	d := &typedTerminal{world: w, at: at, row: row, word: word}
	file := filepath.Join(w.t.TempDir(), "reached")
	if row.kill != "" {
		w.drained()
		w.stop()
		w.start("CCBOT_FAILPOINT="+row.kill, "CCBOT_FAILFILE="+file)
	}
	if row.before != nil {
		row.before(d)
	}
	d.sent = w.say(strings.ReplaceAll(row.text, "WORD", word))
	if row.kill != "" {
		w.until("the bot has reached "+row.kill, func() bool { _, err := os.Stat(file); return err == nil || w.bot.over() })
		if !w.bot.over() {
			w.kill9()
		}
		d.down = true
	}
	if row.act != nil {
		row.act(d)
	}
	d.back()
	if !d.escaped {
		d.makes("released")
	}
	var seen time.Time // since when the box has it again
	shown := false
	d.until("it is there, or asked about", func() bool {
		if !strings.Contains(d.boxText(), d.word) {
			seen = time.Time{}
		} else if seen.IsZero() {
			seen = time.Now()
		}
		shown = d.escaped && !seen.IsZero() && time.Since(seen) > time.Second           // otherwise the screen may be out of date
		return d.asked() || len(d.inboxStates()) == 0 && (shown || d.came() > d.before) // after a /stop the agent may put it back late
	})
	if d.handed && !shown { // while the agent draws anew, one look may miss it
		d.until("the box still has it, or it is asked about", func() bool {
			shown = strings.Contains(d.boxText(), d.word)
			return shown || d.asked()
		})
	} else if d.escaped && !d.asked() && !shown && strings.Contains(d.boxText(), d.word) {
		time.Sleep(time.Second)
		shown = strings.Contains(d.boxText(), d.word)
	}
	asked := d.asked()
	d.makes("released")
	d.next()
	w.drained()
	require.NoError(w.t, os.Remove(filepath.Join(w.dir, "released"))) // the next hook waits again
	switch n := d.came(); {
	case d.stopped && n > d.before:
		return outAfter
	case n > 1:
		return outTwice
	case asked:
		return outAsked
	case shown:
		return outKept
	case n == 1:
		return outOnce
	}
	return outLost
}

// came counts how often the text has come to the agent.
func (d *typedTerminal) came() int {
	switch {
	case d.row.seen != "":
		return len(d.after(d.sent, func(m botapi.Message) bool { return strings.Contains(m.Text, d.row.seen) }))
	case strings.HasPrefix(d.row.text, "/"):
		return 1 - min(1, len(d.inboxStates()))
	}
	return d.saidTo(d.word)
}

func (d *typedTerminal) asked() bool { return len(d.questions()) > 0 }

// shows reports whether the agent's terminal shows a text.
func (d *typedTerminal) shows(text string) bool {
	return strings.Contains(d.tmux("capture-pane", "-p", "-t", d.at), text)
}

// questions returns the chat's questions about the text.
func (d *typedTerminal) questions() []botapi.Message {
	return d.after(d.sent, func(m botapi.Message) bool { _, ok := discards(m); return ok })
}

// next sends another text: questions are dropped, and a person's draft is removed from the box.
func (d *typedTerminal) next() {
	d.t.Helper()
	discard := d.discarder(d.questions)
	discard()
	if d.keeps {
		require.True(d.t, d.shows("[Pasted text #"), "what a person has pasted stays")
		d.key("C-u")
	}
	next := strings.Replace(d.word, "word", "next", 1)
	id := d.say("say " + next)
	var sent time.Time
	d.until("the next text is answered", func() bool {
		for _, m := range d.after(id, func(botapi.Message) bool { return true }) {
			if _, ok := m.Find("Send anyway"); ok && time.Since(sent) > 3*time.Second {
				sent = time.Now()
				d.tap(m, "Send anyway")
			}
			if m.Text == next {
				return true
			}
		}
		return false
	})
	d.until("the inbox is empty", func() bool { discard(); return len(d.inboxStates()) == 0 })
}

// said waits until the transcript has the text.
func (d *typedTerminal) said() {
	d.t.Helper()
	d.until("the agent has the text", func() bool { return d.saidTo(d.word) > 0 })
}

// taken waits until the agent works on the text.
func (d *typedTerminal) taken() {
	d.t.Helper()
	d.said()
	d.works()
}

// entered reports whether the chat says that a message is with the agent.
func (d *typedTerminal) entered(message int) bool {
	all := d.reactionsOf(message)
	return slices.Contains(all, "✍") || slices.Contains(all, "👌")
}

// works waits until the agent is busy with the text.
func (d *typedTerminal) works() {
	d.t.Helper()
	if !d.down {
		d.until("Enter is pressed", func() bool { return d.entered(d.sent) })
	}
	d.until("the agent works", func() bool { return d.shows("esc to interrupt") || d.down && d.saidTo(d.word) > 0 })
}

// busy has the agent answer another text for a while.
func (d *typedTerminal) busy() {
	d.t.Helper()
	slow := d.say("slow 60")
	d.until("Enter is pressed", func() bool { return d.entered(slow) }) // the screen may show the turn before for a while
	d.until("the agent works", func() bool { return d.shows("esc to interrupt") })
}

// queued waits until the text is queued after a turn.
func (d *typedTerminal) queued() {
	d.t.Helper()
	d.until("the text waits", func() bool { return slices.Contains(d.inboxStates(), "held") })
}

// idle waits until no turn runs.
func (d *typedTerminal) idle() {
	d.t.Helper()
	d.until("the agent is idle", func() bool { return !d.shows("esc to interrupt") && d.boxText() == "" })
}

// stop has the chat stop the agent.
func (d *typedTerminal) stop() {
	d.t.Helper()
	d.hurriedStop()
	d.until("/stop is answered in words", func() bool { return d.heardAfter(d.sent, "nterrupted") || d.heardAfter(d.sent, "Stopped.") })
}

// hurriedStop does not wait for what the chat says.
func (d *typedTerminal) hurriedStop() {
	d.t.Helper()
	d.before, d.stopped, d.escaped = d.saidTo(d.word), true, true
	d.say("/stop")
	d.until("the agent is interrupted", func() bool { return !d.shows("esc to interrupt") })
}

// sitDown attaches a terminal to the agent's window.
func (d *typedTerminal) sitDown() {
	d.t.Helper()
	if d.desk == nil {
		d.desk = d.newPersonTerminal()
		d.desk.open("env", "-u", "TMUX", "tmux", "-L", d.socket, "attach-session", "-t", d.at)
		d.until("the desk is attached", func() bool { return d.desk.screen(d.desk.last()) != "" })
	}
}

// key presses a key in the person's terminal.
func (d *typedTerminal) key(name string) {
	d.t.Helper()
	d.sitDown()
	d.escaped = d.escaped || name == "Escape"
	time.Sleep(1100 * time.Millisecond) // tmux dates keys by the second
	d.desk.tmux("send-keys", "-t", d.desk.last(), name)
}

// line types a line in the person's terminal and waits until it was carried out.
func (d *typedTerminal) line(text string) {
	d.t.Helper()
	d.idle()
	d.sitDown()
	d.desk.tmux("send-keys", "-t", d.desk.last(), "-l", "--", text)
	d.until("the line is in the box", func() bool { return strings.Contains(d.boxText(), text) })
	d.desk.tmux("send-keys", "-t", d.desk.last(), "Enter")
	d.until("the command is done", func() bool { return d.boxText() == "" && !d.shows("esc to interrupt") })
	time.Sleep(time.Second)
}

// cleared types /clear in the person's terminal and waits until ccbot has followed it: the mark of
// a text for the conversation before proves nothing about the new one.
func (d *typedTerminal) cleared() {
	d.t.Helper()
	before := d.claudeID()
	d.line("/clear")
	d.until("the record has the new conversation", func() bool { return d.claudeID() != before })
}

// inBox waits until the box has the text.
func (d *typedTerminal) inBox() {
	d.t.Helper()
	d.until("the text is in the box", func() bool { return strings.Contains(d.boxText(), d.word) })
	d.handed = d.escaped
}

func (d *typedTerminal) boxIs(text string) {
	d.t.Helper()
	d.until("the box has "+text, func() bool { return d.boxText() == text })
}

// boxText is the first row of the prompt box.
func (d *typedTerminal) boxText() string {
	rows := strings.Split(d.tmux("capture-pane", "-p", "-t", d.at), "\n")
	for _, row := range slices.Backward(rows) {
		if text, ok := strings.CutPrefix(row, "❯"); ok {
			return strings.Trim(text, " \u00a0")
		}
	}
	return ""
}

// die ends ccbot with -9.
func (d *typedTerminal) die() {
	d.t.Helper()
	d.kill9()
	d.down = true
}

// back starts ccbot again.
func (d *typedTerminal) back() {
	d.t.Helper()
	if d.down {
		d.start()
		d.down = false
	}
}
