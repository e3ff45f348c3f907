package running

import (
	"bufio"
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
)

// TestReadyIsFirstLineAtTerminal: the log of a start follows it, with its colours.
func TestReadyIsFirstLineAtTerminal(t *testing.T) {
	person, tty, err := pty.Open()
	require.NoError(t, err)
	defer person.Close()
	defer tty.Close()
	out, ready := greetingAt(tty)
	log := config.Config{LogFormat: "auto"}.Log(slog.LevelInfo, out)
	log.Info("recovery_done")
	ready("@b is ready: send /new")
	log.Info("ready")
	ready("a second call")
	lines := bufio.NewScanner(person)
	var got []string
	for len(got) < 3 && lines.Scan() {
		got = append(got, lines.Text())
	}
	assert.Equal(t, "@b is ready: send /new", got[0])
	assert.Contains(t, got[1], "recovery_done")
	assert.Contains(t, got[1], "\x1b[")
	assert.True(t, strings.HasSuffix(got[2], " ready"), got[2])
}

// TestFailedStartShowsLog: the log that was held back comes without a first line.
func TestFailedStartShowsLog(t *testing.T) {
	person, tty, err := pty.Open()
	require.NoError(t, err)
	defer person.Close()
	defer tty.Close()
	out, ready := greetingAt(tty)
	_, err = out.Write([]byte("one\n"))
	require.NoError(t, err)
	ready("")
	line, err := bufio.NewReader(person).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "one", strings.TrimSpace(line))
}

// TestReadyIsSaidAfterLongStart: the log passes after a time, and the line comes all the same.
func TestReadyIsSaidAfterLongStart(t *testing.T) {
	person, tty, err := pty.Open()
	require.NoError(t, err)
	defer person.Close()
	defer tty.Close()
	out, ready := greetingAt(tty)
	_, err = out.Write([]byte("one\n"))
	require.NoError(t, err)
	ready("") // as the timer does
	ready("@b is ready")
	lines := bufio.NewScanner(person)
	for _, want := range []string{"one", "@b is ready"} {
		require.True(t, lines.Scan())
		assert.Equal(t, want, lines.Text())
	}
}

// TestLogIsNotHeldBackElsewhere, as in a service.
func TestLogIsNotHeldBackElsewhere(t *testing.T) {
	var b bytes.Buffer
	out, ready := greetingAt(&b)
	ready("@b is ready")
	_, err := out.Write([]byte("one\n"))
	require.NoError(t, err)
	assert.Equal(t, "one\n", b.String())
}
