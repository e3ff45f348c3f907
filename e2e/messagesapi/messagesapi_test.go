package messagesapi

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHumanText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", " say hi ", "say hi"},
		{"reminder only", "<system-reminder>\nsay no\n</system-reminder>\n", ""},
		{"reminder before", "<system-reminder>a</system-reminder>\nsay hi", "say hi"},
		{"two reminders around", "<system-reminder>a</system-reminder>x<system-reminder>b</system-reminder>", "x"},
		{"pasted, as the CLI closes it", "\n\n<pasted_content id=\"bd76\">\nsay a\nb\n</pasted_content id=\"bd76\">\n", "say a\nb"},
		{"a workflow's task", "[Workflow harness — computed task] The task text below was computed. The computed task text follows:\n  slow 600\n  more", "slow 600\nmore"},
		{"pasted, plain closing tag", "<pasted_content id=\"bd76\">\nsay a\n</pasted_content>", "say a"},
		{"interrupted", "[Request interrupted by user for tool use]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, HumanText(tt.in)) })
	}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name, messages string
		text, tool     string
		status         int
	}{
		{"say", `[{"role":"user","content":"say  hello  you"}]`, "hello  you", "", 0},
		{"say keeps lines", `[{"role":"user","content":"say a\nb"}]`, "a\nb", "", 0},
		{"reminder block after the prompt", `[{"role":"user","content":[{"type":"text","text":"say hi"},{"type":"text","text":"<system-reminder>x</system-reminder>"}]}]`, "hi", "", 0},
		{"system role at the end", `[{"role":"user","content":"say hi"},{"role":"system","content":"say no"}]`, "hi", "", 0},
		{"newest of merged prompts", `[{"role":"user","content":[{"type":"text","text":"say a"},{"type":"text","text":"say b"}]}]`, "b", "", 0},
		{"bash", `[{"role":"user","content":"bash echo hi"}]`, "Running Bash.", "Bash", 0},
		{"write", `[{"role":"user","content":"write /a/b"}]`, "Running Write.", "Write", 0},
		{"edit reads first", `[{"role":"user","content":"edit /a/b"}]`, "Running Read.", "Read", 0},
		{"edit after the read", `[{"role":"user","content":"edit /a/b"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`, "Running Edit.", "Edit", 0},
		{"edit of a file that is not there", `[{"role":"user","content":"edit /a/b"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"none"}]}]`, "tool result: none", "", 0},
		{"agent", `[{"role":"user","content":"agent bash touch x"}]`, "Running Agent.", "Agent", 0},
		{"ask", `[{"role":"user","content":"ask"}]`, "Running AskUserQuestion.", "AskUserQuestion", 0},
		{"plan", `[{"role":"user","content":"plan"}]`, "Running ExitPlanMode.", "ExitPlanMode", 0},
		{"plan with a file", `[{"role":"user","content":[{"type":"text","text":"<system-reminder>/h/plans/a-b.md</system-reminder>"},{"type":"text","text":"plan"}]}]`, "Writing the plan.", "Write", 0},
		{"error", `[{"role":"user","content":"error 529"}]`, "", "", 529},
		{"tool result", `[{"role":"user","content":"bash x"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}]`, "tool result: out", "", 0},
		{"prompt after a refused tool", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no"},{"type":"text","text":"[Request interrupted by user for tool use]"},{"type":"text","text":"say go on"}]}]`, "go on", "", 0},
		{"anything", `[{"role":"user","content":"what is this"}]`, "echo: what is this", "", 0},
		{"nothing", `[]`, "echo: ", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(`{"model":"m","messages":` + tt.messages + `}`))
			require.NoError(t, err)
			reply := Decide(r)
			assert.Equal(t, tt.text, reply.Text)
			assert.Equal(t, tt.tool, reply.Tool)
			assert.Equal(t, tt.status, reply.Status)
		})
	}
}

func TestSeveralCallsOfOneAnswer(t *testing.T) {
	_, url := serve(t)
	_, body := post(t, url+"/v1/messages", `{"messages":[{"role":"user","content":"twice date"}]}`)
	var m struct {
		Content []struct {
			Type, ID string
			Input    struct{ Command string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &m))
	require.Len(t, m.Content, 3)
	assert.Equal(t, "date", m.Content[1].Input.Command)
	assert.Equal(t, "date", m.Content[2].Input.Command)
	assert.NotEqual(t, m.Content[1].ID, m.Content[2].ID)
	_, body = post(t, url+"/v1/messages", `{"stream":true,"messages":[{"role":"user","content":"twice date"}]}`)
	assert.Equal(t, 2, strings.Count(body, `"type":"tool_use"`))
}

func serve(t *testing.T) (*Server, string) {
	t.Helper()
	s := New(slog.New(slog.DiscardHandler))
	l, err := Listen(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return s, "http://" + l.Addr().String()
}

func post(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(data)
}

func TestServer(t *testing.T) {
	s, url := serve(t)

	res, err := http.Head(url + "/")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)

	_, body := post(t, url+"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"bash ls"}]}`)
	var m struct {
		StopReason string `json:"stop_reason"`
		Content    []struct{ Type, Name, ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &m))
	assert.Equal(t, "tool_use", m.StopReason)
	require.Len(t, m.Content, 2)
	assert.Equal(t, "Bash", m.Content[1].Name)

	res, body = post(t, url+"/v1/messages", `{"messages":[{"role":"user","content":"error 529"}]}`)
	assert.Equal(t, 529, res.StatusCode)
	assert.Contains(t, body, "overloaded_error")

	_, body = post(t, url+"/v1/messages/count_tokens", `{"messages":[]}`)
	assert.Contains(t, body, "input_tokens")

	res, _ = post(t, url+"/v1/messages", `{broken`)
	assert.Equal(t, http.StatusBadRequest, res.StatusCode)

	require.Len(t, s.Requests(), 2)
	r, ok := s.Asked("bash ls")
	require.True(t, ok)
	assert.True(t, r.Says("bash"))
	_, ok = s.Asked("never said")
	assert.False(t, ok)
}

func TestServerStreams(t *testing.T) {
	_, url := serve(t)
	_, body := post(t, url+"/v1/messages", `{"model":"m","stream":true,"messages":[{"role":"user","content":"say one\ntwo"}]}`)

	var kinds []string
	var text strings.Builder
	lines := bufio.NewScanner(strings.NewReader(body))
	for lines.Scan() {
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			kinds = append(kinds, kind)
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var e struct{ Delta struct{ Text string } }
			require.NoError(t, json.Unmarshal([]byte(data), &e))
			text.WriteString(e.Delta.Text)
		}
	}
	assert.Equal(t, "one\ntwo", text.String())
	assert.Equal(t, []string{"message_start", "content_block_start", "content_block_delta", "content_block_delta",
		"content_block_stop", "message_delta", "message_stop"}, kinds)
}

// A slow answer must end with the server, or a test that stops early would wait for it.
func TestServerStopsASlowAnswer(t *testing.T) {
	s := New(slog.New(slog.DiscardHandler))
	web := httptest.NewServer(s)
	defer web.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/v1/messages",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"slow 3600"}]}`))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)
	cancel()
	_ = res.Body.Close()
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":"<pasted_content id=\"a\">x"}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		r, err := ParseRequest(body)
		if err == nil {
			Decide(r)
			r.Texts()
		}
	})
}
