// Package spending is what the chat knows of what agents use: tokens, what they cost by the prices of a
// list, and the limits of the account.
package talk

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Spending counts for the agents of a machine.
type Spending interface {
	// Spent counts what was used in the last 30 days. It reads transcripts as long as ctx lasts, and
	// says how many are not read; the next call goes on there.
	Spent(ctx context.Context) (Report, error)
	// Limits are those that the account has at the moment, as far as they are known.
	Limits() []Limit
	// LimitsChange waits until limits may have changed. The first call of a program returns at once.
	LimitsChange(ctx context.Context) error
}

// Report is what was used.
type Report struct {
	Spans  []Span    // as Spans names them
	Days   []float64 // the cost of each of the last 30 days, today last
	Prices string    // the date of the prices
	Source string    // of the prices
	Broken string    // the file of a person's own prices that cannot be used; empty: none
	Unread int       // transcripts
}

// ReportDays are how many days a report goes back; today is the last of them.
const ReportDays = 30

// ReportSpans gives the numbers of days that a report counts together.
func ReportSpans() []int { return []int{1, 7, ReportDays} }

// Span is what was used in some days, the most expensive first.
type Span struct {
	All      Sum
	Models   []Line
	Sessions []Line
}

// Line is the part of one model, or of one session.
type Line struct {
	Name    string    `json:"name,omitempty"`      // of the model, or of a session that ccbot knows
	Session uuid.UUID `json:"session_id,omitzero"` // of ccbot, or else of Claude Code's conversation
	Dir     string    `json:"dir,omitempty"`       // where a session's agent works that ccbot does not know
	Sum
}

// Sum is tokens and what they cost.
type Sum struct {
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Cost       float64 `json:"cost_usd"`           // an estimate
	Unpriced   bool    `json:"unpriced,omitempty"` // it leaves out models whose price is not known
}

// Tokens are all of them.
func (s Sum) Tokens() int64 { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// Limit is how much of what the account may use is used.
type Limit struct {
	Window  LimitWindow `json:"window"`
	Percent float64     `json:"percent"` // 0 to 100
	Resets  time.Time   `json:"resets_at"`
}

// LimitsApart is how far two ends of one window may be apart: they are not told to the second.
const LimitsApart = time.Hour

// LimitWindow is the time over which a limit counts.
type LimitWindow string

// The windows.
const (
	FiveHours LimitWindow = "five_hours"
	Week      LimitWindow = "week"
)
