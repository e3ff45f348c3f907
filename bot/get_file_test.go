package bot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/files"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
)

func TestBelow(t *testing.T) {
	for _, tt := range []struct{ name, typed, want string }{
		{"a name", "a.txt", "/work/api/a.txt"},
		{"a name with blanks", "  my notes.txt ", "/work/api/my notes.txt"},
		{"in quotes, as phones curve them", "“my notes.txt”", "/work/api/my notes.txt"},
		{"a quote in a name", `it's"`, `/work/api/it's"`},
		{"in a folder", "out/b.png", "/work/api/out/b.png"},
		{"the folder", ".", "/work/api"},
		{"above it", "../x", "/work/api/../x"},
		{"above a link", "link/../x", "/work/api/link/../x"},
		{"from the folder", "./x", "/work/api/x"},
		{"absolute", "/work/api/a", "/work/api/a"},
		{"from home", "~/a", "/home/u/a"},
		{"no home", "~a", "/work/api/~a"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, files.Resolve("/work/api", "/home/u", tt.typed)) })
	}
}

// TestGetShowsNamesInBold: the file stands out as code.
func TestGetShowsNamesInBold(t *testing.T) {
	d := chattest.NewFileWorld(t)
	for _, typed := range []string{"", "none.txt", "/etc/passwd"} {
		gets(t, d, typed)
		assert.Equal(t, []string{d.R.Name}, bold(d.Telegram.Last(t)), d.Telegram.Last(t).Text.Text)
	}
}

// gets makes Alice ask for a file of the current session, and returns the chat's messages.
func gets(t *testing.T, d *chattest.FileWorld, name string) (said []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- d.Feature("files").Run(ctx) }()
	d.Telegram.Forget()
	d.MustHear(t, "/get "+name)
	reported := func(line string) bool { return !strings.HasPrefix(line, "typing") }
	waittest.Until(t, func() bool { return slices.ContainsFunc(d.Telegram.Done(), reported) })
	stop()
	require.NoError(t, chattest.Receive(t, over))
	return d.Telegram.Done()
}

func TestGet(t *testing.T) {
	for _, tt := range []struct{ name, file, typed, want string }{
		{"a file", "a.txt", "a.txt", "file a.txt to 7: hello ()"},
		{"with blanks, in a folder", "out/b c.png", "out/b c.png", "file b c.png to 7: hello ()"},
		{"a hidden file", ".env", ".env", "file .env to 7: hello ()"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewFileWorld(t)
			d.Inside(t, tt.file, "hello")
			assert.Contains(t, gets(t, d, tt.typed), tt.want)
			f := d.Telegram.Files[0]
			assert.Equal(t, []any{d.R.ID, false}, []any{f.Session, f.Sounds})
			assert.Positive(t, f.ReplyTo)
		})
	}
}

func TestP9_WhyAFileIsNotGot(t *testing.T) {
	for _, tt := range []struct {
		name, typed, want string
		set               func(t *testing.T, d *chattest.FileWorld)
	}{
		{"none is named", "", "Send /get and the name of a file, seen from api's folder", nil},
		{"it is not there", "none.txt", "There is no ", nil},
		{"outside", "../other.txt", "is outside of api's folder", func(t *testing.T, d *chattest.FileWorld) {
			require.NoError(t, os.WriteFile(filepath.Join(d.Dir, "..", "other.txt"), []byte("x"), 0o600))
		}},
		{"a link out of the folder", "link", "is outside of api's folder", func(t *testing.T, d *chattest.FileWorld) {
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(d.Dir, "link")))
		}},
		{"a pipe", "pipe", "is not a regular file", func(t *testing.T, d *chattest.FileWorld) {
			require.NoError(t, syscall.Mkfifo(filepath.Join(d.Dir, "pipe"), 0o600))
		}},
		{"an empty file", "empty", "is empty", func(t *testing.T, d *chattest.FileWorld) { d.Inside(t, "empty", "") }},
		{"a hard link", "two", "has a second name", func(t *testing.T, d *chattest.FileWorld) {
			require.NoError(t, os.Link(d.Inside(t, "one", "x"), filepath.Join(d.Dir, "two")))
		}},
		{"3 GB", "huge", "is too big: 3.2 GB. Telegram takes up to 52 MB", func(t *testing.T, d *chattest.FileWorld) {
			require.NoError(t, os.Truncate(d.Inside(t, "huge", "x"), 3<<30))
		}},
		{"Telegram refuses it", "a.txt", "Telegram refused", func(t *testing.T, d *chattest.FileWorld) {
			d.Inside(t, "a.txt", "x")
			d.Sends.Before = func() error { return &outbox.Refused{Err: errors.New("no")} }
		}},
		{"the folder is gone", ".", "no longer exists", func(t *testing.T, d *chattest.FileWorld) { require.NoError(t, os.RemoveAll(d.Dir)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := chattest.NewFileWorld(t)
			if tt.set != nil {
				tt.set(t, d)
			}
			gets(t, d, tt.typed)
			assert.Contains(t, d.Telegram.Last(t).Text.Text, tt.want)
			assert.NotContains(t, d.Telegram.Last(t).Text.Text, d.Word(i18n.InternalError))
		})
	}
}

func TestGetOfNoSession(t *testing.T) {
	d := chattest.NewFileWorld(t)
	d.Records.Forget(d.R.ID)
	gets(t, d, "a.txt")
	assert.Equal(t, d.Word(i18n.NoSession), d.Telegram.Last(t).Text.Text)
}

func TestGetListsAFolder(t *testing.T) {
	d := chattest.NewFileWorld(t)
	d.Inside(t, "b c.txt", strings.Repeat("x", 2048))
	d.Inside(t, "out/deep.txt", "x")
	d.Inside(t, "a\u202e.txt", "x")
	require.NoError(t, os.WriteFile(filepath.Join(d.Dir, "a\xff.txt"), []byte("x"), 0o600))
	gets(t, d, ".")
	assert.Contains(t, d.Telegram.Last(t).Text.Text, "a·.txt  1 B\nb c.txt  2.0 kB\nout/\n1 file is not shown: its name is not UTF-8")
	gets(t, d, "a\uFFFD.txt")
	assert.Empty(t, d.Telegram.Files)
	for n := range 60 {
		d.Inside(t, "out/"+strings.Repeat("y", 10)+string(rune('A'+n)), "x")
	}
	gets(t, d, "out/")
	assert.Contains(t, d.Telegram.Last(t).Text.Text, d.Word(i18n.AndMore, i18n.Args{"Count": 11}))
	d.Records.Change(d.R.ID, func(r *session.Record) { r.State = session.Archived })
	gets(t, d, "out/deep.txt")
	assert.Len(t, d.Telegram.Files, 1, "of a session that is over, too")
}
