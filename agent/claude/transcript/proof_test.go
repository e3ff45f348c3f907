package transcript

import (
	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestContains(t *testing.T) {
	tests := []struct {
		name, have, sent string
		want             bool
	}{
		{"same", "say one", "say one", true},
		{"white space folded", "say\n  one ", " say\tone", true},
		{"pasted", "\n\n<pasted_content id=\"ab8c\">\nfirst\nlast\n</pasted_content>", "first\nlast", true},
		{"several queued prompts", "say one\nsay two", "say two", true},
		{"part of a word", "look here", "ok", false},
		{"letters were composed", "caf\u00e9 K", "cafe\u0301 \u212a", true},
		{"a mark of its own", "see <\\pasted_content id", "see <pasted_content id", true},
		{"what has no shape was dropped", "say ab 👩‍💻 c", "say a\u200b\u00adb 👩\u200d💻 c\ufe0f\ufeff\U000e0041", true},
		{"cut", "say on", "say one", false},
		{"other case", "Say one", "say one", false},
		{"blank", "say one", " \n", false},
		{"nothing in nothing", "", "", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, jsonl.Contains(tc.have, tc.sent))
		})
	}
}

func TestP4_TraceOfAPrompt(t *testing.T) {
	before := prompt("say old")
	tests := []struct {
		name   string
		after  string
		offset int64
		text   string
		want   bool
	}{
		{"prompt", prompt("say one"), 0, "say one", true},
		{"only before the offset", prompt("say one"), 0, "say old", false},
		{"offset inside the line before", prompt("say one"), -4, "say one", true},
		{"offset inside a line hides that line", prompt("say one"), -4, "say old", false},
		{"of a subagent", `{"type":"user","isSidechain":true,"message":{"content":"say one"}}`, 0, "say one", false},
		{"injected", `{"type":"user","isMeta":true,"message":{"content":"say one"}}`, 0, "say one", false},
		{"said by the agent", reply("m", "say one"), 0, "say one", false},
		{"in a tool's output", `{"type":"user","message":{"content":[{"type":"tool_result","content":"say one"}]}}`, 0, "say one", false},
		{"queued", `{"type":"queue-operation","operation":"enqueue","content":"say one"}`, 0, "say one", true},
		{"taken from the queue", `{"type":"queue-operation","operation":"remove","content":"say one"}`, 0, "say one", false},
		{"bash mode", `{"type":"user","message":{"content":"<bash-input>touch a</bash-input>"}}`, 0, "!touch a", true},
		{"another bash command", `{"type":"user","message":{"content":"<bash-input>touch b</bash-input>"}}`, 0, "!touch a", false},
		{"what a bash command printed", `{"type":"user","message":{"content":"<bash-stdout>!touch a</bash-stdout>"}}`, 0, "!touch a", false},
		{"slash command", `{"type":"user","message":{"content":"<command-name>/compact</command-name>"}}`, 0, "/compact now", true},
		{"another slash command", `{"type":"user","message":{"content":"<command-name>/compact</command-name>"}}`, 0, "/comp", false},
		{"slash command by its output", `{"type":"system","subtype":"local_command","content":"<local-command-stdout></local-command-stdout>","commandRun":{"command":"clear"}}`, 0, "/clear", true},
		{"refused by a hook", blocked("not today", "say one"), 0, "say one", true},
		{"another text refused by a hook", blocked("say one", "say two"), 0, "say one", false},
		{"half a line", strings.TrimSuffix(prompt("say one"), "\n"), 0, "say one", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			after := tc.after
			if tc.name != "half a line" && !strings.HasSuffix(after, "\n") {
				after += "\n"
			}
			write(t, path, before+after)
			got, err := Form().Trace(path, int64(len(before))+tc.offset, time.Time{}, tc.text)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got.Arrived)
		})
	}
}

func blocked(why, text string) string {
	return `{"type":"system","subtype":"informational","content":"UserPromptSubmit operation blocked by hook:\n` + why + `\n\nOriginal prompt: ` +
		text + `","promptSubmitEnding":{"ending":{"kind":"blocked_by_hook","reason":"` + why + `"},"promptKept":false}}`
}

