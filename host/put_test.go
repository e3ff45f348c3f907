package host

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/files"
	"ccbot/host/received"
)

func TestPut(t *testing.T) {
	fails := errors.New("connection reset by peer")
	for _, tt := range []struct {
		name             string
		before           func(d *opens) error
		fill             error
		refused, notOurs bool
	}{
		{"there", func(*opens) error { return nil }, nil, false, false},
		{"the source fails", func(*opens) error { return nil }, fails, false, false},
		{"a link in the folder's place", func(d *opens) error {
			return os.Symlink(d.elsewhere, filepath.Join(d.dir, files.Folder))
		}, nil, true, true},
		{"no folder", func(d *opens) error { return os.Remove(d.dir) }, nil, true, false},
		{"no session", func(d *opens) error {
			d.records.one.ID = uuid.New()
			return nil
		}, nil, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newOpens(t)
			var err error
			d.Received, err = received.Open(filepath.Join(d.StateDir, "received"), time.Now, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			id := d.records.one.ID
			require.NoError(t, tt.before(d))
			got, err := d.Put(id, "1", func(to io.Writer) (string, error) {
				_, err := io.WriteString(to, "hello")
				return "a b.txt", errors.Join(err, tt.fill)
			})
			refused, ok := errors.AsType[*files.Refusal](err)
			assert.Equal(t, tt.refused, ok)
			switch {
			case ok:
				assert.Equal(t, tt.notOurs, refused.NotOurs)
				assert.NotEmpty(t, refused.Text)
			case tt.fill != nil:
				require.ErrorIs(t, err, tt.fill)
			default:
				require.NoError(t, err)
				assert.Equal(t, files.Received{Dir: d.dir, Name: "a_b.txt"}, got)
				assert.FileExists(t, filepath.Join(d.dir, files.Folder, got.Name))
			}
		})
	}
}

func TestRead(t *testing.T) {
	base := tree(t, []string{"t/tool-results", "other"}, nil)
	transcript := filepath.Join(base, "t.jsonl")
	for _, name := range []string{"t/tool-results/a.txt", "other/a.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(base, name), []byte("hello"), 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join(base, "other/a.txt"), filepath.Join(base, "t/tool-results/link")))
	for _, tt := range []struct {
		name, path string
		most       int64
		want       string
	}{
		{"beside the transcript", "t/tool-results/a.txt", 5, "hello"},
		{"too long", "t/tool-results/a.txt", 4, ""},
		{"elsewhere", "other/a.txt", 5, ""},
		{"a link", "t/tool-results/link", 5, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := (&Machine{}).Read(transcript, filepath.Join(base, tt.path), tt.most)
			assert.Equal(t, tt.want, text)
			assert.Equal(t, tt.want == "", err != nil)
		})
	}
}
