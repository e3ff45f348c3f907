package messagesapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

// maxBody bounds one request: a long conversation with pictures stays far below it.
const maxBody = 64 << 20

// Server is the stand-in. It is an [http.Handler]; [Server.Run] serves it on loopback.
type Server struct {
	Means map[string]string // what texts of a person stand for in the words of Decide, for pictures

	log *slog.Logger
	mux *http.ServeMux

	mu       sync.Mutex
	requests []Request
}

// New makes a server that remembers nothing yet.
func New(log *slog.Logger) *Server {
	s := &Server{log: log, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/messages", s.messages)
	s.mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	s.mux.HandleFunc("GET /{$}", func(http.ResponseWriter, *http.Request) {}) // also HEAD: the CLI's look at start-up
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Listen opens a free port on 127.0.0.1. The address goes to ANTHROPIC_BASE_URL as http://ADDRESS.
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
		return fmt.Errorf("messages api: %w", err)
	}
	return nil
}

// Requests returns all recorded calls of POST /v1/messages, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Asked returns the newest request whose last person's text is text. The CLI may send other
// requests in between.
func (s *Server) Asked(text string) (Request, bool) {
	for _, r := range slices.Backward(s.Requests()) {
		if lastHuman(r) == text {
			return r, true
		}
	}
	return Request{}, false
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	request, err := readRequest(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	request.Means = s.Means
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()

	reply := Decide(request)
	s.log.Debug("message", "model", request.Model, "stream", request.Stream, "turns", len(request.Messages), "tool", reply.Tool)
	switch {
	case reply.Status != 0:
		if reply.Limit > 0 {
			limitHeaders(w.Header(), time.Now().Add(reply.Limit))
		}
		writeError(w, reply.Status, cmp.Or(reply.Error, fmt.Sprintf("scripted error %d", reply.Status)))
	case request.Stream:
		stream(r.Context(), w, request, reply)
	default:
		writeMessage(w, request, reply)
	}
}

// limitHeaders are those by which Claude Code knows a limit of an account, and its end (2.1.328).
func limitHeaders(h http.Header, end time.Time) {
	h.Set("X-Should-Retry", "false")
	for name, value := range map[string]string{"Status": "rejected", "Representative-Claim": "five_hour",
		"Reset": strconv.FormatInt(end.Unix(), 10)} {
		h.Set("Anthropic-Ratelimit-Unified-"+name, value)
	}
}

func readRequest(r *http.Request) (Request, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return Request{}, err
	}
	request, err := ParseRequest(body)
	if err != nil {
		return Request{}, err
	}
	request.At = time.Now()
	request.Header = make(map[string]string, len(r.Header))
	for name := range r.Header {
		if name != "X-Api-Key" && name != "Authorization" {
			request.Header[name] = r.Header.Get(name)
		}
	}
	return request, nil
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": tokens(string(body))})
}

// writeMessage answers a request that is not streamed.
func writeMessage(w http.ResponseWriter, r Request, reply Reply) {
	var content []map[string]any
	if reply.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": reply.Text})
	}
	for range reply.calls() {
		content = append(content, map[string]any{"type": "tool_use", "id": newID("toolu_"), "name": reply.Tool, "input": reply.Input})
	}
	m := message(r)
	m["content"], m["stop_reason"] = content, reply.stopReason()
	writeJSON(w, http.StatusOK, m)
}

// message is the skeleton of an answer, before its content.
func message(r Request) map[string]any {
	return map[string]any{
		"id": newID("msg_"), "type": "message", "role": "assistant", "model": r.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage(r, 1),
	}
}

// usage counts roughly: what tests need is that numbers are there and grow with the conversation.
func usage(r Request, output int) map[string]int {
	return map[string]int{
		"input_tokens": 10, "cache_creation_input_tokens": 0,
		"cache_read_input_tokens": tokens(string(r.Body)), "output_tokens": output,
	}
}

func tokens(s string) int { return len(s)/4 + 1 }

func newID(prefix string) string {
	id := uuid.New()
	return fmt.Sprintf("%s%x", prefix, id[:12])
}

func writeError(w http.ResponseWriter, status int, text string) {
	kind := "api_error"
	switch status {
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case 529: // Anthropic's own status
		kind = "overloaded_error"
	}
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": text}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client is gone: nothing to tell it
}
