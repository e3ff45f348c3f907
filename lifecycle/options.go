package lifecycle

import (
	"slices"
	"strings"
)

// options are the flags of a launch, taken apart.
type options []option

// option is one option with its values. One without a name is a text that stands
// between them, or all that stands behind "--".
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
		name, _, joined := strings.Cut(flags[i], "=")
		n := 1
		switch {
		case !strings.HasPrefix(name, "-"):
			name = ""
		case joined:
		case slices.Contains(granted, name): // these take several
			for i+n < len(flags) && !strings.HasPrefix(flags[i+n], "-") {
				n++
			}
		case takesOne(name) && i+n < len(flags):
			n++
		}
		all = append(all, option{name: name, words: flags[i : i+n]})
		i += n
	}
	return all
}

// takesOne says whether the next element is an option's value whatever it looks
// like: of those that are asked about, and of those whose value is any text.
func takesOne(name string) bool {
	switch name {
	case optModel, optMode, "--append-system-prompt", "--system-prompt", "--name", "-n", "--agents", "--agent":
		return true
	}
	return false
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
	return slices.DeleteFunc(slices.Clone(o), func(one option) bool { return slices.Contains(names, one.name) })
}

// with sets an option, once.
func (o options) with(name, value string) options {
	return append(options{{name: name, words: []string{name, value}}}, o.without(name)...)
}

// words are the flags again. What stood between options stands before them: some
// options take as many words as follow.
func (o options) words() (words []string) {
	text := func(one option) bool { return one.name == "" && one.words[0] != "--" }
	for _, first := range []bool{true, false} {
		for _, one := range o {
			if text(one) == first {
				words = append(words, one.words...)
			}
		}
	}
	return words
}
