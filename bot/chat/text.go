package chat

import (
	"slices"
	"strings"
	"time"

	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
	"ccbot/port"
	"ccbot/port/talk"
)

// Rows lays buttons out, a few per row.
func Rows[B any](perRow int, buttons ...B) [][]B {
	return slices.Collect(slices.Chunk(buttons, perRow))
}

// Paragraphs are texts with an empty line between them. An empty text leaves no gap.
func Paragraphs(parts ...render.Text) render.Text { return Joined("\n\n", parts...) }

// Lines are texts below each other. An empty text leaves no gap.
func Lines(parts ...render.Text) render.Text { return Joined("\n", parts...) }

// Joined are texts with something between them. An empty text leaves no gap.
func Joined(between string, parts ...render.Text) render.Text {
	var all []render.Text
	for _, p := range parts {
		if p.Text == "" {
			continue
		}
		if len(all) > 0 {
			all = append(all, render.Plain(between))
		}
		all = append(all, p)
	}
	return render.Join(all...)
}

// Quoted is the beginning of a text as a quotation; empty where nothing of the text can be seen.
func Quoted(text string) render.Text { return render.Quote(text).Begin(render.Limit / 2) }

// Head keeps the beginning of a text, in letters.
func Head(text string, letters int) string {
	if all := []rune(text); len(all) > letters {
		return string(all[:letters-1]) + "…"
	}
	return text
}

// Tail keeps the end of a text, in letters: the end distinguishes paths.
func Tail(text string, letters int) string {
	if all := []rune(text); len(all) > letters {
		return "…" + string(all[len(all)-letters+1:])
	}
	return text
}

// FirstLine is the first line of a text in which something can be seen. The line that names the
// writer of a prompt is no line of its own.
func FirstLine(text string) string {
	if who, said, ok := talk.CutSpeaker(text); ok {
		return glyph.Visible(who) + ": " + FirstLine(said)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(glyph.Visible(line)); !render.Plain(line).Blank() {
			return line
		}
	}
	return ""
}

// MaxListed bounds a list of processes or names in a sentence; the rest is counted.
const MaxListed = 6

// Some is First for a list in a sentence.
func (p Phrases) Some(list []string, between string) string { return p.First(MaxListed, list, between) }

// First joins the first entries of a list, up to most of them, and the number of the others.
func (p Phrases) First(most int, list []string, between string) string {
	if more := len(list) - most; more > 0 {
		list = append(slices.Clone(list[:most]), p.Words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	return strings.Join(list, between)
}

// Listed is First for texts.
func (p Phrases) Listed(most int, list []render.Text, between string) render.Text {
	if more := len(list) - most; more > 0 {
		list = append(slices.Clone(list[:most]), p.Text(i18n.AndMore, i18n.Args{"Count": more}))
	}
	return Joined(between, list...)
}

// Bullets returns up to most lines, each with a bullet.
func (p Phrases) Bullets(most int, lines []render.Text) render.Text {
	return render.Join(render.Plain("• "), p.Listed(most, lines, "\n• "))
}

// Sentences joins sentences.
func (p Phrases) Sentences(all ...render.Text) (text render.Text) {
	for i, next := range all {
		if i > 0 {
			next = p.Text(i18n.Then, i18n.Args{"First": text, "Next": next})
		}
		text = next
	}
	return text
}

// OneLine is a foreign text in one line.
func OneLine(text string) string { return strings.Join(strings.Fields(glyph.Visible(text)), " ") }

// Moment is [i18n.Words.Moment], seen from now.
func (p Phrases) Moment(at time.Time) string { return p.Words.Moment(at, p.Now()) }

// At is [i18n.Words.At], seen from now.
func (p Phrases) At(at time.Time) string { return p.Words.At(at, p.Now()) }

// Since is [i18n.Words.Since], seen from now.
func (p Phrases) Since(at time.Time) string { return p.Words.Since(at, p.Now()) }

// Until is [i18n.Words.Until], seen from now.
func (p Phrases) Until(at time.Time) string { return p.Words.Until(at, p.Now()) }

// Day is [i18n.Words.Day], seen from now.
func (p Phrases) Day(at time.Time) string { return p.Words.Day(at, p.Now()) }

// Seconds is [i18n.Words.Seconds], seen from now.
func (p Phrases) Seconds(at time.Time) string { return p.Words.Seconds(at, p.Now()) }

// Short is a folder as the chat shows it: the home directory as ~, and nothing in it hidden.
// That of another machine has the name of it in front.
func (f Facts) Short(dir string) string {
	in, _ := f.Places.Bounds(dir) // no home while it is unknown
	return glyph.Name(in.Short(dir))
}

// ShortTail is Short for a line with other things in it.
func (f Facts) ShortTail(dir string) string { return Tail(f.Short(dir), 60) }

// ScreenText is news of a session with the terminal's screen between the two texts.
func (p Phrases) ScreenText(s port.Session, head render.Text, shown string, foot render.Text) render.Text {
	lines := strings.Split(TightScreen(shown), "\n")
	last := strings.Trim(strings.Join(lines[max(0, len(lines)-30):], "\n"), "\n") // as a phone shows it
	screen := render.Pre(Tail(last, 2*render.Limit), "")                          // no terminal is so wide
	if screen.Blank() {
		screen = render.Text{}
	} else if s.Exit != nil { // the agent has ended
		head = Lines(head, p.Text(i18n.LastScreen))
	}
	return Lines(head, screen, foot)
}

// TightScreen is a terminal's screen without gaps, with horizontal rules that fit.
func TightScreen(screen string) string {
	var lines []string
	for line := range strings.Lines(screen) {
		line = rule.ReplaceAllString(strings.TrimRight(line, " \n"), strings.Repeat("$1", 12))
		gap := line == "" && (len(lines) == 0 || lines[len(lines)-1] == "")
		if !gap && !strings.HasPrefix(line, "Pane is dead (") {
			lines = append(lines, line)
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// rule is a line across the terminal.
var rule = lazyregexp.New(`([─╌▔])[─╌▔]{11,}`)
