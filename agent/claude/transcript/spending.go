package transcript

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"ccbot/agent/history"
	"ccbot/port/talk"
)

// spent holds the tokens of an answer as its line has them.
type spent struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	Output        int64 `json:"output_tokens"`
	Creation      struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Server struct {
		Searches int64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// mostTokens is more than any answer has: a larger number is a mistake of the file.
const mostTokens = 1 << 30

// usagePattern is in each line with tokens.
var usagePattern = []byte(`"usage"`)

// Answers calls each with the tokens in the lines of a transcript, from an offset to the present
// end or until ctx ends, and returns the offset of the following line. Each line of an answer
// repeats its tokens, and so do the files of subagents, and of copies of a conversation. It passes
// lines that it cannot read. ErrTruncated: no line begins at the offset.
func Answers(ctx context.Context, path string, from int64, each func(a history.Answer)) (next int64, err error) {
	next, err = Form().Lines(talk.Cursor{Path: path, Offset: from}, false, func(text []byte) bool {
		if a, ok := answerOf(text); ok {
			each(a)
		}
		return ctx.Err() == nil
	})
	return next, cmp.Or(err, ctx.Err())
}

// answerOf reads a line; false: it has no tokens.
func answerOf(line []byte) (a history.Answer, ok bool) {
	if !bytes.Contains(line, usagePattern) || isBulk(line) {
		return a, false
	}
	l, ok := readEntry(line)
	if !ok || l.Type != "assistant" || l.Message.Usage == nil || l.Message.Model == synthetic {
		return a, false
	}
	at, err := time.Parse(time.RFC3339Nano, l.Timestamp)
	if err != nil {
		return a, false // it belongs to no day
	}
	u := l.Message.Usage
	hour := min(count(u.Creation.Hour), count(u.CacheCreation))
	return history.Answer{ID: l.answer(), Session: cmp.Or(l.RequestSessionID, l.ForkedFrom.SessionID, l.SessionID),
		Model: cmp.Or(l.Message.Model, "?"), Dir: l.Cwd, At: at,
		Tokens: history.Tokens{Input: count(u.Input), Output: count(u.Output), CacheRead: count(u.CacheRead),
			Write5m: count(u.CacheCreation) - hour, Write1h: hour, Searches: count(u.Server.Searches)}}, true
}

// answer identifies the answer that a line with tokens is of. The ids do not suffice: gateways exist
// that give one id to all messages, or to all requests, but each request has read more. A line
// without any id counts by itself.
func (e *entry) answer() string {
	if e.Message.ID == "" {
		return "line " + cmp.Or(e.UUID, e.Timestamp)
	}
	u := e.Message.Usage
	return fmt.Sprint(e.Message.ID, " ", e.RequestID, " ", u.Input, " ", u.CacheRead, " ", u.CacheCreation)
}

func count(n int64) int64 {
	if n < 0 || n > mostTokens {
		return 0
	}
	return n
}
