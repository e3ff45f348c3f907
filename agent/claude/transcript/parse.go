package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ccbot/agent/jsonl"
	"ccbot/internal/clip"
	"ccbot/internal/lazyregexp"
	"ccbot/port/talk"
)

// entry is the part of a transcript line that is used. Lines have many more keys, and new ones with
// every version.
type entry struct {
	Type, Subtype, Level, UUID, Timestamp, RequestID, Cwd string

	RequestedModel, PermissionMode string
	// RequestSessionID is of a line whose SessionID a copy has changed.
	SessionID, RequestSessionID string
	ForkedFrom                  struct{ SessionID string }

	IsSidechain, IsMeta, IsCompactSummary, IsAPIErrorMessage bool

	Message struct {
		ID, Model  string
		StopReason string `json:"stop_reason"`
		Content    span   // a string or blocks
		Usage      *spent
	}
	Content        span // system, queue-operation
	ToolUseResult  span
	Operation      string // queue-operation
	ToolDenialKind string
	// ContinuedInSessionID is the conversation in the background in which this one goes on.
	ContinuedInSessionID string
	PlanContent          string // of the line that begins a conversation with an approved plan
	Prompt               string // of a schedule of the agent's own
	Origin               struct{ Kind string }
	CommandRun           struct{ Command string }
	// PromptSubmitEnding says that a prompt was not accepted.
	PromptSubmitEnding struct{ Ending struct{ Kind string } }
	Error              string                     // the kind of failure of a failed request
	APIErrorStatus     float64                    // its status of HTTP
	QuotaLimits        struct{ ResetsAt float64 } // in a request that a limit refused, in Unix seconds
	Attachment         struct{ Type, Decision, ToolUseID string }
}

// span is a JSON value that stays in the memory of its line: of a line of megabytes nearly all is
// one value. It is not valid after the line.
type span []byte

func (s *span) UnmarshalJSON(data []byte) error {
	*s = data
	return nil
}

// block is one element of a message's content, or of a tool result's.
type block struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
	ToolUseID                      string `json:"tool_use_id"`
	IsError                        bool   `json:"is_error"`
	Content                        span   // tool_result: a string or blocks
	Source                         struct {
		MediaType string `json:"media_type"`
		Data      string
	}
}

