package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// TestReadByParts also repeats a part, as after a cut.
func TestReadByParts(t *testing.T) {
	d := newOpens(t)
	text := strings.Repeat("0123456789abcdef", folders.MostPart/16) + "the end"
	f := d.open(t, d.inside(t, "a.txt", text))
	var read []byte
	for int64(len(read)) < f.Size {
		part, err := d.Tickets.ReadPart(t.Context(), f.Ticket, int64(len(read)))
		require.NoError(t, err)
		again, err := d.Tickets.ReadPart(t.Context(), f.Ticket, int64(len(read)))
		require.NoError(t, err)
		assert.Equal(t, part, again)
		assert.LessOrEqual(t, len(part), folders.MostPart)
		read = append(read, part...)
	}
	assert.Equal(t, text, string(read))
	for _, offset := range []int64{-1, f.Size + 1} {
		_, err := d.Tickets.ReadPart(t.Context(), f.Ticket, offset)
		require.Error(t, err)
	}
}

// TestP9_ChangedFileIsNotRead: a file that only grows is read up to its first size.
func TestP9_ChangedFileIsNotRead(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(path string) error
		code   refusal.Code
	}{
		"written again": {func(path string) error { return os.WriteFile(path, []byte("world"), 0o600) }, refusal.FileChanged},
		"cut":           {func(path string) error { return os.Truncate(path, 3) }, refusal.FileChanged},
		"grown":         {func(path string) error { return os.WriteFile(path, []byte("hello, world"), 0o600) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOpens(t)
			path := d.inside(t, "a.txt", "hello")
			before := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(path, before, before))
			f := d.open(t, path)
			require.NoError(t, tt.change(path))
			data, err := d.Tickets.ReadPart(t.Context(), f.Ticket, 0)
			if tt.code != "" {
				assert.True(t, refusal.Is(err, tt.code), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "hello", string(data))
		})
	}
}

func TestTicketLapses(t *testing.T) {
	for name, end := range map[string]func(d *opens, t folders.Ticket) *Tickets{
		"closed": func(d *opens, t folders.Ticket) *Tickets {
			_ = d.Tickets.Close(context.Background(), t)
			return d.Tickets
		},
		"too old":     func(d *opens, _ folders.Ticket) *Tickets { time.Sleep(ticketTTL); synctest.Wait(); return d.Tickets },
		"a new start": func(*opens, folders.Ticket) *Tickets { return new(Tickets) },
		"too many": func(d *opens, _ folders.Ticket) *Tickets {
			for range mostTickets {
				d.Tickets.read("", "", 0, closed{}, nil)
			}
			return d.Tickets
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newOpens(t)
				f := d.open(t, d.inside(t, "a.txt", "hello"))
				time.Sleep(ticketTTL - time.Second)
				_, err := d.Tickets.ReadPart(t.Context(), f.Ticket, 0)
				require.NoError(t, err)
				_, err = end(d, f.Ticket).ReadPart(t.Context(), f.Ticket, 0)
				assert.True(t, refusal.Is(err, refusal.Lapsed), "%v", err)
			})
		})
	}
}

type closed struct{ io.ReaderAt }

func (closed) Close() error { return nil }

// TestP4_WrittenPartsAreRepeated: neither a repeated part nor a repeated end changes the file.
func TestP4_WrittenPartsAreRepeated(t *testing.T) {
	var got strings.Builder
	tickets := new(Tickets)
	name := tickets.write("a", func(body io.Reader) (string, error) {
		_, err := io.Copy(&got, body)
		return "a.txt", err
	})
	for _, part := range []struct {
		at   int64
		data string
	}{{0, "hello"}, {0, "hello"}, {5, ", wor"}, {3, "lo, world"}, {12, ""}} {
		require.NoError(t, tickets.WritePart(t.Context(), name, part.at, []byte(part.data)))
	}
	require.Error(t, tickets.WritePart(t.Context(), name, 13, []byte("x")), "a part is missing")
	for range 2 {
		stored, err := tickets.finish(name)
		require.NoError(t, err)
		assert.Equal(t, "a.txt", stored)
	}
	assert.Equal(t, "hello, world", got.String())
	_, err := tickets.ReadPart(t.Context(), name, 0)
	require.Error(t, err)
}

// TestUnfinishedFileIsRemoved: each way in which a writing ends is seen by what stores the file.
func TestUnfinishedFileIsRemoved(t *testing.T) {
	for name, end := range map[string]func(tickets *Tickets, one folders.Ticket){
		"closed":  func(tickets *Tickets, one folders.Ticket) { _ = tickets.Close(context.Background(), one) },
		"too old": func(*Tickets, folders.Ticket) { time.Sleep(ticketTTL) },
		"begun anew": func(tickets *Tickets, _ folders.Ticket) {
			tickets.write("a", func(io.Reader) (string, error) { return "", nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed error
				tickets := new(Tickets)
				one := tickets.write("a", func(body io.Reader) (string, error) {
					_, failed = io.ReadAll(body)
					return "", failed
				})
				require.NoError(t, tickets.WritePart(t.Context(), one, 0, []byte("hello")))
				end(tickets, one)
				synctest.Wait()
				assert.True(t, refusal.Is(failed, refusal.Lapsed), "%v", failed)
				err := tickets.WritePart(t.Context(), one, 5, []byte("x"))
				assert.True(t, refusal.Is(err, refusal.Lapsed), "%v", err)
				time.Sleep(2 * ticketTTL) // the timers of the others
				synctest.Wait()
			})
		})
	}
}

// TestWriteEndsEarly: the file is there already, or cannot be stored.
func TestWriteEndsEarly(t *testing.T) {
	full := errors.New("the disk is full")
	for _, want := range []error{nil, full} {
		tickets := new(Tickets)
		one := tickets.write("a", func(io.Reader) (string, error) { return "a.txt", want })
		for at := range int64(3) {
			require.ErrorIs(t, tickets.WritePart(t.Context(), one, at, []byte("x")), want)
		}
		name, err := tickets.finish(one)
		require.ErrorIs(t, err, want)
		assert.Equal(t, "a.txt", name)
		require.NoError(t, tickets.Close(t.Context(), one))
	}
}

// TestHasEndsUnfinishedFile: a chat that has restarted does not wait for its earlier attempt.
func TestHasEndsUnfinishedFile(t *testing.T) {
	d := newStored(t)
	id := d.records.one.ID
	one, err := d.Begin(t.Context(), id, "1", "a.txt")
	require.NoError(t, err)
	require.NoError(t, d.Tickets.WritePart(t.Context(), one, 0, []byte("hello")))
	name, _, err := d.Has(t.Context(), id, "1")
	require.NoError(t, err)
	assert.Empty(t, name)
	assert.Empty(t, dirNames(t, filepath.Join(d.dir, folders.InboxName)))
	_, _, err = d.Finish(t.Context(), one)
	assert.True(t, refusal.Is(err, refusal.Lapsed), "%v", err)
}