func TestP4_TraceOfOtherWriter(t *testing.T) {
	at := func(stamp, line string) string {
		return `{"timestamp":"2026-11-20T06:17:` + stamp + `Z",` + line[1:] + "\n"
	}
	tests := []struct {
		name string
		line string
		want agent.Trace
	}{
		{"nothing", "", agent.Trace{}},
		{"another prompt", at("30", prompt("say two")), agent.Trace{Foreign: true}},
		{"another prompt, before", at("10", prompt("say two")), agent.Trace{Earlier: true}},
		{"the text itself, before", at("10", prompt("say one")), agent.Trace{Earlier: true}},
		{"the text itself, before and since", at("10", prompt("say one")) + at("30", prompt("say one")), agent.Trace{Arrived: true, Earlier: true}},
		{"the text itself", at("30", prompt("say one")), agent.Trace{Arrived: true}},
		{"both", at("30", prompt("say two")) + at("31", prompt("say one")), agent.Trace{Arrived: true}},
		{"a compaction", at("30", `{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}`), agent.Trace{Foreign: true}},
		{"a command", at("30", `{"type":"user","message":{"content":"<command-name>/compact</command-name>"}}`), agent.Trace{Foreign: true}},
		{"queued", at("30", `{"type":"queue-operation","operation":"enqueue","content":"say two"}`), agent.Trace{Foreign: true}},
		{"a task in the background has ended", at("30", `{"type":"queue-operation","operation":"enqueue","content":"<task-notification>\n<task-id>a</task-id>"}`), agent.Trace{}},
		{"taken from the queue", at("30", `{"type":"queue-operation","operation":"dequeue","content":"say two"}`), agent.Trace{}},
		{"an answer", at("30", reply("m", "say two")), agent.Trace{}},
		{"of a subagent", at("30", `{"type":"user","isSidechain":true,"message":{"content":"say two"}}`), agent.Trace{}},
		{"a longer text refused since", at("30", prompt("say one")) + at("31", blocked("no", "say one more")+"\n"), agent.Trace{Arrived: true}},
		{"refused when its turn came", at("30", `{"type":"queue-operation","operation":"enqueue","content":"say one"}`) + at("31", blocked("no", "say one")+"\n"), agent.Trace{Arrived: true, Refused: true}},
		{"refused, and a longer one accepted since", at("30", blocked("no", "say one")+"\n") + at("31", prompt("say one more")), agent.Trace{Arrived: true, Refused: true}},
		{"injected", at("30", `{"type":"user","isMeta":true,"message":{"content":"say two"}}`), agent.Trace{}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, tc.line)
			got, err := Form().Trace(path, 0, time.Date(2026, 11, 20, 6, 17, 20, 0, time.UTC), "say one")
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestTraceSkipsEndOfLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "torn"+prompt("say one")) // the end of this line is a line by itself
	got, err := Form().Trace(path, int64(len("torn")), time.Time{}, "say one")
	require.NoError(t, err)
	assert.Zero(t, got)
}

func TestTraceNeedsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	got, err := Form().Trace(path, 0, time.Time{}, "x")
	require.NoError(t, err)
	assert.Zero(t, got)

	write(t, path, prompt("x"))
	_, err = Form().Trace(path, 10_000, time.Time{}, "x")
	assert.ErrorIs(t, err, history.ErrTruncated)
}

func TestFind(t *testing.T) {
	projects, id := t.TempDir(), uuid.New()
	_, err := Find(filepath.Join(projects, "absent"), id)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	write(t, filepath.Join(projects, "a file"), "")
	_, err = Find(projects, id)
	assert.ErrorIs(t, err, fs.ErrNotExist)

	made := time.Now()
	for i, dir := range []string{"-a[1]", "-b", "-c"} {
		path := filepath.Join(projects, dir, id.String()+".jsonl")
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		write(t, path, "")
		age := []time.Duration{2, 1, 3}[i] * time.Hour
		require.NoError(t, os.Chtimes(path, made.Add(-age), made.Add(-age)))
	}
	path, err := Find(projects, id)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(projects, "-b", id.String()+".jsonl"), path, "the newest")
	_, err = Find(projects, uuid.New())
	assert.ErrorIs(t, err, fs.ErrNotExist)
	all, err := All(projects, id)
	require.NoError(t, err)
	assert.Len(t, all, 3)
	require.NoError(t, os.Symlink("-b", filepath.Join(projects, "-linked")))
	all, err = All(projects, id)
	require.NoError(t, err)
	assert.Len(t, all, 3, "a file is one, also through a link")
}

func TestFindDistinguishesUnreadableFromAbsent(t *testing.T) {
	projects, id := t.TempDir(), uuid.New()
	loop := filepath.Join(projects, "-loop")
	require.NoError(t, os.Symlink(loop, loop))
	_, err := Find(projects, id)
	require.Error(t, err)
	assert.NotErrorIs(t, err, fs.ErrNotExist)
}

func TestGrew(t *testing.T) {
	before := prompt("one") + reply("m", "eins")
	tests := []struct {
		name   string
		after  string
		offset int64
		want   bool
	}{
		{"nothing", "", 0, false},
		{"a prompt", prompt("two"), 0, true},
		{"an answer", reply("m2", "zwei"), 0, true},
		{"a tool's result", `{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}` + "\n", 0, true},
		{"behind bookkeeping", costLine + modeLine + prompt("two") + costLine, 0, true},
		{"opened and left", costLine + `{"type":"file-history-snapshot","messageId":"x","snapshot":{"type":"user"}}` + "\n" + costLine, 0, false},
		{"titles and summaries", `{"type":"custom-title","customTitle":"x"}` + "\n" + `{"type":"summary","summary":"x"}` + "\n" + `{"type":"last-prompt","lastPrompt":"x"}` + "\n", 0, false},
		{"renamed at the desk", `{"type":"system","subtype":"local_command","content":"<command-name>/rename</command-name>"}` + "\n" + `{"type":"user","isMeta":true,"message":{"content":"<system-reminder>x</system-reminder>"}}` + "\n", 0, false},
		{"no whole line yet", strings.TrimSuffix(prompt("two"), "\n"), 0, false},
		{"a break, as it is written behind half a line", "\n" + prompt("two"), 0, true},
		{"broken lines", "garbage\n" + nuls + "\n", 0, false},
		{"offset inside a line hides that line", "", -9, false},
		{"offset inside the line before", prompt("two"), -9, true},
		{"offset at the start", "", -int64(len(before)), true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, before+tc.after)
			grew, err := Grew(path, int64(len(before))+tc.offset)
			require.NoError(t, err)
			assert.Equal(t, tc.want, grew)
		})
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	grew, err := Grew(path, 5)
	require.NoError(t, err, "no file has not grown")
	assert.False(t, grew)
	write(t, path, before)
	_, err = Grew(path, int64(len(before))+1)
	require.ErrorIs(t, err, history.ErrTruncated)
}
