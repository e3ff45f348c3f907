package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

var (
	dataMember = []byte(`"data":"`)
	isBase64   = []byte(`"base64"`)
	mediaType  = []byte(`"media_type"`)
)

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
			if image, ok := l.Data(begin, at); ok {
				short = append(short, line[done:begin]...)
				short = fmt.Appendf(short, "%d:%d", image.Offset, image.Length)
				places = append(places, image)
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
