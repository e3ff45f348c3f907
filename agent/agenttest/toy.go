package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	toys "ccbot/agent/toy"
	"ccbot/try/demoagent/brain"
	"ccbot/try/demoagent/script"
	"ccbot/try/demoagent/terminal"
)

// ToyName is the name under which a program must call [Toy].
const ToyName = toys.Program

// toy is a second outside for the brain of the demo agent. It has no hooks and no modes, chooses
// the id of its conversation itself, and writes transcripts of its own form. Its presence file and
// its prompt box have the shape of Claude Code's, with the least that they need.
type toy struct {
	brain    *brain.Brain
	config   string
	id       uuid.UUID
	path     string // of the transcript
	presence string // the last content of the presence file, without its time
	started  time.Time

	screen []string
	box    string
	ask    *request
}

// request is an open dialog.
type request struct {
	call     script.Call
	done     func(script.Call, script.Result)
	selected int
}

// Toy runs the toy agent until its end and returns the exit code.
func Toy(args, env []string, in, out *os.File) int {
	if slices.Contains(args, "--version") {
		fmt.Fprintln(out, "2.1.328 (toy)") // ccbot refuses what it takes for an older Claude Code
		return 0
	}
	y := &toy{id: uuid.New(), started: time.Now()}
	dir, err := os.Getwd()
	if err != nil {
		return 1
	}
	o := brain.Options{In: in, Out: out, Title: ToyName, Env: env, Dir: dir}
	for _, one := range env {
		switch name, value, _ := strings.Cut(one, "="); name {
		case "CLAUDE_CONFIG_DIR":
			y.config = value
		case "DEMOAGENT_LOG":
			o.Log = value
		}
	}
	y.path = filepath.Join(toys.Folder(y.config), toys.Name(y.id))
	if len(args) == 2 { // "resume ID" or "copy ID"
		if err := y.resume(args[1], args[0] == "copy"); err != nil {
			fmt.Fprintln(out, err)
			return 1
		}
	}
	y.brain = brain.New(o)
	return y.brain.Run(context.Background(), y)
}

// resume continues a conversation in its file, or copies it for a fork.
func (y *toy) resume(old string, fork bool) error {
	id, err := uuid.Parse(old)
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(y.path), toys.Name(id))
	data, err := os.ReadFile(path)
	if err == nil && fork {
		return os.WriteFile(y.path, data, 0o600)
	}
	y.id, y.path = id, path
	return err
}

// Open does nothing: the toy is ready at once.
func (y *toy) Open() {}

// Press is a key for the dialog or the box.
func (y *toy) Press(in terminal.Input) {
	switch {
	case y.ask != nil:
		y.answer(in)
	case in.Key == terminal.Text || in.Key == terminal.Paste:
		y.box += in.Text
	case in.Key == terminal.Enter && strings.TrimSpace(y.box) != "":
		p := brain.Prompt{Kind: brain.Words, Text: y.box, Plain: y.box, Session: y.id}
		y.box = ""
		y.brain.Submit(p)
	case in.Key == terminal.Escape && y.brain.Turn() != nil:
		y.brain.Interrupt()
	case in.Key == terminal.Interrupt, in.Key == terminal.KillLine:
		y.box = ""
	}
}

func (y *toy) answer(in terminal.Input) {
	switch {
	case in.Key == terminal.Up, in.Text == "1":
		y.ask.selected = 0
	case in.Key == terminal.Down, in.Text == "2":
		y.ask.selected = 1
	}
	ask := y.ask
	switch {
	case in.Key == terminal.Escape, ask.selected == 1 && (in.Key == terminal.Enter || in.Text == "2"):
		y.ask = nil
		y.brain.Interrupt()
	case in.Key == terminal.Enter, in.Text == "1":
		y.ask = nil
		ask.done(ask.call, script.Result{})
	}
}

// Ask opens a dialog, which only the terminal shows.
func (y *toy) Ask(_ *brain.Turn, c script.Call, done func(script.Call, script.Result)) {
	y.ask = &request{call: c, done: done}
}

// Do is for commands, and the toy has none.
func (y *toy) Do(brain.Prompt) {}

