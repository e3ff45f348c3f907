package messagesapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/try/demoagent/script"
)

// Reply is the answer of the stand-in: text, calls of one tool, or an error.
type Reply struct {
	Text   string
	After  time.Duration // delay after the start of the answer
	Until  string        // the delay ends when this file exists
	Over   time.Duration // the text repeats word by word for this long instead of once
	Tool   string        // name of the tool to call; "" for none
	Input  any           // its input
	Calls  int           // how often it is called in this answer; 0 is once
	Status int           // HTTP status of an error reply; 0 for none
	Error  string        // its words; empty: "scripted error" and the status
	Limit  time.Duration // until the end of an account's limit that the error tells; 0: it tells none
}

// calls returns the number of tool calls in the answer.
func (r Reply) calls() int {
	if r.Tool == "" {
		return 0
	}
	return max(r.Calls, 1)
}

// stopReason is the API's stop_reason for this reply.
func (r Reply) stopReason() string {
	if r.Tool != "" {
		return "tool_use"
	}
	return "end_turn"
}

// Decide answers a conversation. After a tool result the answer is "tool result: …"; else the last
// text a person wrote decides by its first word:
//
//	say X        exactly X
//	bash CMD     a Bash call of CMD, after the text "Running Bash."
//	serve CMD    a Bash call of CMD in the background, such as a server
//	enter NAME   an EnterWorktree call
//	leave        an ExitWorktree call
//	remind       a CronCreate call: the model is asked to "say reminded" once a year
//	remind WORDS the same, and then what WORDS say
//	twice CMD    two Bash calls of CMD in one answer
//	write FILE   a Write call that makes FILE (an absolute path)
//	edit FILE    a Read call of FILE, then an Edit call: its "before" becomes "after"
//	fix FILE     after 2 s a Read call of FILE, then an Edit call: the first "wrong N" is "right N"
//	agent TEXT   an Agent call: a background subagent that is told TEXT, say "bash CMD"
//	ask          AskUserQuestion with two questions (Database, Language)
//	ask one      AskUserQuestion with one question (Colour)
//	ask multi    AskUserQuestion with one question of several answers (Features)
//	ask comma    the same with commas in its labels (Parts)
//	job FILE     a turn of five tools, with a to-do list and a subagent, that edits FILE
//	fetch N      a WebFetch call whose prompt has N lines
//	mcp FORM     a call of the tool "ask" of the MCP server "forms"
//	use TOOL JSON  a call of any tool with this input
//	thrice TEXT  three Agent calls in one answer, as with agent
//	read FILE    a Read call of FILE
//	plan         a plan file and ExitPlanMode
//	slow N       "slow word" over and over for N seconds
//	mute N       "unmuted" after N seconds without a word
//	mute until FILE  the same when FILE exists
//	long N       an answer of exactly N characters with code fences and numbered lines
//	error N      an API error with HTTP status N
//	refuse TEXT  an API error with HTTP status 400 and TEXT
//	blind FILE   a Read call of an image that the API cannot process
//	limit N      the error of an account that has used what it may use, for N seconds more
//	anything     echo: anything
func Decide(r Request) Reply {
	if result, ok := lastToolResult(r); ok {
		return afterTool(r, result)
	}
	return answer(r, lastHuman(r))
}

