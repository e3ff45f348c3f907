package script

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Step is one answer of the pretended model: text, then at most one tool call, or an end of another
// kind.
type Step struct {
	Text  string
	Over  time.Duration // the text is repeated word by word for this long
	Until string        // or until this file exists, see brain.Options.Dir
	Tool  *Call         // asked for after the text
	Error string        // the API failed with this
	Crash bool          // the process ends here, with status 3
	Child time.Duration // a tool's child in a separate session: a real `sleep` of this length
	Arm   bool          // the next paste opens a permission dialog
}

// Call is a tool call.
type Call struct {
	// Bash, Edit, Write, Read, Grep, TodoWrite, Agent, AskUserQuestion, ExitPlanMode
	Name       string
	Command    string // of Bash, what an Agent runs, and what Grep looks for
	Purpose    string // of Bash, if it is not what was asked for
	Path       string // of Edit, Write and Read
	Questions  []Question
	Plan       string
	Background bool // a subagent asks for it, while the session itself may be idle
	Free       bool // needs no permission, and no answer follows
	Fails      bool // its result is an error
	Real       bool // it changes its file, where the folder is a playground
	Done       int  // of TodoWrite: how many items are done
}

// Question is one page of AskUserQuestion.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multiSelect"`
}

// Option is one possible answer.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// longest bounds what a prompt can ask for.
const longest = time.Hour

// Decide returns the steps for a prompt; its first word decides:
//
//	say X              X, exactly
//	bash CMD           asks for permission to run CMD and pretends to run it; "sleep N" in it waits
//	edit FILE          asks for permission to change FILE and pretends to
//	write FILE         asks for permission to write FILE and pretends to
//	agent CMD          a background subagent that asks for permission to run CMD, also after the turn
//	ask                two questions with options (Database, Language)
//	ask one            one question (Colour)
//	ask multi          one question with several answers (Features)
//	ask comma          the same with commas in its labels (Parts)
//	plan               a plan that wants approval
//	slow N             words for N seconds
//	slow until FILE    words until FILE exists
//	work N             N calls of tools without a question, and a to-do list; in a folder with the
//	                   file .ccbot-demo two of the files really change
//	code               an answer with code, a table, lists, a quote
//	long N             an answer of exactly N characters, numbered lines and code fences
//	error              the API fails
//	crash              exits with status 3 and leaves its presence file
//	child N            a tool call with a real child (`sleep N`) that outlives a SIGKILL of the agent
//	dialog-on-paste    the next paste opens a permission dialog before its Enter comes
//	help               what can be tried
//	anything else      a friendly answer that quotes it
func Decide(prompt string) []Step {
	prompt = strings.TrimSpace(prompt)
	if line, text, more := strings.Cut(prompt, "\n"); more && strings.HasPrefix(line, "Message from ") && strings.HasSuffix(line, ":") {
		prompt = strings.TrimSpace(text) // ccbot names the writer where several people write
	}
	if steps := story(prompt); steps != nil {
		return steps
	}
	word, rest, _ := strings.Cut(prompt, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "say":
		return []Step{{Text: rest}}
	case "bash":
		return []Step{{Text: "Let me run that.", Tool: &Call{Name: "Bash", Command: rest}}}
	case "edit":
		return []Step{{Text: "Let me change that.", Tool: &Call{Name: "Edit", Path: rest}}}
	case "write":
		return []Step{{Text: "Let me write that.", Tool: &Call{Name: "Write", Path: rest}}}
	case "agent":
		return []Step{{Text: "I let an agent do that.", Tool: &Call{Name: "Agent", Command: rest}}}
	case "ask":
		return []Step{{Text: "I need to know something first.", Tool: &Call{Name: "AskUserQuestion", Questions: Questions(rest)}}}
	case "plan":
		return []Step{{Text: "Here is a plan.", Tool: &Call{Name: "ExitPlanMode", Plan: planText}}}
	case "work":
		if n, err := strconv.Atoi(cmp.Or(rest, "6")); err == nil {
			return workSteps(n)
		}
	case "slow":
		if words := strings.Fields(rest); len(words) > 1 && words[0] == "until" {
			return []Step{{Text: "slow word", Over: longest, Until: words[1]}}
		}
		return []Step{{Text: "slow word", Over: seconds(rest, 10)}}
	case "child":
		return []Step{{Text: "Starting a child process.", Child: seconds(rest, 60)}}
	}
	return decideWhole(word, rest, prompt)
}

