package rollout

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ccbot/agent/jsonl"
	"ccbot/internal/clip"
	"ccbot/internal/lazyregexp"
	"ccbot/port/talk"
)

// line is the part of a line that is used.
type line struct {
	Timestamp time.Time
	Type      string
	Payload   struct {
		Type      string
		ID        string // of session_meta: the conversation
		Name      string // of a tool
		Arguments string // of a function, in JSON
		Input     string // of a custom tool
		CallID    string `json:"call_id"`
		Output    json.RawMessage
		Content   []struct{ Text string }
		Item      item
		Error     *failure

		Model          string // of turn_context
		ApprovalPolicy string `json:"approval_policy"`
		Cwd            string
		ResponseID     string `json:"response_id"`
		TurnID         string `json:"turn_id"`
		Usage          usage
		ThreadUsage    struct {
			Total int64 `json:"total_tokens"`
		} `json:"thread_token_usage"` // up to this response
		RateLimits   *limits                 `json:"rate_limits"`
		Goal         struct{ Status string } // of thread_goal_updated
		Source       json.RawMessage         // of session_meta
		ThreadSource string                  `json:"thread_source"`
	}
}

// item is a completed item of a turn.
type item struct {
	Type     string
	ID       string
	ClientID string `json:"client_id"`
	Phase    string
	Source   string
	Content  []struct{ Text string }
	Command  []string
	Text     string // of a plan
	Status   string // of a command or a change
}

// failure is the error of a turn.
type failure struct {
	Message string
	Info    json.RawMessage `json:"codex_error_info"`
}

// usage holds the tokens of one response; the input includes what was in the cache.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// The types of lines.
const (
	meta         = "session_meta"
	turnContext  = "turn_context"
	responseItem = "response_item"
	event        = "event_msg"
	usageRecord  = "token_usage_record"
)

// passed are the types of lines without an item, and the items that other lines repeat.
var (
	passed      = []string{meta, turnContext, usageRecord, "world_state", "compacted"}
	passedItems = []string{"CommandExecution", "FileChange", "Reasoning", "McpToolCall", "WebSearch", "ImageView", "HookPrompt"}
)

// form is the form of rollouts. Its marks are in each line that people read.
func form() *jsonl.Form {
	f := jsonl.NewForm(parse, []byte(personsGoal), mark(picture), mark("UserMessage"), mark("AgentMessage"), mark("function_call"), mark("custom_tool_call"),
		mark("ContextCompaction"), mark("Plan"), mark("turn_aborted"), []byte(`"codex_error_info"`), []byte(`"user_shell"`), []byte(shellResult))
	words := f.Parse
	f.Parse = func(l jsonl.Line) ([]jsonl.Item, error) {
		items, err := words(l)
		return append(items, pictures(l)...), err
	}
	return f
}

// picture is the type of a line with a picture that the model has made.
const picture = "image_generation_call"

// pictureData begins the data of such a picture. Inside of a string its quotes would be escaped.
var pictureData = []byte(`"result":"`)

// pictures returns the picture of a line as the result of a tool.
func pictures(l jsonl.Line) []jsonl.Item {
	if !isMarked(l.Text, [][]byte{mark(picture)}) {
		return nil
	}
	head, data, _ := bytes.Cut(l.Text, pictureData)
	begin, length := len(head)+len(pictureData), bytes.IndexByte(data, '"')
	if length < 0 {
		return nil
	}
	image, ok := l.Data(begin, begin+length)
	known, err := read(l.Text)
	if !ok || err != nil || image.Length == 0 {
		return nil
	}
	image.MediaType = http.DetectContentType(decoded(data[:length]))
	return []jsonl.Item{{Kind: jsonl.ToolResult, Time: known.Timestamp.UTC(), Tool: &jsonl.Tool{ID: known.Payload.ID}, Images: []talk.Image{image}}}
}

// decoded returns the first bytes of base64 data, as many as show what kind of picture it is.
func decoded(data []byte) []byte {
	head, err := base64.StdEncoding.DecodeString(string(data[:min(len(data), 64)/4*4]))
	if err != nil {
		return nil
	}
	return head
}

func mark(kind string) []byte { return []byte(`"type":"` + kind + `"`) }

// read reads a line; it fills as many fields as it can.
func read(text []byte) (l line, err error) {
	err = json.Unmarshal(text, &l)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		err = nil
	}
	if y := l.Timestamp.Year(); y < 1 || y > 9999 {
		l.Timestamp = time.Time{}
	}
	return l, err
}

