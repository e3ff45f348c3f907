package talk

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Spending counts the tokens that agents use, and reads the account's limits.
type Spending interface {
	// Spent counts the use of the last 30 days. It reads transcripts within the budget and returns
	// the number of unread ones; the next call continues there. It returns
	// context.DeadlineExceeded if another call reads them all that time.
	Spent(ctx context.Context, budget time.Duration) (Report, error)
	// Limits returns the known limits of the account.
	Limits(ctx context.Context) ([]Limit, error)
	// LimitsChange waits until limits may have changed. The first call of a program returns at
	// once.
	LimitsChange(ctx context.Context) error
}

// Report is the use of the last days.
type Report struct {
	Spans  []Span    // in the order of ReportSpans
	Days   []float64 // the cost of each of the last 30 days, today last
	Prices string    // the date of the prices
	Source string    // of the prices
	Broken string    // a person's unusable file of prices; empty: none
	Unread int       // transcripts
	Silent int       // other machines that have not answered: their use is what was known of it today
	// Incomplete reports that the time ended before the transcripts were read.
	Incomplete bool `json:",omitempty"`
}

// ReportDays is the number of days in a report; today is the last.
const ReportDays = 30

// ReportSpans returns the numbers of days that a report adds up.
func ReportSpans() []int { return []int{1, 7, ReportDays} }

// Span is the use of some days, the most expensive first.
type Span struct {
	All      Sum
	Models   []Line
	Sessions []Line
	Machines []Line `json:",omitempty"` // of a chat with several machines
}

// Line is the part of one model, session or machine.
type Line struct {
	Name    string    `json:"name,omitempty"`      // of the model, the machine, or a session known to ccbot
	Session uuid.UUID `json:"session_id,omitzero"` // ccbot's, otherwise Claude Code's
	Dir     string    `json:"dir,omitempty"`       // the agent's folder in a session unknown to ccbot
	Sum
}

// Sum is tokens and their cost.
type Sum struct {
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Cost       float64 `json:"cost_usd"`           // an estimate
	Unpriced   bool    `json:"unpriced,omitempty"` // models without a known price are left out
}

// Tokens returns the sum of all tokens.
func (s Sum) Tokens() int64 { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// Limit is the used part of one limit of the account.
type Limit struct {
	Window  LimitWindow `json:"window"`
	Percent float64     `json:"percent"` // 0 to 100
	Resets  time.Time   `json:"resets_at"`
}

// LimitsApart is the maximum difference between two ends of one window: they are not exact.
const LimitsApart = time.Hour

// LimitWindow is the time that a limit covers.
type LimitWindow string

// The windows.
const (
	FiveHours LimitWindow = "five_hours"
	Week      LimitWindow = "week"
)
