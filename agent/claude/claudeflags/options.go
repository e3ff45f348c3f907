package claudeflags

import (
	"slices"
	"strings"
)

// options are the flags of a launch, split into single options.
type options []option

// option is one option with its values. An option without a name is one of three things: a text
// between the options, everything after "--", or an option with a missing value. A text may be the
// value of an option that this package does not know, so it keeps its position.
type option struct {
	name, value string
	words       []string
}

func parse(flags []string) (all options) {
	for len(flags) > 0 {
		name, value, n := read(flags)
		if flags[0] == "--" || n > len(flags) {
			return append(all, option{words: flags})
		}
		if n > 1 && slices.Contains(granted, name) { // these options take several values
			for n < len(flags) && !isOption(flags[n]) {
				n++
			}
			value = strings.Join(flags[1:n], " ")
		}
		all = append(all, option{name, value, flags[:n]})
		flags = flags[n:]
	}
	return all
}

func (o option) isText() bool { return o.name == "" && !isOption(o.words[0]) }

func (o options) has(names ...string) bool { return len(o.only(names...)) > 0 }

// value is the value of an option; the last occurrence counts.
func (o options) value(name string) string {
	if set := o.only(name); len(set) > 0 {
		return set[len(set)-1].value
	}
	return ""
}

func (o options) only(names ...string) options {
	return slices.DeleteFunc(slices.Clone(o), func(one option) bool { return !slices.Contains(names, one.name) })
}

func (o options) without(names ...string) options {
	return o.drop(func(one option) bool { return slices.Contains(names, one.name) })
}

// drop removes options. A text after a removed option moves to the front: otherwise the option that
// is now before the text might take the text for its value.
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

// texts is the number of texts before all options.
func (o options) texts() int {
	if n := slices.IndexFunc(o, func(one option) bool { return !one.isText() }); n >= 0 {
		return n
	}
	return len(o)
}

// with replaces each occurrence of the options others by set. Without an occurrence it adds set in
// front, where set moves no text away from its option.
func (o options) with(set option, others ...string) options {
	if !o.has(others...) {
		return append(options{set}, o...)
	}
	o = slices.Clone(o)
	for i := range o {
		if slices.Contains(others, o[i].name) {
			o[i] = set
		}
	}
	return o
}

// withValue sets an option to a value, unless it has that value already.
func (o options) withValue(name, value string) options {
	if o.value(name) == value {
		return o
	}
	return o.with(option{name, value, []string{name, value}}, name)
}

// words returns the flags as words again, in their order.
func (o options) words() (words []string) {
	for _, one := range o {
		words = append(words, one.words...)
	}
	return words
}
