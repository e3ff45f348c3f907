package render

import (
	"context"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"

	"ccbot/internal/each"
)

// Part is one message of an answer.
type Part struct {
	Text Text // the text; of a file its caption, which may be empty
	// Rich is the same as Markdown for a server that takes rich messages; empty: it has no such
	// form. It is meant for InputRichMessage with skip_entity_detection: an agent's quotation
	// mentions no person. Entities renders it for a server that refuses it.
	Rich string
	File *File // the file shown instead of text
	More any   // the data of a button under the part, or nil. Only the part's maker and sender know it.
}

// File is a file that a renderer makes: a table that fits no phone, code that is too long to read
// in a chat.
type File struct {
	Name  string
	Data  []byte
	Photo bool // a picture to look at, not one to keep
	// Open, if set, opens the content in place of Data. The caller closes it.
	Open func(ctx context.Context) (Content, error)
}

// Content is the content of a file, of Size bytes.
type Content struct {
	Body interface {
		io.ReaderAt
		io.Closer
	}
	Size int64
}

// maxParts is the number of messages above which an answer becomes a file: a chat takes about one
// in a second, and people do not scroll through more.
const maxParts = 40

// Entities turns an agent's Markdown into messages that are sent one after another, for every
// server: text and entities. Long code, and tables that are too wide for a phone, become files;
// long quotations are folded. No text is lost: a file has the whole of what it replaces. room is
// the number of UTF-16 units kept free at the beginning of the first. The same source has the same
// parts each time.
func Entities(src string, room int) []Part {
	src = clean(src)
	if len(src) > maxSource {
		return []Part{longAnswer(src, room)}
	}
	answer := &attachments{most: maxFiles, room: room}
	whole := formatter{size: maxPiece, parser: newParser(), answer: answer}.format(src)
	var parts []Part
	s := splitter{text: utf16.Encode([]rune(whole.Text)), list: whole.Entities}
	for _, f := range append(answer.list, attachment{at: len(s.text)}) {
		to := min(max(f.at, s.at), len(s.text))
		for _, p := range s.part(s.at, to).Split(Limit - room) {
			parts = append(parts, Part{Text: p})
		}
		if s.at = to; f.part.File != nil {
			parts = append(parts, f.part)
		}
	}
	if len(parts) > maxParts {
		return []Part{longAnswer(src, room)}
	}
	return parts
}

// longAnswer is an answer that no chat should have to scroll through, as a file.
func longAnswer(src string, room int) Part {
	begin := src[:prefix(src, 2*someText)]
	return filePart("answer.md", src, Text{}, Markdown(begin), min(someText, max(maxCaption-room, 0)))
}

// AsFile is a part as a file, for a chat that takes it in no other way. A part that is one stays
// it. The name is data, no path, and needs no ending.
func AsFile(p Part, name string) File {
	if p.File != nil {
		return File{Name: p.File.Name, Data: p.File.Data, Open: p.File.Open}
	}
	if p.Rich != "" {
		return File{Name: safeName(name) + ".md", Data: []byte(p.Rich + "\n")}
	}
	return File{Name: safeName(name) + ".txt", Data: []byte(targets(p.Text) + "\n")}
}

// safeName is a file's name without its ending and without characters that are special in some
// system.
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

// thinking returns an agent's thoughts, as a quotation that stays folded until a person opens it.
func thinking(text string) Text { return spanned(strings.Trim(text, "\n"), entity{Type: quoteX}) }

// ThinkingParts returns the messages that show an agent's thoughts, without formatting: with rich
// messages, a section that folds, with a title. room is as in Entities.
func ThinkingParts(asRich bool, title, text string, room int) []Part {
	text = clean(text)
	if len(text) > maxSource {
		return []Part{longAnswer(text, room)}
	}
	if asRich && !blank(text) {
		section := frame{open: "<details><summary>" + escaped(title) + "</summary>", shut: "</details>", gap: 2, blocks: 2}
		p := &rich{pages: newPages(room)}
		p.push(section)
		p.prose(text)
		p.pop()
		return withTexts(p.finish(), room, func(rich string) Text {
			body := strings.TrimSuffix(strings.TrimPrefix(rich, section.open), section.shut)
			return Join(Bold("▸ "+title), Plain("\n\n"), Markdown(body))
		})
	}
	return each.As(thinking(text).Split(Limit-room), func(t Text) Part { return Part{Text: t} })
}