// parse returns the items of a line.
func parse(text []byte) ([]jsonl.Item, error) {
	l, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("parse rollout line: %w", err)
	}
	items, err := l.items()
	for i := range items {
		items[i].Time, items[i].UUID = l.Timestamp.UTC(), l.Payload.Item.ID
	}
	return items, err
}

func (l line) items() ([]jsonl.Item, error) {
	switch {
	case l.Type == responseItem:
		return l.tool(), nil
	case l.Type == event && l.Payload.Type == "item_completed":
		return l.Payload.Item.items()
	case l.Type == event:
		return l.end(), nil
	case !slices.Contains(passed, l.Type):
		return nil, fmt.Errorf("parse rollout line: type %q: %w", clip.Runes(l.Type, maxText), jsonl.ErrUnknown)
	}
	return nil, nil
}

// items returns the item as items of a transcript.
func (i item) items() ([]jsonl.Item, error) {
	switch i.Type {
	case "UserMessage":
		return spoken(jsonl.Item{Kind: jsonl.UserPrompt, Text: i.text(), MessageID: i.ClientID}), nil
	case "AgentMessage":
		return spoken(jsonl.Item{Kind: jsonl.Text, Text: i.text(), MessageID: i.ID, Last: i.Phase != "commentary"}), nil
	case "Plan": // no message repeats it
		return spoken(jsonl.Item{Kind: jsonl.Text, Text: i.Text, MessageID: i.ID, Last: true}), nil
	case "ContextCompaction":
		return []jsonl.Item{{Kind: jsonl.CompactBoundary}}, nil
	case "CommandExecution":
		if i.Source == "user_shell" && len(i.Command) > 0 {
			return []jsonl.Item{{Kind: jsonl.LocalCommand, Command: "!", Text: "!" + i.Command[len(i.Command)-1]}}, nil
		}
	}
	if !slices.Contains(passedItems, i.Type) {
		return nil, fmt.Errorf("parse rollout line: item %q: %w", clip.Runes(i.Type, maxText), jsonl.ErrUnknown)
	}
	return nil, nil
}

// spoken leaves out a blank text: a chat refuses it.
func spoken(i jsonl.Item) []jsonl.Item {
	if strings.TrimSpace(i.Text) == "" {
		return nil
	}
	return []jsonl.Item{i}
}

