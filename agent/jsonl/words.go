package jsonl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode/utf8"

	"ccbot/internal/wording"
	"ccbot/port/talk"
)

// wordsPiece is the number of bytes that are decoded at once.
const wordsPiece = 64 << 10

// Words reads a long string of a transcript, in pieces. It is fastest from the beginning to the
// end.
type Words struct {
	Size int64 // of the decoded string

	file   *os.File
	at     int64 // of the string's content in the file
	length int64 // of the content as it is written
	raw    bool  // the content is returned as it is written

	mu    sync.Mutex
	next  int64  // the part of the content after piece
	start int64  // of piece, decoded
	piece []byte // decoded
}

// OpenWords opens the long string of the item at a cursor. The caller closes the words. The error
// is fs.ErrInvalid if the file does not have the string.
func OpenWords(at talk.Cursor, rest talk.Rest) (*Words, error) {
	file, info, err := OpenFile(at.Path)
	if err != nil {
		return nil, fmt.Errorf("open words: %w", err)
	}
	w := &Words{file: file, at: at.Offset + rest.Offset, length: rest.Length, raw: rest.Raw}
	if w.length < 0 || w.at < 0 || w.at+w.length > info.Size() {
		return nil, errors.Join(wording.Errorf("open words: %s became shorter: %w", wording.Path(at.Path), fs.ErrInvalid), file.Close())
	}
	if w.Size = w.length; !w.raw {
		w.Size, err = w.measure()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// measure decodes all of the string for its length.
func (w *Words) measure() (int64, error) {
	for {
		err := w.advance()
		if errors.Is(err, io.EOF) {
			return w.start, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// advance decodes the next piece. At the end it returns io.EOF.
func (w *Words) advance() error {
	w.start += int64(len(w.piece))
	w.piece = nil
	left := w.length - w.next
	if left == 0 {
		return io.EOF
	}
	content := make([]byte, min(left, wordsPiece)+2)
	if _, err := w.file.ReadAt(content[1:len(content)-1], w.at+w.next); err != nil {
		return fmt.Errorf("read words: %w", errors.Join(err, fs.ErrInvalid))
	}
	body := content[1 : len(content)-1]
	if w.raw {
		w.next, w.piece = w.next+int64(len(body)), body
		return nil
	}
	n := len(body)
	if left > wordsPiece {
		n = whole(body)
	}
	content[0], content[n+1] = '"', '"'
	var text string
	if err := json.Unmarshal(content[:n+2], &text); err != nil {
		return fmt.Errorf("read words: %w", errors.Join(err, fs.ErrInvalid))
	}
	w.next, w.piece = w.next+int64(n), []byte(text)
	return nil
}

// ReadAt implements [io.ReaderAt].
func (w *Words) ReadAt(b []byte, off int64) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b = b[:max(0, min(int64(len(b)), w.Size-off))]
	if off < w.start {
		w.next, w.start, w.piece = 0, 0, nil
	}
	for n < len(b) {
		if at := off + int64(n) - w.start; at < int64(len(w.piece)) {
			n += copy(b[n:], w.piece[at:])
		} else if err := w.advance(); err != nil {
			return n, err
		}
	}
	if off+int64(n) >= w.Size {
		err = io.EOF
	}
	return n, err
}

// Boundary returns the place of the last letter that begins at most at a place: the text is cut
// there.
func (w *Words) Boundary(place int64) (int64, error) {
	if place >= w.Size {
		return w.Size, nil
	}
	letter := make([]byte, 1)
	for ; place > 0; place-- {
		if _, err := w.ReadAt(letter, place); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if utf8.RuneStart(letter[0]) {
			break
		}
	}
	return place, nil
}

// Close closes the file.
func (w *Words) Close() error { return w.file.Close() }

// Whole returns an item's text with its rest. If the rest cannot be read, the text is its
// beginning.
func (i Item) Whole() string {
	if i.Rest == nil || i.Rest.Raw {
		return i.Text
	}
	w, err := OpenWords(i.At, *i.Rest)
	if err != nil {
		return i.Text
	}
	defer w.Close()
	all, err := io.ReadAll(io.NewSectionReader(w, 0, w.Size))
	if err != nil {
		return i.Text
	}
	return string(all)
}
