// Package bytesize formats a number of bytes for people. It promises decimal units with two digits
// at least, so that one number looks the same in the chat, in the verbs and in the doctor's report.
package bytesize

import "fmt"

// Text returns bytes in the largest unit that gives at least 1: "999 B", "1.5 kB", "432 MB", "3.0
// GB". There is one digit after the point below 10, and none otherwise.
func Text[N int | int64 | uint64](bytes N) string {
	size, unit, digits := float64(bytes), "B", 0
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if size < 999.5 { // it is not rounded to 1000
			break
		}
		size, unit, digits = size/1000, next, 1
	}
	if size >= 9.95 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %s", digits, size, unit)
}