func (i item) text() string {
	var all []string
	for _, c := range i.Content {
		if c.Text != "" { // a picture has none
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

// end returns the end of a turn.
func (l line) end() []jsonl.Item {
	switch {
	case l.Payload.Type == "turn_aborted":
		return []jsonl.Item{{Kind: jsonl.Interrupt}}
	case l.Payload.Type == "task_complete" && l.Payload.Error != nil:
		f := l.Payload.Error.failure()
		return []jsonl.Item{{Kind: jsonl.APIError, Text: f.Text, Failure: f, Status: l.Payload.Error.status()}}
	case l.Payload.Type == "task_complete":
		return []jsonl.Item{{Kind: jsonl.TurnEnd}}
	}
	return nil
}

// maxText is the longest text that is kept of a failure or a step, in characters.
const maxText = 200

var httpStatus = lazyregexp.New(`"http_status_code":(\d{3})\b`)

// status is the status of HTTP; 0: the line has none.
func (f failure) status() int {
	if found := httpStatus.FindSubmatch(f.Info); found != nil {
		status, _ := strconv.Atoi(string(found[1])) // it has three digits
		return status
	}
	return 0
}

func (f failure) failure() talk.Failure {
	kind, status := talk.FailedRequest, f.status()
	switch {
	case bytes.Contains(f.Info, []byte("usage_limit_exceeded")):
		kind = talk.FailedLimit
	case bytes.Contains(f.Info, []byte("context_window_exceeded")):
		kind = talk.FailedContext
	case status == http.StatusUnauthorized, bytes.Contains(f.Info, []byte("unauthorized")):
		kind = talk.FailedLogin
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge:
		kind = talk.FailedRefused
	}
	text := strings.TrimSpace(f.Message)
	if text == "" {
		text = "Codex: an error without a text"
	}
	return talk.Failure{Kind: kind, Text: clip.Runes(text, maxText)}
}

// maxHead is more than the head of a tool's output has.
const maxHead = 512

// shellResult begins the message with the output of a person's command.
const shellResult = "<user_shell_command>"

// tool returns the call of a tool, or its result, or the output of a person's command.
func (l line) tool() []jsonl.Item {
	p := l.Payload
	switch p.Type {
	case "message":
		if status, is := l.goal(); is && status == goalPaused {
			return []jsonl.Item{{Kind: jsonl.GoalPaused}}
		}
		if len(p.Content) == 1 && strings.HasPrefix(p.Content[0].Text, shellResult) {
			_, output, _ := strings.Cut(p.Content[0].Text, "\nOutput:\n")
			output, _, _ = strings.Cut(output, "\n</result>")
			return []jsonl.Item{{Kind: jsonl.LocalOutput, Command: "!", Text: output}}
		}
	case "function_call", "custom_tool_call":
		name := p.Name
		if first := scriptTool.FindStringSubmatch(p.Input); first != nil && name == "exec" { // a script is known by its first call
			name = first[1]
		}
		in := input(p.Arguments, p.Input)
		return []jsonl.Item{{Kind: jsonl.ToolUse, Tool: &jsonl.Tool{Name: askedAs(name, in), ID: p.CallID, Input: in}}}
	case "function_call_output", "custom_tool_call_output":
		text := l.output()
		head := text[:min(len(text), maxHead)] // the rest may be megabytes
		t := &jsonl.Tool{ID: p.CallID, IsError: failed.MatchString(head)}
		if endOf(head) == isDenied {
			t.Denial = "user-rejected"
		}
		return []jsonl.Item{{Kind: jsonl.ToolResult, Text: text, Tool: t}}
	}
	return nil
}

// output returns the output of a call: a text, or a list of texts and pictures.
func (l line) output() (text string) {
	var parts []struct{ Text string }
	switch {
	case json.Unmarshal(l.Payload.Output, &text) == nil:
	case json.Unmarshal(l.Payload.Output, &parts) == nil:
		for _, part := range parts {
			text += part.Text
		}
	default:
		text = string(l.Payload.Output)
	}
	return text
}

var (
	// failed matches the head of an output, before the part that the tool has printed.
	failed    = lazyregexp.New(`^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Output:\n)?(?:Process exited with code|Exit code:) [1-9]|^Script failed|^exec_command failed`)
	patchFile = lazyregexp.New(`(?:^|\n|\\n)["'` + "`" + `]?\*\*\* (?:Add|Update|Delete) File: ([^\n\\"'` + "`" + `]+)`)
	// A script calls tools.exec_command({cmd: "ls"}), tools.apply_patch("…"), tools.mcp__server__tool({}).
	scriptTool = lazyregexp.New(`\btools\.(\w+)\(`)
	scriptCmd  = lazyregexp.New(`\bcmd["']?\s*:\s*("(?:[^"\\\n]|\\.)*"|'[^'\\\n]*'|` + "`[^`\\\\$]*`" + `)`)
)

// askedAs is the name under which the server asks for the permission of a call: a shell command is Bash,
// also in a request, and one that patches a file is a patch.
func askedAs(name string, in json.RawMessage) string {
	switch {
	case name != "exec_command":
		return name
	case gjson.GetBytes(in, "file_path").Exists():
		return "apply_patch"
	}
	return "Bash"
}

// input is the input of a call as jsonl.Tool.Step describes it: a command or a file.
func input(arguments, patch string) json.RawMessage {
	var given struct {
		Cmd     string
		Command json.RawMessage // a text, or words
	}
	_ = json.Unmarshal([]byte(arguments), &given) // other tools have other arguments
	var words []string
	_ = json.Unmarshal(given.Command, &words) // it may be a text
	if len(words) > 0 {
		given.Cmd = words[len(words)-1]
	}
	if script := scriptCmd.FindStringSubmatch(patch); script != nil && json.Unmarshal([]byte(script[1]), &given.Cmd) != nil {
		given.Cmd = strings.Trim(script[1], "'`")
	}
	subject := map[string]string{}
	if file := patchFile.FindStringSubmatch(patch + given.Cmd); file != nil {
		subject["file_path"] = file[1]
	} else if given.Cmd != "" {
		subject["command"] = given.Cmd
	}
	if len(subject) == 0 {
		return json.RawMessage(arguments)
	}
	data, err := json.Marshal(subject)
	if err != nil {
		return nil
	}
	return data
}
