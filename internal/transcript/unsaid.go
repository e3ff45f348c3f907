package transcript

// Unsaid says whether anything that is said to the person may stand behind a cursor and before an offset. What cannot be
// read may hold some; a file that is gone holds nothing.
func (c Cursor) Unsaid(before int64) bool {
	reader := Open(c)
	defer reader.Close()
	for {
		item, ok, err := reader.Next()
		switch {
		case err != nil:
			return true
		case !ok || item.At.Offset >= before:
			return false
		case item.Spoken():
			return true
		}
	}
}
