package running

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/internal/disk"
)

// far is the content of a file of another machine.
type far struct {
	text string
	err  error
}

func (f far) ReadAt(p []byte, at int64) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return bytes.NewReader([]byte(f.text)).ReadAt(p, at)
}

// TestP6_FileOfAnotherMachineIsFetchedBeforeItStandsInQueue: the others of its chat wait for no byte
// of it. The copy is closed to others, and gone after the file was sent or refused.
func TestP6_FileOfAnotherMachineIsFetchedBeforeItStandsInQueue(t *testing.T) {
	id := uuid.New()
	for _, tt := range []struct {
		name    string
		session uuid.UUID
		body    io.ReaderAt
		free    uint64
		refused error
		want    error
	}{
		{"it is sent", id, far{text: "hello"}, 10, nil, nil},
		{"Telegram refuses it", id, far{text: "hello"}, 10, &outbox.Refused{Err: errors.New("no")}, nil},
		{"the disk has not twice its size", id, far{text: "hello"}, 9, nil, syscall.ENOSPC},
		{"its machine is lost on the way", id, far{err: io.ErrUnexpectedEOF}, 10, nil, io.ErrUnexpectedEOF},
		{"it is of this machine", uuid.New(), far{text: "hello"}, 0, nil, nil},
		{"it is in memory", id, bytes.NewReader([]byte("hello")), 0, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			sent := false
			f := fetching{dir: dir, isFar: func(of uuid.UUID) bool { return of == id }, free: func(context.Context) (uint64, error) { return tt.free, nil },
				send: func(_ context.Context, file outbox.File) (int, error) {
					sent = true
					local, isLocal := file.Body.(*os.File)
					assert.Equal(t, tt.free > 0, isLocal)
					if isLocal {
						info, err := local.Stat()
						require.NoError(t, err)
						assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
					}
					data, err := io.ReadAll(io.NewSectionReader(file.Body, 0, file.Size))
					require.NoError(t, err)
					assert.Equal(t, "hello", string(data))
					return 7, tt.refused
				}}
			_, err := f.sendFile(t.Context(), outbox.File{Session: tt.session, Body: tt.body, Size: 5})
			assert.Equal(t, tt.want == nil, sent)
			if want := errors.Join(tt.want, tt.refused); want != nil {
				require.Error(t, err)
				assert.True(t, tt.want == nil || errors.Is(err, tt.want), err)
			} else {
				require.NoError(t, err)
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestP8_FetchOutlivesFaults: a fault of this machine's disk is reported, and the next file is sent.
func TestP8_FetchOutlivesFaults(t *testing.T) {
	fault := errors.New("input/output error")
	f := fetching{dir: filepath.Join(t.TempDir(), "exports"), isFar: func(uuid.UUID) bool { return true },
		free: func(context.Context) (uint64, error) { return 10, nil },
		send: func(context.Context, outbox.File) (int, error) { return 7, nil }}
	file := outbox.File{Body: far{text: "hello"}, Size: 5}
	for _, op := range []string{"mkdirall", "createtemp", "remove"} {
		end := disk.Fail(func(is, path string) error {
			if is == op && strings.HasPrefix(path, f.dir) {
				return fault
			}
			return nil
		})
		_, err := f.sendFile(t.Context(), file)
		end()
		require.ErrorIs(t, err, fault, op)
		_, err = f.sendFile(t.Context(), file)
		require.NoError(t, err, op)
	}
}