// isBulk reports whether a line is of those that can be megabytes and never hold an item.
func isBulk(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"type":"api-request`)) || bytes.HasPrefix(line, []byte(`{"type":"file-history-`))
}

// readEntry reads one line. It returns false for a text that is not a JSON object.
func readEntry(line []byte) (*entry, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return nil, false
	}
	e := new(entry)
	return e, decode(line, e) == nil
}

// spoken reports whether the line is the user's or the assistant's, and not injected.
func (e *entry) spoken() bool {
	return (e.Type == "user" || e.Type == "assistant") && !e.IsMeta
}

// parseLine reads one line. Types it does not know return no items and no error, as does a blank
// line; an error means that the line is not a JSON object. The items have no cursors.
func parseLine(l jsonl.Line) ([]jsonl.Item, error) {
	if long := l.TooLong(); long != nil {
		return long, nil
	}
	text := bytes.TrimSpace(l.Text)
	if len(text) == 0 || isBulk(text) {
		return nil, nil
	}
	short, places := withoutImages(l)
	e, ok := readEntry(short)
	if !ok {
		return nil, errors.New("parse transcript line: no JSON object")
	}
	items := e.items()
	for i := range items {
		e.stamp(&items[i])
		keepFound(items[i].Images, places)
		l.Restore(&items[i])
		noteTask(&items[i])
	}
	return items, nil
}

// decode fills as many fields as it can: a key that changed its type in some version must not hide
// the others.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return nil
	}
	return err
}

// stamp copies the fields that every item of a line shares.
func (e *entry) stamp(item *jsonl.Item) {
	item.UUID, item.MessageID, item.Sidechain = e.UUID, e.Message.ID, e.IsSidechain
	item.Last = e.Type == "assistant" && item.Kind == jsonl.Text && e.Message.StopReason != "tool_use"
	item.Meta = item.Kind != jsonl.TurnEnd && (item.Meta || e.IsMeta || e.IsCompactSummary) // an end has no words
	item.Time = e.time()
}

// time returns the time of a line, or zero if it cannot be read, which is no reason to lose the
// text.
func (e *entry) time() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, e.Timestamp)
	return writable(at)
}

// writable returns a time in UTC, or zero outside the years of JSON: a record with such a time
// could not be saved.
func writable(at time.Time) time.Time {
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

func (e *entry) items() []jsonl.Item {
	switch e.Type {
	case "assistant":
		return e.assistant()
	case "user":
		return e.user()
	case "system":
		return e.system()
	case "queue-operation":
		text, _ := texts(e.Content)
		own := strings.HasPrefix(strings.TrimSpace(text), taskNotification) // the end of a task in the background: nobody has typed it
		return []jsonl.Item{{Kind: jsonl.QueueOperation, Operation: e.Operation, Text: text, Meta: own}}
	case "attachment":
		if e.Attachment.Type == "hook_permission_decision" {
			return []jsonl.Item{{Kind: jsonl.PermissionDecision, Text: e.Attachment.Decision, Tool: &jsonl.Tool{ID: e.Attachment.ToolUseID}}}
		}
	}
	return nil
}

func (e *entry) assistant() (items []jsonl.Item) {
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			item := jsonl.Item{Kind: jsonl.Text, Text: b.Text}
			if e.isFailure() {
				item.Kind, item.Failure, item.Status = jsonl.APIError, e.failure(), int(e.APIErrorStatus)
			}
			items = appendText(items, item)
		case "thinking":
			items = appendText(items, jsonl.Item{Kind: jsonl.Thinking, Text: b.Thinking})
		case "tool_use", "server_tool_use", "mcp_tool_use":
			items = append(items, jsonl.Item{Kind: jsonl.ToolUse, Tool: &jsonl.Tool{Name: b.Name, ID: b.ID, Input: b.Input}})
		}
	}
	if e.isFailure() && len(items) == 0 { // also an error without words ends the turn
		items = []jsonl.Item{{Kind: jsonl.APIError, Text: cmp.Or(e.Error, "API Error"), Failure: e.failure(), Status: int(e.APIErrorStatus)}}
	}
	return items
}

func (e *entry) user() (items []jsonl.Item) {
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			items = appendText(items, e.classify(b.Text))
			if e.PlanContent != "" && len(items) == 1 {
				items[0] = jsonl.Item{Kind: jsonl.PlanBegun, Text: b.Text}
			}
		case "image":
			item := e.classify("")
			item.Images = []talk.Image{imageOf(b.Source.MediaType, b.Source.Data)}
			items = append(items, item)
		case "tool_result":
			text, images := texts(b.Content)
			items = append(items, jsonl.Item{Kind: jsonl.ToolResult, Text: text, Images: images,
				Tool: &jsonl.Tool{ID: b.ToolUseID, IsError: b.IsError, Denial: e.ToolDenialKind}})
		}
	}
	return items
}

func (e *entry) system() []jsonl.Item {
	text, _ := texts(e.Content)
	switch e.Subtype {
	case "turn_duration":
		return []jsonl.Item{{Kind: jsonl.TurnEnd}}
	case "scheduled_task_fire":
		return []jsonl.Item{{Kind: jsonl.ScheduleFired, Text: e.Prompt}}
	case "compact_boundary":
		return []jsonl.Item{{Kind: jsonl.CompactBoundary, Text: text}}
	case "informational":
		if item, ok := unknownCommand(text); ok {
			return []jsonl.Item{item}
		}
		if failed := e.blocked(); failed != (talk.Failure{}) {
			said, prompt, _ := strings.Cut(text, originalPrompt)
			return []jsonl.Item{{Kind: jsonl.LocalOutput, Text: said, Refused: prompt, Failure: failed}}
		}
		if e.isNotice(text) {
			return appendText(nil, jsonl.Item{Kind: jsonl.LocalOutput, Text: text, Command: commandAnswer.FindString(text)})
		}
	case "local_command":
		item, ok := local(text)
		if !ok {
			item = jsonl.Item{Kind: jsonl.LocalOutput, Text: text}
		}
		item.Off = strings.HasPrefix(item.Text, forkUsage)
		if item.Command == "" && e.CommandRun.Command != "" {
			item.Command = "/" + strings.TrimPrefix(e.CommandRun.Command, "/")
		}
		return appendText(nil, item)
	}
	return appendText(nil, jsonl.Item{Kind: jsonl.Other, Text: text, Meta: true})
}

// unknownCommand reads what Claude Code says about a command that it does not have.
func unknownCommand(text string) (jsonl.Item, bool) {
	command, ok := strings.CutPrefix(text, "Unknown command: ")
	command, _, _ = strings.Cut(command, ". ") // "Did you mean …?" may follow
	return jsonl.Item{Kind: jsonl.LocalOutput, Text: text, Command: command, Off: slices.Contains(leaving, command)}, ok
}

// levels are those of notices to the person; the others, "info" and "suggestion", are remarks about what the screen shows anyway.
var levels = []string{"notice", "warning"}

// reported are the starts of notices that the chat does not repeat: of a limit it has the end from the refused request, and the
// last one explains auto mode each time that a session enters it.
var reported = []string{"Usage limit reached", "Automatic continue ", "Auto mode lets Claude "}

// commandAnswer matches the command that a notice answers, if the notice names it, as in "/voice needs a Claude subscription."
var commandAnswer = lazyregexp.New(`^/[a-z][\w:-]*`)

// isNotice reports whether an informational line says something to the person. Many slash commands answer only so, and most of
// these lines do not name the command.
func (e *entry) isNotice(text string) bool {
	return slices.Contains(levels, e.Level) && !hasAnyPrefix(text, reported)
}

// leaving are the commands that would move the conversation out of its window. The settings of a launch switch them off
// (disableAgentView), and then Claude Code does not know them. forkUsage is what it says of /fork then.
var leaving = []string{"/background", "/bg"}

const forkUsage = "Usage: /fork "

// appendText leaves out blank texts: there is nothing to show, and a chat refuses them. The blank
// output of a local command stays, as proof that the command ran.
func appendText(items []jsonl.Item, item jsonl.Item) []jsonl.Item {
	if strings.TrimSpace(item.Text) == "" && item.Kind != jsonl.LocalOutput && item.Command == "" {
		return items
	}
	return append(items, item)
}

// maxBlocks is far more than any message has. A block takes many times the memory of its shortest
// text: a long line of such blocks would need more than most machines have, and be read again at
// each start.
const maxBlocks = 10_000

// blocks reads a message's content, maxBlocks of it; a string is one text block.
func blocks(raw span) (list []block) {
	if len(raw) > 0 && raw[0] == '"' {
		list = make([]block, 1)
		list[0].Type = "text"
		_ = json.Unmarshal(raw, &list[0].Text) // it is sound: the line was checked as a whole
		return list
	}
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	gjson.ParseBytes(raw).ForEach(func(_, one gjson.Result) bool {
		list = append(list, block{})
		_ = decode(raw[one.Index:one.Index+len(one.Raw)], &list[len(list)-1]) // so is this
		return len(list) < maxBlocks
	})
	return list
}

// texts is the text of a content, its text blocks joined by line breaks, and its images.
func texts(raw span) (string, []talk.Image) {
	var (
		parts  []string
		images []talk.Image
	)
	for _, b := range blocks(raw) {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "image":
			images = append(images, imageOf(b.Source.MediaType, b.Source.Data))
		}
	}
	return strings.Join(parts, "\n"), images
}

// isFailure reports whether the line is about a request that failed. After an error that Claude Code mends by itself, such as an
// image that the API does not take, the line is one of a turn that goes on.
func (e *entry) isFailure() bool { return e.IsAPIErrorMessage && e.Message.StopReason != "tool_use" }

// tooLong is how Claude Code begins the error of a conversation that no longer fits into the model's context.
const tooLong = "Prompt is too long"

// failure reads a line that Claude Code itself has written about a request that failed.
func (e *entry) failure() talk.Failure {
	text, _ := texts(e.Message.Content)
	f := talk.Failure{Kind: talk.FailedRequest, Text: clip.Runes(strings.TrimSpace(text), jsonl.MaxText)}
	switch {
	case e.Error == "authentication_failed":
		f.Kind = talk.FailedLogin
	case e.Error == "billing_error":
		f.Kind = talk.FailedAccount
	case strings.HasPrefix(f.Text, tooLong):
		f.Kind = talk.FailedContext
	case e.QuotaLimits.ResetsAt > 0:
		f.Kind, f.Until = talk.FailedLimit, writable(time.Unix(int64(e.QuotaLimits.ResetsAt), 0))
	case e.APIErrorStatus == http.StatusBadRequest, e.APIErrorStatus == http.StatusRequestEntityTooLarge:
		f.Kind = talk.FailedRefused
	}
	return f
}

// originalPrompt stands between the reason of a hook and the prompt that it has blocked.
const originalPrompt = "\n\nOriginal prompt: "

// blocked reads a line about a prompt that a hook did not let through. The zero value means that
// the line is about something else.
func (e *entry) blocked() talk.Failure {
	if e.PromptSubmitEnding.Ending.Kind != "blocked_by_hook" {
		return talk.Failure{}
	}
	text, _ := texts(e.Content)
	text, _, _ = strings.Cut(text, originalPrompt)
	_, reason, _ := strings.Cut(text, "\n") // the first line names the event
	return talk.Failure{Kind: talk.FailedHook, Text: clip.Runes(strings.TrimSpace(reason), jsonl.MaxText)}
}

const interrupted = "[Request interrupted by user"

// injected are the starts of user lines that no person wrote.
var injected = []string{"<system-reminder>", taskNotification, "<local-command-caveat>"}

// classify sorts the text of a user line: a person's prompt, a local command or its output, an
// interrupt, or something injected. A line with the origin "human" may look like an interrupt or
// like something injected and still be a prompt; versions before 2.1.328 write no origin.
func (e *entry) classify(text string) jsonl.Item {
	trimmed := strings.TrimSpace(text)
	human := e.Origin.Kind == "human"
	switch {
	case e.IsMeta || e.IsCompactSummary:
		return jsonl.Item{Kind: jsonl.Other, Text: text, Meta: true}
	case !human && strings.HasPrefix(trimmed, interrupted):
		return jsonl.Item{Kind: jsonl.Interrupt, Text: text}
	case !human && (e.Origin.Kind != "" || hasAnyPrefix(trimmed, injected)):
		return jsonl.Item{Kind: jsonl.Other, Text: text, Meta: true}
	}
	if item, ok := local(trimmed); ok {
		return item
	}
	if item, ok := unknownCommand(trimmed); ok && !human && e.PermissionMode == "" { // 2.1.128: in the place of a prompt, which has a mode
		return item
	}
	return jsonl.Item{Kind: jsonl.UserPrompt, Text: unwrapped(text)}
}

// The patterns match Claude Code's additions to a person's words. It writes such a mark in a
// person's text with a backslash.
var (
	pastedContent = lazyregexp.New(`(?s)<pasted_content[^>]*>\n?(.*?)\n?</pasted_content[^>]*>`)
	reminders     = lazyregexp.New(`(?s)<system-reminder>.*?</system-reminder>`)
)

// unwrapped returns the words of a person without the wrappers around them. A text with nothing
// else stays as it is.
func unwrapped(text string) string {
	if !strings.Contains(text, "<pasted_content") && !strings.Contains(text, "<system-reminder>") {
		return text
	}
	words := strings.Trim(reminders.ReplaceAllString(pastedContent.ReplaceAllString(text, "$1"), ""), "\n")
	if strings.TrimSpace(words) == "" {
		return text
	}
	return words
}

// local reads the tags around slash commands, around commands of bash mode, and around their
// output.
func local(text string) (jsonl.Item, bool) {
	switch {
	case hasAnyPrefix(text, []string{"<command-name>", "<command-message>"}):
		name := strings.TrimSpace(tagged(text, "command-name"))
		if name == "" {
			return jsonl.Item{}, false
		}
		name = "/" + strings.TrimPrefix(name, "/")
		args := strings.TrimSpace(tagged(text, "command-args"))
		return jsonl.Item{Kind: jsonl.LocalCommand, Command: name, Text: strings.TrimSpace(name + " " + args)}, true
	case strings.HasPrefix(text, "<bash-input>"):
		return jsonl.Item{Kind: jsonl.LocalCommand, Command: "!", Text: "!" + tagged(text, "bash-input")}, true
	case hasAnyPrefix(text, []string{"<bash-stdout>", "<bash-stderr>"}):
		return jsonl.Item{Kind: jsonl.LocalOutput, Command: "!", Text: output(text, "bash-stdout", "bash-stderr")}, true
	case hasAnyPrefix(text, []string{"<local-command-stdout>", "<local-command-stderr>"}):
		item := jsonl.Item{Kind: jsonl.LocalOutput, Text: output(text, "local-command-stdout", "local-command-stderr")}
		if item.Text == noContent {
			item.Text = ""
		}
		return item, true
	}
	return jsonl.Item{}, false
}

// noContent is what Claude Code writes down for a command that printed nothing, such as /mobile after Esc.
const noContent = "(no content)"

func output(text, stdout, stderr string) string {
	out, err := tagged(text, stdout), tagged(text, stderr)
	if out == "" || err == "" {
		return out + err
	}
	return out + "\n" + err
}

// noteTask notes what an item shows of a task in the background: the result of a call that has only
// started a subagent, or the form in which Claude Code notifies the agent of the end of a task.
func noteTask(i *jsonl.Item) {
	i.Background = i.Kind == jsonl.ToolResult && strings.HasPrefix(i.Text, "Async agent launched")
	if i.Kind != jsonl.Other || !strings.HasPrefix(strings.TrimSpace(i.Text), taskNotification) {
		return
	}
	if call := strings.TrimSpace(tagged(i.Text, "tool-use-id")); call != "" {
		i.TaskEnded = &talk.Tool{ID: call, Failed: strings.TrimSpace(tagged(i.Text, "status")) == "failed"}
	}
}

const taskNotification = "<task-notification>"

// tagged is the text between <name> and the last </name>; it takes the last one because output may
// itself contain the tag.
func tagged(text, name string) string {
	_, after, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return ""
	}
	if end := strings.LastIndex(after, "</"+name+">"); end >= 0 {
		return after[:end]
	}
	return after
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
