package render

import (
	"cmp"
	"slices"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

type entity = models.MessageEntity

// Short names for the kinds this package makes.
const (
	bold   = models.MessageEntityTypeBold
	italic = models.MessageEntityTypeItalic
	strike = models.MessageEntityTypeStrikethrough
	code   = models.MessageEntityTypeCode
	pre    = models.MessageEntityTypePre
	link   = models.MessageEntityTypeTextLink
	quote  = models.MessageEntityTypeBlockquote
	quoteX = models.MessageEntityTypeExpandableBlockquote
)

// rank decides who stays when two kinds may not meet; the soft styles (bold, italic, …) are all last.
func rank(t models.MessageEntityType) int {
	switch t {
	case pre:
		return 0
	case quote, quoteX:
		return 1
	case link:
		return 2
	case code:
		return 3
	}
	return 4
}

// normalise makes a list of entities one that Telegram shows as meant: sorted, inside the text, nested or apart.
// Telegram would repair some lists itself and silently drop formatting from others; here the choice is ours. It sweeps
// over the text once: between two neighbouring borders the set of kinds is constant, allowed picks from it, and what
// goes on from one stretch to the next stays one entity.
func normalise(text []uint16, list []entity) []entity {
	list = slices.DeleteFunc(slices.Clone(list), func(e entity) bool {
		return e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(text)
	})
	slices.SortStableFunc(list, outermostFirst)
	var s sweep
	var active []entity
	next := 0
	for _, at := range borders(list) {
		active = slices.DeleteFunc(active, func(e entity) bool { return end(e) <= at })
		for ; next < len(list) && list[next].Offset == at; next++ {
			active = append(active, list[next])
		}
		s.step(at, allowed(active))
	}
	return trimmed(text, s.done)
}

func end(e entity) int { return e.Offset + e.Length }

// borders are the places where an entity begins or ends, in order.
func borders(list []entity) []int {
	out := make([]int, 0, 2*len(list))
	for _, e := range list {
		out = append(out, e.Offset, end(e))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// allowed picks the entities that may cover the same character, outermost first: pre alone; else quote with a link
// and soft styles; else a link with soft styles; else code alone. One of each kind.
func allowed(active []entity) []entity {
	best := 4
	for _, e := range active {
		best = min(best, rank(e.Type))
	}
	quoted := best == rank(quote)
	var out []entity
	for _, e := range active {
		r := rank(e.Type)
		switch {
		case slices.ContainsFunc(out, func(o entity) bool { return o.Type == e.Type || r < 4 && rank(o.Type) == r }):
		case r == best, r == 4 && best != rank(pre) && best != rank(code), r == rank(link) && quoted:
			out = append(out, e)
		}
	}
	return out
}

// sweep keeps the entities that are open at the current place and collects the closed ones.
type sweep struct {
	open []entity // Offset is where this piece began, Length is the original's: with the source offset it is its name
	from []int    // source offset of each
	done []entity
}

// step ends what does not go on at place at and begins what is new. An entity that must end below one that goes on
// (they cross) takes it along: both pieces are kept.
func (s *sweep) step(at int, want []entity) {
	same := 0
	for same < len(s.open) && same < len(want) && s.is(same, want[same]) {
		same++
	}
	for i := len(s.open) - 1; i >= same; i-- {
		e := s.open[i]
		e.Length = at - e.Offset
		s.done = append(s.done, e)
	}
	s.open, s.from = s.open[:same], s.from[:same]
	for _, e := range want[same:] {
		s.from = append(s.from, e.Offset)
		e.Offset = at
		s.open = append(s.open, e)
	}
}

func (s *sweep) is(i int, e entity) bool {
	return s.open[i].Type == e.Type && s.from[i] == e.Offset && s.open[i].Length == e.Length
}

// trimmed takes white space off the ends of the entities, as Telegram does, and sorts them. Code in pre keeps its
// indentation.
func trimmed(text []uint16, list []entity) []entity {
	var out []entity
	for _, e := range list {
		from, to := e.Offset, end(e)
		for from < to && space(text[to-1]) {
			to--
		}
		for e.Type != pre && from < to && space(text[from]) {
			from++
		}
		if from < to && !blank(string(utf16.Decode(text[from:to]))) {
			e.Offset, e.Length = from, to-from
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, outermostFirst)
	return out
}

func space(u uint16) bool { return u == ' ' || u == '\n' || u == '\t' }

func outermostFirst(a, b entity) int {
	return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length),
		cmp.Compare(rank(a.Type), rank(b.Type)), cmp.Compare(a.Type, b.Type))
}
