package loop

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
)

// TestCheckHasNoTerminal: a check that asks in the terminal of ccbot would wait for an answer that
// nobody is asked for.
func TestCheckHasNoTerminal(t *testing.T) {
	stat, err := os.ReadFile("/proc/self/stat")
	require.NoError(t, err)
	_, fields, _ := strings.Cut(string(stat), ") ")
	ours := strings.Fields(fields)[3] // the kernel's session, which has the terminal
	w := newWorld(t)
	w.begin(fmt.Sprintf(`[ "$(cut -d' ' -f6 /proc/$$/stat)" != %s ]`, ours), port.LoopBounds{Turns: 1})
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
}
