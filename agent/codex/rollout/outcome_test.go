package rollout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

// asked returns where a request begins in a recording, after the prompt with some words and the call
// that follows it, and the id of the call. A script's command that was denied has no line with its id.
func asked(t *testing.T, file, words string) (at int64, id string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	read := int64(0)
	for text := range strings.Lines(string(data)) {
		read += int64(len(text))
		l, err := lineOf(text)
		require.NoError(t, err)
		p := l.Payload
		switch {
		case at == 0 && p.Item.Type == "UserMessage" && strings.Contains(p.Item.text(), words):
			at = -1
		case at == -1 && strings.HasSuffix(p.Type, "_call"):
			at, id = read, p.CallID
			if p.Name == "exec" {
				id = "exec-95089553-d72d-4bd4-9087-82a403daaa43"
			}
		case at > 0 && strings.HasPrefix(p.Item.ID, "exec-") && strings.Contains(text, words):
			return at, p.Item.ID
		}
	}
	require.Positive(t, at, words)
	return at, id
}

func lineOf(text string) (line, error) { return read([]byte(text)) }

// TestP7_OutcomesOfRealRequests reads what the oldest and the newest version of Codex have written
// about requests, with a model in code mode and with one that calls the tools itself. No denial may
// look like a permission.
func TestP7_OutcomesOfRealRequests(t *testing.T) {
	type o = talk.RequestOutcome
	allow, deny, stop := &talk.Answer{Choice: talk.ChoiceAllow}, &talk.Answer{Choice: talk.ChoiceDeny}, &talk.Answer{Choice: talk.ChoiceStop}
	allowed, denied, cut := o{Done: true, Quoted: true}, o{Done: true, Denial: "user-rejected", Quoted: true}, o{Interrupted: true}
	otherwise := func(was o) o { was.Quoted = false; return was }
	rows := []struct {
		words, of string // of: the kind of model; empty: both
		answer    *talk.Answer
		want      o // the zero value: still to come
	}{
		{"echo allowed in the chat", "", allow, allowed},
		{"echo allowed in the chat", "", deny, otherwise(allowed)}, // it was tapped too late
		{"echo allowed at the desk", "", nil, otherwise(allowed)},
		{"echo fails; exit 3", "code", allow, allowed},
		{"echo denied in the chat", "", deny, denied},
		{"echo denied in the chat", "classic", allow, otherwise(denied)},
		{"echo denied in the chat", "code", allow, o{Unclear: true}},
		{"echo denied in the chat", "code", nil, o{Unclear: true}},
		{"echo denied and caught", "code", deny, denied},
		{"echo denied and caught", "code", nil, o{Unclear: true}},
		{"echo denied late", "code", deny, denied}, // its script ran on while it waited
		{"echo denied late", "code", nil, o{Unclear: true}},
		{"echo stopped in the chat", "", stop, o{Interrupted: true, Quoted: true}},
		{"echo stopped in the chat", "", allow, cut},
		{"echo denied at the desk", "", nil, cut},
		{"echo denied at the desk", "", allow, cut},
		{"echo interrupted; sleep 30", "", allow, cut},
		{"runs on", "", allow, allowed},
		{"runs on", "", nil, otherwise(allowed)},
		{"/srv/allowed.txt", "", allow, allowed},
		{"/srv/denied.txt", "", deny, denied},
		{"/srv/denied.txt", "", nil, otherwise(denied)},
		{"/srv/denied.txt", "", allow, otherwise(denied)},
		{"/srv/desk.txt", "", nil, cut},
	}
	for _, version := range []string{"0.169.0", "0.171.0"} {
		for _, kind := range []string{"classic", "code"} {
			file := filepath.Join("testdata", "permissions-"+version+"-"+kind+".jsonl")
			for _, tt := range rows {
				if tt.of != "" && tt.of != kind {
					continue
				}
				at, id := asked(t, file, tt.words)
				want := tt.want
				if tt.words == "runs on" && kind == "code" && tt.answer == nil {
					want = o{Unclear: true} // its turn ends before it
				}
				got, found := outcome(t, file, at, id, tt.answer)
				want.ToolID = id
				assert.Equal(t, want, got, "%s, %s: %s, answered %v", version, kind, tt.words, tt.answer)
				assert.True(t, found, "%s, %s: %s", version, kind, tt.words)
			}
		}
	}
}

func outcome(t *testing.T, file string, at int64, id string, a *talk.Answer) (o talk.RequestOutcome, found bool) {
	t.Helper()
	input, err := json.Marshal(map[string]string{"call": id})
	require.NoError(t, err)
	o, found, err = New("").Outcome(t.Context(), talk.Request{Transcript: file, Offset: at, Input: input}, a)
	require.NoError(t, err)
	o.Text = ""
	return o, found
}

// A line that says nothing about the call leaves the outcome open, and words that ccbot does not know
// leave it unknown: neither allows.
func TestP7_UnknownWordsAllowNothing(t *testing.T) {
	type o = talk.RequestOutcome
	allow := &talk.Answer{Choice: talk.ChoiceAllow}
	item := func(id, status string) string {
		return `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"` + id + `","status":"` + status + `"}}}`
	}
	output := func(id, text string) string {
		return `{"type":"response_item","payload":{"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"}}`
	}
	for name, tt := range map[string]struct {
		line  string
		want  o
		found bool
	}{
		"another call":                  {item("b", "completed"), o{}, false},
		"another call was denied":       {output("b", "exec_command failed: rejected by user"), o{}, false},
		"a script that runs on":         {output("b", "Script running with cell ID 7"), o{}, false},
		"an unknown status":             {item("a", "postponed"), o{Unclear: true}, true},
		"no status":                     {item("a", ""), o{Unclear: true}, true},
		"unknown words":                 {output("a", "cancelled by policy"), o{Unclear: true}, true},
		"a denial that a command shows": {output("a", `Process exited with code 0\nOutput:\npatch rejected by user`), o{Done: true, Quoted: true}, true},
		"a line that is no JSON":        {`{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":`, o{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(tt.line+"\n"), 0o600))
			got, found := outcome(t, file, 0, "a", allow)
			tt.want.ToolID = "a"
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.found, found)
		})
	}
	_, found, err := New("").Outcome(t.Context(), talk.Request{Input: json.RawMessage("{}")}, nil)
	require.NoError(t, err)
	assert.False(t, found, "a request before the first line")
}

func TestPatchOfCall(t *testing.T) {
	f := home(t)
	assert.Contains(t, f.Patch(t.Context(), turns, "call_43b5d03ad2d84a7b9cc464df"), "*** Add File: b.txt\n+scripted\n")
	assert.Equal(t, "echo tool-output", f.Patch(t.Context(), turns, "call_05fbc923f98f4a4d9ebf4d4c"))
	assert.Empty(t, f.Patch(t.Context(), turns, "call_x"))
}
