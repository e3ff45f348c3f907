package render

import (
	"strings"
	"unicode/utf16"
)

// Part is one message of an answer.
type Part struct {
	Text Text // what is said; of a file its caption, which may be empty
	// Rich is the same as Markdown for a server that takes rich messages; empty: it has no such form. It is meant for
	// InputRichMessage with skip_entity_detection: what an agent quotes mentions nobody. Entities renders it for a server
	// that refuses it.
	Rich string
	File *File // what is shown as a file instead of text
}

// File is a file that a renderer makes: a table that fits no phone, code that is too long to read in a chat.
type File struct {
	Name  string
	Data  []byte
	Photo bool // a picture to look at, not one to keep
}

// Renderer turns an agent's Markdown into messages that are sent one after another. No text is lost: what a file holds
// instead is all in it. room is what is kept free at the beginning of the first, in UTF-16 units. The same source has the
// same parts each time.
type Renderer interface {
	Render(src string, room int) []Part
}

// maxParts is how many messages an answer may be before it becomes a file: a chat takes about one in a second, and nobody
// scrolls through more.
const maxParts = 40

// Entities renders for every server: text and entities. Long code, and tables that are too wide for a phone, become
// files; long quotations are folded.
type Entities struct{}

// Render implements Renderer.
func (Entities) Render(src string, room int) []Part {
	src = clean(src)
	if len(src) > maxSource {
		return []Part{longAnswer(src, room)}
	}
	answer := &attachments{room: room}
	whole := formatter{size: maxPiece, parser: newParser(), answer: answer}.format(src)
	var parts []Part
	for i, t := range whole.between(answer.list) {
		if i > 0 {
			parts = append(parts, answer.list[i-1].part)
		}
		for _, p := range t.Split(Limit - room) {
			parts = append(parts, Part{Text: p})
		}
	}
	if len(parts) > maxParts {
		return []Part{longAnswer(src, room)}
	}
	return parts
}

// between is the text before, between and after the files, one more than there are.
func (t Text) between(files []attachment) []Text {
	s := splitter{text: utf16.Encode([]rune(t.Text)), list: t.Entities}
	texts := make([]Text, 0, len(files)+1)
	from := 0
	for _, f := range files {
		to := min(max(f.at, from), len(s.text))
		texts = append(texts, s.part(from, to))
		from = to
	}
	if len(files) == 0 {
		return []Text{t}
	}
	return append(texts, s.part(from, len(s.text)))
}

// longAnswer is an answer that no chat should have to scroll through, as a file.
func longAnswer(src string, room int) Part {
	begin := src[:prefix(src, 2*someText)]
	return filePart("answer.md", src, Text{}, Markdown(begin), min(someText, max(maxCaption-room, 0)))
}

// AsFile is a part as a file, for a chat that takes it in no other way. A part that is one stays it. The name is data, no
// path, and needs no ending.
func AsFile(p Part, name string) File {
	if p.File != nil {
		return File{Name: p.File.Name, Data: p.File.Data}
	}
	if p.Rich != "" {
		return File{Name: safeName(name) + ".md", Data: []byte(p.Rich + "\n")}
	}
	return File{Name: safeName(name) + ".txt", Data: []byte(targets(p.Text) + "\n")}
}

// safeName is a file's name without its ending and without what some system takes for more than a letter.
func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if invisible(r) || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".txt")
	if name = strings.Trim(name[:prefix(name, 60)], "-."); name == "" {
		return "message"
	}
	return name
}
