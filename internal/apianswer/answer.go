// Package apianswer reads answers of Telegram's Bot API.
//
// It promises that a body is an answer only if it is Telegram's JSON. Any other body, such as the
// page of a proxy, is an error with every HTTP status.
package apianswer

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// ErrForeign is returned if a body is not Telegram's JSON.
var ErrForeign = errors.New("not an answer of the Bot API")

// Answer is an answer of the Bot API.
type Answer struct {
	Result      json.RawMessage // nil: the call was refused
	Code        int             // of a refusal
	Description string          // of a refusal
	RetryAfter  int             // in seconds; 0: no pause
}

// Parse reads the body of an answer.
func Parse(body []byte) (Answer, error) {
	var a struct {
		OK          *bool           `json:"ok"`
		Result      json.RawMessage `json:"result"`
		ErrorCode   int             `json:"error_code"`
		Description string          `json:"description"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	switch err := json.Unmarshal(body, &a); {
	case err != nil, a.OK == nil:
		return Answer{}, ErrForeign
	case *a.OK && a.Result != nil:
		return Answer{Result: a.Result}, nil
	case *a.OK, a.ErrorCode == 0, a.Description == "":
		return Answer{}, ErrForeign
	}
	return Answer{Code: a.ErrorCode, Description: a.Description, RetryAfter: a.Parameters.RetryAfter}, nil
}

// UnknownToken reports whether the server does not know the token, or does not know the method.
func (a Answer) UnknownToken() bool {
	return a.Code == http.StatusUnauthorized || a.Code == http.StatusNotFound
}

// Date returns the server's time from the header of an answer, zero if there is none.
func Date(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// Skew returns the time by which this machine's clock is ahead of a server's; it is negative if the
// clock is late. The server took the time at between before and after, two times of this machine.
// If at lies between them, or is zero, Skew returns 0.
func Skew(before, after, at time.Time) time.Duration {
	before, after = before.Round(0), after.Round(0)
	switch {
	case at.IsZero():
		return 0
	case at.Before(before):
		return before.Sub(at)
	case at.After(after):
		return after.Sub(at)
	}
	return 0
}
