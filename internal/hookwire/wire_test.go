package hookwire

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequestID(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id := NewRequestID()
		assert.Len(t, id, 22)
		assert.True(t, IsRequestID(id), id)
		seen[id] = true
	}
	assert.Len(t, seen, 100)
	for _, bad := range []string{
		"", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB", "../../../../etc/passwd", "AAAAAAAAAAA/AAAAAAAAAA",
		"AAAAAAAAAAA+AAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAA\nAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA\n", "AAAAAAAAAAAA.AAAAAAAAA",
	} {
		assert.False(t, IsRequestID(bad), "%q", bad)
	}
}

func TestReadCall(t *testing.T) {
	const id = "AAAAAAAAAAAAAAAAAAAAAA"
	tests := []struct {
		name, in string
		want     Call
		bad      bool
	}{
		{name: "least", in: `{"v":1,"verb":"send"}`, want: Call{Version: 1, Verb: "send"}},
		{name: "whole", in: `{"v":1,"verb":"permission","id":"` + id + `","body":{"a":1}}` + "\n",
			want: Call{Version: 1, Verb: "permission", ID: id, Body: json.RawMessage(`{"a":1}`)}},
		{name: "unknown fields", in: `{"v":1,"verb":"send","new":[1]}`, want: Call{Version: 1, Verb: "send"}},
		{name: "nothing", bad: true},
		{name: "null", in: "null", bad: true},
		{name: "an array", in: `[]`, bad: true},
		{name: "half", in: `{"v":1,"verb":"send"`, bad: true},
		{name: "two lines", in: "{\"v\":1,\"verb\":\"send\"}\n{}\n", bad: true},
		{name: "another version", in: `{"v":2,"verb":"send"}`, bad: true},
		{name: "no version", in: `{"verb":"send"}`, bad: true},
		{name: "no verb", in: `{"v":1}`, bad: true},
		{name: "a verb too long", in: `{"v":1,"verb":"` + strings.Repeat("x", 65) + `"}`, bad: true},
		{name: "an id that is a path", in: `{"v":1,"verb":"permission","id":"../x"}`, bad: true},
		{name: "too long", in: `{"v":1,"verb":"send","body":"` + strings.Repeat("x", MaxCall) + `"}`, bad: true},
		{name: "deep", in: `{"v":1,"verb":"send","body":` + strings.Repeat("[", 100_000), bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadCall([]byte(tt.in))
			if tt.bad {
				require.ErrorIs(t, err, ErrMalformed)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestReadReply(t *testing.T) {
	got, err := ReadReply([]byte(`{"v":1,"error":"no","code":"busy","body":null}` + "\n"))
	require.NoError(t, err)
	assert.Equal(t, Reply{Version: 1, Error: "no", Code: "busy", Body: json.RawMessage("null")}, got)
	for _, bad := range []string{"", "ok", `{}`, `{"v":2}`, `{"v":1,"error":5}`, `{"v":1`} {
		_, err := ReadReply([]byte(bad))
		assert.ErrorIs(t, err, ErrMalformed, bad)
	}
}

func someAsk() Ask {
	return Ask{
		Received: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Launch: "l", AgentPID: 12, AgentStart: 34, Boot: "ab-cd",
		SessionID: someID, TranscriptPath: "/t.jsonl", TranscriptSize: 7, Cwd: "/w", PermissionMode: "default",
		Tool: "Bash", Input: json.RawMessage(`{"command":"a < b && \u2028 é"}`), Suggestions: []json.RawMessage{[]byte(`{"type":"setMode"}`)},
		AgentID: "a1", AgentType: "general-purpose",
	}
}

func TestReadAsk(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Ask)
		bad    bool
	}{
		{"whole", func(*Ask) {}, false},
		{"no hints", func(a *Ask) { a.AgentPID, a.AgentStart, a.Launch, a.Boot, a.TranscriptPath = 0, 0, "", "", "" }, false},
		{"no time", func(a *Ask) { a.Received = time.Time{} }, true},
		{"a time that UTC puts in year 10000", func(a *Ask) {
			a.Received = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200))
		}, true},
		{"no session", func(a *Ask) { a.SessionID = "" }, true},
		{"no tool", func(a *Ask) { a.Tool = "" }, true},
		{"no input", func(a *Ask) { a.Input = json.RawMessage("null") }, true},
		{"input is a text", func(a *Ask) { a.Input = json.RawMessage(`"x"`) }, true},
		{"a suggestion is a text", func(a *Ask) { a.Suggestions = []json.RawMessage{[]byte(`"x"`)} }, true},
		{"too many suggestions", func(a *Ask) { a.Suggestions = make([]json.RawMessage, maxSuggestions+1) }, true},
		{"relative folder", func(a *Ask) { a.Cwd = "w" }, true},
		{"relative transcript", func(a *Ask) { a.TranscriptPath = "../t" }, true},
		{"negative pid", func(a *Ask) { a.AgentPID = -1 }, true},
		{"negative size", func(a *Ask) { a.TranscriptSize = -1 }, true},
		{"endless name", func(a *Ask) { a.Tool = strings.Repeat("x", maxField+1) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := someAsk()
			tt.change(&a)
			body, err := Line(a)
			require.NoError(t, err)
			got, err := ReadAsk(body)
			if tt.bad {
				require.ErrorIs(t, err, ErrMalformed)
				assert.Zero(t, got)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, a, got)
		})
	}
}