// decideWhole answers the words that are a whole prompt: in a sentence they are just words.
func decideWhole(word, rest, prompt string) []Step {
	if strings.EqualFold(word, "long") {
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return []Step{{Text: Long(n)}}
		}
	}
	switch strings.ToLower(prompt) {
	case "help", "hello", "hi":
		return []Step{{Text: HelpText}}
	case "code":
		return []Step{{Text: codeText}}
	case "long":
		return []Step{{Text: Long(6000)}}
	case "error":
		return []Step{{Error: "API Error: 500 The demo API failed because you asked it to"}}
	case "crash":
		return []Step{{Crash: true}}
	case "dialog-on-paste":
		return []Step{{Text: "Armed: the next paste opens a permission dialog.", Arm: true}}
	}
	return []Step{{Text: quoteAnswer(prompt)}}
}

// Result is the outcome of a tool call.
type Result struct {
	Text    string // the tool's output, or why it did not run
	Denied  bool   // a hook refused; the turn continues
	Failed  bool   // the tool said that it failed
	Message string // the hook's message
}

// AfterTool returns the model's answer to the result.
func AfterTool(c Call, r Result) []Step {
	switch {
	case c.Free:
		return nil
	case r.Denied && r.Message != "":
		return []Step{{Text: fmt.Sprintf("I did not do it. You said: %s", r.Message)}}
	case r.Denied:
		return []Step{{Text: "I did not do it, as you wish."}}
	case c.Name == "Bash" && c.Command == StoryCommand && c.Purpose == StoryPurpose:
		return []Step{{Text: StoryFixed}}
	case c.Name == "Bash":
		return []Step{{Text: fmt.Sprintf("I pretended to run it. The invented result:\n\n```\n%s\n```", r.Text)}}
	case c.Name == "Edit", c.Name == "Write":
		return []Step{{Text: "I pretended to write the file."}}
	case c.Name == "Agent":
		return []Step{{Text: "The agent works in the background."}}
	case c.Name == "ExitPlanMode":
		return []Step{{Text: "Plan approved. I pretend to carry it out: *step 1*, *step 2*, **done**."}}
	}
	return []Step{{Text: "Thank you. " + r.Text}}
}

// Output returns an invented output of the tool.
func (c Call) Output() string {
	switch {
	case c.Fails:
		return "Exit code 2\nmake: *** [test] Error 1"
	case c.Name == "Read":
		return "     1\tcolour = \"red\""
	case c.Name == "Grep":
		return "Found 1 file\n" + "colours.conf"
	case c.Name == "TodoWrite":
		return "Todos have been modified successfully."
	}
	switch c.Name {
	case "Edit":
		return "The file " + c.Path + " has been updated successfully."
	case "Write":
		return "File created successfully at: " + c.Path
	case "ExitPlanMode":
		return "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\n" +
			"## Approved Plan:\n" + c.Plan
	}
	return Pretend(c.Command)
}

// Pretend invents the output of a command. Nothing is ever run.
func Pretend(command string) string {
	if words, ok := strings.CutPrefix(command, "echo "); ok && !strings.ContainsAny(words, "><|;&$`\"'\\*") {
		return words
	}
	return "(pretended: " + command + ")"
}

var sleeps = regexp.MustCompile(`\bsleep (\d{1,6})\b`)

// Takes returns how long a command pretends to run.
func Takes(command string) time.Duration {
	if m := sleeps.FindStringSubmatch(command); m != nil {
		return seconds(m[1], 0)
	}
	return 0
}

func seconds(s string, otherwise int) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		n = otherwise
	}
	return min(time.Duration(n)*time.Second, longest)
}
