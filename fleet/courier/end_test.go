package courier_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/courier"
	"ccbot/internal/disk"
)

// wire carries frames by hand: a test delivers, repeats and drops them.
type wire struct {
	mu     sync.Mutex
	ids    []string
	frames [][]byte
	sent   chan struct{}
}

func newWire() *wire { return &wire{sent: make(chan struct{}, 1000)} }

func (w *wire) Send(_ context.Context, id string, data []byte) error {
	w.mu.Lock()
	w.ids, w.frames = append(w.ids, id), append(w.frames, data)
	w.mu.Unlock()
	w.sent <- struct{}{}
	return nil
}

// take waits for the next n frames.
func (w *wire) take(n int) (frames [][]byte) {
	for range n {
		<-w.sent
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	frames, w.frames = w.frames, nil
	return frames
}

// first takes the first frame that was sent.
func (w *wire) first() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	frame := w.frames[0]
	w.frames = w.frames[1:]
	return frame
}

func open(t *testing.T, folder string, w *wire) *courier.End {
	t.Helper()
	end, err := courier.Open(courier.Settings{Folder: folder, Sender: w})
	require.NoError(t, err)
	return end
}

// running runs an end until the test ends.
func running(t *testing.T, end *courier.End) *courier.End {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = end.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return end
}

func put(t *testing.T, end *courier.End, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		require.NoError(t, end.Put([]byte(body)))
	}
}

func receive(t *testing.T, end *courier.End, frames ...[]byte) {
	t.Helper()
	for _, data := range frames {
		require.NoError(t, end.Receive(t.Context(), data))
	}
}

func next(t *testing.T, end *courier.End) courier.Item {
	t.Helper()
	item, err := end.Next(t.Context())
	require.NoError(t, err)
	return item
}

// none reports whether Next has nothing.
func none(end *courier.End) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := end.Next(ctx)
	return errors.Is(err, context.Canceled)
}

func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != "state" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestCopyOfDoneItemIsNotTaken(t *testing.T) {
	out, in, folder := newWire(), newWire(), t.TempDir()
	sender := running(t, open(t, t.TempDir(), out))
	put(t, sender, "a")
	frame := out.take(1)[0]
	receiver := open(t, folder, in)
	receive(t, receiver, frame, frame)
	item := next(t, receiver)
	assert.Equal(t, "a", string(item.Body))
	assert.True(t, none(receiver))
	require.NoError(t, receiver.Done(item))
	receive(t, receiver, frame)
	assert.True(t, none(receiver))
	receiver = open(t, folder, in)
	receive(t, receiver, frame)
	assert.True(t, none(receiver), "after a restart")
	assert.Len(t, in.take(4), 4, "each copy is answered")
}

func TestItemIsReturnedUntilDone(t *testing.T) {
	out, folder := newWire(), t.TempDir()
	put(t, running(t, open(t, t.TempDir(), out)), "a")
	receiver := open(t, folder, newWire())
	receive(t, receiver, out.take(1)...)
	next(t, receiver)
	receiver = open(t, folder, newWire())
	item := next(t, receiver)
	require.NoError(t, receiver.Done(item))
	require.Error(t, receiver.Done(item))
	assert.True(t, none(open(t, folder, newWire())))
}

func TestItemsKeepTheirOrder(t *testing.T) {
	out := newWire()
	put(t, running(t, open(t, t.TempDir(), out)), "a", "b", "c")
	frames := out.take(3)
	receiver := open(t, t.TempDir(), newWire())
	receive(t, receiver, frames[2], frames[1])
	assert.True(t, none(receiver), "the first is missing")
	receive(t, receiver, frames[0])
	for _, want := range []string{"a", "b", "c"} {
		assert.Equal(t, want, string(next(t, receiver).Body))
	}
}

// The hub drops a frame whose id it has seen, also if it has lost the first one since.
func TestIDsAreNeverUsedTwice(t *testing.T) {
	out, folder := newWire(), t.TempDir()
	end := running(t, open(t, folder, out))
	put(t, end, "a")
	out.take(1)
	end.SendAgain()
	out.take(1)
	running(t, open(t, folder, out))
	out.take(1)
	out.mu.Lock()
	defer out.mu.Unlock()
	seen := make(map[string]bool)
	for _, id := range out.ids {
		assert.True(t, strings.HasPrefix(id, "1#"), id)
		assert.False(t, seen[id], id)
		seen[id] = true
	}
	assert.Len(t, seen, 3)
}

