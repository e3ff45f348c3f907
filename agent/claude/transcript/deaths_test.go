package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/suspect"
	"ccbot/port/talk"
)

// deathsIn names the folder of a process of the test: it reads the files there, prints a line, and
// waits until it is killed.
const deathsIn = "CCBOT_TEST_DEATHS"

// died is the exit code of a process that a read has ended.
const died = 7

const deathsBoot = "8d6c7a52-0000-4000-8000-000000000001"

// openNotes opens the notes of a folder as the bot does, without its pauses.
func openNotes(dir string) *suspect.Files {
	return suspect.Open(filepath.Join(dir, suspect.Name), deathsBoot, func(time.Duration) error { return nil }, slog.New(slog.DiscardHandler))
}

func transcriptsIn(t *testing.T, dir string) []string {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	return paths
}

// TestReadUntilKilled is the process; without the folder there is nothing to do.
func TestReadUntilKilled(t *testing.T) {
	dir := os.Getenv(deathsIn)
	if dir == "" {
		return
	}
	jsonl.Note(openNotes(dir))
	for _, path := range transcriptsIn(t, dir) {
		require.NoError(t, unlessUnread(Form().Each(talk.Cursor{Path: path}, false, func(jsonl.Item) bool { return true })))
		err := Form().Open(talk.Cursor{Path: path}).Each(func(l jsonl.Line) bool {
			if bytes.Contains(l.Text, []byte("deadly")) {
				os.Exit(died)
			}
			return true
		})
		require.NoError(t, unlessUnread(err))
		if err != nil {
			fmt.Print("unread ", filepath.Base(path), "\n")
		}
	}
	fmt.Println("read")
	select {}
}

func unlessUnread(err error) error {
	if errors.Is(err, suspect.ErrUnread) {
		return nil
	}
	return err
}

func reader(t *testing.T, dir string) (*exec.Cmd, io.Reader) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestReadUntilKilled$")
	cmd.Env = append(os.Environ(), deathsIn+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, out
}

func writeTranscript(t *testing.T, dir, name, text string) string {
	path := filepath.Join(dir, name+".jsonl")
	line := `{"type":"user","uuid":"1","timestamp":"2026-03-04T12:00:00Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(line, 200)), 0o600))
	return path
}

// TestP5_FourthStartLeavesFileUnread: a read ends the process three times; the fourth leaves the
// file unread and reads the others, and after a repair and a request the fifth reads it.
func TestP5_FourthStartLeavesFileUnread(t *testing.T) {
	dir := t.TempDir()
	writeTranscript(t, dir, "a", "hello")
	deadly := writeTranscript(t, dir, "b", "deadly")
	writeTranscript(t, dir, "c", "hello")
	before, err := os.Stat(deadly)
	require.NoError(t, err)
	first := func() (said string, died int) {
		cmd, out := reader(t, dir)
		lines := bufio.NewScanner(out)
		for said == "" && lines.Scan() {
			said = lines.Text()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return said, cmd.ProcessState.ExitCode()
	}
	for range 3 {
		said, code := first()
		require.Empty(t, said)
		require.Equal(t, died, code)
	}
	said, _ := first()
	assert.Equal(t, "unread b.jsonl", said)
	after, err := os.Stat(deadly)
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime())
	notes := openNotes(dir)
	assert.Equal(t, []string{deadly}, notes.Unread())
	notes.Again(deadly)
	require.NoError(t, notes.Close())
	writeTranscript(t, dir, "b", "hello")
	said, _ = first()
	assert.Equal(t, "read", said)
}

// note makes the test note its reads in a folder. Each call is a separate run: the run before it
// has ended.
func note(t *testing.T, dir string) *suspect.Files {
	files := openNotes(dir)
	jsonl.Note(files)
	t.Cleanup(func() { jsonl.Note(nil) })
	return files
}

// TestP5_PassedReadForgetsDeaths: reads of all kinds end well between two runs that die, so no file
// is to blame.
func TestP5_PassedReadForgetsDeaths(t *testing.T) {
	dir := t.TempDir()
	path := writeTranscript(t, dir, "a", "hello")
	reads := map[string]func(){
		"to the end": func() {
			require.NoError(t, Form().Each(talk.Cursor{Path: path}, false, func(jsonl.Item) bool { return true }))
		},
		"to a found item": func() {
			require.NoError(t, Form().Each(talk.Cursor{Path: path}, false, func(jsonl.Item) bool { return false }))
		},
		"one item": func() {
			_, _, err := Form().Open(talk.Cursor{Path: path}).Next()
			require.NoError(t, err)
		},
		"lines": func() {
			require.NoError(t, Form().Open(talk.Cursor{Path: path}).Each(func(jsonl.Line) bool { return false }))
		},
		"backwards": func() { require.Equal(t, "hello", Form().LastPrompt(t.Context(), path)) },
	}
	for name, read := range reads {
		for range 4 {
			_, err := note(t, dir).Begin(path)
			require.NoError(t, err)
			note(t, dir)
			read()
		}
		assert.Empty(t, openNotes(dir).Unread(), name)
	}
}

// noteReads makes the test note its reads, and returns how often it has.
func noteReads(t *testing.T) (begun *int) {
	begun = new(int)
	note(t, t.TempDir()).Failpoint = func(string) { *begun++ }
	return begun
}

// TestP5_EndIsNotNoted: a reader that waits for more notes each part that it reads, and no read
// that finds nothing. So a line costs one note. A file that was cut or replaced is still found.
func TestP5_EndIsNotNoted(t *testing.T) {
	for name, then := range map[string]func(t *testing.T, path string){
		"cut":      func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 1)) },
		"replaced": func(t *testing.T, path string) { require.NoError(t, os.Rename(path+".new", path)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, prompt("one"))
			write(t, path+".new", prompt("other"))
			r, begun := Form().Open(talk.Cursor{Path: path}), noteReads(t)
			defer r.Close()
			line := prompt("two")
			for i, appended := range []string{"", line[:9], line[9:], line + line} {
				appendTo(t, path, appended)
				*begun = 0
				items := 0
				for range 5 {
					_, ok, err := r.Next()
					require.NoError(t, err)
					if ok {
						items++
					}
				}
				assert.Equal(t, []int{1, 0, 1, 2}[i], items, i)
				assert.Equal(t, []int{1, 1, 1, 2}[i], *begun, i)
			}
			then(t, path)
			_, _, err := r.Next()
			assert.ErrorIs(t, err, history.ErrTruncated)
		})
	}
}

// TestP5_OutcomeIsOneRead: the search for the outcome of a request notes itself once, for any
// number of lines.
func TestP5_OutcomeIsOneRead(t *testing.T) {
	path := writeTranscript(t, t.TempDir(), "a", "hello")
	begun := noteReads(t)
	_, found, err := FindOutcome(t.Context(), Sought{Path: path, Tool: "Bash", Input: []byte(`{}`), From: 1 << 20})
	require.NoError(t, err)
	assert.False(t, found)
	assert.Equal(t, 1, *begun)
}
