package messagesapi

// job is a turn of several tools: a to-do list, a subagent that works for some seconds, an edit
// that needs a permission, and a command that fails. Each answer is the next step.
func job(r Request, file string) Reply {
	steps := []Reply{
		task("TaskCreate", map[string]any{"subject": "Look at the notes", "description": "Read them and count"}),
		task("TaskCreate", map[string]any{"subject": "Change the notes", "description": "Edit them and test"}),
		task("TaskUpdate", map[string]any{"taskId": "1", "status": "in_progress"}),
		{Text: "I read the notes.", Tool: "Read", Input: map[string]any{"file_path": file}},
		{Tool: "Bash", Input: map[string]any{"command": "wc -l " + file, "description": "count lines"}},
		{Tool: "Agent", Input: map[string]any{"description": "Count the words", "prompt": "mute 8", "subagent_type": "general-purpose",
			"run_in_background": false}},
		task("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"}),
		task("TaskUpdate", map[string]any{"taskId": "2", "status": "in_progress"}),
		{Tool: "Edit", Input: map[string]any{"file_path": file, "old_string": "before", "new_string": "after\nand more"}},
		{Tool: "Bash", Input: map[string]any{"command": "ls missing", "description": "look for a file that is not there"}},
		task("TaskUpdate", map[string]any{"taskId": "2", "status": "completed"}),
		{Text: "The job is done: `after` stands in the notes now."},
	}
	return steps[min(results(r), len(steps)-1)]
}

func task(tool string, input any) Reply { return Reply{Tool: tool, Input: input} }

// results returns the number of tool results after the last words of a person.
func results(r Request) (n int) {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			switch {
			case m.Role != "user":
			case b.Type == "tool_result":
				n++
			case b.Type == "text" && HumanText(b.Text) != "":
				n = 0
			}
		}
	}
	return n
}