// TestNumbersAreNeverUsedTwice: an item leaves the sender's folder after the answer, and its number
// is not used again after a restart.
func TestNumbersAreNeverUsedTwice(t *testing.T) {
	out, in, folder := newWire(), newWire(), t.TempDir()
	sender := running(t, open(t, folder, out))
	receiver := open(t, t.TempDir(), in)
	put(t, sender, "a")
	receive(t, receiver, out.take(1)...)
	receive(t, sender, in.take(1)...)
	assert.Empty(t, files(t, filepath.Join(folder, "out")))
	assert.Zero(t, sender.Waiting())
	first := next(t, receiver)
	put(t, running(t, open(t, folder, out)), "b")
	receive(t, receiver, out.take(1)...)
	assert.Equal(t, first.Seq+1, next(t, receiver).Seq)
}

// TestP5_ItemsOfEarlierStartAreSettled: items that a start finds in its folder leave it after their
// answers. Otherwise no more are sent as soon as there are as many as may wait for answers.
func TestP5_ItemsOfEarlierStartAreSettled(t *testing.T) {
	out, in, folder := newWire(), newWire(), t.TempDir()
	put(t, open(t, folder, newWire()), "a", "b")
	sender := running(t, open(t, folder, out))
	put(t, sender, "c")
	receiver := open(t, t.TempDir(), in)
	receive(t, receiver, out.take(2)...)
	receive(t, sender, in.take(2)...)
	receive(t, receiver, out.take(1)...)
	receive(t, sender, in.take(1)...)
	assert.Zero(t, sender.Waiting())
	assert.Empty(t, files(t, filepath.Join(folder, "out")))
}

func TestTombstonesOfSettledItemsAreRemoved(t *testing.T) {
	out, in, folder := newWire(), newWire(), t.TempDir()
	sender, receiver := running(t, open(t, t.TempDir(), out)), open(t, folder, in)
	var first []byte
	for i := range 200 {
		put(t, sender, fmt.Sprint(i))
		frame := out.take(1)
		if i == 0 {
			first = frame[0]
		}
		receive(t, receiver, frame...)
		require.NoError(t, receiver.Done(next(t, receiver)))
		receive(t, sender, in.take(1)...)
		assert.Less(t, len(files(t, filepath.Join(folder, "in"))), 40)
	}
	receiver = open(t, folder, in)
	receive(t, receiver, first)
	assert.True(t, none(receiver), "a copy of an item without a tombstone")
}

// A sender that has lost its folder counts from 1 again: its items are new ones. Those of its earlier life
// still arrive, each once.
func TestSenderLosesItsFolder(t *testing.T) {
	before, after, folder := newWire(), newWire(), t.TempDir()
	put(t, running(t, open(t, t.TempDir(), before)), "a", "b")
	put(t, running(t, open(t, t.TempDir(), after)), "c")
	old, fresh := before.take(2), after.take(1)
	receiver := open(t, folder, newWire())
	receive(t, receiver, old[0], fresh[0], old[1])
	var item courier.Item
	for _, want := range []string{"a", "b", "c"} {
		item = next(t, receiver)
		assert.Equal(t, want, string(item.Body))
	}
	require.NoError(t, receiver.Done(item))
	receiver = open(t, folder, newWire())
	receive(t, receiver, old[1], fresh[0], old[0])
	for _, want := range []string{"a", "b"} {
		item = next(t, receiver)
		assert.Equal(t, want, string(item.Body))
		require.NoError(t, receiver.Done(item))
	}
	receive(t, receiver, old[1], fresh[0], old[0])
	assert.True(t, none(receiver))
}

// TestP5_ItemsOfAnEndThatIsResumedFromMemoryArrive: without another life the receiver has their numbers.
func TestP5_ItemsOfAnEndThatIsResumedFromMemoryArrive(t *testing.T) {
	folder, copied, w, back := t.TempDir(), t.TempDir(), newWire(), newWire()
	from, to := open(t, folder, w), open(t, t.TempDir(), back)
	put(t, from, "open")
	require.NoError(t, os.CopyFS(copied, os.DirFS(folder)))
	resumed := from.Resumed(copied)
	running(t, from)
	put(t, from, "lost with the machine", "also")
	receive(t, to, w.take(3)...)
	require.NoError(t, resumed.BeginLife())
	put(t, resumed, "new", "newer")
	running(t, resumed)
	receive(t, to, w.take(1)...)
	receive(t, resumed, back.take(4)...)
	receive(t, to, w.take(2)...)
	for _, want := range []string{"open", "lost with the machine", "also", "new", "newer"} {
		assert.Equal(t, want, string(next(t, to).Body))
	}
	assert.True(t, none(to))
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(w.ids))), 6, "the hub drops a frame with an id that it has seen")
}

