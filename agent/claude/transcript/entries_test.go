package transcript

import (
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// talked are lines of a conversation, with all that may stand among them.
var talked = []string{
	`{"type":"summary","summary":"an old one"}`,
	`{"type":"user","uuid":"u1","timestamp":"2026-05-01T09:00:00Z","message":{"content":"Fix the Test"}}`,
	`no JSON at all`,
	`{"type":"assistant","timestamp":"2026-05-01T09:01:00Z","message":{"content":[{"type":"thinking","thinking":"hm"}]}}`,
	`{"type":"assistant","timestamp":"2026-05-01T09:01:00Z","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}}`,
	`{"type":"user","timestamp":"2026-05-01T09:01:01Z","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"the test output"}]}}`,
	`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"a subagent's test"}]}}`,
	`{"type":"assistant","timestamp":"2026-05-01T09:02:00Z","message":{"content":[{"type":"text","text":"It waits for\nthe \"wrong\" thing."},{"type":"tool_use","id":"b","name":"Edit","input":{}}]}}`,
	`{"type":"assistant","timestamp":"2026-05-01T09:03:00Z","message":{"content":[{"type":"text","text":"Done: the test passes."}]}}`,
	`{"type":"system","subtype":"turn_duration","durationMs":5}`,
	`{"type":"user","isMeta":true,"message":{"content":"<system-reminder>test</system-reminder>"}}`,
	`{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","timestamp":"2026-05-02T10:00:00Z"}`,
	`{"type":"user","isCompactSummary":true,"timestamp":"2026-05-02T10:00:00Z","message":{"content":"This session is being continued: test"}}`,
	`{"type":"user","timestamp":"2026-05-02T10:01:00Z","message":{"content":"<bash-input>make test</bash-input>"}}`,
	`{"type":"user","timestamp":"2026-05-02T10:01:00Z","message":{"content":"<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>"}}`,
	`{"type":"user","timestamp":"2026-05-02T10:02:00Z","message":{"content":[{"type":"image","source":{"media_type":"image/png","data":"AA"}},{"type":"text","text":"Ещё раз"}]}}`,
	`{"type":"user","timestamp":"2026-05-02T10:03:00Z","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
}

func transcriptOf(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// readOlder and readNewer are all entries, the oldest first.
func readOlder(t testing.TB, path string, before int64) []history.Entry {
	t.Helper()
	all := []history.Entry{}
	require.NoError(t, Form().Older(t.Context(), path, before, func(e history.Entry) bool { all = append(all, e); return true }))
	slices.Reverse(all)
	return all
}

func readNewer(t testing.TB, path string, from int64) []history.Entry {
	t.Helper()
	all := []history.Entry{}
	require.NoError(t, Form().Newer(t.Context(), path, from, func(e history.Entry) bool { all = append(all, e); return true }))
	return all
}

func TestEntries(t *testing.T) {
	path := transcriptOf(t, talked...)
	all := readOlder(t, path, history.End)
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return when
	}
	want := []history.Entry{
		{Kind: talk.EntryPrompt, Time: at("2026-05-01T09:00:00Z"), Texts: []string{"Fix the Test"}},
		{Kind: talk.EntryAnswer, Time: at("2026-05-01T09:03:00Z"), Texts: []string{"It waits for\nthe \"wrong\" thing.", "Done: the test passes."}, Calls: []string{"Bash", "Edit"}},
		{Kind: talk.EntryCompacted, Time: at("2026-05-02T10:00:00Z")},
		{Kind: talk.EntryPrompt, Time: at("2026-05-02T10:01:00Z"), Texts: []string{"!make test"}},
		{Kind: talk.EntryAnswer, Time: at("2026-05-02T10:01:00Z"), Texts: []string{"```\nok\n```"}},
		{Kind: talk.EntryPrompt, Time: at("2026-05-02T10:02:00Z"), Texts: []string{"Ещё раз"}, Images: 1},
		{Kind: talk.EntryAnswer, Time: at("2026-05-02T10:03:00Z"), Interrupted: true},
	}
	require.Len(t, all, len(want))
	for i, e := range all {
		e.At, e.End = 0, 0
		assert.Equal(t, want[i], e)
	}
	assert.Equal(t, all, readNewer(t, path, 0))
	for i, e := range all {
		assert.Equal(t, all[i:], readNewer(t, path, e.At), "from each place on")
		assert.Equal(t, all[:i], readOlder(t, path, e.At), "and before it")
	}
	assert.Equal(t, "u1", FirstID(path))
}

// A command without output, such as /clear, is not an answer.
func TestBlankOutputIsNoEntry(t *testing.T) {
	path := transcriptOf(t,
		`{"type":"user","message":{"content":"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"}}`,
		`{"type":"system","subtype":"local_command","commandRun":{"command":"clear"},"content":"<local-command-stdout></local-command-stdout>"}`,
		`{"type":"user","message":{"content":"<bash-input>touch a</bash-input>"}}`,
		`{"type":"user","message":{"content":"<bash-stdout></bash-stdout><bash-stderr></bash-stderr>"}}`)
	older, newer := readOlder(t, path, history.End), readNewer(t, path, 0)
	assert.Equal(t, newer, older)
	var said []string
	for _, e := range older {
		said = append(said, fmt.Sprint(e.Kind, e.Texts))
	}
	assert.Equal(t, []string{fmt.Sprint(talk.EntryPrompt, []string{"/clear"}), fmt.Sprint(talk.EntryPrompt, []string{"!touch a"})}, said)
}

func TestEntriesAcrossChunksAndLongLines(t *testing.T) {
	long := `{"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat("x", 10<<20) + `"}]}}`
	pasted := `{"type":"user","message":{"content":"` + strings.Repeat("y", 10<<20) + ` needle"}}`
	said := `{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("z", 1<<20) + `"}]}}`
	lines := slices.Concat(talked, []string{long, said, long}, slices.Repeat([]string{said}, 9), []string{pasted}, talked)
	path := transcriptOf(t, lines...)
	all := readNewer(t, path, 0)
	older := readOlder(t, path, history.End)
	assert.Greater(t, len(all), 2*7+2, "an answer of 10 MB is several entries")
	texts := func(all []history.Entry) (texts []string) {
		for _, e := range all {
			assert.LessOrEqual(t, e.End-e.At, int64(11<<20))
			texts = append(texts, e.Texts...)
		}
		return texts
	}
	assert.Equal(t, texts(all), texts(older), "read either way, nothing is left out")
	var hits []history.Found
	_, err := Form().Search(t.Context(), path, history.End, "needle", func(f history.Found) bool { hits = append(hits, f); return true })
	require.NoError(t, err)
	require.Len(t, hits, 1)
	assert.Equal(t, 10<<20+1, hits[0].From)
}

