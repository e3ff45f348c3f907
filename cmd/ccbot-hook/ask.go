package main

import (
	"context"

	"ccbot/internal/hookwire"
)

// ask relays a permission request of a launch of ccbot's own and prints what a person decided.
// Whatever else comes, nothing is printed: the dialog in the terminal stands.
func (h hook) ask(launch string, a hookwire.Ask) error {
	if launch == "" {
		return nil
	}
	// A person takes longer than the bound. Claude Code ends the hook with a signal when the dialog
	// was left with Esc.
	h.outlive()
	a.Received = h.now().UTC()
	a.Launch = launch
	a.Boot = hookwire.BootID()
	a.TranscriptSize = sizeOf(a.TranscriptPath)
	// 0: the bot asks the kernel anyway
	a.AgentPID, a.AgentStart, _ = hookwire.ClaudeProcess(h.getenv)
	answer, err := hookwire.Relay(context.Background(), h.dir, a)
	if err != nil || answer.Decision == nil {
		return err
	}
	// One write: half a decision must not be printed when the hook is killed.
	_, err = h.stdout.Write(append(append([]byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`),
		answer.Decision...), "}}\n"...))
	return err
}
