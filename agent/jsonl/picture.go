package jsonl

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"ccbot/internal/wording"
	"ccbot/port/talk"
)

// maxMark is more than the length of a shortener's mark.
const maxMark = 128

// Data returns the image whose base64 data is a string in Text, without its quotes, also one that was
// cut; false: that is no base64. The image has no media type.
func (l Line) Data(begin, end int) (image talk.Image, ok bool) {
	rest, letters, cut := l.Cut(string(l.Text[max(begin, end-maxMark):end]))
	if cut {
		return talk.Image{Offset: rest.Offset, Length: rest.Length}, letters
	}
	return talk.Image{Offset: l.Original(begin), Length: int64(end - begin)}, decodes(l.Text[begin:end])
}

// decodes reports whether data is base64.
func decodes(data []byte) bool {
	var out [3 << 10]byte
	for len(data) > 0 {
		piece := data[:min(len(data), 4<<10)]
		data = data[len(piece):]
		n, err := base64.StdEncoding.Decode(out[:], piece)
		if err != nil || len(data) > 0 && n != len(piece)/4*3 { // padding before the end
			return false
		}
	}
	return true
}

// Picture reads the decoded bytes of an image from its transcript.
type Picture struct {
	file *os.File
	at   int64 // of the base64 data in the file
	Size int64
}

// OpenImage opens an image of an item at a cursor. The caller closes the picture. The error is
// fs.ErrNotExist or fs.ErrInvalid if the image cannot be read again.
func OpenImage(at talk.Cursor, image talk.Image) (*Picture, error) {
	if image.Length < 4 || image.Length%4 != 0 {
		return nil, fmt.Errorf("open image: no base64 data: %w", fs.ErrInvalid)
	}
	file, _, err := OpenFile(at.Path)
	if err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	}
	p := &Picture{file: file, at: at.Offset + image.Offset, Size: image.Length / 4 * 3}
	end := make([]byte, 2)
	if _, err := file.ReadAt(end, p.at+image.Length-2); errors.Is(err, io.EOF) {
		return nil, errors.Join(wording.Errorf("open image: %s became shorter: %w", wording.Path(at.Path), fs.ErrInvalid), file.Close())
	} else if err != nil {
		return nil, errors.Join(fmt.Errorf("open image: %w", err), file.Close())
	}
	p.Size -= int64(bytes.Count(end, []byte("=")))
	return p, nil
}

// ReadAt implements [io.ReaderAt].
func (p *Picture) ReadAt(b []byte, off int64) (n int, err error) {
	to := min(off+int64(len(b)), p.Size)
	switch {
	case len(b) == 0:
		return 0, nil
	case off >= to:
		return 0, io.EOF
	}
	first := off / 3 * 4
	data := make([]byte, (to+2)/3*4-first)
	if _, err := p.file.ReadAt(data, p.at+first); err != nil {
		return 0, fmt.Errorf("read image: %w", err)
	}
	decoded := make([]byte, len(data)/4*3)
	m, err := base64.StdEncoding.Decode(decoded, data)
	if err != nil {
		return 0, fmt.Errorf("read image: %w", err)
	}
	n = copy(b, decoded[min(off%3, int64(m)):m])
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// Close closes the file.
func (p *Picture) Close() error { return p.file.Close() }
