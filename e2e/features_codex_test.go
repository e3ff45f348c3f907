//go:build linux

package e2e

import "slices"

// codexFeatures are the rows for Codex.
func codexFeatures() []feature {
	return slices.Concat(grouped("tools", codexTools()...), grouped("turns", codexTurns()...), grouped("desk", codexDesk()...),
		grouped("commands", codexCommands()...), grouped("start", codexStarts()...))
}

// asksTool begins Codex' own question about a tool of the test's MCP server.
const asksTool = "Allow the forms MCP server to run tool"

func codexTools() []feature {
	noForms := map[string]any{}
	return []feature{
		{name: "a command of the sandbox", always: true, steps: []act{{say: "run echo of-the-sandbox", hears: "of-the-sandbox"}}},
		{name: "a file of the folder is added", steps: []act{{say: "patch FOLDER/made", hears: "tool result", makes: "made"}}},
		{name: "a command outside of the sandbox, allowed", steps: []act{
			{say: "esc touch BESIDE/made", hears: "wants to run a command", tap: "Allow", then: "✅ Allowed in the chat", makes: "../made"}}},
		{name: "a file outside of the folder, denied", always: true, steps: []act{{say: "say hello", hears: "hello", idle: true},
			{say: "patch BESIDE/made", hears: "wants to ", tap: "Deny", then: "❌ Denied in the chat", lacks: "../made"}}},
		{name: "the same in the first turn", steps: []act{{say: "patch BESIDE/made", hears: "wants to ", tap: "Deny", then: "❌ Denied in the chat", lacks: "../made"}}},
		{name: "a permission, and a text meanwhile", lists: "❓ ✓ work", holds: "work is waiting for your answer",
			steps: []act{{say: "esc touch BESIDE/made", hears: "wants to run a command"}}, leaves: []act{{tap: "Deny", then: "waited while work asked something"}}},
		{name: "an output of 400 lines", steps: []act{{say: "run seq 400", hears: "tool result"}}},
		{name: "a command that stays in the background", always: true, lists: "1 background command", ending: "1 background command", steps: []act{{say: "run sleep 7654325", hears: "tool result"}}},
		{name: "a tool of an MCP server, allowed", always: true, forms: noForms, steps: []act{
			{say: "mcp none", hears: asksTool, tap: "Allow", then: "no form"}}},
		{name: "a tool of an MCP server, cancelled", forms: noForms, steps: []act{{say: "mcp none", hears: asksTool, tap: "Cancel", then: "tool result"}}},
		{name: "a tool of an MCP server, and a text meanwhile", lists: "needs you", holds: "has something open", forms: noForms,
			steps: []act{{say: "mcp none", hears: asksTool}}, leaves: []act{{tap: "Allow", then: "no form"}}},
		{name: "a form of an MCP server, declined", lists: "needs you", holds: "has something open", steps: []act{
			{say: "mcp one", hears: asksTool, tap: "Allow", then: "Which one?"}},
			forms:  map[string]any{"one": form("Which one?", map[string]any{"a": map[string]any{"type": "boolean", "title": "First"}})},
			leaves: []act{{leave: true}}},
		{name: "no network in the sandbox", steps: []act{{say: "run exec 3<>/dev/tcp/127.0.0.1/9", hears: "tool result"}}},
	}
}

