package sessions

import (
	"cmp"
	"slices"

	"ccbot/bot/machine"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
	"ccbot/port"
)

// sortByMachine sorts entries by machine and need.
func (s *Sessions) sortByMachine(entries []entry) {
	others := s.chat.Machines.Others()
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(rank(others, a.session), rank(others, b.session)), cmp.Compare(a.need, b.need))
	})
}

// rank orders sessions by machine: the chat's own first, machines that do not answer last.
func rank(others []machine.Info, r port.Session) int {
	i := slices.IndexFunc(others, func(m machine.Info) bool { return m.ID == r.Machine })
	if i >= 0 && others[i].Away {
		i += len(others)
	}
	return i
}

// byMachine returns the lines of entries, below the name of their machine if there are several.
func (s *Sessions) byMachine(entries []entry) (lines []render.Text) {
	several := len(s.chat.Machines.Others()) > 0
	for i, e := range entries {
		if id := e.session.Machine; several && (i == 0 || id != entries[i-1].session.Machine) {
			name := s.chat.Host
			if m, other := s.chat.Machines.Find(id); other {
				name = m.Name
			}
			lines = append(lines, render.Bold(glyph.Name(name)))
		}
		lines = append(lines, e.text())
	}
	return lines
}
