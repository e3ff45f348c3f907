package transcript

import (
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// errs is a line that 2.1.328 writes if a request has failed; says are the keys with the cause.
func errs(text, says string) string {
	return `{"type":"assistant","message":{"id":"e","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"` + text +
		`"}],"usage":{"output_tokens":0}},` + says + `,"isApiErrorMessage":true}` + "\n"
}

// stamped gives a line a time.
func stamped(line, at string) string { return strings.Replace(line, "{", `{"timestamp":"`+at+`",`, 1) }

// The lines are those that 2.1.328 writes, without what is not read.
func TestFailureRemainsUntilContinued(t *testing.T) {
	const (
		asks   = `{"type":"user","permissionMode":"default","origin":{"kind":"human"},"message":{"content":"go"}}` + "\n"
		login  = `{"type":"user","message":{"content":"<command-name>/login</command-name>\n<command-message>login</command-message>"}}` + "\n"
		status = `{"type":"user","message":{"content":"<command-name>/status</command-name>\n<command-message>status</command-message>"}}` + "\n"
	)
	loggedOut := errs("Not logged in · Please run /login", `"error":"authentication_failed","apiErrorStatus":401`)
	limited := errs("You've hit your 5-hour limit · resets 9:23pm (UTC)", `"apiError":"usage_limit_reached",`+
		`"quotaLimits":{"status":"rejected","resetsAt":1795296211,"rateLimitType":"five_hour"},"error":"rate_limit","apiErrorStatus":429`)
	tests := []struct {
		name    string
		content string
		want    talk.Failure
	}{
		{"nothing has failed", asks + reply("m", "ok") + turnEnd, talk.Failure{}},
		{"not logged in", asks + loggedOut, talk.Failure{Kind: talk.FailedLogin, Text: "Not logged in · Please run /login"}},
		{"a key that is not accepted", asks + errs("Invalid API key · Fix external API key", `"error":"authentication_failed","apiErrorStatus":401`),
			talk.Failure{Kind: talk.FailedLogin, Text: "Invalid API key · Fix external API key"}},
		{"a limit of the account", asks + limited, talk.Failure{Kind: talk.FailedLimit, Text: "You've hit your 5-hour limit · resets 9:23pm (UTC)",
			Until: time.Date(2026, 11, 21, 21, 23, 31, 0, time.UTC)}},
		{"a limit of a key has no end that is told", asks + errs("API Error: Request rejected (429)", `"error":"rate_limit","apiErrorStatus":429`),
			talk.Failure{Kind: talk.FailedRequest, Text: "API Error: Request rejected (429)"}},
		{"a conversation that is too long", asks + errs("Prompt is too long", `"error":"invalid_request","apiErrorStatus":400,"resendCannotCure":true`),
			talk.Failure{Kind: talk.FailedContext, Text: "Prompt is too long"}},
		{"an account without credit", asks + errs("Credit balance is too low", `"error":"billing_error","apiErrorStatus":400,"resendCannotCure":true`),
			talk.Failure{Kind: talk.FailedAccount, Text: "Credit balance is too low"}},
		{"an error that Claude Code has mended", asks + strings.Replace(errs("API Error: an image was removed.", `"error":"invalid_request"`),
			`"role"`, `"stop_reason":"tool_use","role"`, 1), talk.Failure{}},
		{"an overloaded API", asks + errs("API Error: Repeated 529 Overloaded errors.", `"error":"server_error","apiErrorStatus":529`),
			talk.Failure{Kind: talk.FailedRequest, Text: "API Error: Repeated 529 Overloaded errors."}},
		{"keys of other types", asks + errs("API Error: 400", `"error":{"type":"x"},"quotaLimits":[1]`), talk.Failure{Kind: talk.FailedRequest, Text: "API Error: 400"}},
		{"a hook", asks + blocked("not on Fridays", "go") + "\n", talk.Failure{Kind: talk.FailedHook, Text: "not on Fridays"}},
		{"the end of the failed turn, which 2.1.128 writes too", asks + loggedOut + turnEnd, talk.Failure{Kind: talk.FailedLogin, Text: "Not logged in · Please run /login"}},
		{"a first prompt that 2.1.128 writes after its turn", stamped(loggedOut, "2026-11-20T17:28:43.9Z") + turnEnd + stamped(asks, "2026-11-20T17:28:43.7Z"),
			talk.Failure{Kind: talk.FailedLogin, Text: "Not logged in · Please run /login"}},
		{"the end of a later turn", asks + loggedOut + turnEnd + asks + reply("m", "fine") + turnEnd, talk.Failure{}},
		{"the next prompt", loggedOut + asks, talk.Failure{}},
		{"an answer, as after the end of a limit", limited + reply("m", "fine"), talk.Failure{}},
		{"a login", loggedOut + login, talk.Failure{}},
		{"another command", loggedOut + status, talk.Failure{Kind: talk.FailedLogin, Text: "Not logged in · Please run /login"}},
		{"of a subagent", asks + strings.Replace(loggedOut, "{", `{"isSidechain":true,`, 1), talk.Failure{}},
		{"while a result is awaited", creates("a", "1", "x") + calls("b", "TaskUpdate", `{"taskId":"1"}`) + loggedOut,
			talk.Failure{Kind: talk.FailedLogin, Text: "Not logged in · Please run /login"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { assert.Equal(t, tc.want, advanced(t, tc.content).Failed) })
	}
}

// A time that a record cannot hold would keep all of it from being saved, and its session from
// being ended.
func TestP3_TranscriptTimesFitRecord(t *testing.T) {
	for _, stamp := range []string{"9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"} {
		begun := `{"type":"user","timestamp":"` + stamp + `","origin":{"kind":"human"},"message":{"content":"go"}}` + "\n"
		ended := `{"type":"system","subtype":"turn_duration","timestamp":"` + stamp + `"}` + "\n"
		for _, content := range []string{reply("m", "usage") + strings.Replace(begun, "{", `{"permissionMode":"plan",`, 1), ended,
			errs("a limit", `"timestamp":"`+stamp+`"`)} {
			_, err := json.Marshal(advanced(t, content))
			require.NoError(t, err, content)
		}
		items, err := Form().Parse(jsonl.Line{Text: []byte(begun)})
		require.NoError(t, err)
		require.Len(t, items, 1)
		assert.Zero(t, items[0].Time, stamp)
	}
	for _, end := range []string{"1e17", "1e300", "9e18"} {
		p := advanced(t, errs("a limit", `"quotaLimits":{"resetsAt":`+end+`}`))
		require.Equal(t, talk.FailedLimit, p.Failed.Kind, end)
		_, err := json.Marshal(p)
		require.NoError(t, err, end)
	}
}
