package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/history"
	"ccbot/agent/toy"
)

var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

// fixture is a ledger over a separate projects folder.
type fixture struct {
	*Ledger
	projects string
	clock    time.Time
	t        *testing.T
}

func agents(projects string) agent.Agents {
	return agent.Agents{agent.Default: claude.New(projects, agent.Launch{}, nil)}
}

func newFixture(t *testing.T) *fixture {
	d := &fixture{clock: noon, t: t}
	root := t.TempDir()
	d.projects = filepath.Join(root, "projects")
	d.Ledger = New(agents(d.projects), filepath.Join(root, "usage"), func() time.Time { return d.clock }, slog.New(slog.DiscardHandler))
	return d
}

// again reopens the ledger, as after a restart.
func (d *fixture) again() { d.Ledger = New(agents(d.projects), d.folder.Path, d.now, d.log) }

func (d *fixture) put(path, text string, at time.Time) {
	d.t.Helper()
	path = filepath.Join(d.projects, path)
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(d.t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(d.t, os.Chtimes(path, at, at))
}

func (d *fixture) add(path, text string) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.projects, path), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(d.t, err)
	_, err = f.WriteString(text)
	require.NoError(d.t, err)
	require.NoError(d.t, f.Close())
}

func (d *fixture) read() *Book {
	d.t.Helper()
	b, left, err := d.Read(d.t.Context())
	require.NoError(d.t, err)
	require.Zero(d.t, left)
	return b
}

// outputs are the output tokens by session.
func (d *fixture) outputs() map[string]int64 {
	d.t.Helper()
	all := make(map[string]int64)
	d.read().Each(func(f *File, _ string, a Answer) { all[f.Session()] += a.Output })
	return all
}

func says(id string, at time.Time, output int) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"cwd":"/home/a","requestId":"r","message":{"id":%q,"model":"claude-opus-5","content":[],"usage":{"input_tokens":1,"output_tokens":%d}}}`+"\n",
		at.Format(time.RFC3339), id, output)
}

// The files of testdata were counted by hand, line by line:
//
//	-home-a-shop/1111….jsonl           msg_1 on two lines, msg_2, broken lines, and a line of
//	                                   Claude Code itself
//	-home-a-shop/1111…/subagents/…     msg_s of a subagent on two lines
//	-home-a-shop/2222….jsonl           a copy (--fork-session): all of 1111…, msg_3, and half a line;
//	                                   the file with the oldest change
//	-home-a-other/1111….jsonl          all of 1111…, resumed elsewhere: msg_4, msg_5 without a
//	                                   request, msg_1 of another request, a line without a time and
//	                                   a line with impossible figures
func TestAnswerCountsOnce(t *testing.T) {
	d := newFixture(t)
	require.NoError(t, os.CopyFS(d.projects, os.DirFS("testdata/projects")))
	old := noon.Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(d.projects, "-home-a-shop", "22222222-2222-4222-8222-222222222222.jsonl"), old, old))
	type sum struct{ Answers, Input, Output, CacheRead, Write5m, Write1h, Searches int64 }
	want := map[string]sum{
		"1111 claude-opus-5-5":  {5, 100 + 200 + 9 + 1, 20 + 30 + 10 + 1, 10 + 2000, 600, 400, 2},
		"1111 claude-haiku-5-5": {1, 5, 6, 0, 0, 0, 0},
		"1111 nobody-1":         {1, 11, 12, 0, 0, 0, 0},
		"2222 claude-opus-5-5":  {1, 7, 8, 0, 0, 0, 0},
	}
	for _, when := range []string{"first", "from the index", "after a restart"} {
		got := make(map[string]sum)
		d.read().Each(func(f *File, model string, a Answer) {
			key := f.Session()[:4] + " " + model
			s := got[key]
			got[key] = sum{s.Answers + 1, s.Input + a.Input, s.Output + a.Output, s.CacheRead + a.CacheRead, s.Write5m + a.Write5m,
				s.Write1h + a.Write1h, s.Searches + a.Searches}
		})
		assert.Equal(t, want, got, when)
		if when == "from the index" {
			d.again()
		}
	}
}

// through is a line of an answer that came through a gateway.
func through(line, id, request string, input int) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":%q,"timestamp":%q,"requestId":%q,"sessionId":"one","message":{"id":%q,"model":"m","content":[],"usage":{"input_tokens":%d,"output_tokens":10}}}`+"\n",
		line, noon.Format(time.RFC3339), request, id, input)
}