// An answer to an earlier life of the folder ends no item of this one.
func TestAnswerOfEarlierLife(t *testing.T) {
	before, after, in := newWire(), newWire(), newWire()
	put(t, running(t, open(t, t.TempDir(), before)), "a")
	receive(t, open(t, t.TempDir(), in), before.take(1)...)
	sender := running(t, open(t, t.TempDir(), after))
	put(t, sender, "b")
	receive(t, sender, in.take(1)...)
	assert.Equal(t, 1, sender.Waiting())
}

// TestP8_CourierOutlivesFaults makes each call on a file fail once, in a run of two items. After a
// restart both have arrived once, in order.
func TestP8_CourierOutlivesFaults(t *testing.T) {
	for call := int64(1); ; call++ {
		from, to := t.TempDir(), t.TempDir()
		var calls atomic.Int64 // of both ends
		recorded, log := make(map[string]bool), []string(nil)
		end := disk.Fail(func(_, path string) error {
			if !strings.HasPrefix(path, from) && !strings.HasPrefix(path, to) {
				return nil
			}
			if calls.Add(1) == call {
				return errors.New("fault")
			}
			return nil
		})
		err := exchange(t, from, to, recorded, &log)
		end()
		if calls.Load() < call {
			require.NoError(t, err)
			assert.Greater(t, call, int64(40))
			return
		}
		require.Error(t, err, "call %d", call)
		require.NoError(t, exchange(t, from, to, recorded, &log), "call %d", call)
		require.NoError(t, exchange(t, from, to, recorded, &log), "call %d", call)
		require.Equal(t, []string{"a", "b"}, log, "call %d", call)
		assert.Empty(t, files(t, filepath.Join(from, "out")), "call %d", call)
	}
}

