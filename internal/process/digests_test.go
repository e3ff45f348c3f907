package process

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counted returns Digests that count their reads, at a time after the program's last change.
func counted(after time.Duration) (d *Digests, reads *int) {
	reads = new(int)
	d = &Digests{now: func() time.Time { return time.Now().Add(after) }, read: func(r io.Reader) (string, error) {
		*reads++
		return Digest(r)
	}}
	return d, reads
}

func digestOf(t *testing.T, path string) string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	digest, err := Digest(f)
	require.NoError(t, err)
	return digest
}

// A program is read once, and again after any change of its file, also if the change keeps length
// and time.
func TestDigestsReadProgramOnce(t *testing.T) {
	when := time.Now().Add(-time.Hour)
	write := func(t *testing.T, path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
		require.NoError(t, os.Chtimes(path, when, when))
	}
	changes := []struct {
		name   string
		change func(t *testing.T, path string)
		reads  int
	}{
		{"none", func(*testing.T, string) {}, 1},
		{"other bytes of the same length and time", func(t *testing.T, path string) { write(t, path, "two") }, 2},
		{"another file in its place", func(t *testing.T, path string) {
			write(t, path+".new", "two")
			require.NoError(t, os.Rename(path+".new", path))
		}, 2},
	}
	for _, tc := range changes {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			write(t, path, "one")
			d, reads := counted(time.Minute)
			for range 3 {
				digest, err := d.Of(path)
				require.NoError(t, err)
				require.Equal(t, digestOf(t, path), digest)
			}
			require.Equal(t, 1, *reads)
			changed := changeTime(t, path)
			// the kernel's time is coarse
			for tc.change(t, path); tc.reads > 1 && changeTime(t, path).Equal(changed); {
				tc.change(t, path)
			}
			for range 3 {
				digest, err := d.Of(path)
				require.NoError(t, err)
				assert.Equal(t, digestOf(t, path), digest)
			}
			assert.Equal(t, tc.reads, *reads)
		})
	}
}

func changeTime(t *testing.T, path string) time.Time {
	info, err := os.Stat(path)
	require.NoError(t, err)
	return changedAt(info)
}

// The digest of a file that has just changed is not kept: the next change may not show in its
// times.
func TestDigestsKeepNoFreshFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o700))
	d, reads := counted(0)
	for range 3 {
		_, err := d.Of(path)
		require.NoError(t, err)
	}
	assert.Equal(t, 3, *reads)
}

// An unreadable file has no digest.
func TestDigestsOfMissingProgram(t *testing.T) {
	d, _ := counted(time.Minute)
	path := filepath.Join(t.TempDir(), "program")
	for _, d := range []*Digests{nil, d} {
		digest, err := d.Of(path)
		require.ErrorIs(t, err, os.ErrNotExist)
		assert.Empty(t, digest)
	}
}
