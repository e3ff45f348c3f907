package changes

import (
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
)

const (
	partLength = 2800 // of a part of the hunks, in UTF-16 units
	partLines  = 60   // together about three screens of a phone
	lineLength = 400  // letters of a line, of those in one-line files too
)

// split gives the hunks of a file in parts that are read one after the other, each as it is shown. A part ends before a
// hunk where one begins in its second half.
func split(patch string) (parts []string) {
	var part []string
	length, hunk := 0, 0 // of the part, and which of its lines the last hunk begins with
	take := func(n int) {
		parts = append(parts, strings.Join(part[:n], "\n"))
		part = slices.Clone(part[n:])
		length, hunk = 0, 0
		for _, line := range part {
			length += units(line)
		}
	}
	for _, line := range shown(patch) {
		begins := strings.HasPrefix(line, "@@")
		if len(part) > 0 && (length+units(line) > partLength || len(part) == partLines) {
			if !begins && hunk > len(part)/2 {
				take(hunk)
			} else {
				take(len(part))
			}
		}
		if begins {
			hunk = len(part)
		}
		part, length = append(part, line), length+units(line)
	}
	if len(part) > 0 {
		take(len(part))
	}
	return parts
}

func units(line string) int { return render.Plain(line).Length() + 1 }

// shown are the lines of a patch as people see them. The line ends of other systems are left out where all lines have
// them: else each would show a sign.
func shown(patch string) []string {
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	if patch == "" {
		return nil
	}
	foreign := !slices.ContainsFunc(lines, func(line string) bool {
		return !strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, `\`) && !strings.HasSuffix(line, "\r")
	})
	for i, line := range lines {
		if foreign || strings.HasPrefix(line, "@@") {
			line = strings.TrimSuffix(line, "\r")
		}
		lines[i] = chat.Head(glyph.Signs(chat.Head(line, lineLength)), 2*lineLength)
	}
	return lines
}
