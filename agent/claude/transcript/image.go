package transcript

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"ccbot/agent/jsonl"
	"ccbot/internal/wording"
	"ccbot/port/talk"
)

var (
	dataMember = []byte(`"data":"`)
	isBase64   = []byte(`"base64"`)
	mediaType  = []byte(`"media_type"`)
)

// maxMark is more than the length of a shortener's mark.
const maxMark = 128

// nearData is the greatest distance from the data to the other members of an image's source.
const nearData = 64

// withoutImages returns a line in which the base64 data of each image is replaced by its place, as
// imageOf reads it, and these places, without media types. The quotes around "data" prove that it
// is a name: inside of a string they would be escaped.
func withoutImages(l jsonl.Line) (short []byte, places []talk.Image) {
	line := l.Text
	done := 0
	for at := 0; ; {
		i := bytes.Index(line[at:], dataMember)
		if i < 0 {
			break
		}
		begin := at + i + len(dataMember)
		n := bytes.IndexByte(line[begin:], '"')
		if n < 0 {
			break
		}
		at = begin + n
		before, after := line[max(done, begin-nearData):begin], line[at:min(len(line), at+nearData)]
		if bytes.Contains(before, isBase64) || bytes.Contains(after, isBase64) || bytes.Contains(after, mediaType) {
			offset, length := l.Original(begin), int64(n)
			rest, letters, cut := l.Cut(string(line[max(begin, at-maxMark):at]))
			if cut {
				offset, length = rest.Offset, rest.Length
			}
			if letters || !cut && decodes(line[begin:at]) {
				short = append(short, line[done:begin]...)
				short = fmt.Appendf(short, "%d:%d", offset, length)
				places = append(places, talk.Image{Offset: offset, Length: length})
				done = at
			}
		}
	}
	if done == 0 {
		return line, nil
	}
	return append(short, line[done:]...), places
}

// keepFound clears the images of an item that are at none of the places: the line itself can hold
// text in the form that imageOf reads.
func keepFound(images, places []talk.Image) {
	for i, image := range images {
		if !slices.Contains(places, talk.Image{Offset: image.Offset, Length: image.Length}) {
			images[i] = talk.Image{MediaType: image.MediaType}
		}
	}
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

// imageOf reads what withoutImages has left of an image.
func imageOf(mediaType, data string) talk.Image {
	offset, length, _ := strings.Cut(data, ":")
	at, err := strconv.ParseInt(offset, 10, 64)
	n, failed := strconv.ParseInt(length, 10, 64)
	if err != nil || failed != nil {
		return talk.Image{MediaType: mediaType}
	}
	return talk.Image{MediaType: mediaType, Offset: at, Length: n}
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
	file, _, err := jsonl.OpenFile(at.Path)
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
