package machine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// bodies is a machine with one file.
type bodies struct {
	content string
	version string
	ticket  folders.Ticket // the one that is valid
	cuts    int            // the number of calls that get no answer
	got     bytes.Buffer   // what was written
	calls   int
}

func (b *bodies) open(context.Context) (folders.File, error) {
	if b.ticket == "" {
		return folders.File{}, refusal.ErrUnreachable
	}
	return folders.File{Size: int64(len(b.content)), Version: b.version, Ticket: b.ticket}, nil
}

func (b *bodies) fault(t folders.Ticket) error {
	b.calls++
	if b.cuts > 0 {
		b.cuts--
		return refusal.ErrUnreachable
	}
	if t != b.ticket {
		return &refusal.Error{Code: refusal.Lapsed}
	}
	return nil
}

func (b *bodies) ReadPart(_ context.Context, t folders.Ticket, offset int64) ([]byte, error) {
	if err := b.fault(t); err != nil {
		return nil, err
	}
	return []byte(b.content[offset:min(len(b.content), int(offset)+folders.MostPart)]), nil
}

// WritePart gets the bytes also if its answer is cut.
func (b *bodies) WritePart(_ context.Context, t folders.Ticket, offset int64, data []byte) error {
	if int(offset) > b.got.Len() {
		return errors.New("a part is missing")
	}
	b.got.Write(data[b.got.Len()-int(offset):])
	return b.fault(t)
}

func (b *bodies) Close(context.Context, folders.Ticket) error { return nil }

// TestReadOfFile tries what can happen between two parts of a file.
func TestReadOfFile(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(b *bodies)
		code    refusal.Code // of the error; empty: it is read
	}{
		"nothing":               {func(*bodies) {}, ""},
		"a cut":                 {func(b *bodies) { b.cuts = 2 }, ""},
		"a long cut":            {func(b *bodies) { b.cuts = 9 }, refusal.Unreachable},
		"a restart":             {func(b *bodies) { b.ticket = "2" }, ""},
		"a restart and a cut":   {func(b *bodies) { b.ticket, b.cuts = "2", 1 }, ""},
		"another content":       {func(b *bodies) { b.ticket, b.version = "2", "w" }, refusal.FileChanged},
		"another size":          {func(b *bodies) { b.ticket, b.content = "2", b.content[1:] }, refusal.FileChanged},
		"not open and no other": {func(b *bodies) { b.ticket = "" }, refusal.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bodies{content: strings.Repeat("0123456789abcdef", folders.MostPart/16) + "the end", version: "v", ticket: "1"}
				f, err := machine.Bodies{b}.Open(t.Context(), b.open)
				require.NoError(t, err)
				begin := make([]byte, 100)
				_, err = f.ReadAt(begin, 0)
				require.NoError(t, err)
				want := b.content
				tt.happens(b)
				for range 2 { // as a second attempt to send it
					data, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size))
					if tt.code != "" {
						require.Error(t, err)
						assert.Equal(t, tt.code, refusal.In(err).Code)
						return
					}
					require.NoError(t, err)
					assert.Equal(t, want, string(data))
				}
				require.NoError(t, f.Close())
				assert.LessOrEqual(t, b.calls, 8, "one call a part")
			})
		})
	}
}

// TestP4_WriteOfFile repeats the parts whose answers are cut.
func TestP4_WriteOfFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, size := range []int{0, 5, folders.MostPart, folders.MostPart + 1} {
			b := &bodies{ticket: "1", cuts: 2}
			require.NoError(t, machine.Bodies{b}.Put(t.Context(), "1", strings.NewReader(strings.Repeat("x", size))))
			assert.Equal(t, size, b.got.Len())
		}
		b := &bodies{ticket: "1", cuts: 5}
		err := machine.Bodies{b}.Put(t.Context(), "1", strings.NewReader("x"))
		require.ErrorIs(t, err, refusal.ErrUnreachable)
		fails := errors.New("the download has failed")
		err = machine.Bodies{b}.Put(t.Context(), "1", io.MultiReader(strings.NewReader("x"), failing{fails}))
		require.ErrorIs(t, err, fails)
	})
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// large is a machine whose parts are too large.
type large struct{ *bodies }

func (l large) ReadPart(context.Context, folders.Ticket, int64) ([]byte, error) {
	return make([]byte, folders.MostPart+1), nil
}

// TestP8_LargePartIsRefused: a machine does not fill the chat's memory with parts of files.
func TestP8_LargePartIsRefused(t *testing.T) {
	b := large{&bodies{content: strings.Repeat("x", 2*folders.MostPart), ticket: "1"}}
	f, err := machine.Bodies{b}.Open(t.Context(), b.open)
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 10), 0)
	require.Error(t, err)
}
