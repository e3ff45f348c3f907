package transcript

// Unsaid reports whether the part between a cursor and an offset may hold a text for the person. A
// part that cannot be read may hold some; a file that is gone holds nothing.
func (c Cursor) Unsaid(before int64) (unsaid bool) {
	err := Each(c, false, func(item Item) bool {
		unsaid = item.At.Offset < before && item.Spoken()
		return item.At.Offset < before && !unsaid
	})
	return unsaid || err != nil
}
