package responsesapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// maxBody bounds one request.
const maxBody = 64 << 20

// wordEvery is the pace of a slow answer.
const wordEvery = 100 * time.Millisecond

// Server is the stand-in. It is an [http.Handler]; [Server.Run] serves it on loopback.
type Server struct {
	Means map[string]string // what texts of a person stand for in the words of Decide, for pictures

	mu       sync.Mutex
	requests []Request
}

// Listen opens a free port on 127.0.0.1. The provider's base_url is http://ADDRESS/v1.
func Listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", "127.0.0.1:0")
}

// Run serves on l until ctx ends, then closes every connection: a streamed answer must not hold a
// test back.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	web := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stop()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("responses api: %w", err)
	}
	return nil
}

// Requests returns all recorded requests, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers POST /v1/responses; for other paths there is nothing.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
		http.NotFound(w, r)
		return
	}
	var request Request
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request.Body, request.Means = body, s.Means
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()

	reply := Decide(request)
	limits(w.Header(), reply.Kind == usedUp)
	if reply.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"scripted error %d","type":%q,"code":%q,"plan_type":"plus","resets_at":%d}}`,
			reply.Status, reply.Kind, reply.Kind, time.Now().Add(time.Hour).Unix()) // the client may be gone
		return
	}
	answer(r.Context(), w, request, reply)
}

// limits are the headers by which Codex knows the limits of an account (0.169.0).
// used: the first window is used up.
func limits(h http.Header, used bool) {
	h.Set("X-Codex-Primary-Used-Percent", map[bool]string{false: "12.5", true: "100"}[used])
	h.Set("X-Codex-Primary-Window-Minutes", "300")
	h.Set("X-Codex-Primary-Reset-At", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	h.Set("X-Codex-Secondary-Used-Percent", "40")
	h.Set("X-Codex-Secondary-Window-Minutes", "10080")
	h.Set("X-Codex-Secondary-Reset-At", strconv.FormatInt(time.Now().Add(48*time.Hour).Unix(), 10))
}

// events writes server-sent events; after the first error it writes nothing more.
type events struct {
	w   http.ResponseWriter
	err error
}

func (e *events) send(kind string, v map[string]any) {
	if e.err != nil {
		return
	}
	v["type"] = kind
	data, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, data)
	}
	if e.err = err; err == nil {
		e.err = http.NewResponseController(e.w).Flush()
	}
}

// answer streams an answer.
func answer(ctx context.Context, w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	e := &events{w: w}
	id := newID("resp_")
	e.send("response.created", map[string]any{"response": map[string]any{"id": id}})
	if reply.Fails != "" {
		e.send("response.failed", map[string]any{"response": map[string]any{"id": id, "error": map[string]string{"code": reply.Fails, "message": "scripted " + reply.Fails}}})
		return
	}
	if text := e.text(ctx, reply); text != "" && ctx.Err() == nil {
		e.send("response.output_item.done", map[string]any{"output_index": 0, "item": map[string]any{"type": "message", "role": "assistant",
			"id": newID("msg_"), "content": []any{map[string]any{"type": "output_text", "text": text}}}})
	}
	if call := reply.call(); call != nil {
		e.send("response.output_item.done", map[string]any{"output_index": 1, "item": call})
	}
	cached := len(r.Body) / 8
	e.send("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": map[string]any{
		"input_tokens": len(r.Body) / 4, "input_tokens_details": map[string]any{"cached_tokens": cached},
		"output_tokens": len(reply.Text)/4 + 1, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": len(r.Body)/4 + len(reply.Text)/4 + 1}}})
}

// dot is a picture of one point, in base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func (r Reply) call() map[string]any {
	switch r.Tool {
	case "":
		return nil
	case draws:
		return map[string]any{"type": draws, "id": newID("ig_"), "status": "completed", "revised_prompt": "a dot", "result": dot}
	case exec:
		return map[string]any{"type": "custom_tool_call", "id": newID("ctc_"), "call_id": newID("call_"), "name": exec, "input": r.Script}
	}
	input, err := json.Marshal(r.Input)
	if err != nil {
		return nil
	}
	call := map[string]any{"type": "function_call", "id": newID("fc_"), "call_id": newID("call_"), "name": r.Tool, "arguments": string(input)}
	if name, is := strings.CutPrefix(r.Tool, formsServer); is {
		call["namespace"], call["name"] = strings.TrimSuffix(formsServer, "__"), name
	}
	return call
}

// text streams the text and returns all of it.
func (e *events) text(ctx context.Context, reply Reply) string {
	if reply.Text == "" {
		return ""
	}
	e.send("response.output_item.added", map[string]any{"output_index": 0, "item": map[string]any{"type": "message", "role": "assistant",
		"id": newID("msg_"), "content": []any{}}})
	delta := func(text string) {
		e.send("response.output_text.delta", map[string]any{"output_index": 0, "content_index": 0, "delta": text})
	}
	if reply.Over == 0 {
		delta(reply.Text)
		return reply.Text
	}
	tick := time.NewTicker(wordEvery)
	defer tick.Stop()
	var all strings.Builder
	for end := time.Now().Add(reply.Over); time.Now().Before(end) && e.err == nil; {
		delta(reply.Text + " ")
		all.WriteString(reply.Text + " ")
		select {
		case <-ctx.Done():
			return all.String()
		case <-tick.C:
		}
	}
	return all.String()
}

func newID(prefix string) string {
	id := uuid.New()
	return fmt.Sprintf("%s%x", prefix, id[:12])
}
