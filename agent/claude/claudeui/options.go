package claudeui

import (
	"strconv"
	"strings"
)

// optionList is a list found on the screen.
type optionList struct {
	labels   []string
	selected int // index into labels
	row      int // row of the first option
	first    int // its number; 0 in a list without numbers
}

var noList = optionList{selected: -1}

func numberedOption(l line) bool {
	_, _, _, ok := parseNumbered(l)
	return ok
}

// parseNumbered reads "❯ 2. Label": column of the number, the number, the label.
func parseNumbered(l line) (column, n int, label string, ok bool) {
	m := numbered.FindStringSubmatch(strings.ReplaceAll(l.String(), "\u00a0", " "))
	if m == nil {
		return 0, 0, "", false
	}
	n, err := strconv.Atoi(m[2])
	return len([]rune(m[1])), n, m[3], err == nil
}

// numberedList collects the options around the selected row: numbers in the same column that count
// down to 1 above it and up below it. Numbered lines in the text of a dialog do not continue that
// count.
func numberedList(lines []line, sel int) optionList {
	column, n, label, _ := parseNumbered(lines[sel])
	list := optionList{labels: []string{label}, row: sel, first: n}
	for i, before := sel-1, n-1; i >= 0 && before > 0 && !isHistory(lines[i]); i-- {
		if isEdge(lines[i]) && !ruleInList(lines, i) {
			break
		}
		if c, k, label, ok := parseNumbered(lines[i]); ok && c == column && k == before {
			list.labels = append([]string{label}, list.labels...)
			list.row, list.first = i, before
			before--
		}
	}
	list.selected = len(list.labels) - 1
	next := n + 1
	for _, l := range lines[sel+1:] {
		if c, k, label, ok := parseNumbered(l); ok && c == column && k == next {
			list.labels = append(list.labels, label)
			next++
		}
	}
	return list
}

// labelColumn returns the column after the sign of a selected row at which the text starts, or 0.
func labelColumn(l line) int {
	for i := l.indent() + 1; i < len(l); i++ {
		if !blank(l[i].r) {
			return i
		}
	}
	return 0
}

// plainList collects options without numbers: rows in the label's column, in its colour or the
// default one (the explanations in a picker are grey), no more than one blank row apart.
func plainList(lines []line, sel int) optionList {
	column := labelColumn(lines[sel])
	colour := lines[sel][column].Ink
	first := sel
	walk := func(from, step int) (labels []string) {
		gap := 0
		for i := from; i >= 0 && i < len(lines) && gap < 2; i += step {
			l := lines[i]
			switch in := l.indent(); {
			case in < 0:
				gap++
				continue
			case in != column:
				return labels
			case l[in].Ink == nil || l[in].Ink == colour:
				labels = append(labels, strings.TrimSpace(l.String()))
				first = min(first, i)
			}
			gap = 0
		}
		return labels
	}
	above := walk(sel-1, -1)
	list := optionList{row: first}
	for i := len(above) - 1; i >= 0; i-- {
		list.labels = append(list.labels, above[i])
	}
	list.selected = len(list.labels)
	list.labels = append(list.labels, strings.TrimSpace(lines[sel][column:].String()))
	list.labels = append(list.labels, walk(sel+1, 1)...)
	return list
}