// TestAnswersOfGatewaysCount: a bound of money errs to the high side. A provider may give all of its
// answers one id, or none. A second read, and a copy, count nothing again.
func TestAnswersOfGatewaysCount(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines string
		want  int64
	}{
		{"one id for all", through("a", "msg", "", 100) + through("b", "msg", "", 100) + through("c", "msg", "", 150) + through("d", "msg", "", 200), 30},
		{"one id for all, and requests", through("a", "msg", "r1", 100) + through("b", "msg", "r1", 100) + through("c", "msg", "r2", 100), 20},
		{"one id for all, and for all requests", through("a", "msg", "r1", 100) + through("b", "msg", "r1", 100) + through("c", "msg", "r1", 150), 20},
		{"no ids", through("a", "", "", 100) + through("b", "", "", 100), 20},
		{"no ids, and requests", through("a", "", "r1", 100) + through("b", "", "r2", 100), 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newFixture(t)
			one := filepath.Join("-a", "one.jsonl")
			d.put(one, tt.lines, noon)
			assert.Equal(t, map[string]int64{"one": tt.want}, d.outputs())
			d.add(one, "\n")
			d.again()
			assert.Equal(t, map[string]int64{"one": tt.want}, d.outputs(), "a second read")
			d.put(filepath.Join("-a", "two.jsonl"), tt.lines+through("z", "of the fork", "r9", 100), noon.Add(time.Minute))
			assert.Equal(t, map[string]int64{"one": tt.want, "two": 10}, d.outputs(), "a fork")
		})
	}
}

