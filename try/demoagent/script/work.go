package script

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Playground is the file that lets the agent really write in its folder: without the file it only
// pretends to.
const Playground = ".ccbot-demo"

// maxWork bounds the calls of one piece of work.
const maxWork = 200

// tasks are the to-do items of a piece of work.
var tasks = []string{"Read what is there", "Change the colours", "Run the tests"}

// workSteps is a turn of n tool calls without permissions, between to-do lists. The second of the
// commands fails.
func workSteps(n int) []Step {
	calls := []Call{
		{Name: "Read", Path: "colours.conf"}, {Name: "Grep", Command: "colour"},
		{Name: "Edit", Path: "colours.conf", Real: true}, {Name: "Bash", Command: "make test", Fails: true},
		{Name: "Write", Path: "notes.md", Real: true}, {Name: "Bash", Command: "make test && sleep 1"},
	}
	n = min(max(n, 1), maxWork)
	var steps []Step
	for i := range n {
		if done := i * len(tasks) / n; i == 0 || done != (i-1)*len(tasks)/n {
			steps = append(steps, Step{Tool: &Call{Name: "TodoWrite", Done: done, Free: true}})
		}
		c := calls[i%len(calls)]
		c.Free = true
		steps = append(steps, Step{Tool: &c})
	}
	steps = append(steps, Step{Tool: &Call{Name: "TodoWrite", Done: len(tasks), Free: true}})
	return append(steps, Step{Text: fmt.Sprintf("All %d steps are done: the colours are **blue** now, and the tests pass.", n)})
}

// Todos returns the input of TodoWrite with the given number of items done.
func Todos(done int) map[string]any {
	all := make([]map[string]string, len(tasks))
	for i, text := range tasks {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		all[i] = map[string]string{"content": text, "status": status, "activeForm": text}
	}
	return map[string]any{"todos": all}
}

// Change adds a line to the call's file, where its folder is a playground.
func (c Call) Change(cwd string) error {
	if !c.Real {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(cwd, Playground)); err != nil {
		return nil //nolint:nilerr // it only pretends to
	}
	text := EditNew
	if c.Name == "Write" {
		text = "# Notes\n\nThe colours are blue since " + time.Now().Format(time.TimeOnly) + ".\n"
	}
	return os.WriteFile(filepath.Join(cwd, c.Path), []byte(text), 0o600)
}
