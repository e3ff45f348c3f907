package wiretest

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:generate go test -count=1 -run ^TestCallsAreThoseOfThePort$ . -args -write
//go:generate go test -count=1 -run ^TestGoldenEnvelopes$ .. -args -write

var write = flag.Bool("write", false, "write both calls_gen.go again")

// TestCallsAreThoseOfThePort compares both files with the interfaces of a machine; go generate
// writes them again.
func TestCallsAreThoseOfThePort(t *testing.T) {
	c := Read(t)
	for file, want := range map[string][]byte{"../calls_gen.go": c.Source(t), "../../router/calls_gen.go": c.RouterSource(t)} {
		if *write {
			require.NoError(t, os.WriteFile(file, want, 0o644)) //nolint:gosec // source, for everybody to read
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), "%s is not as the ports are: `go generate ./fleet/...` writes it again", file)
	}
}