func TestOnlyWhatIsNewIsRead(t *testing.T) {
	d := newFixture(t)
	one, two := filepath.Join("-a", "one.jsonl"), filepath.Join("-a", "two.jsonl")
	line := says("m1", noon, 10)
	d.put(one, line, noon.Add(-time.Minute))
	assert.Equal(t, map[string]int64{"one": 10}, d.outputs())

	d.again()
	d.add(one, says("m2", noon, 100)+line[:30]) // half a line
	d.put(two, line+says("m3", noon, 1000), noon)
	assert.Equal(t, map[string]int64{"one": 110, "two": 1000}, d.outputs(), "what two repeats of one counts once over the index, too")

	d.add(one, strings.Replace(line, "m1", "m4", 1)[30:])
	assert.Equal(t, int64(120), d.outputs()["one"], "the rest of the line")

	// Reading from the beginning again would yield other figures.
	data, err := os.ReadFile(filepath.Join(d.projects, one))
	require.NoError(t, err)
	f, err := os.OpenFile(filepath.Join(d.projects, one), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(strings.Repeat(" ", len(line)-1))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	d.add(one, says("m5", noon, 1))
	assert.Equal(t, int64(121), d.outputs()["one"])

	d.put(one, string(data[:len(line)]), noon) // cut
	assert.Equal(t, int64(10), d.outputs()["one"], "a file that shrank is read anew")
	require.NoError(t, os.Rename(filepath.Join(d.projects, two), filepath.Join(d.projects, one)))
	assert.Equal(t, map[string]int64{"one": 1010, "two": 0}, merged(d.outputs(), "two"), "another file of that name, and what was counted of the one that is gone")
}

// A copy of a conversation repeats its answers. They count for the original session, in any order
// of reading, and even if the copied lines name the copy.
func TestAnswerCountsForOriginalSession(t *testing.T) {
	const source, fork = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	line := says("m1", noon, 10)
	for _, tc := range []struct{ name, original, copied string }{
		{"the copied line names its session", `"sessionId":"` + source + `"`, `"sessionId":"` + source + `"`},
		{"the session that asked", `"sessionId":"` + source + `"`, `"sessionId":"` + fork + `","requestSessionId":"` + source + `"`},
		{"what it was copied from", `"sessionId":"` + source + `"`, `"sessionId":"` + fork + `","forkedFrom":{"sessionId":"` + source + `"}`},
		{"a copy of a copy", `"sessionId":"` + source + `"`,
			`"sessionId":"` + fork + `","requestSessionId":"` + source + `","forkedFrom":{"sessionId":"33333333-3333-4333-8333-333333333333"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newFixture(t)
			withFields := func(more string) string { return strings.Replace(line, "{", "{"+more+",", 1) }
			d.put(filepath.Join("-a", fork+".jsonl"), withFields(tc.copied)+says("m2", noon, 1), noon.Add(-time.Hour))
			d.put(filepath.Join("-a", source+".jsonl"), withFields(tc.original), noon)
			for range 2 {
				assert.Equal(t, map[string]int64{source: 10, fork: 1}, d.outputs())
				d.again()
			}
			require.NoError(t, os.RemoveAll(d.folder.Path))
			require.NoError(t, os.Remove(filepath.Join(d.projects, "-a", source+".jsonl")))
			assert.Equal(t, map[string]int64{fork: 11}, d.outputs(), "nothing else has it")
		})
	}
}

// merged adds an entry for a session without answers.
func merged(all map[string]int64, name string) map[string]int64 {
	all[name] += 0
	return all
}

func TestDeletedTranscriptStillCounts(t *testing.T) {
	d := newFixture(t)
	path := filepath.Join("-a", "one.jsonl")
	d.put(path, says("m1", noon, 10), noon)
	d.outputs()
	require.NoError(t, os.Remove(filepath.Join(d.projects, path)))
	assert.Equal(t, map[string]int64{"one": 10}, d.outputs())
	d.clock = noon.Add(kept + time.Hour)
	assert.Empty(t, d.outputs(), "until nobody asks for that time any more")
	assert.Empty(t, d.read().Files)
}

func TestClockSetBackLosesNothing(t *testing.T) {
	d := newFixture(t)
	d.put(filepath.Join("-a", "one.jsonl"), says("m1", noon, 10), noon)
	d.clock = noon.AddDate(4, 0, 0)
	assert.Empty(t, d.outputs())
	d.clock = noon
	assert.Equal(t, map[string]int64{"one": 10}, d.outputs())
	d.clock = noon.AddDate(-1, 0, 0)
	assert.Equal(t, map[string]int64{"one": 10}, d.outputs(), "an answer of later than now")
}

// An id of an answer is one of its agent.
func TestTwoAgentsWithOneID(t *testing.T) {
	d := newFixture(t)
	other := filepath.Join(filepath.Dir(d.projects), "others")
	d.agents["other"] = claude.New(other, agent.Launch{}, nil)
	d.put(filepath.Join("-a", "one.jsonl"), says("m1", noon, 10), noon)
	d.put(filepath.Join("..", "others", "-a", "two.jsonl"), says("m1", noon, 1), noon)
	assert.Equal(t, map[string]int64{"one": 10, "two": 1}, d.outputs())
}

// The index of a program that knew one agent names none.
func TestIndexWithoutAgentsIsRead(t *testing.T) {
	d := newFixture(t)
	require.NoError(t, d.folder.Put(indexName, fmt.Appendf(nil, `{"Version":1,"Since":"2026-04-01T00:00:00Z","Models":["claude-opus-5"],
		"Files":[{"Path":"-a/one/subagents/agent-1.jsonl","Dev":1,"Ino":2,"Size":3,"Next":4,"First":"2026-05-06T00:00:00Z","Dir":"/home/a",
		"Answers":[{"ID":1,"Model":0,"At":%d,"Copied":false,"Input":1,"Output":10,"CacheRead":2,"Write5m":3,"Write1h":4,"Searches":5}]}]}`, noon.Unix())))
	assert.Equal(t, map[string]int64{"one": 10}, d.outputs())
	assert.Equal(t, history.Tokens{Input: 1, Output: 10, CacheRead: 2, Write5m: 3, Write1h: 4, Searches: 5}, d.read().Files[0].Answers[0].Tokens)
}

func TestDamagedIndexIsReplaced(t *testing.T) {
	d := newFixture(t)
	d.put(filepath.Join("-a", "one.jsonl"), says("m1", noon, 10), noon)
	d.outputs()
	index := filepath.Join(d.folder.Path, indexName)
	good, err := os.ReadFile(index)
	require.NoError(t, err)
	for n := 0; n < len(good); n += 9 {
		for _, bad := range [][]byte{good[:n], append(append(append([]byte{}, good[:n]...), good[n]^0x55), good[n+1:]...)} {
			require.NoError(t, os.WriteFile(index, bad, 0o600))
			_, _, err := d.Read(t.Context())
			require.NoError(t, err)
		}
	}
	require.NoError(t, os.WriteFile(index, good[:len(good)/2], 0o600))
	assert.Equal(t, map[string]int64{"one": 10}, d.outputs())
}

func TestInterruptedReadContinues(t *testing.T) {
	d := newFixture(t)
	for i := range 5 {
		d.put(filepath.Join("-a", fmt.Sprint(i, ".jsonl")), says(fmt.Sprint("m", i), noon, 10), noon.Add(time.Duration(i)*time.Second))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.turn <- struct{}{}
	_, _, err := d.Read(ctx)
	require.ErrorIs(t, err, context.Canceled, "another reading is under way")
	<-d.turn
	b, left, err := d.Read(ctx)
	if err == nil { // otherwise it did not begin
		assert.Equal(t, 5, left)
		assert.Empty(t, b.Files)
	}
	assert.Len(t, d.outputs(), 5)
}

// hookedContext calls do on every call of Err.
type hookedContext struct {
	context.Context
	do func() error
}

func (a hookedContext) Err() error { return a.do() }

func TestReadCountsUnreadFiles(t *testing.T) {
	d := newFixture(t)
	d.put(filepath.Join("-a", "one.jsonl"), says("m1", noon, 10)+says("m2", noon, 1), noon)
	times := 0
	_, left, err := d.Read(hookedContext{t.Context(), func() error {
		if times++; times > 2 { // before the file, and before each line
			return context.DeadlineExceeded
		}
		return nil
	}})
	require.NoError(t, err)
	assert.Equal(t, 1, left, "the last file is not read to its end")
	assert.Equal(t, map[string]int64{"one": 11}, d.outputs())

	two := filepath.Join(d.projects, "-a", "two.jsonl")
	d.put(filepath.Join("-a", "two.jsonl"), says("m3", noon, 100), noon.Add(time.Hour))
	for range 2 {
		// it has become a folder since the ledger found it
		_, left, err = d.Read(hookedContext{t.Context(), func() error {
			return errors.Join(os.RemoveAll(two), os.Mkdir(two, 0o700))
		}})
		require.NoError(t, err)
		assert.Equal(t, 1, left, "a file that cannot be read")
		require.NoError(t, os.Remove(two))
		d.put(filepath.Join("-a", "two.jsonl"), says("m3", noon, 100), noon.Add(time.Hour))
	}
	assert.Equal(t, map[string]int64{"one": 11, "two": 100}, d.outputs())
}

func TestLongLinesAndLinks(t *testing.T) {
	d := newFixture(t)
	long := strings.Replace(says("m1", noon, 10), `"content":[]`, `"content":[{"type":"text","text":"`+strings.Repeat("x", 10<<20)+`"}]`, 1)
	d.put(filepath.Join("-a", "one.jsonl"), long+says("m2", noon, 1), noon)
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(d.projects, "-a", "two.jsonl")))
	require.NoError(t, os.Mkdir(filepath.Join(d.projects, "-a", "three.jsonl"), 0o700))
	assert.Equal(t, map[string]int64{"one": 11}, d.outputs())
	real := d.projects + ".real"
	require.NoError(t, os.Rename(d.projects, real))
	assert.Equal(t, map[string]int64{"one": 11}, d.outputs(), "nothing is there")
	require.NoError(t, os.Symlink(real, d.projects))
	assert.Equal(t, map[string]int64{"one": 11}, d.outputs(), "a link to the folder")
}

// largeFolder writes 3,000 sessions, 200 MB in all; one in eight lines is an answer.
func largeFolder(b *testing.B, d *fixture) {
	filler := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat("x", 2200) + `"}]}}` + "\n"
	for i := range 3000 {
		var text strings.Builder
		for n := range 5 {
			text.WriteString(says(fmt.Sprint("m", i, "-", n), noon.Add(-time.Duration(i)*10*time.Minute), 10))
			text.WriteString(strings.Repeat(filler, 6))
		}
		d.put(filepath.Join(fmt.Sprint("-p", i%50), fmt.Sprint(i, ".jsonl")), text.String(), noon.Add(-time.Duration(i)*time.Minute))
	}
	b.ResetTimer()
}

func BenchmarkFirst(b *testing.B) {
	d := benchDesk(b)
	largeFolder(b, d)
	for b.Loop() {
		require.NoError(b, os.RemoveAll(d.folder.Path))
		_, _, err := d.Read(b.Context())
		require.NoError(b, err)
	}
}

func BenchmarkAgain(b *testing.B) {
	d := benchDesk(b)
	largeFolder(b, d)
	for b.Loop() {
		_, _, err := d.Read(b.Context())
		require.NoError(b, err)
	}
}

func benchDesk(b *testing.B) *fixture {
	d := &fixture{clock: noon, t: &testing.T{}}
	root := b.TempDir()
	d.projects = filepath.Join(root, "projects")
	d.Ledger = New(agents(d.projects), filepath.Join(root, "usage"), func() time.Time { return d.clock }, slog.New(slog.DiscardHandler))
	return d
}

// TestUnreadableFolderOfOneAgent: the answers of the others are counted, and the report has what is
// missing.
func TestUnreadableFolderOfOneAgent(t *testing.T) {
	d := newFixture(t)
	root := filepath.Dir(d.projects)
	d.agents["toy"] = toy.New(root, agent.Launch{})
	d.put("-a/11111111-1111-4111-8111-111111111111.jsonl", says("m", noon, 7), noon)
	require.NoError(t, os.Symlink("toys", toy.Folder(root))) // a loop of links
	b, left, err := d.Read(t.Context())
	require.NoError(t, err)
	assert.Len(t, b.Files, 1)
	assert.Equal(t, 1, left)
	require.NoError(t, b.Unread(""))
	require.Error(t, b.Unread("toy"))

	delete(d.agents, agent.Default)
	_, _, err = d.Read(t.Context())
	require.Error(t, err, "nothing can be counted")
}
