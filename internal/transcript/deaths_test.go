package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/suspect"
)

// deathsIn names the folder of a process of the test: it reads what is there, says so, and reads again until it is killed.
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
	Note(openNotes(dir))
	for said := false; ; said = true {
		for _, path := range transcriptsIn(t, dir) {
			r := Open(Cursor{Path: path})
			err := r.each(func(l line) bool {
				if bytes.Contains(l.text, []byte("deadly")) {
					os.Exit(died)
				}
				return true
			})
			if errors.Is(err, suspect.ErrUnread) {
				fmt.Print("unread ", filepath.Base(path), "\n")
				continue
			}
			require.NoError(t, err)
			require.NoError(t, r.Close())
			require.NoError(t, Each(Cursor{Path: path}, false, func(Item) bool { return true }))
			LastPrompt(context.Background(), path)
		}
		if !said {
			fmt.Println("read")
		}
	}
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

// TestP5_FourthStartLeavesFileUnread: a read ends the process three times; the fourth leaves the file unread and reads
// the others, and once it is to be read again and is healed, the fifth reads it.
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

// TestP5_RandomKillsLeaveNoFileUnread: a process that does nothing but read is killed at random, often before it has read
// all files once. No read ends it, so no file is left unread.
func TestP5_RandomKillsLeaveNoFileUnread(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		writeTranscript(t, dir, fmt.Sprint(i), "hello")
	}
	for range 100 {
		cmd, out := reader(t, dir)
		_, err := io.ReadFull(out, make([]byte, 1)) // it has read all of them once
		require.NoError(t, err)
		time.Sleep(rand.N(3 * time.Millisecond))
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	assert.Empty(t, openNotes(dir).Unread())
}
