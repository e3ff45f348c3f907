package hookwire

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const someLaunch = "01890a5d-ac96-774b-bcce-b302099a8057"

func someStatus() Status {
	return Status{
		Version: Version, Launch: someLaunch, AgentPID: 12, AgentStart: 34, Boot: "ab-cd", SessionID: someID,
		Model: "Opus 5.5", ContextPercent: 41.5, CostUSD: 1.25, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
}

func TestParseStatusLine(t *testing.T) {
	id := `"session_id":"` + someID + `"`
	tests := []struct {
		name, in string
		want     Status
		bad      bool
	}{
		{
			name: "recorded, before the first answer",
			in: `{` + id + `,"model":{"id":"claude-opus-5-5","display_name":"Opus 5.5"},"cost":{"total_cost_usd":0,"total_duration_ms":517},` +
				`"context_window":{"total_input_tokens":0,"context_window_size":1000000,"current_usage":null,"used_percentage":null,"remaining_percentage":null}}`,
			want: Status{Model: "Opus 5.5", ContextPercent: -1},
		},
		{
			name: "recorded, after it",
			in: `{` + id + `,"model":{"id":"claude-opus-5-5","display_name":"Opus 5.5"},"cost":{"total_cost_usd":0.0028344},` +
				`"context_window":{"used_percentage":1,"remaining_percentage":99}}` + "\n",
			want: Status{Model: "Opus 5.5", ContextPercent: 1, CostUSD: 0.0028344},
		},
		{
			name: "the limits of an account",
			in: `{` + id + `,"rate_limits":{"five_hour":{"used_percentage":81.5,"resets_at":1795296211},"seven_day":{"used_percentage":103,"resets_at":1795900000.0},` +
				`"spend_limit":{"used_percentage":1,"resets_at":1}}}`,
			want: Status{ContextPercent: -1, FiveHours: Limit{81.5, 1795296211}, Week: Limit{100, 1795900000}},
		},
		{
			name: "limits that say nothing",
			in:   `{` + id + `,"rate_limits":{"five_hour":{"used_percentage":null,"resets_at":1795296211},"seven_day":{"used_percentage":-3,"resets_at":"soon"}}}`,
			want: Status{ContextPercent: -1},
		},
		{name: "a limit without an end", in: `{` + id + `,"rate_limits":{"five_hour":{"used_percentage":3},"seven_day":[1]}}`, want: Status{ContextPercent: -1}},
		{name: "an end of no time", in: `{` + id + `,"rate_limits":{"five_hour":{"used_percentage":3,"resets_at":1e300}}}`, want: Status{ContextPercent: -1}},
		{name: "nothing else", in: `{` + id + `}`, want: Status{ContextPercent: -1}},
		{name: "no name", in: `{` + id + `,"model":{"id":"m"}}`, want: Status{Model: "m", ContextPercent: -1}},
		{name: "unexpected types", in: `{"model":"m","cost":[1],"context_window":{"used_percentage":"9"},` + id + `}`, want: Status{ContextPercent: -1}},
		{name: "out of range", in: `{` + id + `,"cost":{"total_cost_usd":-1},"context_window":{"used_percentage":180}}`, want: Status{ContextPercent: 100}},
		{name: "below", in: `{` + id + `,"context_window":{"used_percentage":-3}}`, want: Status{ContextPercent: -1}},
		{name: "no session", in: `{"model":{"id":"m"}}`, bad: true},
		{name: "no JSON", in: `Opus`, bad: true},
		{name: "nothing", bad: true},
		{name: "half", in: `{` + id, bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseStatusLine([]byte(tt.in))
			if tt.bad {
				require.ErrorIs(t, err, ErrMalformed)
				assert.Zero(t, got)
				return
			}
			require.NoError(t, err)
			tt.want.Version, tt.want.SessionID = Version, someID
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestWriteStatus_OnlyWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, StatusFolder, someLaunch+".json")
	read := func() Status {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		s, err := ReadStatus(data)
		require.NoError(t, err)
		return s
	}
	s := someStatus()
	written, err := WriteStatus(dir, s)
	require.NoError(t, err)
	assert.True(t, written)
	assert.Equal(t, s, read())

	later := s
	later.At = s.At.Add(time.Minute)
	written, err = WriteStatus(dir, later)
	require.NoError(t, err)
	assert.False(t, written)
	assert.Equal(t, s, read())

	later.CostUSD++
	written, err = WriteStatus(dir, later)
	require.NoError(t, err)
	assert.True(t, written)
	assert.Equal(t, later, read())

	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	written, err = WriteStatus(dir, later)
	require.NoError(t, err)
	assert.True(t, written, "a broken file is replaced")
	assert.Equal(t, []string{someLaunch + ".json"}, files(t, filepath.Dir(path)), "no temporary file stays")
}

func TestStatus_Refused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Status)
	}{
		{"another version", func(s *Status) { s.Version = 2 }},
		{"no launch", func(s *Status) { s.Launch = "" }},
		{"a launch that is a path", func(s *Status) { s.Launch = "../../etc/x" }},
		{"no session", func(s *Status) { s.SessionID = "x" }},
		{"no time", func(s *Status) { s.At = time.Time{} }},
		{"negative pid", func(s *Status) { s.AgentPID = -1 }},
		{"context over 100", func(s *Status) { s.ContextPercent = 101 }},
		{"context below 0", func(s *Status) { s.ContextPercent = -2 }},
		{"context no number", func(s *Status) { s.ContextPercent = math.NaN() }},
		{"cost below 0", func(s *Status) { s.CostUSD = -1 }},
		{"cost infinite", func(s *Status) { s.CostUSD = math.Inf(1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s := someStatus()
			tt.change(&s)
			_, err := WriteStatus(dir, s)
			require.ErrorIs(t, err, ErrMalformed)
			assert.Empty(t, files(t, dir))
		})
	}
	for _, bad := range []string{"", "{}", `{"version":1}`, "[]", strings.Repeat("[", 100_000)} {
		_, err := ReadStatus([]byte(bad))
		assert.ErrorIs(t, err, ErrMalformed)
	}
}

func FuzzParseStatusLine(f *testing.F) {
	f.Add([]byte(`{"session_id":"` + someID + `","model":{"id":"a","display_name":"A"},"cost":{"total_cost_usd":1e308},"context_window":{"used_percentage":null}}`))
	f.Add([]byte(`{"session_id":"` + someID + `","cost":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseStatusLine(data)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			return
		}
		s.Launch, s.At = someLaunch, time.Unix(1, 0)
		require.NoError(t, s.check(), "what is read can be written")
	})
}
