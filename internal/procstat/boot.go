package procstat

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// idLength is the length of the kernel's random id of a boot, a UUID.
const idLength = 36

// Boot names a boot of the machine together with the clock by which this process reads start times.
// id is the kernel's id of the boot; offsets is /proc/self/timens_offsets, empty if the kernel has
// no time namespaces. In a namespace whose boot clock differs from the machine's
// (time_namespaces(7)), the kernel adds the difference to each start time that it shows, and Boot
// appends the difference in hexadecimal nanoseconds.
func Boot(id, offsets []byte) (string, error) {
	boot := string(bytes.TrimSpace(id))
	for line := range bytes.Lines(offsets) {
		var clock string
		var seconds, rest int64
		if _, err := fmt.Sscan(string(line), &clock, &seconds, &rest); err != nil {
			return "", fmt.Errorf("timens_offsets: %w", err)
		}
		if offset := seconds*int64(time.Second) + rest; clock == "boottime" && offset != 0 {
			boot += "-" + strconv.FormatUint(uint64(offset), 16)
		}
	}
	return boot, nil
}

// SameBoot reports whether two names that Boot returned are of one boot of the machine. The clocks
// may differ.
func SameBoot(a, b string) bool {
	return a[:min(len(a), idLength)] == b[:min(len(b), idLength)]
}
