package render

import (
	"html"
	"strings"

	"ccbot/internal/lazyregexp"
)

// Collapsible sections are the one piece of HTML that is more than text: <details> with a <summary>. unfold brings each
// to one form, tags on lines of their own with blank lines around what is between, so that a parser sees the inside as
// Markdown, wherever the source is cut.
var (
	detailsAnywhere = lazyregexp.New(`(?i)</details>`)

	detailsOpen = lazyregexp.New(`(?i)^ {0,3}<details(?:\s+open(?:="[^"]*")?)?\s*>\s*(.*)$`)
	summaryLine = lazyregexp.New(`(?i)^\s*<summary>(.*?)</summary>\s*(.*)$`)
	detailsEnd  = lazyregexp.New(`(?i)^(.*?)</details>\s*(.*)$`)
	softTags    = lazyregexp.New(`(?i)</?(?:b|strong|i|em|code|u|h[1-6])>`)
)

const (
	// The form in which they are parsed. It is not the one in which anybody writes them: those without an end are text.
	foldStart = "<details fold><summary>"
	foldTitle = "</summary>"
	foldEnd   = "</details fold>"

	maxFoldLine = 2000 // bytes of a line that is looked at: one line may begin thousands of sections
)

// unfold rewrites the sections that are complete; anything else stays as it is written.
func unfold(src string) string {
	if !strings.Contains(src, "</") || !detailsAnywhere.MatchString(src) {
		return src
	}
	u := unfolder{lines: strings.Split(src, "\n")}
	for u.next < len(u.lines) {
		line := u.lines[u.next]
		u.next++
		u.line(line)
	}
	u.giveUp()
	return strings.Join(u.out, "\n")
}

type unfolder struct {
	lines []string
	next  int
	out   []string
	fence fence
	open  []section
}

// section is a place where one begins: which lines of the result, and what was there.
type section struct {
	at, length int
	written    []string
}

func (u *unfolder) line(line string) {
	trimmed := strings.TrimLeft(line, " \t")
	if u.fence.length > 0 {
		if u.fence.closedBy(trimmed) {
			u.fence = fence{}
		}
		u.out = append(u.out, line)
		return
	}
	if f := fenceAt(trimmed); f.length > 0 {
		u.fence = f
	} else if len(line) <= maxFoldLine && (u.opens(line) || len(u.open) > 0 && u.closes(line)) {
		return
	}
	u.out = append(u.out, line)
}

// opens takes a line that begins a section, with the one behind it when the summary is there.
func (u *unfolder) opens(line string) bool {
	m := detailsOpen.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	written, rest := []string{line}, m[1]
	if rest == "" && u.next < len(u.lines) {
		rest = u.lines[u.next]
		written = append(written, rest)
	}
	m = summaryLine.FindStringSubmatch(rest)
	if m == nil {
		return false
	}
	u.next += len(written) - 1
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	title := strings.ReplaceAll(strings.TrimSpace(softTags.ReplaceAllString(m[1], "")), "<", "&lt;")
	lines := []string{"", indent + foldStart + title + foldTitle, ""}
	u.open = append(u.open, section{at: len(u.out), length: len(lines), written: written})
	u.out = append(u.out, lines...)
	if m[2] != "" {
		u.open[len(u.open)-1].written[len(written)-1] = strings.TrimSuffix(written[len(written)-1], m[2])
		u.line(indent + m[2])
	}
	return true
}

// closes takes a line with the end of a section, which is at its beginning or at its end.
func (u *unfolder) closes(line string) bool {
	m := detailsEnd.FindStringSubmatch(line)
	if m == nil || strings.TrimSpace(m[1]) != "" && m[2] != "" || strings.Contains(m[1], "`") {
		return false
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if strings.TrimSpace(m[1]) != "" {
		u.out = append(u.out, m[1])
	}
	u.open = u.open[:len(u.open)-1]
	u.out = append(u.out, "", indent+foldEnd, "")
	if m[2] != "" {
		u.line(indent + m[2])
	}
	return true
}

// giveUp puts back the sections that have no end.
func (u *unfolder) giveUp() {
	if len(u.open) == 0 {
		return
	}
	var out []string
	from := 0
	for _, s := range u.open {
		out = append(append(out, u.out[from:s.at]...), s.written...)
		from = s.at + s.length
	}
	u.out = append(out, u.out[from:]...)
}

// foldedTitle is the title of a section whose beginning a block of HTML is.
func foldedTitle(block string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(block), foldStart)
	if !ok {
		return "", false
	}
	title, ok := strings.CutSuffix(rest, foldTitle)
	if !ok || strings.Contains(title, "<") {
		return "", false
	}
	return clean(html.UnescapeString(title)), true
}

func endsFold(block string) bool { return strings.TrimSpace(block) == foldEnd }
