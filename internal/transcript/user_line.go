package transcript

import (
	"slices"
	"strings"
)

const interrupted = "[Request interrupted by user"

const taskNotification = "<task-notification>"

// injected are the starts of user lines that no person wrote.
var injected = []string{"<system-reminder>", taskNotification, "<local-command-caveat>"}

// said sorts the text of a user line: a person's prompt, a local command or its output, an
// interrupt, or something injected. A line with the origin "human" may look like an interrupt or
// like something injected and still be a prompt; versions before 2.1.328 write no origin.
func (e *entry) said(text string) Item {
	trimmed := strings.TrimSpace(text)
	human := e.Origin.Kind == "human"
	switch {
	case e.IsMeta || e.IsCompactSummary:
		return Item{Kind: Other, Text: text, Meta: true}
	case !human && strings.HasPrefix(trimmed, interrupted):
		return Item{Kind: Interrupt, Text: text}
	case !human && (e.Origin.Kind != "" || hasAnyPrefix(trimmed, injected)):
		return Item{Kind: Other, Text: text, Meta: true}
	}
	if item, ok := local(trimmed); ok {
		return item
	}
	return Item{Kind: UserPrompt, Text: text}
}

// local reads the tags around slash commands, around commands of bash mode, and around their
// output.
func local(text string) (Item, bool) {
	switch {
	case hasAnyPrefix(text, []string{"<command-name>", "<command-message>"}):
		name := strings.TrimSpace(tagged(text, "command-name"))
		if name == "" {
			return Item{}, false
		}
		name = "/" + strings.TrimPrefix(name, "/")
		args := strings.TrimSpace(tagged(text, "command-args"))
		return Item{Kind: LocalCommand, Command: name, Text: strings.TrimSpace(name + " " + args)}, true
	case strings.HasPrefix(text, "<bash-input>"):
		return Item{Kind: LocalCommand, Command: "!", Text: "!" + tagged(text, "bash-input")}, true
	case hasAnyPrefix(text, []string{"<bash-stdout>", "<bash-stderr>"}):
		return Item{Kind: LocalOutput, Command: "!", Text: output(text, "bash-stdout", "bash-stderr")}, true
	case hasAnyPrefix(text, []string{"<local-command-stdout>", "<local-command-stderr>"}):
		return Item{Kind: LocalOutput, Text: output(text, "local-command-stdout", "local-command-stderr")}, true
	}
	return Item{}, false
}

func output(text, stdout, stderr string) string {
	out, err := tagged(text, stdout), tagged(text, stderr)
	if out == "" || err == "" {
		return out + err
	}
	return out + "\n" + err
}

// tagged is the text between <name> and the last </name>; it takes the last one because output may
// itself contain the tag.
func tagged(text, name string) string {
	_, after, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return ""
	}
	if end := strings.LastIndex(after, "</"+name+">"); end >= 0 {
		return after[:end]
	}
	return after
}

func hasAnyPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