// TestPayloadAsk_Recorded takes every recorded request the way it goes: payload, line, call,
// question.
func TestPayloadAsk_Recorded(t *testing.T) {
	all := samples(t)
	for name, tool := range map[string]string{
		"PermissionRequest/Bash": "Bash", "PermissionRequest/AskUserQuestion": "AskUserQuestion", "PermissionRequest/ExitPlanMode": "ExitPlanMode",
	} {
		t.Run(tool, func(t *testing.T) {
			p, err := ReadPayload(strings.NewReader(string(all[name])))
			require.NoError(t, err)
			a := p.Ask()
			a.Received = time.Now()
			body, err := Line(a)
			require.NoError(t, err)
			call, err := Line(Call{Version: WireVersion, Verb: VerbPermission, ID: NewRequestID(), Body: body})
			require.NoError(t, err)
			assert.Equal(t, len(call)-1, strings.IndexByte(string(call), '\n'), "one line")

			c, err := ReadCall(call)
			require.NoError(t, err)
			got, err := ReadAsk(c.Body)
			require.NoError(t, err)
			var raw struct {
				Input       json.RawMessage   `json:"tool_input"`
				Suggestions []json.RawMessage `json:"permission_suggestions"`
				Transcript  string            `json:"transcript_path"`
			}
			require.NoError(t, json.Unmarshal(all[name], &raw))
			assert.Equal(t, tool, got.Tool)
			assert.Equal(t, raw.Transcript, got.TranscriptPath)
			assert.JSONEq(t, string(raw.Input), string(got.Input))
			require.Len(t, got.Suggestions, len(raw.Suggestions))
			for i := range raw.Suggestions {
				assert.JSONEq(t, string(raw.Suggestions[i]), string(got.Suggestions[i]))
			}
		})
	}
}

