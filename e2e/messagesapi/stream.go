package messagesapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// wordEvery is the pace of a slow answer.
const wordEvery = 100 * time.Millisecond

// events writes server-sent events; after the first error it writes nothing more, which is how a
// client that hung up is noticed.
type events struct {
	w     http.ResponseWriter
	index int
	err   error
}

func (e *events) send(kind string, v map[string]any) {
	if e.err != nil {
		return
	}
	v["type"] = kind
	data, err := json.Marshal(v)
	if err != nil {
		e.err = err
		return
	}
	if _, e.err = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, data); e.err == nil {
		e.err = http.NewResponseController(e.w).Flush()
	}
}

func (e *events) block(start map[string]any, fill func()) {
	e.send("content_block_start", map[string]any{"index": e.index, "content_block": start})
	fill()
	e.send("content_block_stop", map[string]any{"index": e.index})
	e.index++
}

func (e *events) delta(kind, field, text string) {
	e.send("content_block_delta", map[string]any{"index": e.index, "delta": map[string]any{"type": kind, field: text}})
}

// stream answers as the API streams: the order of the events and their fields are the API's.
func stream(ctx context.Context, w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	e := &events{w: w}
	e.send("message_start", map[string]any{"message": message(r)})
	delay(ctx, reply)
	output := 1
	if reply.Text != "" || reply.Tool == "" {
		e.block(map[string]any{"type": "text", "text": ""}, func() { output += e.text(ctx, reply) })
	}
	for range reply.calls() {
		start := map[string]any{"type": "tool_use", "id": newID("toolu_"), "name": reply.Tool, "input": map[string]any{}}
		e.block(start, func() { e.delta("input_json_delta", "partial_json", inputJSON(reply.Input)) })
	}
	e.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reply.stopReason(), "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": output},
	})
	e.send("message_stop", map[string]any{})
}

// delay waits for the time of the answer, or until its file exists.
func delay(ctx context.Context, reply Reply) {
	end, look := time.After(reply.After), time.NewTicker(wordEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end:
			return
		case <-look.C:
			if _, err := os.Stat(reply.Until); err == nil {
				return
			}
		}
	}
}

// text sends the text and returns its number of tokens.
func (e *events) text(ctx context.Context, reply Reply) int {
	if reply.Over == 0 {
		for part := range strings.SplitAfterSeq(reply.Text, "\n") {
			e.delta("text_delta", "text", part)
		}
		return tokens(reply.Text)
	}
	tick := time.NewTicker(wordEvery)
	defer tick.Stop()
	words := 0
	for end := time.Now().Add(reply.Over); time.Now().Before(end) && e.err == nil; words++ {
		e.delta("text_delta", "text", reply.Text+" ")
		select {
		case <-ctx.Done():
			return words
		case <-tick.C:
		}
	}
	return words
}
