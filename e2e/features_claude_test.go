//go:build linux

package e2e

import "slices"

// grouped names the group of rows.
func grouped(group string, rows ...feature) []feature {
	for i := range rows {
		rows[i].group = group
	}
	return rows
}

// claudeFeatures are the rows for Claude Code.
func claudeFeatures() []feature {
	return slices.Concat(
		grouped("tools", claudeTools()...), grouped("background", claudeBackground()...), grouped("questions", claudeQuestions()...),
		grouped("modes", claudeModes()...), grouped("states", claudeStates()...), grouped("desk", claudeDesk()...),
		grouped("hooks", claudeHooks()...), grouped("commands", claudeCommands()...), grouped("start", claudeStarts()...))
}

// untilFree is a command that needs a permission and runs until the test makes the file "free".
const untilFree = "touch began; until [ -e FOLDER/free ]; do sleep 0.1; done"

func claudeTools() []feature {
	allow := func(say, asks string) act { return act{say: say, hears: asks, tap: "Allow", then: "tool result"} }
	return []feature{
		{name: "a command, allowed", steps: []act{
			{say: "bash touch made", hears: "wants to run a command", tap: "Allow", then: "tool result", makes: "made"}}},
		{name: "a command, denied", steps: []act{
			{say: "bash touch made", hears: "wants to run a command", tap: "Deny", then: "Denied in the chat", lacks: "made"}}},
		{name: "two commands in one answer", always: true, steps: []act{
			{say: "twice touch made", hears: "wants to run a command", tap: "Allow", then: "Allowed in the chat", makes: "made"},
			{tap: "Allow", then: "tool result"}}},
		{name: "a long command, and a text meanwhile", lists: "working", holds: "work is working", leaves: []act{{frees: "free", then: "tool result"}},
			steps: []act{{say: "bash " + untilFree + "; echo it is free", hears: "wants to run a command", tap: "Allow", then: "Allowed in the chat"}}},
		{name: "a large output", steps: []act{allow("bash touch made; seq 60000", "wants to run a command")}},
		{name: "a file is written", steps: []act{
			{say: "write FOLDER/made", hears: "wants to write a file", tap: "Allow", then: "tool result", makes: "made"}}},
		{name: "a file is changed", files: map[string]string{"notes": "before\n"}, steps: []act{allow("edit FOLDER/notes", "wants to change a file")}},
		{name: "a notebook is changed", files: map[string]string{"a.ipynb": notebook}, steps: []act{
			{say: "read FOLDER/a.ipynb", hears: "tool result"},
			{say: `use NotebookEdit {"notebook_path":"FOLDER/a.ipynb","cell_id":"one","new_source":"2"}`, hears: "wants to ", tap: "Allow", then: "tool result"}}},
		{name: "a picture is read", files: map[string]string{"a.png": dot}, steps: []act{{say: "read FOLDER/a.png", hears: "tool result"}}},
		{name: "a web page, denied", steps: []act{{say: "fetch 1", hears: "wants to open a web page", tap: "Deny", then: "Denied in the chat"}}},
		{name: "a web search, denied", steps: []act{{say: `use WebSearch {"query":"ccbot"}`, hears: "wants to search the web", tap: "Deny", then: "Denied in the chat"}}},
		{name: "a skill that is not there", steps: []act{{say: `use Skill {"skill":"none"}`, hears: "tool result"}}},
		{name: "findings of a review", steps: []act{{say: `use ReportFindings {"findings":[]}`, hears: "tool result"}}},
		{name: "a tool that is offered on demand", steps: []act{{say: `use CronList {}`, hears: "Looking for the tool", then: "tool result"}}},
		{name: "a list of agents", steps: []act{{say: `use ListAgents {}`, hears: "tool result"}}},
		{name: "a message to nobody", steps: []act{{say: `use SendMessage {"to":"nobody","message":"hello","summary":"a greeting"}`, hears: "tool result"}}},
		{name: "an answer of 9000 characters", steps: []act{{say: "long 9000", hears: "line 00001"}}},
		{name: "an empty answer", steps: []act{{say: "say", hears: "work is done"}}},
	}
}

