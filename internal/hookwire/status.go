package hookwire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"
)

// StatusFolder is the folder below $CCBOT_DIR with the last status line of each launch.
const StatusFolder = "status"

// MaxStatus limits a status file, in bytes.
const MaxStatus = 64 << 10

// Status is one file in status/: what Claude Code last gave to its status line in a launch.
// AgentPID to Boot are as in Event.
type Status struct {
	Version    int    `json:"version"`
	Launch     string `json:"launch"` // the record id, a UUID
	AgentPID   int    `json:"claude_pid,omitempty"`
	AgentStart uint64 `json:"claude_start,omitempty"`
	Boot       string `json:"boot,omitempty"`
	SessionID  string `json:"session_id"`
	Model      string `json:"model,omitempty"` // for people, like "Opus 5.5"
	// ContextPercent is 0 to 100; -1: unknown, as before the first answer.
	ContextPercent float64 `json:"context_percent"`
	CostUSD        float64 `json:"cost_usd"` // of the session since its start or /clear
	// FiveHours and Week are the limits of the account; the zero value: not known.
	FiveHours Limit `json:"five_hours,omitzero"`
	Week      Limit `json:"week,omitzero"`
	// At (UTC) is when the status line first had these values.
	At time.Time `json:"at"`
}

// Limit is the used part of an account's allowance in a window of time.
type Limit struct {
	UsedPercent float64 `json:"used_percent"` // 0 to 100
	ResetsAt    int64   `json:"resets_at"`    // the end of the window, in Unix seconds
}

// farthestReset is after any end of a window: the year 3000, in Unix seconds.
const farthestReset = 32503680000

// limit is one of the limits in a status line.
func (o object) limit(key string) Limit {
	l := member[object](o, key)
	used, at := member[*float64](l, "used_percentage"), member[float64](l, "resets_at")
	if used == nil || *used < 0 || at < 1 || at >= farthestReset {
		return Limit{}
	}
	return Limit{UsedPercent: min(*used, 100), ResetsAt: int64(at)}
}

// ParseStatusLine reads what Claude Code writes to a status line command. The caller adds the
// launch, the process and the time. Without a session id, or where the data is not JSON, the error
// is ErrMalformed.
func ParseStatusLine(data []byte) (Status, error) {
	var in object
	if err := json.Unmarshal(data, &in); err != nil {
		return Status{}, fmt.Errorf("status line: %w: %w", ErrMalformed, err)
	}
	s := Status{Version: Version, SessionID: in.whole("session_id"), ContextPercent: -1}
	model := member[object](in, "model")
	s.Model = cmp.Or(model.text("display_name"), model.text("id"))
	if used := member[*float64](member[object](in, "context_window"), "used_percentage"); used != nil && *used >= 0 {
		s.ContextPercent = min(*used, 100)
	}
	s.CostUSD = max(member[float64](member[object](in, "cost"), "total_cost_usd"), 0)
	limits := member[object](in, "rate_limits")
	s.FiveHours, s.Week = limits.limit("five_hour"), limits.limit("seven_day")
	if !isUUID(s.SessionID) {
		return Status{}, fmt.Errorf("status line: %w: session id %q", ErrMalformed, clip(s.SessionID, 64))
	}
	return s, nil
}

// WriteStatus writes s to dir/status/<launch>.json by rename and reports whether it wrote. A file
// with the same content apart from At is left alone. dir must exist.
func WriteStatus(dir string, s Status) (written bool, err error) {
	same := func(old Status) bool {
		old.At = s.At
		return old == s
	}
	return update(filepath.Join(dir, StatusFolder, s.Launch+".json"), "status", s, MaxStatus, same)
}

// ReadStatus decodes the bytes of one file in status/. The error is ErrMalformed with the reason.
func ReadStatus(data []byte) (Status, error) {
	s, err := read[Status]("status", data)
	s.At = s.At.UTC()
	return s, err
}

func (s Status) check() error {
	switch {
	case s.Version != Version:
		return fmt.Errorf("version %d, want %d", s.Version, Version)
	case !isUUID(s.Launch): // it is the file's name, and comes from the environment
		return fmt.Errorf("launch %q", clip(s.Launch, 64))
	case !isUUID(s.SessionID):
		return fmt.Errorf("session id %q", clip(s.SessionID, 64))
	case s.AgentPID < 0:
		return fmt.Errorf("pid %d", s.AgentPID)
	case s.ContextPercent != -1 && !(s.ContextPercent >= 0 && s.ContextPercent <= 100):
		return fmt.Errorf("context %v %%", s.ContextPercent)
	case !(s.CostUSD >= 0 && s.CostUSD <= math.MaxFloat64):
		return fmt.Errorf("cost %v", s.CostUSD)
	case !isTime(s.At):
		return errors.New("no time")
	}
	return nil
}
