package render

import (
	"path"
	"strconv"
	"strings"
)

const (
	// maxFiles is how many things of one answer become files: each is a message of its own. What comes after them is
	// shown in the text, long as it is.
	maxFiles = 10
	// maxCaption is the longest caption (core.telegram.org/bots/api#senddocument); captions here stay well below.
	maxCaption = 1024
	someText   = 700 // units of a caption that show the beginning of a file

	longCode  = 3500 // units of code that are too long to read in a chat
	longLines = 60   // the same in lines
	someLines = 15   // lines of code that show what it is
)

// attachments are the things of an answer that are shown as files, with their places in its text. None are taken when it
// is nil: what asks a person for something must show all of it at once.
type attachments struct {
	list []attachment
	base int // units of the text before the piece that is formatted
	room int // units of the first part that are kept free
}

type attachment struct {
	at   int // units of the text before it
	part Part
}

// takes asks for a file at a place of the current piece, unless there are enough of them already. The file is told how
// long its caption may be.
func (a *attachments) takes(at int, file func(caption int) (Part, bool)) bool {
	if a == nil || len(a.list) >= maxFiles {
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

func (a *attachments) count() int {
	if a == nil {
		return 0
	}
	return len(a.list)
}

// keep forgets all but the first n.
func (a *attachments) keep(n int) {
	if a != nil {
		a.list = a.list[:n]
	}
}

// within keeps the places of all but the first n inside the piece, which lost the line ends at its end.
func (a *attachments) within(n, length int) {
	if a == nil {
		return
	}
	for i := n; i < len(a.list); i++ {
		a.list[i].at = min(a.list[i].at, a.base+length)
	}
}

// codeFile is code that is too long for a chat; its caption says what it is, and shows its first lines.
func codeFile(body, lang, name string, caption int) (Part, bool) {
	lines := strings.Count(body, "\n") + 1
	if lines <= longLines && units(body) <= longCode {
		return Part{}, false
	}
	label := Plain(strconv.Itoa(lines) + " ⏎") // the sign is the same in every language
	if lang != "" {
		label = Join(Bold(lang), Plain(" · "), label)
	}
	return filePart(codeName(lang, name), body+"\n", label, Pre(firstLines(body, someLines), lang), caption), true
}

// filePart is a file of text. Its caption is a label and the beginning of what is in it, as much as fits.
func filePart(name, data string, label, begin Text, caption int) Part {
	if !label.Blank() {
		begin = Join(label, Plain("\n"), begin)
	}
	var shown Text
	if parts := begin.Split(caption); caption > 2 && len(parts) > 0 {
		shown = parts[0]
	}
	return Part{Text: shown, File: &File{Name: name, Data: []byte(data)}}
}

func firstLines(s string, n int) string {
	at := 0
	for range n {
		next := strings.IndexByte(s[at:], '\n')
		if next < 0 {
			return s
		}
		at += next + 1
	}
	return s[:at]
}

// endings are the names that files of a language end with. What a phone would open as something else than text is not
// among them.
var endings = map[string]string{
	"bash": ".sh", "c": ".c", "c++": ".cpp", "cpp": ".cpp", "cs": ".cs", "csharp": ".cs", "css": ".css", "csv": ".csv",
	"diff": ".diff", "dockerfile": ".dockerfile", "go": ".go", "golang": ".go", "h": ".h", "ini": ".ini", "java": ".java",
	"javascript": ".js", "js": ".js", "json": ".json", "jsx": ".jsx", "kotlin": ".kt", "kt": ".kt", "latex": ".tex", "lua": ".lua",
	"makefile": ".mk", "markdown": ".md", "md": ".md", "patch": ".patch", "php": ".php", "proto": ".proto", "py": ".py",
	"python": ".py", "rb": ".rb", "rs": ".rs", "ruby": ".rb", "rust": ".rs", "scss": ".scss", "sh": ".sh", "shell": ".sh",
	"sql": ".sql", "swift": ".swift", "toml": ".toml", "ts": ".ts", "tsx": ".tsx", "typescript": ".ts", "vue": ".vue",
	"xml": ".xml", "yaml": ".yaml", "yml": ".yaml", "zig": ".zig", "zsh": ".sh",
}

// codeName is the name of a file of code: that of the path behind the language, when it is one of the same kind.
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
