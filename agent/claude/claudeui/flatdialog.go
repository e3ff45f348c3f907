package claudeui

import (
	"slices"
	"strconv"
	"strings"

	"ccbot/agent"
	"ccbot/internal/lazyregexp"
)

var (
	// flatAnswer matches the row of a dialog in which the answer is typed, with what was typed.
	flatAnswer = lazyregexp.New(`^(?:Select with numbers \[1-(\d{1,2})\]|Enter y/n:)(?:.*: ?| ?)(\S*)$`)
	flatOption = lazyregexp.New(`^(\d{1,2}|[yn])\. (.+)$`)
	// flatEdge matches the row with which a permission or a question begins.
	flatEdge = lazyregexp.New(`^(?:Permission Required: |Questions?: )`)
	// flatKeys matches the last row of a page, which names its keys.
	flatKeys = lazyregexp.New(`^(?:\S+ to [^·]+ · )*(?:Esc|Enter) to [^·]+$`)
)

// isFlatHint reports whether a row, the last of a screen, names keys that do not go into the box.
func isFlatHint(row string) bool { return flatKeys.MatchString(row) }

// flatDialog reads the dialog at the foot of a screen in screen reader mode. It has no cursor: the
// number of an option is typed, and then Enter. It is Whole only if no other row of the screen
// could be its first or its last one: an agent can draw both.
func flatDialog(lines []line) *agent.Dialog {
	at := -1
	for i := len(lines) - 1; i >= max(0, len(lines)-hintRows); i-- {
		if flatAnswer.MatchString(lines[i].String()) {
			at = i
			break
		}
	}
	if at < 0 {
		if !isFlatHint(lines[len(lines)-1].String()) || slices.ContainsFunc(lines, func(l line) bool { return isFlatHead(l.String()) }) {
			return nil
		}
		return newDialog(lines[flatTop(lines, len(lines)-1):], noList) // a page
	}
	top := flatTop(lines, at)
	list, keys := flatList(lines[top:], at-top)
	d := newDialog(lines[top:], list)
	d.Title = flatEdge.ReplaceAllString(d.Title, "")
	d.Keys, d.Typed = keys, flatAnswer.FindStringSubmatch(lines[at].String())[2]
	d.Whole = len(keys) > 0 && flatEdge.MatchString(lines[top].String()) && count(lines, flatEdge) == 1 &&
		count(lines, flatAnswer) == 1 && count(lines[top:], flatSpeaker) == 0 && count(lines[top:], hidden) == 0
	return d
}

func count(rows []line, pattern *lazyregexp.Regexp) (n int) {
	for _, l := range rows {
		if pattern.MatchString(l.String()) {
			n++
		}
	}
	return n
}

// flatTop returns the row with which the dialog above row at begins: the lowest edge, otherwise the
// row after the last thing said.
func flatTop(lines []line, at int) int {
	for i := at; i >= 0; i-- {
		if flatEdge.MatchString(lines[i].String()) {
			return i
		}
	}
	for i := at; i >= 0; i-- {
		if flatSpeaker.MatchString(lines[i].String()) {
			return min(i+1, at)
		}
	}
	return 0
}

// flatList collects the options above the row in which the answer is typed, from the last one up,
// and what is typed for each.
func flatList(rows []line, at int) (list optionList, keys []string) {
	n, _ := strconv.Atoi(flatAnswer.FindStringSubmatch(rows[at].String())[1])
	var want []string
	for i := range n {
		want = append(want, strconv.Itoa(i+1))
	}
	if n == 0 {
		want = []string{"y", "n"}
	}
	keys = slices.Clone(want)
	for i := at - 1; i >= 0 && len(want) > 0; i-- {
		if m := flatOption.FindStringSubmatch(rows[i].String()); m != nil && m[1] == want[len(want)-1] {
			list.labels = slices.Insert(list.labels, 0, strings.TrimPrefix(m[2], "(selected) "))
			list.row, want = i, want[:len(want)-1]
		}
	}
	if len(want) > 0 {
		return noList, nil
	}
	return list, keys
}
