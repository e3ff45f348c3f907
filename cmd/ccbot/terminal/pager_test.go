package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pages returns what a terminal of ten lines shows of n lines with the pager.
func pages(t *testing.T, n int, environ ...string) string {
	t.Helper()
	person, tty, err := pty.Open()
	require.NoError(t, err)
	defer person.Close()
	require.NoError(t, pty.Setsize(person, &pty.Winsize{Rows: 10, Cols: 80}))
	done := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, person) // ends with an error when the terminal is closed
		done <- all.String()
	}()
	text, end := Pager(tty, append(environ, "PATH="+os.Getenv("PATH")))
	for i := range n {
		_, err := fmt.Fprintf(text, "line %d\n", i)
		require.NoError(t, err)
	}
	require.NoError(t, end())
	require.NoError(t, tty.Close())
	return <-done
}

func TestPager(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lines   int
		pager   []string
		want    string
		without string
	}{
		{"a long text", 20, []string{"PAGER=sed s/^/paged:/"}, "paged:line 19", ""},
		{"a text that fits", 5, []string{"PAGER=sed s/^/paged:/"}, "line 4", "paged:"},
		{"no pager", 20, []string{"PAGER="}, "line 19", ""},
		{"cat", 20, []string{"PAGER=cat"}, "line 19", ""},
		{"a program that is not there", 20, []string{"PAGER=/none/pager"}, "line 19", ""},
		{"a person leaves it early", 20000, []string{"PAGER=head -n 1"}, "line 0", "line 19"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := pages(t, tt.lines, tt.pager...)
			assert.Contains(t, shown, tt.want)
			if tt.without != "" {
				assert.NotContains(t, shown, tt.without)
			}
		})
	}
}

// TestPagerIsForTerminals: a pipe gets the text as it is written.
func TestPagerIsForTerminals(t *testing.T) {
	var out bytes.Buffer
	text, end := Pager(&out, []string{"PAGER=/none"})
	fmt.Fprint(text, "one")
	assert.Equal(t, "one", out.String())
	require.NoError(t, end())
}