// answer is the answer to a text.
func answer(r Request, text string) Reply {
	if _, words, is := strings.Cut(text, compactWords); is {
		text, _, _ = strings.Cut(words, "\n")
	}
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "say":
		return Reply{Text: rest}
	case "bash":
		return bash(rest, 1)
	case "serve":
		return Reply{Text: "Running Bash.", Tool: "Bash",
			Input: map[string]any{"command": rest, "description": "serve", "run_in_background": true}}
	case "enter":
		return Reply{Text: "Running EnterWorktree.", Tool: "EnterWorktree", Input: map[string]any{"name": rest}}
	case "leave":
		return Reply{Text: "Running ExitWorktree.", Tool: "ExitWorktree", Input: map[string]any{"action": "keep"}}
	case "remind":
		return Reply{Text: "Running CronCreate.", Tool: "CronCreate", Input: map[string]any{"cron": "0 3 1 1 *", "prompt": "say reminded", "recurring": true}}
	case "twice":
		return bash(rest, 2)
	case "write":
		return Reply{Text: "Running Write.", Tool: "Write", Input: map[string]string{"file_path": rest, "content": "before\nscripted\n"}}
	case "edit":
		return Reply{Text: "Running Read.", Tool: "Read", Input: map[string]string{"file_path": rest}} // an unread file is not edited
	case "fix":
		file := strings.TrimSpace(rest)
		return Reply{Text: "Running Read.", After: time.Hour, Until: file + ".go-on", Tool: "Read", Input: map[string]string{"file_path": file}}
	case "agent":
		return agentCall(rest)
	case "ask":
		return Reply{Text: "Running AskUserQuestion.", Tool: "AskUserQuestion", Input: map[string]any{"questions": script.Questions(rest)}}
	case "fetch": // the tool is one of those that are offered on demand
		return Reply{Text: "Looking for the tool.", Tool: "ToolSearch", Input: map[string]any{"query": "select:WebFetch", "max_results": 1}}
	case "job":
		return job(r, rest)
	case "mcp":
		return Reply{Text: "Looking for the tool.", Tool: "ToolSearch", Input: map[string]any{"query": "select:mcp__forms__ask", "max_results": 1}}
	case "use":
		return use(r, rest)
	case "thrice":
		reply := agentCall(rest)
		reply.Calls = 3
		return reply
	case "read":
		return Reply{Text: "Running Read.", Tool: "Read", Input: map[string]string{"file_path": rest}}
	case "plan":
		return startPlan(r)
	case "slow":
		return Reply{Text: "slow word", Over: time.Duration(number(rest, 5)) * time.Second}
	case "mute":
		if file, ok := strings.CutPrefix(rest, "until "); ok {
			return Reply{Text: "unmuted", After: time.Hour, Until: strings.TrimSpace(file)}
		}
		return Reply{Text: "unmuted", After: time.Duration(number(rest, 5)) * time.Second}
	case "long":
		return Reply{Text: script.Long(number(rest, 5000))}
	case "error":
		return Reply{Status: number(rest, 400)}
	case "refuse":
		return Reply{Status: http.StatusBadRequest, Error: rest}
	case "blind":
		return Reply{Text: "Running Read.", Tool: "Read", Input: map[string]string{"file_path": rest}}
	case "limit":
		return Reply{Status: http.StatusTooManyRequests, Limit: time.Duration(number(rest, 3600)) * time.Second}
	}
	return Reply{Text: "echo: " + text}
}

// compactWords stands before a person's words in the request of /compact.
const compactWords = "Additional Instructions:\n"

func bash(command string, calls int) Reply {
	return Reply{Text: "Running Bash.", Tool: "Bash", Calls: calls,
		Input: map[string]string{"command": command, "description": "scripted command"}}
}

func agentCall(prompt string) Reply {
	return Reply{Text: "Running Agent.", Tool: "Agent",
		Input: map[string]any{"description": "scripted agent", "prompt": prompt, "subagent_type": "general-purpose"}}
}

// use calls a tool, and looks for it first if it is one of those that are offered on demand.
func use(r Request, call string) Reply {
	tool, input, _ := strings.Cut(call, " ")
	if !slices.Contains(r.Tools, tool) {
		return Reply{Text: "Looking for the tool.", Tool: "ToolSearch", Input: map[string]any{"query": "select:" + tool, "max_results": 1}}
	}
	return Reply{Text: "Running " + tool + ".", Tool: tool, Input: json.RawMessage(input)}
}

// loopTask comes before the task in the later prompts of a loop.
const loopTask = "\n\nContinue with the task:\n\n"

