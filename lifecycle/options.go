package lifecycle

import (
	"slices"
	"strings"

	"ccbot/internal/process"
)

// options are the flags of a launch, taken apart.
type options []option

// option is one option with its values. One without a name is a text that stands
// between them, all that stands behind "--", or an option whose value is missing. A
// text may be the value of an option that is not known here: it stays where it is.
type option struct {
	name  string
	words []string
}

// value is what the option is set to.
func (o option) value() string {
	if _, joined, ok := strings.Cut(o.words[0], "="); ok {
		return joined
	}
	return strings.Join(o.words[1:], " ")
}

func parseOptions(flags []string) (all options) {
	for i := 0; i < len(flags); {
		if flags[i] == "--" {
			return append(all, option{words: flags[i:]})
		}
		name, n := process.Option(flags[i:])
		if i+n > len(flags) {
			return append(all, option{words: flags[i:]})
		}
		if slices.Contains(granted, name) && n > 1 { // these take several
			for i+n < len(flags) && isText(flags[i+n]) {
				n++
			}
		}
		all = append(all, option{name: name, words: flags[i : i+n]})
		i += n
	}
	return all
}

func isText(word string) bool { return len(word) < 2 || word[0] != '-' }

func (o option) isText() bool { return o.name == "" && isText(o.words[0]) }

// own says whether the option is ccbot's own business: which conversation it is, and
// how ccbot takes part. Behind -p and -c more letters may stand.
func (o option) own() bool {
	switch o.name {
	case "--resume", "--continue", "--session-id", "--fork-session", "--settings", "--print":
		return true
	}
	return o.name != "" && (strings.HasPrefix(o.words[0], "-p") || strings.HasPrefix(o.words[0], "-c"))
}

func (o options) has(name string) bool {
	return slices.ContainsFunc(o, func(one option) bool { return one.name == name })
}

// value is what an option is set to; the last one counts.
func (o options) value(name string) (value string) {
	for _, one := range o {
		if one.name == name {
			value = one.value()
		}
	}
	return value
}

func (o options) only(names ...string) options {
	return slices.DeleteFunc(slices.Clone(o), func(one option) bool { return !slices.Contains(names, one.name) })
}

func (o options) without(names ...string) options {
	return o.drop(func(one option) bool { return slices.Contains(names, one.name) })
}

// drop leaves options away. A text behind one goes to the front: what stands before
// it now might take it for a value.
func (o options) drop(these func(option) bool) (left options) {
	behind := false
	for _, one := range o {
		switch {
		case these(one):
			behind = true
		case behind && one.isText():
			left = slices.Insert(left, left.texts(), one)
		default:
			left, behind = append(left, one), false
		}
	}
	return left
}

// texts is how many texts stand before all options.
func (o options) texts() int {
	for n, one := range o {
		if !one.isText() {
			return n
		}
	}
	return len(o)
}

// with sets an option, each time that it stands there: that moves no word.
func (o options) with(name, value string) options {
	if o.value(name) == value {
		return o
	}
	set := option{name: name, words: []string{name, value}}
	if !o.has(name) {
		return append(options{set}, o...)
	}
	return o.replaced(set, name)
}

// replaced puts an option in the place of others.
func (o options) replaced(by option, names ...string) options {
	o = slices.Clone(o)
	for i := range o {
		if slices.Contains(names, o[i].name) {
			o[i] = by
		}
	}
	return o
}

// words are the flags again, in their order.
func (o options) words() (words []string) {
	for _, one := range o {
		words = append(words, one.words...)
	}
	return words
}
