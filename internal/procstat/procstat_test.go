package procstat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	rest := " S 41 40 39 34816 38 4194560 1 0 0 0 0 0 0 0 20 0 1 0 120283 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17 16"
	full := Stat{PID: 42, PPID: 41, PGID: 40, SID: 39, TTY: 34816, Foreground: 38, Start: 120283, State: 'S', Comm: "claude"}
	with := func(change func(*Stat)) Stat { s := full; change(&s); return s }
	tests := []struct {
		name, in string
		want     Stat
		bad      bool
	}{
		{name: "plain", in: "42 (claude)" + rest, want: full},
		{name: "name that looks like the rest", in: "42 (a) S 1 (b)" + rest, want: with(func(s *Stat) { s.Comm = "a) S 1 (b" })},
		{name: "gone", in: "42 (claude)" + strings.Replace(rest, " S ", " Z ", 1), want: with(func(s *Stat) { s.State = 'Z' })},
		{name: "only its first thread is gone", in: "42 (claude)" + strings.Replace(strings.Replace(rest, " S ", " Z ", 1), " 20 0 1 ", " 20 0 2 ", 1), want: full},
		{name: "a thread", in: "42 (claude)" + strings.Replace(rest, " 17 ", " -1 ", 1), want: with(func(s *Stat) { s.Thread = true })},
		{name: "empty", bad: true},
		{name: "no name", in: "42" + rest, bad: true},
		{name: "short", in: "42 (x) S 41", bad: true},
		{name: "one field short", in: "42 (x)" + strings.TrimSuffix(rest, " 17 16"), bad: true},
		{name: "start is no number", in: strings.Replace("42 (x)"+rest, "120283", "-", 1), bad: true},
		{name: "start is negative", in: strings.Replace("42 (x)"+rest, "120283", "-1", 1), bad: true},
		{name: "the parent is no number", in: strings.Replace("42 (x)"+rest, " 41 ", " x ", 1), bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if tt.bad {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}
