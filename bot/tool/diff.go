package tool

import (
	"encoding/json"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"ccbot/internal/exactjson"
)

// maxDiff is the most text a diff is looked for in, in bytes. A longer one does not fit a message anyway.
const maxDiff = 64 << 10

const contextLines = 3

// diffs shows old_string and new_string, or several of them in edits, as one diff. rest are the
// fields that the diff does not show. It is false when they are not of the types that Edit and
// MultiEdit have.
func diffs(list []exactjson.Member) (diff string, rest []exactjson.Member, ok bool) {
	if before, after, rest, ok := change(list); ok {
		diff := unified(before, after)
		return diff, rest, strings.TrimSpace(diff) != ""
	}
	for i, f := range list {
		edits, isList := exactjson.Elements(f.Value)
		if f.Key != "edits" || !isList {
			continue
		}
		diff, ok := several(edits)
		return diff, append(list[:i:i], list[i+1:]...), ok
	}
	return "", list, false
}

func several(edits []json.RawMessage) (string, bool) {
	var parts []string
	for _, raw := range edits {
		list, plain := exactjson.Members(raw)
		before, after, rest, ok := change(list)
		if !plain || !ok || len(rest) > 0 && !onlyFalse(rest) {
			return "", false // then the JSON is shown
		}
		parts = append(parts, unified(before, after))
	}
	diff := strings.Join(parts, "\n⋯\n")
	return diff, strings.TrimSpace(diff) != ""
}

// onlyFalse is for an edit that says that it does not replace all, as it would without saying so.
func onlyFalse(list []exactjson.Member) bool {
	return len(list) == 1 && list[0].Key == "replace_all" && string(list[0].Value) == "false"
}

func change(list []exactjson.Member) (before, after string, rest []exactjson.Member, ok bool) {
	found := 0
	text := func(to *string) func(json.RawMessage) bool {
		return func(raw json.RawMessage) bool {
			s, ok := exactjson.Text(raw)
			if ok {
				*to = s
				found++
			}
			return ok
		}
	}
	rest = Take(list, "old_string", text(&before))
	rest = Take(rest, "new_string", text(&after))
	return before, after, rest, found == 2
}

// unified is the diff of two texts without the names above it.
func unified(before, after string) string {
	if len(before)+len(after) > maxDiff {
		return prefixed("-", before) + prefixed("+", after)
	}
	// Without these line ends each end of text would be remarked on.
	if before != "" && !strings.HasSuffix(before, "\n") && !strings.HasSuffix(after, "\n") {
		before += "\n"
		if after != "" {
			after += "\n"
		}
	} else if before == "" && after != "" && !strings.HasSuffix(after, "\n") {
		after += "\n"
	}
	diff, err := udiff.ToUnified("a", "b", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return prefixed("-", before) + prefixed("+", after)
	}
	return plainHunks(diff)
}

// plainHunks leaves out the names and the line numbers: those are of the piece that is replaced,
// not of the file. Only what separates two places stays. Every line of text has a sign before it,
// so none is taken for a heading.
func plainHunks(diff string) string {
	var out []string
	for i, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case i < 2: // "--- a", "+++ b"
		case strings.HasPrefix(line, "@@"):
			if len(out) > 0 {
				out = append(out, "⋯")
			}
		default:
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func prefixed(sign, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
