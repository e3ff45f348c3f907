package transcript

// Unsaid reports whether the part between a cursor and an offset may hold a text for the person. A
// part that cannot be read may hold some; a file that is gone holds nothing.
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
