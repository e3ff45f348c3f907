package botapi

import (
	"cmp"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault makes the next calls fail. Faults of one method are played in the order of the calls of
// Fault. The returned function withdraws it.
func (s *Server) Fault(f Fault) (withdraw func()) {
	if f.Times == 0 {
		f.Times = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.Times = 0
	}
}

// InjectFaults calls choose for each call, getUpdates and files ("file") included, and plays the
// returned fault on it; the zero Fault plays none. Faults of [Server.Fault] go first; nil ends it.
// choose must not call the server.
func (s *Server) InjectFaults(choose func(Call) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.corrupt = choose
}

// takeFault uses up one play of the first fault that fits; it returns the zero Fault if none fits.
func (s *Server) takeFault(call Call) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times == 0 || !f.fits(call.Method) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			return Fault{}
		}
		if f.Times > 0 {
			f.Times--
		}
		return *f
	}
	if s.corrupt != nil {
		return s.corrupt(call)
	}
	return Fault{}
}

func (f *Fault) fits(name string) bool {
	if f.Method == "" {
		return !strings.EqualFold(name, "getUpdates")
	}
	return strings.EqualFold(f.Method, name)
}

func (f Fault) spoilsBefore() bool {
	return f.Kind != "" && f.Kind != FaultResetAfter && f.Kind != FaultTruncated
}

// playBefore answers a call with a fault instead of applying it.
func (s *Server) playBefore(w http.ResponseWriter, r *http.Request, call Call, f Fault) {
	switch f.Kind {
	case FaultHang:
		s.hold(r, f.Hold)
		s.cut(w, call)
	case FaultResetBefore:
		s.cut(w, call)
	case FaultHTML502:
		s.html502(w, call)
	default:
		e := f.refusal()
		s.finish(w, call, e.code, e.body())
	}
}

// hold waits until the client gives up, or for d when that is not 0.
func (s *Server) hold(r *http.Request, d time.Duration) {
	var over <-chan time.Time // nil is never
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-r.Context().Done():
	case <-s.closed:
	}
}

func (f Fault) refusal() *apiError {
	e := &apiError{code: f.Status, description: "Stand-in: fault"}
	switch f.Kind {
	case FaultTooMany:
		e = errTooMany(cmp.Or(f.RetryAfter, 1))
	case FaultInternal:
		e = &apiError{code: http.StatusInternalServerError, description: "Internal Server Error: fault"}
	case FaultConflict:
		e = errConflict()
	case FaultUnauthorized:
		e = errUnauthorized()
	case FaultForbidden:
		e = errBlocked()
	case FaultMigrate:
		e = errMoved(f.MigrateTo)
	}
	if f.Description != "" {
		e.description = f.Description
	}
	return e
}

func (s *Server) html502(w http.ResponseWriter, call Call) {
	s.record(call, http.StatusBadGateway)
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write([]byte("<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>\r\n"))
}

// cut drops the connection with a reset, so that the client sees no clean end.
func (s *Server) cut(w http.ResponseWriter, call Call) {
	s.record(call, 0)
	s.reset(w, nil)
}

// truncate announces the whole body and sends half of it.
func (s *Server) truncate(w http.ResponseWriter, call Call, body []byte) {
	s.record(call, http.StatusOK)
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n"
	s.reset(w, append([]byte(head), body[:len(body)/2]...))
}

func (s *Server) reset(w http.ResponseWriter, last []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // HTTP/2 has no connection to take; the server closes the stream
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	if len(last) > 0 {
		_, _ = conn.Write(last)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