func TestEntriesOfReplacedTranscript(t *testing.T) {
	path := transcriptOf(t, talked...)
	all := readNewer(t, path, 0)
	see := func(history.Entry) bool { return true }
	for name, replace := range map[string]string{"shorter": "{}\n", "another": strings.Repeat("another line\n", 1000)} {
		require.NoError(t, os.WriteFile(path, []byte(replace), 0o600))
		assert.ErrorIs(t, Form().Older(t.Context(), path, all[3].At, see), history.ErrTruncated, name)
		assert.ErrorIs(t, Form().Newer(t.Context(), path, all[3].At, see), history.ErrTruncated, name)
		_, err := Form().Search(t.Context(), path, all[3].At, "x", func(history.Found) bool { return true })
		assert.ErrorIs(t, err, history.ErrTruncated, name)
	}
	require.NoError(t, os.Remove(path))
	assert.ErrorIs(t, Form().Older(t.Context(), path, history.End, see), os.ErrNotExist)
	assert.Empty(t, FirstID(path))
}

func TestSearch(t *testing.T) {
	path := transcriptOf(t, talked...)
	for _, tt := range []struct {
		word string
		want []string // newest first
	}{
		{"TEST", []string{"make |test|", "the |test| passes.", "the |Test|"}},
		{"ЕЩЁ РАЗ", []string{"|Ещё раз|"}},
		{"for the", []string{"It waits |for\nthe| \"wrong\""}},
		{`"wrong"`, []string{"the |\"wrong\"| thing"}},
		{"\"", []string{"the |\"|wrong"}},
		{"subagent", nil}, // not a part of the conversation
		{"output", nil},   // of a tool
		{"reminder", nil},
		{"continued", nil}, // a summary for the agent
		{"nothing", nil},
		{"", nil},
		{"  ", nil},
	} {
		var got []history.Found
		reached, err := Form().Search(t.Context(), path, history.End, tt.word, func(f history.Found) bool { got = append(got, f); return true })
		require.NoError(t, err)
		assert.Zero(t, reached)
		require.Len(t, got, len(tt.want), tt.word)
		for i, f := range got {
			assert.Contains(t, f.Text[:f.From]+"|"+f.Text[f.From:f.To]+"|"+f.Text[f.To:], tt.want[i], tt.word)
			assert.Contains(t, strings.Join(readNewer(t, path, f.At)[0].Texts, ""), f.Text, "its place leads to it")
		}
	}
}

