package responsesapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/try/demoagent/script"
)

// Reply is the answer of the stand-in: text, then the call of a tool, or an error.
type Reply struct {
	Text   string
	Over   time.Duration  // the text repeats word by word for this long instead of once
	Tool   string         // the function to call, or "exec" for a script; "" for none
	Input  map[string]any // its arguments
	Script string         // of a script
	Patch  string         // what a call of apply_patch does
	Fails  string         // the code with which the answer fails; "" if it does not
	Status int            // HTTP status of an error reply; 0 for none
	Kind   string         // of the error
}

// Request is a recorded request.
type Request struct {
	Model string
	Input []Entry
	Tools []struct{ Type, Name string }
	Body  []byte            `json:"-"`
	Means map[string]string `json:"-"` // the server's
}

// Entry is one entry of a conversation: a message, the call of a tool, or its output.
type Entry struct {
	Type    string
	Role    string
	Tools   []struct{ Tools []struct{ Name string } } // of additional tools: groups of them
	Content []struct{ Type, Text string }
	Output  json.RawMessage
}

// Decide answers a conversation. After the output of a tool the answer is "tool result: …";
// otherwise the last text of a person decides by its first word:
//
//	say X       exactly X
//	run CMD     a call of exec_command with CMD, after the text "I will run it."
//	esc CMD     the same, with a request to run outside the sandbox
//	bash CMD    the same as esc
//	patch FILE  the same, with apply_patch, which adds FILE with the line "scripted"
//	js SCRIPT   a script that calls tools, for a model in code mode
//	mcp FORM    a call of the tool "ask" of the MCP server "forms"
//	ask A B     a question with the answers A and B, which a model may ask while it plans
//	plan X      a plan with the one step X, after the text "Here it is."
//	look        "pictures: N", how many the last message of the person has
//	draw        a picture, after the text "Here it is."
//	long N      N characters, in numbered lines
//	slow N      "slow word" over and over for N seconds
//	error N     an API error with HTTP status N
//	down FILE   an API error with HTTP status 500 until FILE exists, then "up again"
//	limit       the error of an account that has used what it may use
//	full        the error of a conversation that no longer fits into the model's context
//	anything    echo: anything
//
// A turn that Codex begins by itself, because a goal is not reached, says "goal word" for six seconds.
//
// A model in code mode has no other tool than exec, whose script calls them.
func Decide(r Request) Reply {
	reply := decide(r)
	if reply.Tool != "" && reply.Tool != exec && reply.Tool != asksPerson && reply.Tool != draws && r.inCodeMode() {
		input, err := json.Marshal(reply.Input)
		if patch := reply.Patch; patch != "" {
			reply.Tool, input, err = "apply_patch", quoted(patch), nil
		}
		if err != nil {
			return Reply{Status: http.StatusBadRequest, Kind: err.Error()}
		}
		reply.Tool, reply.Script = exec, "text(await tools."+reply.Tool+"("+string(input)+"))"
	}
	return reply
}

