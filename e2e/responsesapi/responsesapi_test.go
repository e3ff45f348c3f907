package responsesapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecide(t *testing.T) {
	user := func(text string) string {
		return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
	}
	tests := []struct{ name, input, text, tool string }{
		{"say", user("say  hello  you"), "hello  you", ""},
		{"Codex' own messages", user("say hi") + "," + user("<environment_context>x</environment_context>"), "hi", ""},
		{"a tool", user("run ls"), "I will run it.", "exec_command"},
		{"its output", user("run ls") + `,{"type":"function_call_output","output":"a.txt"}`, `tool result: "a.txt"`, ""},
		{"code mode", `{"type":"additional_tools","tools":[{"name":"functions","tools":[{"name":"exec"}]}]},` + user("run ls"), "I will run it.", "exec"},
		{"the output of a script", user("run ls") + `,{"type":"custom_tool_call_output","output":"a.txt"}`, `tool result: "a.txt"`, ""},
		{"words after an output", user("run ls") + `,{"type":"function_call_output","output":"a.txt"},` + user("say b"), "b", ""},
		{"anything", user("hm"), "echo: hm", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r Request
			require.NoError(t, json.Unmarshal([]byte(`{"input":[`+tt.input+`]}`), &r))
			got := Decide(r)
			assert.Equal(t, []string{tt.text, tt.tool}, []string{got.Text, got.Tool})
		})
	}
}

func TestAnswerIsStreamed(t *testing.T) {
	s := &Server{}
	web := httptest.NewServer(s)
	defer web.Close()
	body := `{"model":"mock","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"esc true"}]}]}`
	r, err := http.Post(web.URL+"/v1/responses", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	for _, part := range []string{"event: response.created", `"delta":"I need more rights."`, "require_escalated", "event: response.completed"} {
		assert.Contains(t, string(got), part)
	}
	assert.Equal(t, "12.5", r.Header.Get("X-Codex-Primary-Used-Percent"))
	assert.Len(t, s.Requests(), 1)
}
