package archive

import (
	"errors"
	"io/fs"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// unsaid says whether the chat lacks something that the agent said: behind a
// record's cursors there is still text. What cannot be read may hold some.
func unsaid(r session.Record) bool {
	for _, c := range r.Cursors {
		if more, err := speaks(c); more || err != nil {
			return true
		}
	}
	return false
}

// speaks says whether there is anything for the chat behind a cursor. A
// transcript that is gone has nothing.
func speaks(c transcript.Cursor) (bool, error) {
	reader := transcript.Open(c)
	defer reader.Close()
	for {
		item, ok, err := reader.Next()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !ok {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if item.Spoken() {
			return true, nil
		}
	}
}