func TestReadPayload_OddPermissions(t *testing.T) {
	in := func(rest string) string {
		return `{"hook_event_name":"PermissionRequest","session_id":"` + someID + `",` + rest + `}`
	}
	tests := []struct {
		name, in, input string
		suggestions     int
	}{
		{name: "input of another kind", in: in(`"tool_name":"Bash","tool_input":"ls"`)},
		{name: "input null", in: in(`"tool_name":"Bash","tool_input":null`)},
		{name: "suggestions of another kind", in: in(`"tool_input": {"a":1},"permission_suggestions":{"a":1}`), input: `{"a":1}`},
		{name: "a suggestion that is none", in: in(`"tool_input":{},"permission_suggestions":[null,1,{"a":1},"x",[]]`), input: `{}`, suggestions: 1},
		{name: "very many", in: in(`"tool_input":{},"permission_suggestions":[{}` + strings.Repeat(",{}", 500) + `]`), input: `{}`, suggestions: maxSuggestions},
		{name: "twice", in: in(`"tool_input":{"a":1},"tool_input":7`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ReadPayload(strings.NewReader(tt.in))
			require.NoError(t, err)
			assert.Equal(t, tt.input, string(p.Ask().Input))
			assert.Len(t, p.Ask().Suggestions, tt.suggestions)
		})
	}
}

func TestP10_ReadAnswer(t *testing.T) {
	tests := []struct {
		name, in, want string
		bad            bool
	}{
		{name: "nothing"},
		{name: "null", in: "null"},
		{name: "left to the terminal", in: `{}`},
		{name: "a decision that is null", in: `{"decision":null}`},
		{name: "allow", in: `{"decision": { "behavior": "allow" }}`, want: `{"behavior":"allow"}`},
		{name: "deny, over two lines", in: "{\"decision\":{\"behavior\":\"deny\",\n\"message\":\"no <b>\\nnot\"}}", want: `{"behavior":"deny","message":"no <b>\nnot"}`},
		{name: "another behavior", in: `{"decision":{"behavior":"ask"}}`, bad: true},
		{name: "no behavior", in: `{"decision":{}}`, bad: true},
		{name: "another case", in: `{"decision":{"Behavior":"allow"}}`, bad: true},
		{name: "a text", in: `{"decision":"allow"}`, bad: true},
		{name: "a list", in: `{"decision":[{"behavior":"allow"}]}`, bad: true},
		{name: "half", in: `{"decision":{"behavior":"allow"}`, bad: true},
		{name: "no object", in: `"allow"`, bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAnswer([]byte(tt.in))
			if tt.bad {
				require.ErrorIs(t, err, ErrMalformed)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, tt.want, string(got.Decision))
		})
	}
}

// FuzzReadCall takes what any process of this user may write to the socket.
func FuzzReadCall(f *testing.F) {
	f.Add([]byte(`{"v":1,"verb":"permission","id":"AAAAAAAAAAAAAAAAAAAAAA","body":{"tool":"Bash"}}` + "\n"))
	f.Add([]byte(`{"v":1,"verb":"send","body":[[[[`))
	f.Add([]byte("\x00\xff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadCall(data)
		if err != nil {
			assert.ErrorIs(t, err, ErrMalformed)
			assert.Zero(t, c)
			return
		}
		again, err := Line(c)
		require.NoError(t, err)
		back, err := ReadCall(again)
		require.NoError(t, err)
		assert.Equal(t, c.Verb, back.Verb)
		assert.Equal(t, c.ID, back.ID)
		assert.True(t, c.ID == "" || IsRequestID(c.ID))
	})
}

func FuzzReadAsk(f *testing.F) {
	body, err := Line(someAsk())
	require.NoError(f, err)
	f.Add(body)
	f.Add([]byte(`{"received":"2026-01-02T03:04:05Z","session_id":"` + someID + `","tool":"x","input":{}}`))
	f.Add([]byte(`{"tool":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadAsk(data)
		if err != nil {
			assert.ErrorIs(t, err, ErrMalformed)
			assert.Zero(t, a)
			return
		}
		assert.True(t, json.Valid(a.Input))
		assert.NoError(t, a.check())
		again, err := Line(a)
		require.NoError(t, err)
		back, err := ReadAsk(again)
		require.NoError(t, err)
		assert.Equal(t, a.Received, back.Received)
		assert.Equal(t, a.Tool, back.Tool)
		assert.JSONEq(t, string(a.Input), string(back.Input))
	})
}