func decide(r Request) Reply {
	if r.pursuesGoal() { // after it, an output names the goal
		return Reply{Text: "goal word", Over: 6 * time.Second}
	}
	if out, ok := lastOutput(r); ok {
		return Reply{Text: "tool result: " + out}
	}
	text := lastWords(r)
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "say":
		return Reply{Text: rest}
	case "run":
		return Reply{Text: "I will run it.", Tool: "exec_command", Input: map[string]any{"cmd": rest}}
	case "esc", "bash":
		return Reply{Text: "I need more rights.", Tool: "exec_command",
			Input: map[string]any{"cmd": rest, "sandbox_permissions": "require_escalated", "justification": "scripted reason"}}
	case "patch":
		patch := "*** Begin Patch\n*** Add File: " + rest + "\n+scripted\n*** End Patch\n"
		return Reply{Text: "I will write it.", Tool: "exec_command", Patch: patch, Input: map[string]any{"cmd": "apply_patch <<'EOF'\n" + patch + "EOF"}}
	case "mcp":
		return Reply{Text: "I will ask it.", Tool: formsServer + "ask", Input: map[string]any{"form": rest}}
	case "js":
		return Reply{Text: "I will run it.", Tool: exec, Script: rest}
	case "ask":
		var options []map[string]string
		for _, word := range strings.Fields(rest) {
			options = append(options, map[string]string{"label": word, "description": "It is " + word})
		}
		return Reply{Text: "I must know.", Tool: asksPerson, Input: map[string]any{"questions": []any{map[string]any{
			"id": "one", "header": "Choice", "question": "Which one shall it be?", "options": options}}}}
	case "plan":
		return Reply{Text: "Here it is.\n<proposed_plan>\n" + rest + "\n</proposed_plan>"}
	case "look":
		return Reply{Text: "pictures: " + strconv.Itoa(lastPictures(r))}
	case "draw":
		return Reply{Text: "Here it is.", Tool: draws}
	case "long":
		return Reply{Text: script.Long(number(rest, 5000))}
	case "slow":
		return Reply{Text: "slow word", Over: time.Duration(number(rest, 5)) * time.Second}
	case "error":
		return Reply{Status: number(rest, http.StatusBadRequest), Kind: "scripted"}
	case "down":
		if _, err := os.Stat(rest); err != nil {
			return Reply{Status: http.StatusInternalServerError, Kind: "scripted"}
		}
		return Reply{Text: "up again"}
	case "full":
		return Reply{Fails: "context_length_exceeded"}
	case "limit":
		return Reply{Status: http.StatusTooManyRequests, Kind: usedUp}
	}
	return Reply{Text: "echo: " + text}
}

// formsServer begins the names of the tools of the MCP server "forms".
const formsServer = "mcp__forms__"

// usedUp is the error of an account that has used what it may use.
const usedUp = "usage_limit_reached"

// exec is the tool of a model in code mode, which can also ask the person, and draw.
const (
	exec       = "exec"
	draws      = "image_generation_call"
	asksPerson = "request_user_input"
)

func (r Request) inCodeMode() bool {
	for _, e := range r.Input {
		for _, group := range e.Tools {
			for _, tool := range group.Tools {
				if tool.Name == exec {
					return true
				}
			}
		}
	}
	return false
}

// pursuesGoal reports whether Codex has begun the turn by itself, because a goal is not reached.
func (r Request) pursuesGoal() bool {
	for _, e := range slices.Backward(r.Input) {
		if e.Type == "message" && e.Role == "user" {
			return len(e.Content) > 0 && strings.HasPrefix(e.Content[0].Text, `<codex_internal_context source="goal">`)
		}
	}
	return false
}

func quoted(text string) []byte {
	data, _ := json.Marshal(text) // a text has no other form
	return data
}

// lastWords returns the newest text of a user's message that Codex has not added itself.
func lastWords(r Request) string {
	for _, e := range slices.Backward(r.Input) {
		if text := e.words(); text != "" {
			return cmp.Or(r.Means[text], text)
		}
	}
	return ""
}

// lastPictures counts the pictures of the message whose text is the newest.
func lastPictures(r Request) (n int) {
	for _, e := range slices.Backward(r.Input) {
		if e.words() == "" {
			continue
		}
		for _, c := range e.Content {
			if c.Type == "input_image" {
				n++
			}
		}
		return n
	}
	return 0
}

func (e Entry) words() string {
	if e.Type != "message" || e.Role != "user" {
		return ""
	}
	for _, c := range slices.Backward(e.Content) {
		if text := strings.TrimSpace(c.Text); text != "" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "# AGENTS.md") {
			return text
		}
	}
	return ""
}

// lastOutput returns the output of a tool that is newer than the words of a person.
func lastOutput(r Request) (string, bool) {
	for _, e := range slices.Backward(r.Input) {
		switch {
		case e.words() != "":
			return "", false
		case e.Type == "function_call_output", e.Type == "custom_tool_call_output":
			return string(e.Output), true
		}
	}
	return "", false
}

func number(s string, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}
