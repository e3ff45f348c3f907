package host

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host/received"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

func TestPut(t *testing.T) {
	fails := errors.New("connection reset by peer")
	for _, tt := range []struct {
		name    string
		before  func(d *opens) error
		body    error
		refused refusal.Code
	}{
		{"there", func(*opens) error { return nil }, nil, ""},
		{"the source fails", func(*opens) error { return nil }, fails, ""},
		{"a link in the folder's place", func(d *opens) error {
			return os.Symlink(d.elsewhere, filepath.Join(d.dir, folders.InboxName))
		}, nil, refusal.InboxNotOurs},
		{"no folder", func(d *opens) error { return os.Remove(d.dir) }, nil, refusal.DirMissing},
		{"no session", func(d *opens) error {
			d.records.one.ID = uuid.New()
			return nil
		}, nil, refusal.NotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newStored(t)
			id := d.records.one.ID
			require.NoError(t, tt.before(d))
			before, _, found := d.Has(t.Context(), id, "1")
			assert.Empty(t, before)
			body := io.Reader(strings.NewReader("hello"))
			if tt.body != nil {
				body = io.MultiReader(body, iotest.ErrReader(tt.body))
			}
			name, err := put(t, d, id, body)
			switch {
			case tt.refused != "":
				assert.Equal(t, tt.refused, refusal.In(err).Code)
				assert.Equal(t, found.Error(), err.Error(), "it is known before anything is fetched")
			case tt.body != nil:
				require.ErrorIs(t, err, tt.body)
				require.NotErrorAs(t, err, new(*refusal.Error))
			default:
				require.NoError(t, err)
				assert.Equal(t, "a_b.txt", name)
				assert.FileExists(t, filepath.Join(d.dir, folders.InboxName, name))
				again, folder, err := d.Has(t.Context(), id, "1")
				require.NoError(t, err)
				assert.Equal(t, []string{name, d.dir}, []string{again, folder})
			}
		})
	}
}

// newStored is newOpens with a store of files from the chat.
func newStored(t *testing.T) *opens {
	d := newOpens(t)
	store, err := received.Open(filepath.Join(d.Own.Dir, "received"), time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	d.Received = store
	return d
}

// put writes a file by parts; its end without a Finish is an error of the body.
func put(t *testing.T, d *opens, id uuid.UUID, body io.Reader) (string, error) {
	ticket, err := d.Begin(t.Context(), id, "1", "a b.txt")
	if err != nil {
		return "", err
	}
	data, failed := io.ReadAll(body)
	if err := d.Tickets.WritePart(t.Context(), ticket, 0, data); err != nil {
		return "", err
	}
	if failed != nil {
		require.NoError(t, d.Tickets.Close(t.Context(), ticket))
		assert.Empty(t, dirNames(t, filepath.Join(d.dir, folders.InboxName)))
		return "", failed
	}
	name, folder, err := d.Finish(t.Context(), ticket)
	if err == nil {
		assert.Equal(t, d.dir, folder)
	}
	return name, err
}

// dirNames returns the names in a folder, except .gitignore.
func dirNames(t *testing.T, dir string) (names []string) {
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		if e.Name() != ".gitignore" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestWriteErrorIsNotSourceError(t *testing.T) {
	from := &origin{Reader: strings.NewReader("hello")}
	_, err := io.Copy(failing{}, from)
	require.ErrorIs(t, err, syscall.ENOSPC)
	assert.NoError(t, from.err)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestRead(t *testing.T) {
	base := tree(t, []string{"t/tool-results", "other", "state"}, map[string]string{"claude": "."})
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
			text, err := (&Machine{Own: Own{Dir: filepath.Join(base, "state")}}).Read(t.Context(), transcript, filepath.Join(base, tt.path), tt.most)
			assert.Equal(t, tt.want, text)
			assert.Equal(t, tt.want == "", err != nil)
		})
	}
}
