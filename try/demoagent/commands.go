package demoagent

import (
	"fmt"
	"strings"

	"ccbot/try/demoagent/brain"
	"ccbot/try/demoagent/script"
)

// runCommand does a slash command. No UserPromptSubmit hook sees it.
func (a *agent) runCommand(p brain.Prompt) {
	text := strings.TrimSpace(p.Plain)
	name, args, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	switch name {
	case "exit", "quit":
		a.brain.Quit(0, "prompt_input_exit")
		return
	case "clear", "new", "reset":
		a.clear()
	case "resume", "continue":
		a.resumeInside(args)
	case "compact":
		a.compact(args)
		return // a separate turn
	case "status", "config", "usage":
		a.settingsPage(name, args)
	case "help":
		a.openPage(name, args, strings.Split(script.HelpText, "\n"))
	case "context", "cost":
		a.say(userEntry, text)
		a.local(name, args, "Context used: 1k of 200k tokens (1%). Cost: $0.00, as nothing was asked.")
	default:
		a.say(assistantEntry, "Unknown command: /"+name)
		a.write(a.transcript.system("informational", line{"content": "Unknown command: /" + name, "level": "warning"}))
	}
	if a.dialog == nil {
		a.brain.Next()
	}
}

// local is a command whose output goes to the person only.
func (a *agent) local(name, args, stdout string) {
	a.say(noteEntry, stdout)
	a.write(a.transcript.command(name, args, stdout)...)
}

func (a *agent) openPage(name, args string, text []string) {
	a.openDialog(&page{text: text, foot: "←/→ to switch · Esc to close"}, func(*outcome) {
		a.write(a.transcript.command(name, args, "Status dialog dismissed")...)
		a.brain.Next()
	})
}

func (a *agent) settingsPage(name, args string) {
	row := func(key, value string) string { return fmt.Sprintf("%s%-28s%s%s", bold, key+":", plain, value) }
	a.openPage(name, args, []string{
		blue + bold + "Settings" + plain + "  Status   Config   Usage   Stats", "",
		row("Version", version), row("Session ID", a.id.String()), row("Session kind", "interactive"), row("cwd", a.cwd),
		row("Auth token", "none"), "", row("Model", "Demo agent (every word is scripted)"),
	})
}

// clear begins a new conversation: new id, new file, the same process with the same, now stale,
// arguments.
func (a *agent) clear() {
	ended := a.payload("SessionEnd", map[string]any{"reason": "clear"})
	a.changeID()
	begun := a.payload("SessionStart", map[string]any{"source": "clear"})
	a.say(userEntry, "/clear")
	a.write(a.transcript.command("clear", "", "")...)
	a.brain.Async(func() {
		a.hooks.run(a.brain.Context(), "SessionEnd", "clear", ended)
		a.hooks.run(a.brain.Context(), "SessionStart", "clear", begun)
	}, func() {})
	a.runStatusLine()
}

// resumeInside continues with another conversation in the same process, whose arguments are stale
// from then on. Without an id the real one shows a list.
func (a *agent) resumeInside(args string) {
	a.say(userEntry, "/resume "+args)
	old := a.payload("SessionEnd", map[string]any{"reason": "resume"})
	id, err := parseID(strings.TrimSpace(args))
	if err == nil {
		other := *a.start
		other.options.resume, other.options.fork = id, false
		if err = other.resume(); err == nil {
			a.id, a.transcript, a.entries = id, other.transcript, other.entries
		}
	}
	if err != nil {
		a.say(noteEntry, err.Error())
		return
	}
	begun := a.payload("SessionStart", map[string]any{"source": "resume", "model": model})
	a.brain.Async(func() {
		a.hooks.run(a.brain.Context(), "SessionEnd", "resume", old)
		a.hooks.run(a.brain.Context(), "SessionStart", "resume", begun)
	}, func() {})
	a.runStatusLine()
}

// compact keeps id and file; the summary is invented.
func (a *agent) compact(args string) {
	t := a.brain.NewTurn()
	a.state(t).hook = "PreCompact"
	a.say(userEntry, strings.TrimSpace("/compact "+args))
	const summary = "The demo agent remembers everything and summarises nothing."
	before := a.payload("PreCompact", map[string]any{"trigger": "manual", "custom_instructions": args})
	again := a.payload("SessionStart", map[string]any{"source": "compact", "model": model})
	after := a.payload("PostCompact", map[string]any{"trigger": "manual", "compact_summary": summary})
	a.brain.Async(func() {
		a.hooks.run(t.Context, "PreCompact", "manual", before)
		a.hooks.run(t.Context, "SessionStart", "compact", again)
		a.hooks.run(t.Context, "PostCompact", "manual", after)
	}, func() {
		if a.brain.Turn() != t {
			return
		}
		logical := a.transcript.parent
		a.transcript.parent = nil
		a.write(append([]line{
			a.transcript.system("compact_boundary", line{"content": "Conversation compacted", "level": "info", "logicalParentUuid": logical,
				"compactMetadata": line{"trigger": "manual", "preTokens": 13895, "postTokens": 3316}}),
			a.transcript.note("This session is being continued from a previous conversation that ran out of context. "+summary,
				line{"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
		}, a.transcript.command("compact", args, "Compacted")...)...)
		a.say(noteEntry, "Compacted (ctrl+o to see full summary)")
		a.brain.Rest(t)
	})
}
