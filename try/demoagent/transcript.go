package demoagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccbot/try/demoagent/script"

	"github.com/google/uuid"
)

const model = "claude-opus-5-5"

// line is one entry of a transcript.
type line map[string]any

// transcript appends to a session's JSONL file. The file is made by the first line, not at the
// start.
type transcript struct {
	path    string
	id      uuid.UUID
	cwd     string
	agentID string // of a subagent, whose file this is
	off     bool   // nothing is saved (a session inside another one's tool call)
	mode    string
	parent  any // uuid of the newest line; nil at the beginning
	begun   bool
	copied  []line // of a fork: the parent session's lines, written before its first line
	prompts int
}

// append writes lines at once, as one write of whole lines.
func (t *transcript) append(lines ...line) error {
	if t.off {
		return nil
	}
	if !t.begun {
		t.begun = true
		lines = append(t.opening(), lines...)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("transcript: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o755); err != nil { //nolint:gosec // as the real one
		return fmt.Errorf("transcript: %w", err)
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		_ = f.Close()
		return fmt.Errorf("transcript: %w", err)
	}
	return f.Close()
}

func (t *transcript) opening() []line {
	lines := t.copied
	t.copied = nil
	return append(lines,
		line{"type": "mode", "mode": "normal", "sessionId": t.id},
		line{"type": "permission-mode", "permissionMode": t.mode, "sessionId": t.id})
}

// chained makes a line that follows the newest one.
func (t *transcript) chained(kind string, fields line) line {
	id := uuid.New()
	l := line{
		"parentUuid": t.parent, "isSidechain": false, "type": kind, "uuid": id, "timestamp": stamp(),
		"userType": "external", "entrypoint": "cli", "cwd": t.cwd, "sessionId": t.id, "version": version, "gitBranch": "HEAD",
	}
	if t.agentID != "" {
		l["isSidechain"], l["agentId"] = true, t.agentID
	}
	for name, value := range fields {
		l[name] = value
	}
	t.parent = id
	return l
}

func stamp() string { return stampOf(time.Now()) }

func stampOf(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// human is a prompt; source is "typed" or "queued".
func (t *transcript) human(text, promptID, source string) line {
	t.prompts++
	return t.chained("user", line{
		"message": line{"role": "user", "content": text}, "promptId": promptID, "permissionMode": t.mode,
		"origin": line{"kind": "human"}, "promptSource": source, "turnOrigin": "human",
		"turnPosition": line{"promptIndex": t.prompts, "turnIndex": t.prompts},
	})
}

// note is a user line that is not sent to a model: bash mode, local commands, interruptions.
func (t *transcript) note(content any, fields line) line {
	l := t.chained("user", line{"message": line{"role": "user", "content": content}})
	for name, value := range fields {
		l[name] = value
	}
	return l
}

// assistant is one content block of an answer. Blocks of one message share its id and repeat its
// usage.
func (t *transcript) assistant(messageID, stopReason string, usage line, block line) line {
	var stop any = stopReason
	if stopReason == "" {
		stop = nil // the stream was cut
	}
	return t.chained("assistant", line{
		"message": line{
			"id": messageID, "type": "message", "role": "assistant", "model": model, "content": []line{block},
			"stop_reason": stop, "stop_sequence": nil, "usage": usage,
		},
		"requestedModel": model, "effort": "medium", "madeBy": "model",
	})
}

// apiError returns the line of a failed request.
func (t *transcript) apiError(text string) line {
	return t.chained("assistant", line{
		"message": line{
			"id": uuid.NewString(), "type": "message", "role": "assistant", "model": "<synthetic>",
			"content": []line{textBlock(text)}, "stop_reason": "stop_sequence", "stop_sequence": "", "usage": tokenUsage(0, 0),
		},
		"error": "unknown", "isApiErrorMessage": true, "apiErrorStatus": 500, "apiErrorType": "api_error",
	})
}

func (t *transcript) toolResult(callID, text string, isError bool, fields line) line {
	result := line{"type": "tool_result", "content": text, "tool_use_id": callID}
	if isError {
		result["is_error"] = true
	}
	return t.note([]line{result}, fields)
}

// rejected is the result of a call that the person refused or interrupted.
func (t *transcript) rejected(callID string, callLine any) line {
	return t.toolResult(callID, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "+
		"the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.", true,
		line{"toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected", "sourceToolAssistantUUID": callLine})
}

// outcome returns the lines of a call that was not interrupted: the decision of a hook, if any, and
// the result. The decision is dated when it came and written only here, as by the real one: while
// the tool runs it is not in the file.
func (t *transcript) outcome(callID string, callLine any, r script.Result, byHook, decided string) []line {
	var lines []line
	if byHook != "" {
		lines = append(lines, t.chained("attachment", line{"timestamp": decided, "attachment": line{
			"type": "hook_permission_decision", "decision": byHook, "toolUseID": callID, "hookEvent": "PermissionRequest"}}))
	}
	fields := line{"sourceToolAssistantUUID": callLine}
	if r.Denied {
		fields["toolDenialKind"], fields["toolUseResult"] = "permission-rule", "Error: "+r.Text
	}
	return append(lines, t.toolResult(callID, r.Text, r.Denied || r.Failed, fields))
}

func (t *transcript) system(subtype string, fields line) line {
	l := t.chained("system", line{"subtype": subtype, "isMeta": false})
	for name, value := range fields {
		l[name] = value
	}
	return l
}

// queue is an enqueue or a dequeue; they stand outside the chain.
func (t *transcript) queue(operation, content string) line {
	l := line{"type": "queue-operation", "operation": operation, "timestamp": stamp(), "sessionId": t.id}
	if content != "" {
		l["content"] = content
	}
	return l
}

func (t *transcript) command(name, args, stdout string) []line {
	return []line{
		t.note("<local-command-caveat>The command below was run directly in Claude Code, not sent to you as a request."+
			"</local-command-caveat>", line{"isMeta": true}),
		t.note(fmt.Sprintf("<command-name>/%s</command-name>\n            <command-message>%s</command-message>\n"+
			"            <command-args>%s</command-args>", name, name, args), nil),
		t.system("local_command", line{"content": "<local-command-stdout>" + stdout + "</local-command-stdout>",
			"level": "info", "commandRun": line{"command": name, "args": args}}),
	}
}

func textBlock(text string) line { return line{"type": "text", "text": text} }

// tokenUsage has all the keys of the real one; numbers are invented from lengths.
func tokenUsage(input, output int) line {
	return line{
		"input_tokens": min(input, 10), "cache_creation_input_tokens": 0, "cache_read_input_tokens": max(input-10, 0),
		"output_tokens": output, "output_tokens_details": line{"thinking_tokens": 0},
		"server_tool_use": line{"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
		"cache_creation": line{"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
		"iterations":     []any{}, "speed": "standard",
	}
}

// readHistory reads what an earlier run of the session left: all lines, and where the chain ends.
// A torn last line is ignored.
func readHistory(path string) ([]line, any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var lines []line
	var parent any
	for text := range strings.Lines(string(data)) {
		var l line
		if json.Unmarshal([]byte(text), &l) != nil {
			continue
		}
		lines = append(lines, l)
		if id, ok := l["uuid"].(string); ok {
			parent = id
		}
	}
	return lines, parent, nil
}