// lastHuman returns the newest block of a person. Queued prompts arrive merged in one message, so
// it is the newest block, not the message. A loop's later prompts end in its task.
func lastHuman(r Request) string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			continue
		}
		for _, b := range slices.Backward(m.Blocks) {
			if t := HumanText(b.Text); b.Type == "text" && t != "" {
				if _, task, is := strings.Cut(t, loopTask); is {
					return task
				}
				return cmp.Or(r.Means[t], t)
			}
		}
	}
	return ""
}

// lastToolResult finds a tool result that is newer than anything a person wrote. After a refused
// call the CLI puts the result and the next prompt into one message: then the prompt counts.
func lastToolResult(r Request) (Block, bool) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			continue
		}
		for _, b := range slices.Backward(m.Blocks) {
			if b.Type == "tool_result" {
				return b, true
			}
			if b.Type == "text" && HumanText(b.Text) != "" {
				return Block{}, false
			}
		}
	}
	return Block{}, false
}

func afterTool(r Request, result Block) Reply {
	word, rest, _ := strings.Cut(lastHuman(r), " ")
	switch name := toolName(r, result.ToolID); {
	case word == "job":
		return job(r, strings.TrimSpace(rest))
	case word == "remind" && rest != "":
		return answer(r, rest)
	case name == "ToolSearch" && word == "fetch":
		return Reply{Text: "Running WebFetch.", Tool: "WebFetch",
			Input: map[string]string{"url": "https://evil.example/" + strings.TrimSpace(rest), "prompt": strings.Repeat("filler\n", number(rest, 60)) + "sum it up"}}
	case name == "ToolSearch" && word == "use" && !result.IsError:
		tool, input, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return Reply{Text: "Running " + tool + ".", Tool: tool, Input: json.RawMessage(input)}
	case name == "ToolSearch" && word == "mcp":
		return Reply{Text: "Asking.", Tool: "mcp__forms__ask", Input: map[string]string{"form": strings.TrimSpace(rest)}}
	case name == "Write" && !result.IsError && word == "plan":
		return exitPlan()
	case name == "Read" && !result.IsError && word == "edit":
		return Reply{Text: "Running Edit.", Tool: "Edit",
			Input: map[string]string{"file_path": strings.TrimSpace(rest), "old_string": "before", "new_string": "after"}}
	case name == "Read" && word == "blind" && !strings.Contains(result.Text, "Image removed"): // Claude Code asks again without it
		return Reply{Status: http.StatusBadRequest, Error: "messages.1.content.0.image.source.base64.data: Could not process image"}
	case name == "Read" && !result.IsError && word == "fix":
		if wrong := firstWrong.FindString(result.Text); wrong != "" {
			return Reply{Text: "Running Edit.", Tool: "Edit",
				Input: map[string]string{"file_path": strings.TrimSpace(rest), "old_string": wrong, "new_string": strings.Replace(wrong, "wrong", "right", 1)}}
		}
	}
	return Reply{Text: "tool result: " + result.Text}
}

var firstWrong = regexp.MustCompile(`wrong \d+`)

func toolName(r Request, id string) string {
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Type == "tool_use" && b.ToolID == id {
				return b.ToolName
			}
		}
	}
	return ""
}

const plan = "# Scripted plan\n\n1. Do the first thing\n2. Do the second thing\n"

var planFile = regexp.MustCompile(`/[^\s"'\\]+/plans/[^\s"'\\]+\.md`)

// startPlan writes the plan file first where the conversation names one: without the file the CLI
// asks its short question ("Exit plan mode?") and not the full one.
func startPlan(r Request) Reply {
	path := planFile.Find(r.Body)
	if path == nil {
		return exitPlan()
	}
	return Reply{Text: "Writing the plan.", Tool: "Write", Input: map[string]string{"file_path": string(path), "content": plan}}
}

func exitPlan() Reply {
	return Reply{Text: "Running ExitPlanMode.", Tool: "ExitPlanMode", Input: map[string]string{"plan": plan}}
}

func number(s string, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

func inputJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}
