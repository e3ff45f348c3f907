package botapi

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// apiError is a refusal in Telegram's form.
type apiError struct {
	code        int
	description string
	retryAfter  int
	migrateTo   int64
}

// errCut means that the client has gone; the connection is dropped.
var errCut = &apiError{}

func badRequest(format string, args ...any) *apiError {
	return &apiError{code: http.StatusBadRequest, description: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func errNotFound() *apiError { return &apiError{code: http.StatusNotFound, description: "Not Found"} }

func errUnauthorized() *apiError {
	return &apiError{code: http.StatusUnauthorized, description: "Unauthorized"}
}

func errConflict() *apiError {
	return &apiError{code: http.StatusConflict,
		description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
}

func errTooMany(seconds int) *apiError {
	return &apiError{code: http.StatusTooManyRequests, retryAfter: seconds,
		description: fmt.Sprintf("Too Many Requests: retry after %d", seconds)}
}

func (e *apiError) body() []byte {
	out := map[string]any{"ok": false, "error_code": e.code, "description": e.description}
	parameters := map[string]any{}
	if e.retryAfter != 0 {
		parameters["retry_after"] = e.retryAfter
	}
	if e.migrateTo != 0 {
		parameters["migrate_to_chat_id"] = e.migrateTo
	}
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	return mustJSON(out)
}

// method answers one Bot API method; it runs without the lock.
type method func(s *Server, ctx context.Context, p params) (any, *apiError)

// locked makes a method of a function that needs the lock and does not wait. The result is encoded
// under the lock: it may be a message that the next call changes.
func locked(f func(s *Server, p params) (any, *apiError)) method {
	return func(s *Server, _ context.Context, p params) (any, *apiError) {
		s.mu.Lock()
		defer s.mu.Unlock()
		result, refusal := f(s, p)
		if refusal != nil {
			return nil, refusal
		}
		return mustJSON(result), nil
	}
}

// lookup finds a method by its lower-case name: Telegram does not care about case.
func (s *Server) lookup(name string) (method, bool) {
	switch name {
	case "getupdates":
		return (*Server).getUpdates, true
	case "getme":
		return locked(func(s *Server, _ params) (any, *apiError) { return s.getMe(), nil }), true
	case "deletewebhook", "setchatmenubutton", "setmydescription", "setmyshortdescription", "setmyname":
		return locked(func(*Server, params) (any, *apiError) { return true, nil }), true
	case "getwebhookinfo":
		return locked((*Server).getWebhookInfo), true
	}
	groups := []map[string]func(*Server, params) (any, *apiError){messageMethods, fileMethods, chatMethods}
	if s.opt.Rich {
		groups = append(groups, richMethods)
	}
	for _, group := range groups {
		if f, ok := group[name]; ok {
			return locked(f), true
		}
	}
	return nil, false
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	token, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	call := Call{At: s.opt.Now(), Method: name}
	if refusal := s.checkToken(token); refusal != nil {
		s.finish(w, call, refusal.code, refusal.body())
		return
	}
	s.markOnline()
	p, refusal := readParams(w, r)
	if refusal != nil {
		s.finish(w, call, refusal.code, refusal.body())
		return
	}
	call.Params = p.summary()
	run, known := s.lookup(strings.ToLower(name))
	if !known {
		s.opt.Log.Warn("stand-in: unknown method", "method", name)
		s.finish(w, call, http.StatusNotFound, errNotFound().body())
		return
	}
	fault := s.takeFault(call)
	call.Fault = fault.Kind
	if fault.spoilsBefore() {
		s.playBefore(w, r, call, fault)
		return
	}
	result, refusal := run(s, r.Context(), p)
	call.Applied = refusal == nil
	status, body := answer(result, refusal)
	switch {
	case status == 0 || fault.Kind == FaultResetAfter:
		s.cut(w, call)
	case fault.Kind == FaultTruncated:
		s.truncate(w, call, body)
	default:
		s.finish(w, call, status, body)
	}
}

func answer(result any, refusal *apiError) (int, []byte) {
	switch {
	case refusal == errCut:
		return 0, nil
	case refusal != nil:
		return refusal.code, refusal.body()
	}
	return http.StatusOK, mustJSON(map[string]any{"ok": true, "result": result})
}

// finish logs the call before the answer leaves, so that who got the answer finds it in Calls.
func (s *Server) finish(w http.ResponseWriter, call Call, status int, body []byte) {
	call.RetryAfter = retryAfter(body)
	s.record(call, status)
	if status != http.StatusOK {
		s.opt.Log.Debug("stand-in: refused", "method", call.Method, "status", status, "body", string(body))
	}
	w.Header()["Date"] = nil
	if !s.opt.Undated {
		w.Header().Set("Date", s.opt.Now().UTC().Format(http.TimeFormat))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if status == http.StatusTooManyRequests && call.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(call.RetryAfter))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left has its own error
}

func (s *Server) record(call Call, status int) {
	call.Status, call.Ended = status, s.opt.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logCallLocked(call)
}

func retryAfter(body []byte) int {
	var v struct {
		Parameters struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	_ = json.Unmarshal(body, &v)
	return v.Parameters.RetryAfter
}

// checkToken refuses as api.telegram.org does: 404 for text that cannot be a token, 401 for an
// unknown token.
func (s *Server) checkToken(token string) *apiError {
	id, rest, found := strings.Cut(token, ":")
	n, err := strconv.ParseInt(id, 10, 64)
	if !found || rest == "" || err != nil || n <= 0 || strings.HasPrefix(id, "0") || len(token) > 80 {
		return errNotFound()
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.opt.Token)) != 1 {
		return errUnauthorized()
	}
	return nil
}

func (s *Server) getMe() any {
	return map[string]any{
		"id": s.bot.ID, "is_bot": true, "first_name": s.bot.FirstName, "username": s.bot.Username,
		"can_join_groups": true, "can_read_all_group_messages": false, "supports_inline_queries": false,
		"has_topics_enabled": s.opt.Topics,
	}
}

func (s *Server) getWebhookInfo(params) (any, *apiError) {
	return map[string]any{"url": "", "has_custom_certificate": false, "pending_update_count": len(s.queue.pending)}, nil
}
