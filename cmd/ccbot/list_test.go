package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
)

func TestListShowsWhatIsOpen(t *testing.T) {
	var records []session.Record
	for i, state := range session.States() {
		records = append(records, one(i, string(state), func(r *session.Record) { r.State = state }))
	}
	dir := stateWith(t, records...)
	names := func(args ...string) (names []string) {
		code, out, errs := ccbot([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, append([]string{"list", "--json"}, args...)...)
		require.Equal(t, exit.OK, code, errs)
		var list []struct {
			ID   uuid.UUID
			Name string
		}
		require.NoError(t, json.Unmarshal([]byte(out), &list))
		for _, l := range list {
			names = append(names, l.Name)
		}
		return names
	}
	assert.Equal(t, []string{"starting", "running", "restoring", "stopping", "cleanup_failed"}, names())
	assert.Len(t, names("--all"), len(session.States()))
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestFullOutputIsReportedOnce, whatever writes it.
func TestFullOutputIsReportedOnce(t *testing.T) {
	dir := stateWith(t, one(1, "api"), one(2, "web"))
	for _, verb := range [][]string{{"list", "--all"}, {"help"}, {"list", "--help"}} {
		var errs strings.Builder
		assert.Equal(t, exit.Failure, run(verb, []string{"HOME=" + dir, "CCBOT_DIR=" + dir}, full{}, &errs), verb)
		assert.Equal(t, "ccbot: "+syscall.ENOSPC.Error()+"\n", errs.String(), verb)
	}
}

func TestListOfNone(t *testing.T) {
	for _, tt := range []struct {
		name    string
		records []session.Record
		want    string
	}{
		{"none at all", nil, "no sessions\n"},
		{"one is over", []session.Record{one(1, "a")}, "no open sessions; 1 other: ccbot list --all\n"},
		{"several are", []session.Record{one(1, "a"), one(2, "b")}, "no open sessions; 2 others: ccbot list --all\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := stateWith(t, tt.records...)
			code, out, errs := ccbot([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, "list")
			assert.Equal(t, []any{exit.OK, tt.want, ""}, []any{code, out, errs})
		})
	}
}

// TestListShowsAgentsActivity, as status does: without a bot the record has what was so before.
func TestListShowsAgentsActivity(t *testing.T) {
	environ := machine(t)
	ccbot := installed(t)
	ccbot(t, environ, exit.OK, "new", "api", t.TempDir(), "--agent", "Claude")
	records, err := filepath.Glob(filepath.Join(strings.TrimPrefix(environ[0], "HOME="), "sessions", "*.json"))
	require.NoError(t, err)
	require.Len(t, records, 1)
	data, err := os.ReadFile(records[0])
	require.NoError(t, err)
	before := strings.Replace(string(data), `"state": "starting"`, `"state": "running", "phase": "working", "phase_at": "2026-05-04T03:02:01Z"`, 1)
	require.NotEqual(t, string(data), before)
	require.NoError(t, os.WriteFile(records[0], []byte(before), 0o600))
	waittest.Until(t, func() bool {
		return strings.Contains(ccbot(t, environ, exit.OK, "status", "api", "--json"), `"phase": "idle"`)
	})
	said := ccbot(t, environ, exit.OK, "list", "--json")
	assert.Contains(t, said, `"phase": "idle"`)
	assert.NotContains(t, said, `"phase_at"`, "the record's is of another phase")
	assert.Regexp(t, `(?m)^api +\S+ +idle `, ccbot(t, environ, exit.OK, "list"))
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 90 * time.Second: "1m", 23 * time.Hour: "23h",
		24 * time.Hour: "1d", 15*24*time.Hour + time.Hour: "15d"} {
		assert.Equal(t, want, terminal.Age(d))
	}
}

// TestLongResultsHavePager: each verb that shows much uses the pager, and JSON has none.
func TestLongResultsHavePager(t *testing.T) {
	dir := stateWith(t, one(1, "api"), one(2, "web"), one(3, "docs"))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir, "PATH=" + os.Getenv("PATH"), "PAGER=sed s/^/paged:/"}
	for _, verb := range [][]string{{"list", "--all"}, {"config"}, {"usage"}} {
		for paged, args := range map[bool][]string{true: verb, false: append(slices.Clone(verb), "--json")} {
			person, tty, err := pty.Open()
			require.NoError(t, err)
			defer person.Close()
			require.NoError(t, pty.Setsize(person, &pty.Winsize{Rows: 2, Cols: 200}))
			shown := make(chan string, 1)
			go func() {
				var all strings.Builder
				_, _ = io.Copy(&all, person) // ends with an error when the terminal is closed
				shown <- all.String()
			}()
			var errs strings.Builder
			assert.Equal(t, exit.OK, run(args, environ, tty, &errs), "%v: %s", args, errs.String())
			require.NoError(t, tty.Close())
			assert.Equal(t, paged, strings.HasPrefix(<-shown, "paged:"), args)
		}
	}
}
