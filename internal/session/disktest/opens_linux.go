package disktest

import (
	"bytes"
	"encoding/binary"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Opens counts from now on how often each file of a folder is opened, by any process. The function
// that it returns reports the counts by name; files that were not opened are not among them.
func Opens(t *testing.T, dir string) func() map[string]int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	// With the closing between them, the kernel does not merge two openings of one file into one
	// event.
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CLOSE|unix.IN_ONLYDIR)
	require.NoError(t, err)
	return func() map[string]int {
		t.Helper()
		opened := make(map[string]int)
		events := make([]byte, 1<<16)
		for {
			n, err := unix.Read(fd, events)
			if err != nil {
				require.ErrorIs(t, err, unix.EAGAIN)
				return opened
			}
			for at := 0; at < n; {
				mask, length := binary.NativeEndian.Uint32(events[at+4:]), int(binary.NativeEndian.Uint32(events[at+12:]))
				require.Zero(t, mask&unix.IN_Q_OVERFLOW, "more was opened than the kernel counts")
				name := string(bytes.TrimRight(events[at+unix.SizeofInotifyEvent:][:length], "\x00"))
				if mask&unix.IN_OPEN != 0 && mask&unix.IN_ISDIR == 0 {
					opened[name]++
				}
				at += unix.SizeofInotifyEvent + length
			}
		}
	}
}

// BytesRead returns the number of bytes that this process has read so far, from any file.
func BytesRead(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	require.NoError(t, err)
	n, err := strconv.ParseInt(string(regexp.MustCompile(`(?m)^rchar: (\d+)$`).FindSubmatch(data)[1]), 10, 64)
	require.NoError(t, err)
	return n
}