const (
	// maxFiles is the number of an answer's contents that become files: each is a separate message.
	// Later ones are shown in the text, even if they are long.
	maxFiles = 10
	// maxCaption is the longest caption (core.telegram.org/bots/api#senddocument); captions here
	// stay well below.
	maxCaption = 1024
	someText   = 700 // units of a caption that show the beginning of a file

	longCode  = 3500 // units of code that are too long to read in a chat
	longLines = 60   // the same in lines
	someLines = 15   // lines of code that show its kind
)

// attachments are the things of an answer that are shown as files, with their places in its text.
// The zero value takes none: a request to a person must show all of it at once.
type attachments struct {
	most int // how many it takes
	list []attachment
	base int // units of the text before the piece that is formatted
	room int // units of the first part that are kept free
}

type attachment struct {
	at   int // units of the text before it
	part Part
}

// takes requests a file at a place of the current piece, unless there are enough of them already.
// The function gets the maximum length of its caption.
func (a *attachments) takes(at int, file func(caption int) (Part, bool)) bool {
	if len(a.list) >= a.most {
		return false
	}
	part, ok := file(min(someText, max(maxCaption-a.room, 0)))
	if ok {
		a.list = append(a.list, attachment{a.base + at, part})
	}
	return ok
}

// takesTable takes a table that is too long to be parsed as it is written.
func (a *attachments) takesTable(source string) bool {
	return isWholeTable(source) && a.takes(0, func(caption int) (Part, bool) {
		return filePart("table.md", source+"\n", Text{}, Pre(source, ""), caption), true
	})
}

// codeFile is code that is too long for a chat; its caption has its kind and its first lines.
func codeFile(body, lang, name string, caption int) (Part, bool) {
	lines := strings.Count(body, "\n") + 1
	if lines <= longLines && units(body) <= longCode {
		return Part{}, false
	}
	label := Plain(strconv.Itoa(lines) + " ⏎") // the sign is the same in every language
	if lang != "" {
		label = Join(Bold(lang), Plain(" · "), label)
	}
	first := strings.SplitAfterN(body, "\n", someLines+1)
	begin := strings.Join(first[:min(len(first), someLines)], "")
	return filePart(codeName(lang, name), body+"\n", label, Pre(begin, lang), caption), true
}

// filePart is a file of text. Its caption is a label and the beginning of its content, as much as
// fits.
func filePart(name, data string, label, begin Text, caption int) Part {
	if !label.Blank() {
		begin = Join(label, Plain("\n"), begin)
	}
	var shown Text
	if caption > 2 {
		shown = begin.Begin(caption)
	}
	return Part{Text: shown, File: &File{Name: name, Data: []byte(data)}}
}

// endings are the names that files of a language end with, without those that a phone would open as
// something else than text.
var endings = map[string]string{
	"bash": ".sh", "c": ".c", "c++": ".cpp", "cpp": ".cpp", "cs": ".cs", "csharp": ".cs", "css": ".css", "csv": ".csv",
	"diff": ".diff", "dockerfile": ".dockerfile", "go": ".go", "golang": ".go", "h": ".h", "ini": ".ini", "java": ".java",
	"javascript": ".js", "js": ".js", "json": ".json", "jsx": ".jsx", "kotlin": ".kt", "kt": ".kt", "latex": ".tex", "lua": ".lua",
	"makefile": ".mk", "markdown": ".md", "md": ".md", "patch": ".patch", "php": ".php", "proto": ".proto", "py": ".py",
	"python": ".py", "rb": ".rb", "rs": ".rs", "ruby": ".rb", "rust": ".rs", "scss": ".scss", "sh": ".sh", "shell": ".sh",
	"sql": ".sql", "swift": ".swift", "toml": ".toml", "ts": ".ts", "tsx": ".tsx", "typescript": ".ts", "vue": ".vue",
	"xml": ".xml", "yaml": ".yaml", "yml": ".yaml", "zig": ".zig", "zsh": ".sh",
}

// codeName is the name of a file of code: the path after the language, if it is one of the same
// kind.
func codeName(lang, name string) string {
	ending, known := endings[strings.ToLower(lang)]
	if base := path.Base(name); known && path.Ext(base) == ending && len(base) <= 64 && language(base) != "" {
		return base
	}
	if !known {
		ending = ".txt"
	}
	return "code" + ending
}