const notebook = `{"cells":[{"cell_type":"code","id":"one","metadata":{},"source":["1"],"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}`

// dot is a picture of one point.
const dot = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc\xf8\x0f\x00\x01\x01\x01\x00\x1b\xb6\xeeV\x00\x00\x00\x00IEND\xaeB`\x82"

func claudeBackground() []feature {
	serve := act{say: "serve exec sleep 7654323", hears: "wants to run a command", tap: "Allow", then: "tool result"}
	const oneAgent = "1 agent in the background"
	runs := act{say: "agent slow 600", shows: "1 background agent"}
	focus := act{say: "/focus", hears: "Focus view enabled"}
	monitor := act{say: `use Monitor {"command":"` + untilFree + `; sleep 7654","description":"watch","timeout_ms":600000,"persistent":true}`,
		hears: "wants to use Monitor", tap: "Allow", then: "tool result"}
	workflow := act{say: `use Workflow {"script":"export const meta = {name: 'w', description: 'd', phases: [{title: 'one'}]}\nawait agent('slow 600')\n"}`,
		hears: "wants to use Workflow", tap: "Allow"}
	drawn := workflow
	drawn.shows = "dynamic workflow"
	noRow := map[string]any{"showTurnDuration": false}
	inWords := []string{"CLAUDE_FLAGS=--ax-screen-reader"}
	return []feature{
		{name: "a server", lists: "1 background command", ending: "1 background command", steps: []act{serve}},
		{name: "two servers", lists: "2 background commands", ending: "2 background commands", steps: []act{serve, serve}},
		{name: "a command that ends by itself", steps: []act{
			{say: "serve " + untilFree, hears: "wants to run a command", tap: "Allow", then: "tool result"}, {frees: "free"}}},
		{name: "a monitor", always: true, lists: "background", steps: []act{monitor}},
		{name: "a monitor in the focus view", lists: "background", steps: []act{focus, monitor}},
		{name: "a command that goes to the background by a key", lists: "1 background command", ending: "1 background command", steps: []act{
			{say: "bash " + untilFree, hears: "wants to run a command", tap: "Allow", shows: "ctrl+b"}, {key: "C-b", hears: "tool result"}}},
		{name: "a subagent", lists: oneAgent, ending: oneAgent, steps: []act{runs}},
		{name: "three subagents", lists: "3 agents in the background", ending: "3 agents", steps: []act{{say: "thrice slow 600", shows: "3 background agents"}}},
		{name: "a subagent ends while nobody writes", steps: []act{{say: "agent mute until FOLDER/free", shows: "1 background agent"}, {frees: "free", hides: "◯ general-purpose"}}},
		{name: "a subagent whose end is awaited", steps: []act{
			{say: `use Agent {"description":"count","prompt":"mute 1","subagent_type":"general-purpose","run_in_background":false}`, hears: "tool result"}}},
		{name: "a subagent in a worktree", inRepo: true, lists: oneAgent, ending: oneAgent, steps: []act{
			{say: `use Agent {"description":"count","prompt":"slow 600","subagent_type":"general-purpose","isolation":"worktree"}`, shows: "1 background agent"}}},
		{name: "a subagent, and no row about the turn", user: noRow, lists: "agent", steps: []act{
			{say: "agent slow 600", hears: "Running Agent"}}},
		{name: "a subagent in the focus view", always: true, lists: "agent", steps: []act{focus, runs}},
		{name: "a command of Claude Code while a subagent works", always: true, lists: oneAgent, steps: []act{runs, {say: "/context", hears: "Context "}}},
		{name: "a shell command while a subagent works", lists: oneAgent, steps: []act{runs, {say: "!echo of-the-shell", hears: "of-the-shell"}}},
		{name: "a subagent and a server", lists: "background", steps: []act{runs, serve}},
		{name: "a server that a subagent has left", lists: "background", ending: "1 background command", steps: []act{
			{say: "agent serve exec sleep 7654326", hears: "wants to run a command", tap: "Allow", shows: "waiting on 1 shell"}}},
		{name: "a workflow", always: true, lists: "background", steps: []act{drawn}},
		{name: "a workflow and a server", lists: "background", steps: []act{serve, drawn}},
		{name: "a workflow, and no row about the turn", user: noRow, lists: "background", steps: []act{workflow}},
		{name: "a subagent, in words for a screen reader", env: inWords, lists: oneAgent, ending: oneAgent, steps: []act{{say: "agent slow 600", hears: "Running Agent"}}},
		{name: "a workflow, in words for a screen reader", env: inWords, lists: "background", steps: []act{workflow}},
		{name: "a command of Claude Code while a subagent works, in words for a screen reader", env: inWords, lists: oneAgent,
			steps: []act{
				{say: "agent slow 600", hears: "Running Agent"}, {say: "/context", hears: "Context "}}},
		{name: "a turn of its own schedule", steps: []act{
			{say: `use CronCreate {"cron":"* * * * *","prompt":"say ticked","recurring":false}`, hears: "tool result"},
			{hears: "work begins a turn by a schedule of its own: “say ticked”", then: "ticked"}}},
		{name: "a wake-up that comes", steps: []act{
			{say: `use ScheduleWakeup {"delaySeconds":60,"reason":"soon","prompt":"say looped"}`, hears: "tool result"},
			{hears: "work begins a turn by a schedule of its own: “say looped”", then: "looped"}}},
		{name: "a wake-up that it has set", lists: "schedule of its own", steps: []act{
			{say: `use ScheduleWakeup {"delaySeconds":3000,"reason":"later","prompt":"say looped"}`, hears: "tool result"}}},
	}
}

func claudeQuestions() []feature {
	asks := act{say: "ask one", hears: "Which colour?"}
	answered := "Answered in the chat"
	inPlanMode := []string{"CLAUDE_FLAGS=--permission-mode plan"}
	return []feature{
		{name: "two questions", steps: []act{{say: "ask", hears: "Which database?", tap: "SQLite", then: "Which language?"}, {tap: "Go", then: answered}}},
		{name: "one question, and a text meanwhile", always: true, lists: "a question", holds: "work is waiting for your answer", steps: []act{asks},
			leaves: []act{{tap: "Blue"}}},
		{name: "a question with several answers", steps: []act{{say: "ask multi", hears: "Which features?", tap: "Logs"}, {tap: "Traces"},
			{tap: "Done", then: "→ Logs, Traces"}}},
		{name: "an answer in one's own words", steps: []act{{say: "ask one", hears: "Which colour?", tap: "Own words", then: "your next message"},
			{say: "green of the woods", then: "green of the woods"}}},
		{name: "a question, left at the desk", steps: []act{{say: "ask one", hears: "Which colour?", shows: "Enter to select"}, {key: "Escape", hides: "Enter to select", hears: "work is interrupted"}}},
		{name: "a question whose answers have a preview", steps: []act{{say: `use AskUserQuestion ` + withPreview, hears: "Which form?", tap: "Round", then: answered}}},
		{name: "a plan, approved", env: inPlanMode, steps: []act{{say: "plan", hears: "proposes a plan", tap: "Approve", then: "Approved in the chat"}}},
		{name: "a plan, approved with its edits", env: inPlanMode, steps: []act{{say: "plan", hears: "proposes a plan", tap: "Approve, allow edits", then: "Approved in the chat", shows: "accept edits on"}}},
		{name: "a plan, denied", env: inPlanMode, steps: []act{{say: "plan", hears: "proposes a plan", tap: "Deny", then: "Denied in the chat"}}},
		{name: "a form of an MCP server, declined", lists: "needs you", holds: "has something open", steps: []act{{say: "mcp one", hears: "MCP server “forms”"}},
			forms:  map[string]any{"one": form("Which one?", map[string]any{"a": map[string]any{"type": "boolean", "title": "First"}})},
			leaves: []act{{leave: true}}},
	}
}

const withPreview = `{"questions":[{"question":"Which form?","header":"Form","multiSelect":false,"options":[` +
	`{"label":"Round","description":"like a ball","preview":"( )"},{"label":"Square","description":"like a box","preview":"[ ]"}]}]}`

func claudeModes() []feature {
	return []feature{
		{name: "accept edits, by a key", always: true, steps: []act{{key: "BTab", shows: "accept edits on"}, {say: "write FOLDER/made", hears: "tool result", makes: "made"}}},
		{name: "accept edits, by its button", steps: []act{{say: "/mode", hears: "Permission mode: Manual", tap: "Accept edits", then: "Permission mode: Accept edits"},
			{say: "write FOLDER/made", hears: "tool result", makes: "made"}}},
		{name: "plan mode, by a key", steps: []act{{key: "BTab", shows: "accept edits on"}, {key: "BTab", shows: "plan mode on"}}},
		{name: "bypass", env: []string{"CLAUDE_FLAGS=--dangerously-skip-permissions", "AGENT_ENV_IS_SANDBOX=1"}, steps: []act{
			{say: "bash touch made", hears: "tool result", makes: "made"}}},
		{name: "bypass, after its question", asked: true, env: []string{"CLAUDE_FLAGS=--dangerously-skip-permissions", "AGENT_ENV_IS_SANDBOX=1"},
			starting: []act{{hears: "Bypass Permissions", tap: "Yes, I accept"}}, steps: []act{{say: "bash touch made", hears: "tool result", makes: "made"}}},
		{name: "a model, by its button", steps: []act{{say: "/mode", hears: "Model: ", tap: "Sonnet", then: "Model: Sonnet"}}},
	}
}

func claudeStates() []feature {
	return []feature{
		{name: "an API error", lists: "API error", steps: []act{{say: "error 400", hears: "stopped with an error from Claude"}}},
		{name: "API error 403", always: true, lists: "logged out", steps: []act{{say: "error 403", hears: "work is logged out"}}},
		{name: "a used limit", account: true, lists: "limit reached until", holds: "The limit of work lasts", leaves: []act{{tap: "Send now"}},
			steps: []act{{say: "limit 3600", hears: "work has reached a limit"}, {hears: "After that this can be sent"}}},
		{name: "credit that is used up", lists: "API error", steps: []act{{say: "refuse Your credit balance is too low to access the Anthropic API.", hears: "Add credit"}}},
		{name: "an API that fails again and again", steps: []act{{say: "error 500", hears: "gets an error from Claude"}, {say: "/stop", hears: "was not carried out"}}},
		{name: "API error 529", lists: "API error", steps: []act{{say: "error 529", hears: "stopped with an error from Claude"}}},
		{name: "a turn without a word", lists: "working", holds: "work is working", leaves: []act{{frees: "free"}},
			steps: []act{{say: "mute until FOLDER/free", shows: "esc to interrupt"}}},
		{name: "a turn, stopped", steps: []act{{say: "slow 600", shows: "slow word slow word"}, {say: "/stop", hears: "work is interrupted"}}},
		{name: "a text is sent at once", lists: "working", holds: "work is working", leaves: []act{{tap: "Interrupt and send", then: "work is interrupted"}},
			steps: []act{{say: "slow 600", shows: "slow word slow word"}}},
		{name: "a conversation is cleared", steps: []act{{say: "say hello", hears: "hello"}, {say: "/clear", hears: "work now has a new, empty conversation"}}},
		{name: "a conversation is compacted", steps: []act{{say: "say hello", hears: "hello"}, {say: "/compact", hears: "Compacted"}}},
		{name: "a shell command of a minute", lists: "working", holds: "work is working", leaves: []act{{frees: "free", hears: "of-the-shell"}},
			steps: []act{{say: "!" + untilFree + "; echo of-the-shell", makes: "began"}}},
		{name: "a shell command with &", steps: []act{{say: "!sleep 7654324 & echo of-the-shell", hears: "of-the-shell"}}},
		{name: "a text of many lines", steps: []act{{say: "say one\ntwo\n/three\n# four", hears: "/three"}}},
	}
}

func claudeDesk() []feature {
	hello := act{say: "say hello", hears: "hello", idle: true}
	mute := act{say: "mute until FOLDER/free", shows: "esc to interrupt"}
	return []feature{
		{name: "a prompt is typed", steps: []act{{types: "say typed", hears: "typed"}}},
		{name: "a prompt is typed into a turn", steps: []act{mute, {types: "say typed"}, {frees: "free", hears: "typed"}}},
		{name: "a turn ends by Esc", steps: []act{{say: "slow 600", shows: "slow word slow word"}, {key: "Escape", hears: "work is interrupted"}}},
		{name: "a draft is left", always: true, holds: "holds a draft", steps: []act{hello, {key: "half", shows: "half"}},
			leaves: []act{{tap: "Send anyway", then: "half"}}},
		{name: "the help is left open", steps: []act{hello, {key: "?", shows: "ctrl+z to suspend"}}},
		{name: "it is suspended", always: true, lists: "needs you", holds: "has something open", steps: []act{hello, {key: "C-z", shows: "suspended. Run", hears: "work is suspended"}},
			leaves: []act{{hears: "work is suspended", tap: "Continue"}}},
		{name: "the transcript is left open", lists: "needs you", holds: "has something open", steps: []act{hello, {key: "C-o", shows: "detailed transcript"}},
			leaves: []act{{leave: true}}},
		{name: "the search of earlier prompts is left open", lists: "needs you", holds: "has something open", steps: []act{hello, {key: "C-r", shows: "earch"}},
			leaves: []act{{leave: true}}},
		{name: "the list of earlier prompts is left open", lists: "needs you", holds: "has something open", steps: []act{hello,
			{key: "Escape"}, {key: "Escape", shows: "Rewind"}}, leaves: []act{{leave: true}}},
		{name: "the window is scrolled back", holds: "is scrolled back in a terminal", steps: []act{hello, {back: true}},
			leaves: []act{{tap: "Leave the scrolled view and send"}}},
		{name: "ctrl+c is pressed once", steps: []act{hello, {key: "C-c", shows: "again to exit"}}},
		{name: "the list of tasks is toggled", steps: []act{hello, {key: "C-t"}}},
		{name: "← in the empty box", steps: []act{hello, {key: "Left"}}},
		{name: "bash mode is left open", holds: "is in bash mode", steps: []act{hello, {key: "!", shows: "! for "}},
			leaves: []act{{key: "BSpace"}}},
		{name: "a shell command is typed", steps: []act{hello, {key: "!", shows: "! for "}, {types: "echo of-the-shell", hears: "of-the-shell"}}},
	}
}

func claudeHooks() []feature {
	hook := func(event, command string) map[string]any {
		return map[string]any{"hooks": map[string]any{event: []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}}}
	}
	return []feature{
		{name: "Stop makes it go on", always: true, project: hook("Stop", `[ -e once ] || { touch once; echo '{"decision":"block","reason":"say continues"}'; }`), steps: []act{
			{say: "say hello", hears: "hello"}}},
		{name: "Stop takes 5 s", project: hook("Stop", "sleep 5"), steps: []act{{say: "say hello", hears: "hello"}}},
		{name: "a tool is refused", project: hook("PreToolUse", "echo not today >&2; exit 2"), steps: []act{{say: "bash touch made", hears: "not today", lacks: "made"}}},
		{name: "a prompt is refused", project: hook("UserPromptSubmit", "grep -q FORBID && { echo not today >&2; exit 2; } || exit 0"), steps: []act{{say: "say FORBID", hears: "not today"}}},
		{name: "a hook prints an error", project: hook("PostToolUse", "echo broken >&2; exit 1"), steps: []act{{say: "bash touch made", hears: "wants to run a command", tap: "Allow", then: "tool result"}}},
	}
}

// claudeCommands are commands of Claude Code: those that print, those that open a page, and those of which nothing is expected.
func claudeCommands() []feature {
	// The oldest version keeps nothing that a command says before the first prompt.
	first := act{say: "say first", hears: "first"}
	rows := []feature{
		{name: "/context", steps: []act{first, {say: "/context", hears: "Context "}}},
		{name: "/model", lists: "needs you", holds: "has something open", steps: []act{{say: "/model", hears: "Select model"}},
			leaves: []act{{leave: true, then: "Kept model"}}},
		{name: "/memory, a list with two cursors", always: true, lists: "needs you", holds: "has something open",
			user: map[string]any{"autoMemoryEnabled": false}, steps: []act{
				{say: "/memory", hears: "Auto-memory", tap: "↑", then: "Enter takes what the cursor is on"}}, leaves: []act{{leave: true, then: "Closed memory"}}},
		{name: "/background", steps: []act{first, {say: "//background", hears: "switched this command off"}}},
		{name: "/tui classic", steps: []act{{say: "/tui classic", shows: "classic renderer", idle: true}}},
		{name: "/branch", records: true, steps: []act{{say: "/branch"}}}, // it copies what was said before
		{name: "/release-notes", steps: []act{first, {say: "/release-notes", hears: "See the full changelog"}}},
	}
	for _, command := range []string{"/config", "/permissions", "/mcp", "/agents", "/tasks", "/memory", "/rewind", "//resume", "/export", "/fast", "/effort", "/theme",
		"/hooks", "/cost", "/statusline", "/plugin", "//help", "//status", "//usage", "/diff", "/copy", "/skills", "//rename other", "/goal",
		"/recap", "/workflows", "/voice", "/btw say aside", "/init", "/review", "/bug", "//doctor", "/stats", "/terminal-setup", "/output-style", "/color", "/ide",
		"/todos", "/add-dir", "/insights", "/heapdump", "/powerup", "/reload-plugins", "/reload-skills", "/autocompact", "/scroll-speed", "/auto-mode-setup",
		"/subtask", "/plan", "/passes", "/tui fullscreen"} {
		rows = append(rows, feature{name: command, records: true, steps: []act{first, {say: command}}})
	}
	return rows
}

func claudeStarts() []feature {
	rows := []feature{
		{name: "no flag"},
		{name: "--add-dir of a folder outside", env: []string{"CLAUDE_FLAGS=--add-dir /usr"}, starting: []act{{hears: "Adding a new directory", tap: "Yes, add it"}},
			resumes: []act{{hears: "Adding a new directory", tap: "Yes, add it"}}},
		{name: "--worktree", inRepo: true, always: true, env: []string{"CLAUDE_FLAGS=--worktree"}},
		{name: "a broken MCP server", files: map[string]string{".mcp.json": `{"mcpServers": {"a": {"command": "/nonexistent"}}}`}, user: map[string]any{"enableAllProjectMcpServers": true}},
		{name: "settings that are broken", files: map[string]string{".claude/settings.json": "{"}, starting: []act{{hears: "ettings", tap: "Continue without these settings"}},
			resumes: []act{{hears: "ettings", tap: "Continue without these settings"}}},
		{name: "a hook of an unknown event", project: map[string]any{"hooks": map[string]any{"NoSuchEvent": []any{}}},
			starting: []act{{hears: "Unknown hook event", tap: "Continue"}}, resumes: []act{{hears: "Unknown hook event", tap: "Continue"}}},
		{name: "--agents of one's own", env: []string{`CLAUDE_FLAGS=--agents '{"mine": {"description": "mine", "prompt": "Be brief."}}' --agent mine`}},
		{name: "an MCP server that nobody has allowed", files: map[string]string{".mcp.json": `{"mcpServers": {"a": {"command": "/nonexistent"}}}`},
			starting: []act{{hears: "MCP", tap: "Continue without using this MCP server"}}},
	}
	for _, flags := range []string{"--model sonnet", "--permission-mode plan", "--permission-mode acceptEdits", "--name mine", "--effort high", "--ax-screen-reader",
		"--brief", "--verbose", "--debug", "--disable-slash-commands", "--strict-mcp-config", "--setting-sources user", "--tools Bash", "--system-prompt brief",
		"--append-system-prompt brief", "--fallback-model haiku", "--ide", "--safe-mode", "--bare",
		"--agent general-purpose", "--permission-mode auto", "--permission-mode dontAsk", "--restricted", "--autocompact 200000", "--chrome", "--remote-control",
		"--plugin-dir ."} {
		rows = append(rows, feature{name: flags, env: []string{"CLAUDE_FLAGS=" + flags}})
	}
	return rows
}
