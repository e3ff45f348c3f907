package prompts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
)

// A prompt that is held for long keeps no tombstone of a later one.
func TestP4_OpenPromptKeepsNoTombstones(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	s.ttl = 0
	save(t, s, offered("1", 1))
	for n := Number(2); n <= 5; n++ {
		key := fmt.Sprint(n)
		save(t, s, offered(key, n))
		require.NoError(t, s.Finish(key, Delivered))
	}
	require.NoError(t, s.Settle(5, map[string]Number{"1": 1}))
	assert.NoFileExists(t, filepath.Join(dir, "4.delivered"))
	for range 2 {
		_, _, err := s.Accept(offered("1", 1))
		require.NoError(t, err, "it is not settled")
		_, _, err = s.Accept(offered("4", 4))
		require.ErrorIs(t, err, ErrNoPrompt, "a late copy is not typed")
		s = openIn(t, dir)
		s.ttl = 0
	}
	require.NoError(t, s.Finish("1", Delivered))
	require.NoError(t, s.Settle(5, nil))
	_, _, err := s.Accept(offered("1", 1))
	require.ErrorIs(t, err, ErrNoPrompt)
	require.NoError(t, s.Settle(5, map[string]Number{"1": 1}), "a settled number stays settled")
	_, _, err = s.Accept(offered("1", 1))
	require.ErrorIs(t, err, ErrNoPrompt)
}

// The file of settled numbers from a program that knew no open ones is read.
func TestP8_EarlierSettledFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "settled"), []byte(`{"version":1,"settled":3}`), 0o600))
	s := openIn(t, dir)
	_, _, err := s.Accept(offered("3", 3))
	require.ErrorIs(t, err, ErrNoPrompt)
	_, _, err = s.Accept(offered("4", 4))
	require.NoError(t, err)
}

// A damaged file of a prompt that the chat does not know is reported once, and put aside.
func TestP8_DamagedPromptWithoutEntryIsPutAside(t *testing.T) {
	home := t.TempDir()
	dir, quarantine := filepath.Join(home, "prompts"), filepath.Join(home, "quarantine")
	s := openIn(t, dir)
	save(t, s, offered("1", 1))
	for _, key := range []string{"2", "3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, key+".json"), []byte("{"), 0o600))
	}
	for range 2 {
		require.NoError(t, s.SetAside(func(key string) bool { return key == "2" }))
	}
	assert.FileExists(t, filepath.Join(dir, "1.json"))
	assert.FileExists(t, filepath.Join(dir, "2.json"), "its offer decides")
	names, err := spool.Unreported(quarantine)
	require.NoError(t, err)
	assert.Equal(t, []string{"prompts-3.json"}, names)
}
