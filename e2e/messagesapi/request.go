package messagesapi

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// Request is one call of POST /v1/messages as it was recorded.
type Request struct {
	At       time.Time
	Header   map[string]string // the first value of each header; the API key is left out
	Model    string
	Stream   bool
	Messages []Message
	Tools    []string // names of the offered tools
	Body     json.RawMessage
	Means    map[string]string // the server's
}

// Message is one turn of the conversation. Content that came as a plain string is one text block.
type Message struct {
	Role   string
	Blocks []Block
}

// Block is one content block: "text", "tool_use", "tool_result" or another type that is kept by
// name only.
type Block struct {
	Type      string
	Text      string          // text, or a tool result flattened to text
	ToolID    string          // id of a tool_use, tool_use_id of a tool_result
	ToolName  string          // of a tool_use
	ToolInput json.RawMessage // of a tool_use
	IsError   bool            // of a tool_result
}

// Texts returns the texts of persons and assistant in order, without reminders, the wrapping of
// pasted text, tool calls and results.
func (r Request) Texts() []string {
	var texts []string
	for _, m := range r.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			continue
		}
		for _, b := range m.Blocks {
			if t := HumanText(b.Text); b.Type == "text" && t != "" {
				texts = append(texts, t)
			}
		}
	}
	return texts
}

// Says reports whether any turn of the conversation contains text.
func (r Request) Says(text string) bool {
	for _, t := range r.Texts() {
		if strings.Contains(t, text) {
			return true
		}
	}
	return false
}

var (
	reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	// The task of a workflow's agent is framed and indented; the same 2.1.332 did not do that before 29 November 2026, 12:40 UTC.
	computed = regexp.MustCompile(`(?s)^\[Workflow harness — computed task\].*? task text follows:\n(.*)`)
	// The closing tag carries the id too: </pasted_content id="ab8c">.
	pasted = regexp.MustCompile(`(?s)<pasted_content[^>]*>\n?(.*?)\n?</pasted_content[^>]*>`)
)

// HumanText removes Claude Code's additions to a person's words: <system-reminder> blocks, and the
// wrapping of <pasted_content>. It returns "" for a block that no person wrote, also for the marks
// of an interrupted turn and of a tool search.
func HumanText(s string) string {
	s = reminder.ReplaceAllString(s, "")
	s = strings.TrimSpace(pasted.ReplaceAllString(s, "$1"))
	if m := computed.FindStringSubmatch(s); m != nil {
		s = strings.TrimSpace(strings.ReplaceAll(m[1], "\n  ", "\n"))
	}
	if strings.HasPrefix(s, "[Request interrupted by user") || s == "Tool loaded." {
		return ""
	}
	return s
}

type wireRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// ParseRequest reads the body of a request. Unknown fields and block types are no error.
func ParseRequest(body []byte) (Request, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, err
	}
	r := Request{Model: w.Model, Stream: w.Stream, Body: body}
	for _, m := range w.Messages {
		r.Messages = append(r.Messages, Message{Role: m.Role, Blocks: parseBlocks(m.Content)})
	}
	for _, t := range w.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return r, nil
}

func parseBlocks(content json.RawMessage) []Block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []Block{{Type: "text", Text: text}}
	}
	var wire []wireBlock
	if json.Unmarshal(content, &wire) != nil {
		return nil
	}
	blocks := make([]Block, 0, len(wire))
	for _, w := range wire {
		b := Block{Type: w.Type, Text: w.Text, ToolID: w.ID, ToolName: w.Name, ToolInput: w.Input, IsError: w.IsError}
		if w.Type == "tool_result" {
			b.ToolID, b.Text = w.ToolUseID, flatten(parseBlocks(w.Content))
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func flatten(blocks []Block) string {
	parts := make([]string, 0, len(blocks))
	for _, b := range blocks {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n")
}