// exchange passes two items from one folder to another, as far as no call fails, and returns what
// was done.
func exchange(t *testing.T, from, to string, recorded map[string]bool, log *[]string) (err error) {
	out, in := newWire(), newWire()
	failed := make(chan error, 1)
	sender, err := courier.Open(courier.Settings{Folder: from, Sender: out, Report: func(err error) { failed <- err }})
	if err != nil {
		return err
	}
	receiver, err := courier.Open(courier.Settings{Folder: to, Sender: in})
	if err != nil {
		return err
	}
	for _, body := range []string{"a", "b"} {
		if recorded[body] {
			continue
		}
		if err := sender.Put([]byte(body)); err != nil {
			return err
		}
		recorded[body] = true
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = sender.Run(ctx) }()
	defer func() { cancel(); <-done }()
	for sender.Waiting() > 0 {
		select {
		case <-out.sent:
		case err := <-failed:
			return err
		}
		if err := receiver.Receive(ctx, out.first()); err != nil {
			return err
		}
		if err := sender.Receive(ctx, in.first()); err != nil {
			return err
		}
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	for {
		item, err := receiver.Next(over)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(*log) == 0 || (*log)[len(*log)-1] != string(item.Body) { // the program recognizes its last effect
			*log = append(*log, string(item.Body))
		}
		if err := receiver.Done(item); err != nil {
			return err
		}
	}
}

func TestFramesOfOthersAreRefused(t *testing.T) {
	end := open(t, t.TempDir(), newWire())
	for _, data := range []string{"", "\n", "{}\n", `{"v":2,"life":"x","seq":1}` + "\n", `{"v":1,"life":"x","seq":0}` + "\n",
		`{"v":1,"seq":1}` + "\n", `{"v":1,"life":"x","seq":1,"settled":1}` + "\n", `{"v":1,"life":"x","seq":1}`} {
		require.ErrorIs(t, end.Receive(t.Context(), []byte(data)), courier.ErrFrame, data)
	}
}

// TestP8_SenderFillsNoDisk: a sender that leaves numbers out, never settles, begins lives or sends
// to a receiver that does not work leaves a limited number of files there.
func TestP8_SenderFillsNoDisk(t *testing.T) {
	const lives = "0193b7a0-0000-7000-8000-%012d"
	item := func(life, seq, settled int) []byte {
		return fmt.Appendf(nil, `{"v":1,"life":"`+lives+`","seq":%d,"settled":%d}`+"\nbody", life, seq, settled)
	}
	for name, frame := range map[string]func(i int) []byte{
		"a hole":       func(i int) []byte { return item(1, 2+i, 0) },
		"jumps":        func(i int) []byte { return item(1, 1+i*1000, 0) },
		"settled":      func(i int) []byte { return item(1, 1+i, i) },
		"jump settled": func(i int) []byte { return item(1, 2+i*1000, i*1000) },
		"lives":        func(i int) []byte { return item(i, 1, 0) },
		"lives, holes": func(i int) []byte { return item(i/200, 2+i%200, 0) },
		"huge": func(i int) []byte {
			return fmt.Appendf(nil, `{"v":1,"life":"`+lives+`","seq":%d,"settled":%d}`+"\n", 1, uint64(1<<62-i), uint64(1<<62-1-i))
		},
	} {
		for _, works := range []bool{false, true} {
			t.Run(fmt.Sprint(name, works), func(t *testing.T) {
				folder := t.TempDir()
				end := open(t, folder, &wire{sent: make(chan struct{}, 1<<20)})
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // Next does not wait
				for i := range 2000 {
					require.NoError(t, end.Receive(t.Context(), frame(i)))
					if item, err := end.Next(ctx); works && err == nil {
						require.NoError(t, end.Done(item))
					}
				}
				files, err := os.ReadDir(filepath.Join(folder, "in"))
				require.NoError(t, err)
				assert.LessOrEqual(t, len(files), 600)
			})
		}
	}
	end := open(t, t.TempDir(), newWire())
	require.ErrorIs(t, end.Receive(t.Context(), fmt.Appendf(nil, `{"v":1,"life":"`+lives+`","seq":18446744073709551615,"settled":18446744073709551614}`+"\n", 1)), courier.ErrFrame)
	for _, life := range []string{"zz", "../../x", strings.Repeat("f", 300), "0193B7A0-0000-7000-8000-000000000001", "0193b7a0000070008000000000000001"} {
		require.ErrorIs(t, end.Receive(t.Context(), fmt.Appendf(nil, `{"v":1,"life":%q,"seq":1}`+"\n", life)), courier.ErrFrame)
	}
}

// TestP4_ReceiverThatIsFullLosesNothing: the items that it cannot take arrive later.
func TestP4_ReceiverThatIsFullLosesNothing(t *testing.T) {
	there, back := newWire(), newWire()
	there.sent, back.sent = make(chan struct{}, 1<<20), make(chan struct{}, 1<<20)
	receiver := open(t, t.TempDir(), back)
	sender, err := courier.Open(courier.Settings{Folder: t.TempDir(), Sender: there, ResendInterval: 50 * time.Millisecond})
	require.NoError(t, err)
	const all = 700
	for i := range all {
		put(t, sender, fmt.Sprint(i))
	}
	running(t, sender)
	exchange := func() {
		time.Sleep(time.Millisecond)
		there.mu.Lock()
		frames := there.frames
		there.frames = nil
		there.mu.Unlock()
		receive(t, receiver, frames...)
		back.mu.Lock()
		answers := back.frames
		back.frames = nil
		back.mu.Unlock()
		receive(t, sender, answers...)
	}
	for sender.Waiting() > all-256 {
		exchange()
	}
	for range 200 {
		exchange()
	}
	assert.Equal(t, all-256, sender.Waiting())
	for i := range all {
		for {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			item, err := receiver.Next(ctx)
			if err != nil {
				exchange()
				continue
			}
			assert.Equal(t, fmt.Sprint(i), string(item.Body))
			require.NoError(t, receiver.Done(item))
			break
		}
	}
}

// setBack copies the folder of an end, and returns what puts the copy in its place, as a snapshot of the
// machine does.
func setBack(t *testing.T, folder string) (restore func()) {
	t.Helper()
	kept := t.TempDir()
	require.NoError(t, os.CopyFS(kept, os.DirFS(folder)))
	return func() {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.CopyFS(folder, os.DirFS(kept)))
	}
}

// talk carries frames in both directions until all items of a sender have arrived.
func talk(t *testing.T, sender, receiver *courier.End, out, in *wire) {
	t.Helper()
	for sender.Waiting() > 0 {
		receive(t, receiver, out.take(1)...)
		receive(t, sender, in.take(1)...)
	}
}

// TestP5_NewsOfASenderThatWasSetBackArrive: an earlier state of the folder has numbers that the receiver
// knows already for other items.
func TestP5_NewsOfASenderThatWasSetBackArrive(t *testing.T) {
	out, in, from := newWire(), newWire(), t.TempDir()
	receiver := open(t, t.TempDir(), in)
	var got []string
	send := func(bodies ...string) {
		ctx, stop := context.WithCancel(t.Context())
		sender := open(t, from, out)
		done := make(chan struct{})
		go func() { defer close(done); _ = sender.Run(ctx) }()
		put(t, sender, bodies...)
		talk(t, sender, receiver, out, in)
		stop()
		<-done
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for item, err := receiver.Next(ended); err == nil; item, err = receiver.Next(ended) {
			got = append(got, string(item.Body))
			require.NoError(t, receiver.Done(item))
		}
	}
	send("a", "b")
	restore := setBack(t, from)
	send("c", "d", "e")
	restore()
	send("f", "g", "h", "i")
	send("k")
	restore()
	send("l")
	assert.Equal(t, strings.Split("abcdefghikl", ""), got)
}
