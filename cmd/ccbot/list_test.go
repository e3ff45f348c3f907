package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/session"
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

// TestAnOutputWithoutRoomIsSaidOnce, whatever writes it.
func TestAnOutputWithoutRoomIsSaidOnce(t *testing.T) {
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

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 90 * time.Second: "1m", 23 * time.Hour: "23h",
		24 * time.Hour: "1d", 15*24*time.Hour + time.Hour: "15d"} {
		assert.Equal(t, want, terminal.Age(d))
	}
}