// Note writes the transcript.
func (y *toy) Note(e brain.Event, then func()) {
	switch e.Kind {
	case brain.Prompted:
		for _, p := range e.Prompts {
			y.say("❯ " + p.Plain)
			y.write(toys.Prompt, p.Text)
		}
	case brain.Said:
		y.say("● " + e.Text)
		y.write(toys.Words, e.Text)
		if e.Call != nil {
			y.write(toys.Call, e.Call.Command)
		}
	case brain.Ran:
		y.write(toys.Result, e.Result.Text)
	case brain.Failed:
		y.say("● " + e.Text)
		y.write(toys.Error, e.Text)
	case brain.Finished:
		y.write(toys.End, "")
	case brain.Interrupted:
		y.ask = nil
		y.say("Interrupted")
		y.write(toys.Stop, "")
	}
	then()
}

func (y *toy) say(text string) { y.screen = append(y.screen, strings.Split(text, "\n")...) }

// write appends a line to the transcript.
func (y *toy) write(kind toys.Kind, text string) {
	err := os.MkdirAll(filepath.Dir(y.path), 0o700)
	if err == nil {
		err = appendTo(y.path, []byte(toys.Line{Kind: kind, At: time.Now(), Text: text}.String()))
	}
	if err != nil {
		y.say(err.Error())
	}
}

func appendTo(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Draw writes the presence file and draws the conversation above the dialog or the box.
func (y *toy) Draw(width, height int) []string {
	status, bottom := "idle", []string{strings.Repeat("─", width)}
	box := y.box
	if n := strings.Count(box, "\n"); n > 2 {
		box = fmt.Sprintf("[Pasted text #1 +%d lines]", n) // a box taller than the window cannot be read
	}
	for i, row := range strings.Split(box, "\n") {
		bottom = append(bottom, map[bool]string{true: "❯\u00a0", false: "  "}[i == 0]+row)
	}
	bottom = append(bottom, strings.Repeat("─", width), "  ? for shortcuts")
	lines := slices.Clone(y.screen)
	if t := y.brain.Turn(); t != nil {
		status = "busy"
		if t.Streamed != "" {
			lines = append(lines, "● "+t.Streamed)
		}
		bottom[len(bottom)-1] = "  esc to interrupt"
	}
	if y.ask != nil {
		status = "waiting"
		bottom = []string{strings.Repeat("─", width), " " + y.ask.call.Command, " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"}
		if y.ask.selected == 1 {
			bottom[3], bottom[4] = "   1. Yes", " ❯ 2. No"
		}
	}
	y.keepPresence(status)
	var rows []string
	for _, l := range append(lines, "") {
		for ; len([]rune(l)) > width; l = string([]rune(l)[width:]) {
			rows = append(rows, string([]rune(l)[:width]))
		}
		rows = append(rows, l)
	}
	rows = append(rows, bottom...)
	return append(rows[max(len(rows)-height, 0):], make([]string, max(height-len(rows), 0))...)
}

func (y *toy) presenceFile() string {
	return filepath.Join(y.config, "sessions", strconv.Itoa(os.Getpid())+".json")
}

func (y *toy) keepPresence(status string) {
	stat, err := os.ReadFile("/proc/self/stat")
	if now := y.id.String() + status; err != nil || now == y.presence {
		return
	}
	y.presence = y.id.String() + status
	_, after, _ := strings.Cut(string(stat), ") ")
	file := map[string]any{"pid": os.Getpid(), "sessionId": y.id, "procStart": strings.Fields(after)[19], "kind": "interactive", "status": status,
		"startedAt": y.started.UnixMilli(), "updatedAt": time.Now().UnixMilli(), "statusUpdatedAt": time.Now().UnixMilli()}
	if status == "waiting" {
		file["waitingFor"] = "permission prompt"
	}
	data, err := json.Marshal(file)
	if err == nil && os.MkdirAll(filepath.Dir(y.presenceFile()), 0o700) == nil {
		_ = os.WriteFile(y.presenceFile(), data, 0o600) // without it the screen counts
	}
}

// Close removes the presence file.
func (y *toy) Close(string) string {
	_ = os.Remove(y.presenceFile())
	return ""
}
