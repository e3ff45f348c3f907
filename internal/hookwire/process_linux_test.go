package hookwire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseStat(t *testing.T) {
	rest := " S 41 40 40 34816 40 4194560 1 0 0 0 0 0 0 0 20 0 1 0 120283 1 2"
	tests := []struct {
		name, in string
		want     parent
		bad      bool
	}{
		{name: "plain", in: "42 (claude)" + rest, want: parent{PID: 42, PPID: 41, Start: 120283, Comm: "claude"}},
		{name: "name that looks like the rest", in: "42 (a) S 1 (b)" + rest, want: parent{PID: 42, PPID: 41, Start: 120283, Comm: "a) S 1 (b"}},
		{name: "empty", bad: true},
		{name: "no name", in: "42" + rest, bad: true},
		{name: "short", in: "42 (x) S 41", bad: true},
		{name: "start is no number", in: strings.Replace("42 (x)"+rest, "120283", "-", 1), bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.in))
			if tt.bad {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}
