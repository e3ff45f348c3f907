package prompts

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/port/talk"
)

func openIn(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return s
}

func offered(key string, n Number) Prompt {
	return Prompt{Key: key, Number: n, Session: session, Text: "fix it", Class: talk.ClassPlain, Since: time.Unix(1, 0).UTC()}
}

// save accepts and holds a prompt.
func save(t *testing.T, s *Store, o Prompt) {
	t.Helper()
	p, as, err := s.Accept(o)
	require.NoError(t, err)
	require.Empty(t, as)
	require.NoError(t, s.Save(p))
}

func TestP4_RepeatedOfferIsAnsweredFromStore(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	p, _, err := s.Accept(offered("1", 1))
	require.NoError(t, err)
	_, err = s.Prompt("1")
	require.ErrorIs(t, err, ErrNoPrompt, "an answer writes nothing")
	p.State, p.Mark = Typing, &talk.Mark{At: time.Unix(2, 0).UTC()}
	require.NoError(t, s.Save(p))

	s = openIn(t, dir)
	again, as, err := s.Accept(offered("1", 1))
	require.NoError(t, err)
	assert.Equal(t, Typing, again.State)
	assert.Empty(t, as)
	require.NoError(t, s.Finish("1", Delivered))
	require.NoError(t, s.Finish("1", Delivered), "twice is fine")
	require.ErrorIs(t, s.Save(p), ErrNoPrompt, "a late save restores no finished prompt")

	s = openIn(t, dir)
	again, as, err = s.Accept(offered("1", 1))
	require.NoError(t, err)
	assert.Equal(t, Delivered, as)
	assert.Equal(t, p.Mark, again.Mark)
}

func TestP4_ReturnedPromptIsOfferedAgain(t *testing.T) {
	s := openIn(t, t.TempDir())
	save(t, s, offered("1", 1))
	require.NoError(t, s.Finish("1", Returned))
	_, as, err := s.Accept(offered("1", 1))
	require.NoError(t, err)
	assert.Equal(t, Returned, as, "the same offer again")
	save(t, s, offered("1", 5))
	require.NoError(t, s.Finish("1", Delivered))
	p, as, err := s.Find("1")
	require.NoError(t, err)
	assert.Equal(t, Delivered, as)
	assert.Equal(t, Number(5), p.Number)
}

func TestP4_LateCommandIsRefused(t *testing.T) {
	s := openIn(t, t.TempDir())
	save(t, s, offered("1", 1))
	require.NoError(t, s.Reword("1", 3, "do it", talk.ClassPlain))
	require.NoError(t, s.Reword("1", 2, "an earlier edit that comes late", talk.ClassPlain))
	p, _, err := s.Accept(offered("1", 1))
	require.NoError(t, err)
	assert.Equal(t, "do it", p.Text, "a repeated offer does not undo an edit")
	p.State, p.Mark = Typing, &talk.Mark{}
	require.NoError(t, s.Save(p))
	require.ErrorIs(t, s.Reword("1", 4, "too late", talk.ClassPlain), ErrNoPrompt)
	require.ErrorIs(t, s.Withdraw("1", 5), ErrNoPrompt)
	require.NoError(t, s.Finish("1", Delivered))
	require.ErrorIs(t, s.Withdraw("1", 6), ErrNoPrompt)

	save(t, s, offered("2", 7))
	require.NoError(t, s.Withdraw("2", 8))
	require.NoError(t, s.Withdraw("2", 8), "a repeat has the same answer")
}

// Nothing shows whether the prompt of a damaged file was typed.
func TestP4_DamagedPromptIsUnproven(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	save(t, s, offered("1", 1))
	save(t, s, offered("2", 2))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1.json"), []byte("{"), 0o600))
	all, unread, err := s.List()
	require.NoError(t, err)
	assert.True(t, unread)
	require.Len(t, all, 1)
	assert.Equal(t, map[uuid.UUID][]string{session: {"2"}}, Of(all))
	p, as, err := s.Accept(offered("1", 1))
	require.NoError(t, err)
	assert.Empty(t, as)
	assert.Equal(t, Unproven, p.State)
	assert.Equal(t, "fix it", p.Text)
}

func TestP4_SettledNumberIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	s.ttl = 0
	save(t, s, offered("1", 1))
	save(t, s, offered("2", 2))
	require.NoError(t, s.Finish("1", Delivered))
	require.NoError(t, s.Settle(1, nil))
	assert.NoFileExists(t, filepath.Join(dir, "1.delivered"))
	s = openIn(t, dir)
	_, _, err := s.Accept(offered("1", 1))
	require.ErrorIs(t, err, ErrNoPrompt)
	_, _, err = s.Accept(offered("2", 2))
	require.NoError(t, err)
}

// A damaged tombstone of an earlier offer keeps nobody from sending the prompt.
func TestP4_DamagedTombstoneOfUnprovenPrompt(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	save(t, s, offered("1", 1))
	require.NoError(t, s.Finish("1", Returned))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1.returned"), []byte("{"), 0o600))
	p, _, err := s.Accept(offered("1", 2))
	require.NoError(t, err)
	require.Equal(t, Unproven, p.State, "it may have been typed")
	p.State = Held // a person wants it
	require.NoError(t, s.Save(p))
}

// A tombstone that cannot be read now stays: its number may be of a prompt that is not settled.
func TestP4_UnreadTombstoneStays(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	s.ttl = 0
	save(t, s, offered("1", 1))
	save(t, s, offered("2", 2))
	require.NoError(t, s.Finish("1", Delivered))
	require.NoError(t, s.Finish("2", Delivered))
	end := disk.Fail(func(op, path string) error {
		if op == "read" && filepath.Base(path) == "2.delivered" {
			return syscall.EMFILE
		}
		return nil
	})
	require.NoError(t, s.Settle(1, nil))
	end()
	_, as, err := s.Accept(offered("2", 2))
	require.NoError(t, err)
	assert.Equal(t, Delivered, as)
}
