package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Errors about missing, unreadable and unanswering things are sentences.
func TestPlainErrorHidesGo(t *testing.T) {
	dir := t.TempDir()
	_, missing := os.Stat(dir + "/nope")
	_, inFile := os.ReadFile("terminal_test.go/x")
	_, program := exec.LookPath("ccbot-nope")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, err)
	defer taken.Close()
	_, busy := net.Listen("tcp", taken.Addr().String())
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"not there", fmt.Errorf("import: %w", missing), "import: " + filepath.Join(dir, "nope") + " is not there"},
		{"one of several", errors.Join(errors.New("first"), missing), "first\n" + filepath.Join(dir, "nope") + " is not there"},
		{"no permission", &os.PathError{Op: "lstat", Path: "/x", Err: os.ErrPermission}, "this user has no permission for /x"},
		{"another reason", inFile, "terminal_test.go/x: not a directory"},
		{"no program", fmt.Errorf("show the log: %w", program), "show the log: there is no program ccbot-nope"},
		{"an address", fmt.Errorf("METRICS_ADDR: %w", busy), "METRICS_ADDR: " + taken.Addr().String() + ": address already in use"},
		{"no answer", fmt.Errorf("ask tmux: %w", context.DeadlineExceeded), "ask tmux: it took too long"},
		{"ccbot's own", errors.New("nothing was done"), "nothing was done"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Plain(tt.err)) })
	}
}

func TestHangingWrapsOnTerminal(t *testing.T) {
	master, out, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(out, &pty.Winsize{Rows: 24, Cols: 30}))
	p := NewPrinter(out)
	p.Hanging("FAIL  ", "a sentence that is longer than the terminal")
	require.NoError(t, p.Err)
	require.NoError(t, out.Close())
	text, _ := io.ReadAll(master) // ends with an error, because no process keeps the terminal open
	assert.Equal(t, "FAIL  a sentence that is\r\n      longer than the terminal\r\n", string(text))

	var file strings.Builder
	p = NewPrinter(&file)
	p.Hanging("FAIL  ", "a sentence that is longer than the terminal")
	assert.Equal(t, "FAIL  a sentence that is longer than the terminal\n", file.String())
}