func codexTurns() []feature {
	slow := act{say: "slow 600", shows: "slow word slow word"}
	return []feature{
		{name: "a turn, stopped", steps: []act{slow, {say: "/stop", hears: "work is interrupted"}}},
		{name: "a text is sent at once", lists: "working", holds: "Queued", steps: []act{slow}, leaves: []act{{tap: "Interrupt and send", then: "work is interrupted"}}},
		{name: "a text of many lines", steps: []act{{say: "say one\n/two\n!three", hears: "/two"}}},
		{name: "a text that begins with @", steps: []act{{say: "@nobody hello", hears: "echo: @nobody"}}},
		{name: "an empty answer", steps: []act{{say: "say", hears: "work is done"}}},
		{name: "API error 400", always: true, lists: "API error", steps: []act{{say: "error 400", hears: "stopped with an error from Codex"}}},
		{name: "API error 401", lists: "logged out", steps: []act{{say: "error 401", hears: "work is logged out"}}},
		{name: "API error 403", steps: []act{{say: "error 403", hears: "stopped with an error from Codex"}}, lists: "API error"},
		{name: "API error 429", steps: []act{{say: "error 429", hears: "stopped with an error from Codex"}}, lists: "API error"},
		{name: "API error 500", steps: []act{{say: "error 500", hears: "stopped with an error from Codex"}}, lists: "API error"},
		{name: "API error 500, repeated twice", always: true, lists: "API error", provider: "request_max_retries = 0\nstream_max_retries = 2",
			steps: []act{{say: "error 500", hears: "stopped with an error from Codex"}}},
		{name: "an API that fails again and again", lists: "API error", provider: "request_max_retries = 0\nstream_max_retries = 40", holds: "Queued",
			leaves: []act{{frees: "free", then: "up again"}}, steps: []act{{say: "down FOLDER/free", shows: "Reconnecting"}}},
		{name: "a used limit", always: true, lists: "limit reached", holds: "The limit of work lasts", leaves: []act{{tap: "Send now"}},
			steps: []act{{say: "limit", hears: "usage limit"}, {hears: "After that this can be sent"}}},
		{name: "a shell command of the chat", steps: []act{{say: "!echo hello", hears: "it cannot run a line after"}}},
	}
}

func codexDesk() []feature {
	hello := act{say: "say hello", hears: "hello", idle: true}
	rows := []feature{
		{name: "a prompt is typed", steps: []act{hello, {types: "say typed", hears: "typed"}}},
		{name: "a turn ends by Esc", steps: []act{{say: "slow 600", shows: "slow word slow word"}, {key: "Escape", hears: "work is interrupted"}}},
		{name: "a draft is left", always: true, steps: []act{hello, {key: "half", shows: "half"}}},
		{name: "a shell command is typed", steps: []act{hello, {key: "!", shows: "Shell mode"}, {types: "echo of-the-shell", hears: "of-the-shell"}, {hears: "work is done"}}},
		{name: "← in the empty box", steps: []act{hello, {key: "Left"}, {key: "Escape"}}},
	}
	for _, page := range []string{"/permissions", "/keymap", "/experimental", "/memories", "/skills", "/hooks", "/theme", "/mcp", "/plugins", "/ps", "/diff", "/statusline", "/title", "/status"} {
		rows = append(rows, feature{name: page + " is left open", records: true, steps: []act{hello, {types: page}}})
	}
	return rows
}

// codexCommands are Codex' own commands, sent from the chat.
func codexCommands() []feature {
	const unable = "takes its own commands only in its terminal"
	rows := []feature{{name: "//compact", always: true, steps: []act{{say: "say hello", hears: "hello", idle: true}, {say: "//compact", shows: "ompacted", idle: true}}}}
	for _, c := range [][2]string{{"//model", "cannot be switched from the chat"}, {"//clear", unable},
		{"//rename other", unable}, {"//goal", unable}, {"//review", unable}, {"//fork", unable}} {
		rows = append(rows, feature{name: c[0], steps: []act{{say: "say hello", hears: "hello", idle: true}, {say: c[0], hears: c[1]}}})
	}
	return rows
}

func codexStarts() []feature {
	return []feature{
		{name: "no further setting"},
		{name: "a sandbox that may only read", config: `sandbox_mode = "read-only"`},
		{name: "no sandbox, and no question", config: "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"", steps: []act{
			{say: "run touch BESIDE/made", hears: "tool result", makes: "../made"}}},
		{name: "a setting that Codex does not know", config: `unknown_setting = "x"`},
		{name: "a program that is told of turns", config: `notify = ["true"]`},
		{name: "AGENTS.md", always: true, files: map[string]string{"AGENTS.md": "Be brief.\n"}},
		{name: "a broken MCP server", more: "[mcp_servers.broken]\ncommand = \"/nonexistent\"\n"},
	}
}
