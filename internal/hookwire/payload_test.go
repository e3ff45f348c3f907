package hookwire

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const someID = "19700a32-a03e-4de9-a340-67e13a1f5792"

// samples are recorded payloads of the real CLI, one per event.
func samples(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/hook-samples.json")
	require.NoError(t, err)
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &all))
	return all
}

func TestReadPayload_Recorded(t *testing.T) {
	all := samples(t)
	require.NotEmpty(t, all)
	for name, raw := range all {
		p, err := ReadPayload(strings.NewReader(string(raw)))
		require.NoError(t, err, name)
		event, _, _ := strings.Cut(name, "/")
		assert.Equal(t, event, p.Name(), name)
		assert.True(t, isUUID(p.Event().SessionID), name)
		assert.NotEmpty(t, p.Event().TranscriptPath, name)
		assert.NotEmpty(t, p.Event().Cwd, name)
	}
	tests := []struct {
		name  string
		field func(Payload) string
		want  string
	}{
		{"SessionStart/startup", func(p Payload) string { return p.Event().Source }, "startup"},
		{"SessionStart/clear", func(p Payload) string { return p.Event().Source }, "clear"},
		{"SessionEnd/prompt_input_exit", func(p Payload) string { return p.Event().Reason }, "prompt_input_exit"},
		{"UserPromptSubmit", func(p Payload) string { return p.Event().Prompt + "|" + p.Ask().PermissionMode }, "say hello world|default"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ReadPayload(strings.NewReader(string(all[tt.name])))
			require.NoError(t, err)
			assert.Equal(t, tt.want, tt.field(p))
		})
	}
}

func TestReadPayload_Odd(t *testing.T) {
	ok := `"hook_event_name":"Stop","session_id":"` + someID + `"`
	tests := []struct {
		name, in string
		bad      bool
	}{
		{name: "nothing", in: "", bad: true},
		{name: "half", in: `{` + ok, bad: true},
		{name: "not JSON", in: "hello", bad: true},
		{name: "an array", in: `[1]`, bad: true},
		{name: "null", in: `null`, bad: true},
		{name: "no event", in: `{"session_id":"` + someID + `"}`, bad: true},
		{name: "no session", in: `{"hook_event_name":"Stop"}`, bad: true},
		{name: "session is no UUID", in: `{"hook_event_name":"Stop","session_id":"../../etc/passwd"}`, bad: true},
		{name: "relative cwd", in: `{` + ok + `,"cwd":"a/b"}`, bad: true},
		{name: "relative transcript", in: `{` + ok + `,"transcript_path":"../x"}`, bad: true},
		{name: "endless path", in: `{` + ok + `,"cwd":"/` + strings.Repeat("x", maxPath) + `"}`, bad: true},
		{name: "deep nesting", in: strings.Repeat("[", 200_000), bad: true},
		{name: "least", in: `{` + ok + `}`},
		{name: "something after it", in: `{` + ok + "}\n{{{"},
		{name: "unexpected types", in: `{` + ok + `,"model":{"id":"m"},"error":5,"prompt":[],"background_tasks":"two"}`},
		{name: "unknown fields", in: `{"new":{"a":[1,2]},` + ok + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ReadPayload(strings.NewReader(tt.in))
			if tt.bad {
				require.ErrorIs(t, err, ErrMalformed)
				assert.Zero(t, p)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, someID, p.Event().SessionID)
		})
	}
}

// endless returns the same letter for ever after a start.
type endless struct{ start io.Reader }

func (e endless) Read(p []byte) (int, error) {
	if n, err := e.start.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestReadPayload_TooBig(t *testing.T) {
	_, err := ReadPayload(endless{strings.NewReader(`{"prompt":"`)})
	require.ErrorIs(t, err, ErrMalformed)
	assert.ErrorContains(t, err, "more than")
}

func TestReadPayload_ReaderError(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := ReadPayload(io.MultiReader(strings.NewReader(`{"prompt":`), failingReader{broken}))
	require.ErrorIs(t, err, broken)
	assert.NotErrorIs(t, err, ErrMalformed)
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

func TestReadPayload_EndlessInput(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = io.WriteString(w, `{"hook_event_name":"Stop","session_id":"`+someID+`"}`) }()
	p, err := ReadPayload(r) // would hang for ever
	require.NoError(t, err)
	assert.Equal(t, Stop, p.Name())
}

func TestPayloadEvent_CutsLongTexts(t *testing.T) {
	e := Payload{object{"prompt": json.RawMessage(`"` + strings.Repeat("ä", maxPrompt) + `"`)}}.Event()
	assert.Equal(t, strings.Repeat("ä", maxPrompt/2), e.Prompt)
	assert.Equal(t, "a", clip("aä", 2))
	assert.Empty(t, clip("ä", 1))
}

func FuzzP10_ReadPayload(f *testing.F) {
	for _, raw := range samples(f) {
		f.Add([]byte(raw))
	}
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"` + someID + `","background_tasks":[[],{}],"prompt":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadPayload(strings.NewReader(string(data)))
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			return
		}
		// The bot can read every event that a hook accepts.
		e := p.Event()
		e.Received = e.Received.AddDate(2026, 0, 0)
		out, err := json.Marshal(e)
		require.NoError(t, err)
		require.LessOrEqual(t, len(out), MaxEvent)
		back, err := ReadEvent(out)
		require.NoError(t, err)
		require.Equal(t, e, back)
		a := p.Ask()
		a.Received = e.Received
		if a.Tool == "" || a.Input == nil {
			return // there is nothing to ask
		}
		out, err = Line(a)
		require.NoError(t, err)
		asked, err := ReadAsk(out)
		require.NoError(t, err)
		require.JSONEq(t, string(a.Input), string(asked.Input))
	})
}

func FuzzReadEvent(f *testing.F) {
	f.Add([]byte(`{"version":1,"name":"Stop","received":"2026-01-02T03:04:05Z","session_id":"` + someID + `"}`))
	f.Add([]byte(`{"version":1,"boot":"a","pid":1,"start":2,"session_id":"` + someID + `"}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ReadEvent(data)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			require.Zero(t, e)
		} else {
			require.True(t, isUUID(e.SessionID))
			require.False(t, e.Received.IsZero())
		}
		b, err := ReadBinding(data)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			require.Zero(t, b)
		} else {
			require.NotContains(t, b.Name(), "/")
		}
	})
}

func TestPayloadEvent_CountsSchedules(t *testing.T) {
	const base = `{"session_id":"01890a5d-ac96-774b-bcce-b302099a8057","cwd":"/w","transcript_path":"/t.jsonl","hook_event_name":`
	for _, tc := range []struct {
		in   string
		want int
	}{
		{`"Stop","session_crons":[{"id":"a"},{"id":"b"}]}`, 2},
		{`"Stop","session_crons":[]}`, 0},
		{`"StopFailure"}`, 0},
		{`"PostToolUse","tool_name":"CronCreate"}`, 1},
		{`"PostToolUse","tool_name":"ScheduleWakeup"}`, 1},
		{`"PostToolUse","tool_name":"CronDelete"}`, 0},
		{`"PreToolUse","tool_name":"CronCreate"}`, 0},
	} {
		p, err := ReadPayload(strings.NewReader(base + tc.in))
		require.NoError(t, err)
		assert.Equal(t, tc.want, p.Event().Schedules, tc.in)
	}
}