// A search that ends early can be continued from where it ended.
func TestSearchGoesOn(t *testing.T) {
	path := transcriptOf(t, talked...)
	var got []string
	for before := int64(history.End); before != 0; {
		reached, err := Form().Search(t.Context(), path, before, "test", func(f history.Found) bool { got = append(got, f.Text); return false })
		require.NoError(t, err)
		before = reached
	}
	assert.Equal(t, []string{"!make test", "Done: the test passes.", "Fix the Test"}, got)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Form().Search(ctx, path, history.End, "test", func(history.Found) bool { return true })
	assert.ErrorIs(t, err, context.Canceled)
}

func TestDays(t *testing.T) {
	path := transcriptOf(t, talked...)
	for zone, want := range map[*time.Location][]string{
		time.UTC:                        {"2026-05-02", "2026-05-01"},
		time.FixedZone("far", 15*60*60): {"2026-05-03", "2026-05-02"},
	} {
		var days []string
		var at []int64
		_, err := Form().Days(t.Context(), path, history.End, zone, func(d history.Day) bool {
			days, at = append(days, d.Time.Format(time.DateOnly)), append(at, d.At)
			return true
		})
		require.NoError(t, err)
		require.Equal(t, want, days)
		assert.Equal(t, "Fix the Test", readNewer(t, path, at[1])[0].Texts[0])
	}
}

// The days of some zones begin in the middle of an hour of UTC.
func TestDaysInHalfHourZone(t *testing.T) {
	line := `{"type":"user","timestamp":"2026-05-01T18:%d:00Z","message":{"content":"x"}}`
	path := transcriptOf(t, fmt.Sprintf(line, 10), fmt.Sprintf(line, 40))
	var days []string
	_, err := Form().Days(t.Context(), path, history.End, time.FixedZone("India", 5*60*60+30*60), func(d history.Day) bool {
		days = append(days, d.Time.Format(time.DateOnly))
		return true
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-05-02", "2026-05-01"}, days)
}

func TestSlowDaysContinueLater(t *testing.T) {
	path := transcriptOf(t, talked...)
	end, err := jsonl.End(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	reached, err := Form().Days(ctx, path, history.End, time.UTC, func(history.Day) bool { return true })
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, end.Offset, reached)
	reached, err = Form().Days(t.Context(), path, reached, time.UTC, func(history.Day) bool { return true })
	require.NoError(t, err)
	assert.Zero(t, reached)
}

// FuzzEntries: any file is the same read from either end, and no place is out of it.
func FuzzEntries(f *testing.F) {
	for i := range talked {
		f.Add(strings.Join(talked[i:], "\n"), "test")
	}
	f.Add("\n\n{", "\x00")
	f.Fuzz(func(t *testing.T, text, word string) {
		path := transcriptOf(t, text)
		older, newer := readOlder(t, path, history.End), readNewer(t, path, 0)
		assert.Equal(t, newer, older)
		_, err := Form().Search(t.Context(), path, history.End, word, func(f history.Found) bool {
			assert.True(t, 0 <= f.From && f.From < f.To && f.To <= len(f.Text))
			return true
		})
		require.NoError(t, err)
	})
}
