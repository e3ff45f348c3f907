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

// rank decides which of two kinds stays if they may not meet; the soft styles (bold, italic, …) are
// all last.
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

// normalise returns a list of entities that Telegram shows as meant: sorted, inside the text,
// nested or apart. Telegram would repair some lists itself and silently drop formatting from
// others; here the choice is ours. It sweeps over the text once: between two neighbouring borders
// the set of kinds is constant, allowed picks from it, and an entity that continues from one
// stretch to the next stays one.
func normalise(text []uint16, list []entity) []entity {
	list = slices.DeleteFunc(slices.Clone(list), func(e entity) bool {
		return e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(text)
	})
	slices.SortStableFunc(list, outermostFirst)
	type stretch struct{ which, from int } // of one of the list
	var open []stretch
	var active []int
	var done []entity
	next := 0
	var borders []int
	for _, e := range list {
		borders = append(borders, e.Offset, end(e))
	}
	slices.Sort(borders)
	for _, at := range slices.Compact(borders) {
		active = slices.DeleteFunc(active, func(i int) bool { return end(list[i]) <= at })
		for ; next < len(list) && list[next].Offset == at; next++ {
			active = append(active, next)
		}
		// An entity that must end below a continuing one (they cross) takes it along: both pieces
		// are kept.
		want := allowed(list, active)
		same := 0
		for same < len(open) && same < len(want) && open[same].which == want[same] {
			same++
		}
		for _, s := range slices.Backward(open[same:]) {
			e := list[s.which]
			e.Offset, e.Length = s.from, at-s.from
			done = append(done, e)
		}
		open = open[:same]
		for _, i := range want[same:] {
			open = append(open, stretch{i, at})
		}
	}
	return trimmed(text, done)
}

func end(e entity) int { return e.Offset + e.Length }

// allowed picks the entities that may cover the same character, outermost first: pre alone;
// otherwise quote with a link and soft styles; otherwise a link with soft styles; otherwise code
// alone. One of each kind.
func allowed(list []entity, active []int) (out []int) {
	best := 4
	for _, i := range active {
		best = min(best, rank(list[i].Type))
	}
	quoted := best == rank(quote)
	for _, i := range active {
		r := rank(list[i].Type)
		double := func(o int) bool { return list[o].Type == list[i].Type || r < 4 && rank(list[o].Type) == r }
		switch {
		case slices.ContainsFunc(out, double):
		case r == best, r == 4 && best != rank(pre) && best != rank(code), r == rank(link) && quoted:
			out = append(out, i)
		}
	}
	return out
}

// trimmed takes white space off the ends of the entities, as Telegram does, and sorts them. Code in
// pre keeps its indentation.
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
		if e.Type != pre {
			e.Language = "" // a formula's language
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
