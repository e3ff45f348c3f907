package hookwire

import (
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
// ClaudePID to Boot are as in Event.
type Status struct {
	Version     int    `json:"version"`
	Launch      string `json:"launch"` // the record id, a UUID
	ClaudePID   int    `json:"claude_pid,omitempty"`
	ClaudeStart uint64 `json:"claude_start,omitempty"`
	Boot        string `json:"boot,omitempty"`
	SessionID   string `json:"session_id"`
	Model       string `json:"model,omitempty"` // for people, like "Opus 5.5"
	// ContextPercent is 0 to 100; -1: unknown, as before the first answer.
	ContextPercent float64 `json:"context_percent"`
	CostUSD        float64 `json:"cost_usd"` // of the session since its start or /clear
	// FiveHours and Week are the limits of the account; the zero value: not known.
	FiveHours Limit `json:"five_hours,omitzero"`
	Week      Limit `json:"week,omitzero"`
	// At (UTC) is when the status line first had these values.
	At time.Time `json:"at"`
}

// Limit is how much of what an account may use in a window of time is used.
type Limit struct {
	UsedPercent float64 `json:"used_percent"` // 0 to 100
	ResetsAt    int64   `json:"resets_at"`    // the end of the window, in Unix seconds
}

// statusLine is what Claude Code writes to a status line command, as far as this package reads it.
type statusLine struct {
	SessionID text `json:"session_id"`
	Model     struct {
		ID          text `json:"id"`
		DisplayName text `json:"display_name"`
	} `json:"model"`
	Cost struct {
		TotalCostUSD number `json:"total_cost_usd"`
	} `json:"cost"`
	ContextWindow struct {
		UsedPercentage number `json:"used_percentage"`
	} `json:"context_window"`
	RateLimits struct {
		FiveHour rateLimit `json:"five_hour"`
		SevenDay rateLimit `json:"seven_day"`
	} `json:"rate_limits"`
}

type rateLimit struct {
	UsedPercentage number `json:"used_percentage"`
	ResetsAt       number `json:"resets_at"`
}

// farthestReset is after any end of a window: the year 3000, in Unix seconds.
const farthestReset = 32503680000

func (l rateLimit) limit() Limit {
	at := l.ResetsAt.value
	if !l.UsedPercentage.known || !(l.UsedPercentage.value >= 0) || !(at >= 1 && at < farthestReset) {
		return Limit{}
	}
	return Limit{UsedPercent: min(l.UsedPercentage.value, 100), ResetsAt: int64(at)}
}

// ParseStatusLine reads what Claude Code writes to a status line command. The caller adds the
// launch, the process and the time. Without a session id, or where the data is not JSON, the error
// is ErrMalformed.
func ParseStatusLine(data []byte) (Status, error) {
	var in statusLine
	// A field has another type in this version: the other fields are still good.
	var kind *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &in); err != nil && !errors.As(err, &kind) {
		return Status{}, fmt.Errorf("status line: %w: %w", ErrMalformed, err)
	}
	s := Status{Version: Version, SessionID: string(in.SessionID), ContextPercent: -1}
	if s.Model = clip(string(in.Model.DisplayName), maxField); s.Model == "" {
		s.Model = clip(string(in.Model.ID), maxField)
	}
	if used := in.ContextWindow.UsedPercentage; used.known && used.value >= 0 {
		s.ContextPercent = min(used.value, 100)
	}
	if cost := in.Cost.TotalCostUSD; cost.known && cost.value > 0 {
		s.CostUSD = cost.value
	}
	s.FiveHours, s.Week = in.RateLimits.FiveHour.limit(), in.RateLimits.SevenDay.limit()
	if !isUUID(s.SessionID) {
		return Status{}, fmt.Errorf("status line: %w: session id %q", ErrMalformed, clip(s.SessionID, 64))
	}
	return s, nil
}

// WriteStatus writes s to dir/status/<launch>.json by rename and reports whether it wrote. A file
// with the same content apart from At is left alone. dir must exist.
func WriteStatus(dir string, s Status) (written bool, err error) {
	if err := s.check(); err != nil {
		return false, fmt.Errorf("status: %w: %w", ErrMalformed, err)
	}
	folder, err := subfolder(dir, StatusFolder)
	if err != nil {
		return false, fmt.Errorf("status: %w", err)
	}
	path := filepath.Join(folder, s.Launch+".json")
	if sameStatus(path, s) {
		return false, nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return false, fmt.Errorf("status: %w", err)
	}
	if err := replace(folder, path, data); err != nil {
		return false, fmt.Errorf("status: %w", err)
	}
	return true, nil
}

// ReadStatus decodes the bytes of one file in status/. The error is ErrMalformed with the reason.
func ReadStatus(data []byte) (Status, error) {
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, fmt.Errorf("status: %w: %w", ErrMalformed, err)
	}
	if err := s.check(); err != nil {
		return Status{}, fmt.Errorf("status: %w: %w", ErrMalformed, err)
	}
	s.At = s.At.UTC()
	return s, nil
}

func sameStatus(path string, s Status) bool {
	data, err := readFile(path, MaxStatus)
	if err != nil {
		return false
	}
	old, err := ReadStatus(data)
	if err != nil {
		return false
	}
	old.At, s.At = time.Time{}, time.Time{}
	return old == s
}

func (s Status) check() error {
	switch {
	case s.Version != Version:
		return fmt.Errorf("version %d, want %d", s.Version, Version)
	case !isUUID(s.Launch): // it is the file's name, and comes from the environment
		return fmt.Errorf("launch %q", clip(s.Launch, 64))
	case !isUUID(s.SessionID):
		return fmt.Errorf("session id %q", clip(s.SessionID, 64))
	case s.ClaudePID < 0:
		return fmt.Errorf("pid %d", s.ClaudePID)
	case s.ContextPercent != -1 && !(s.ContextPercent >= 0 && s.ContextPercent <= 100):
		return fmt.Errorf("context %v %%", s.ContextPercent)
	case !(s.CostUSD >= 0 && s.CostUSD <= math.MaxFloat64):
		return fmt.Errorf("cost %v", s.CostUSD)
	case !isTime(s.At):
		return errors.New("no time")
	}
	return nil
}

// number is a JSON number; any other value is unknown.
type number struct {
	value float64
	known bool
}

func (n *number) UnmarshalJSON(data []byte) error {
	var value *float64
	if json.Unmarshal(data, &value) == nil && value != nil {
		*n = number{*value, true}
	}
	return nil
}
