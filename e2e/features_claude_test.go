//go:build linux

package e2e

// claudeFeatures are the rows for Claude Code.
func claudeFeatures() []feature {
	return []feature{
		{group: "tools", name: "a command, allowed", always: true, steps: []act{
			{say: "bash touch made", hears: "wants to run a command", tap: "Allow", then: "tool result", makes: "made"}}},
		{group: "tools", name: "a command, denied", steps: []act{
			{say: "bash touch made", hears: "wants to run a command", tap: "Deny", then: "Denied in the chat", lacks: "made"}}},
		{group: "tools", name: "a file is written", steps: []act{
			{say: "write FOLDER/made", hears: "wants to write a file", tap: "Allow", then: "tool result", makes: "made"}}},
		{group: "tools", name: "a server in the background", lists: "1 background command", ending: "1 background command", steps: []act{
			{say: "serve exec sleep 7654323", hears: "wants to run a command", tap: "Allow", then: "tool result"}}},
		{group: "questions", name: "two questions", always: true, steps: []act{
			{say: "ask", hears: "Which database?", tap: "SQLite", then: "Which language?"}, {hears: "Which language?", tap: "Go", then: "Answered in the chat"}}},
		{group: "commands", name: "/context", steps: []act{{say: "/context", hears: "Context usage"}}},
		{group: "commands", name: "/model", lists: "needs you", holds: "has something open", steps: []act{{say: "/model", hears: "Select model"}},
			leaves: []act{{leave: true, then: "Kept model"}}},
		{group: "states", name: "an API error", lists: "API error", steps: []act{{say: "error 400", hears: "stopped with an error from Claude"}}},
		{group: "states", name: "a turn without a word", lists: "working", holds: "work is working", steps: []act{{say: "mute until FOLDER/free", shows: "esc to interrupt"}},
			leaves: []act{{frees: "free"}}},
		{group: "states", name: "a draft at the desk", lists: "idle", holds: "holds a draft", steps: []act{{say: "say hello", hears: "hello"}, {key: "half", shows: "half"}},
			leaves: []act{{tap: "Send anyway", then: "half"}}},
	}
}
