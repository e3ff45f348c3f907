package longtest

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// skipper keeps why a test was skipped.
type skipper struct {
	testing.TB
	why []any
}

func (s *skipper) Helper() {}

func (s *skipper) Skip(why ...any) { s.why = why }

func TestShortRunLeavesLongTestsOut(t *testing.T) {
	for _, tt := range []struct {
		short string
		why   []any
		size  int
	}{
		{"true", []any{"LONG: it starts a browser"}, 2},
		{"false", nil, 1000},
	} {
		t.Run("short is "+tt.short, func(t *testing.T) {
			before := flag.Lookup("test.short").Value.String()
			require.NoError(t, flag.Set("test.short", tt.short))
			defer func() { require.NoError(t, flag.Set("test.short", before)) }()
			s := &skipper{TB: t}
			Mark(s, "starts a browser")
			assert.Equal(t, tt.why, s.why)
			assert.Equal(t, tt.size, Size(2, 1000))
		})
	}
}
