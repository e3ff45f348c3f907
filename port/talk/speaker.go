package talk

import (
	"strings"

	"ccbot/internal/glyph"
)

// speakerHead begins the line by which an agent learns who has written a prompt.
const speakerHead = "Message from "

// SpeakerLine is the line that names the writer of the text below it. The name is one visible line.
func SpeakerLine(name string) string { return speakerHead + name + ":" }

// CutSpeaker cuts the line that names the writer off a prompt; false: it has none.
func CutSpeaker(prompt string) (name, text string, ok bool) {
	line, text, more := strings.Cut(prompt, "\n")
	name, head := strings.CutPrefix(line, speakerHead)
	name, tail := strings.CutSuffix(name, ":")
	return name, text, more && head && tail && name != ""
}

// Spoken returns a normalised text as it is typed for a writer; no name: as it is. A text that acts by
// its first sign has no line above it. A line of that form inside the text is quoted, because nobody
// speaks for another person, unless it is the writer's own above a text.
func Spoken(name, text string, class PromptClass) string {
	first := strings.TrimLeftFunc(text, func(r rune) bool { return unnoticed(r) || r == ' ' || r == '\n' || r == '\t' })
	if name == "" || class != ClassPlain || strings.ContainsAny(first[:min(1, len(first))], "/!#") {
		return text
	}
	all := strings.Split(otherBreaks.Replace(text), "\n")
	if all[0] == SpeakerLine(name) && strings.TrimSpace(strings.Join(all[1:], "")) != "" {
		all = all[1:]
	}
	for i, line := range all {
		seen := strings.ToLower(strings.TrimSpace(strings.Map(visible, line)))
		if strings.HasPrefix(seen, strings.ToLower(speakerHead)) && strings.HasSuffix(seen, ":") {
			all[i] = "> " + line
		}
	}
	return SpeakerLine(name) + "\n" + strings.Join(all, "\n")
}

// otherBreaks are the characters that may begin a new line and stay in a normalised text.
var otherBreaks = strings.NewReplacer("\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func visible(r rune) rune {
	if glyph.Unseen(r) {
		return -1
	}
	return r
}
