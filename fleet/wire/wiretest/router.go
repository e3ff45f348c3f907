package wiretest

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byHand are the calls that package router makes on several machines, or answers itself.
var byHand = []string{"LastQuestions.LastQuestions", "Loops.All", "Namer.Rename", "Notices.MarkReported", "Notices.NewOrphans", "Places.Bounds", "Places.Resolve",
	"Schedules.List", "Screens.Inspect", "Spending.Limits", "Spending.LimitsChange", "Spending.Spent", "Views.Get", "Views.List", "Windows.Orphans"}

// addresses are the arguments of type string that are the address of a folder or a file, and calls
// that return one. A call of relative has a path below a repository instead.
var (
	addresses   = []string{"dir", "path", "transcript"}
	addressesOf = []string{"WorktreeMaker.Add"}
	relative    = []string{"Diffs.Patch"}
)

// RouterSource returns calls_gen.go of package router.
func (c *Contract) RouterSource(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("// Machine returns all machines as one.\nfunc (r *Router) Machine() *machine.Machine {\nreturn &machine.Machine{\n")
	for _, g := range c.Groups {
		parts := each(g.Interfaces, func(name string) string { return unexported(name) + "Router{r}" })
		if len(parts) == 1 {
			fmt.Fprintf(&b, "%s: %s,\n", g.Field, parts[0])
		} else {
			fmt.Fprintf(&b, "%s: all%s{%s},\n", g.Field, g.Field, strings.Join(parts, ", "))
		}
	}
	b.WriteString("Fonts: r.own.Fonts,\n}\n}\n\n")
	for _, g := range c.Groups {
		if len(g.Interfaces) > 1 {
			fmt.Fprintf(&b, "type all%s struct {\n%sRouter\n}\n\n", g.Field, strings.Join(each(g.Interfaces, unexported), "Router\n"))
		}
		for _, name := range g.Interfaces {
			fmt.Fprintf(&b, "type %sRouter struct{ *Router }\n\n", unexported(name))
			for _, m := range c.Interfaces[name] {
				if !slices.Contains(byHand, name+"."+m.Name) {
					m.route(&b, g.Field, name)
				}
			}
		}
	}
	source, err := format.Source(append(c.head("router", b.String()), b.Bytes()...))
	require.NoError(t, err)
	return source
}

// route writes the method that passes a call on to its machine.
func (m Method) route(b *bytes.Buffer, field, of string) {
	params, named, in := []string{"ctx context.Context"}, []string(nil), []string{"ctx"}
	for i, name := range m.Names {
		params = append(params, name+" "+m.types[i])
		switch {
		case m.types[i] == "string" && slices.Contains(addresses, name) && !slices.Contains(relative, of+"."+m.Name):
			named, in = append(named, "place("+name+")"), append(in, "h.local("+name+")")
		case strings.Contains(m.types[i], ".") && m.types[i] != "uuid.UUID":
			named, in = append(named, name), append(in, "down(h, "+name+")")
		default:
			in = append(in, name)
		}
	}
	results, given, out := []string(nil), []string(nil), []string(nil)
	for i, kind := range m.Results {
		r := fmt.Sprintf("r%d", i)
		results, given = append(results, r+" "+kind), append(given, r)
		switch {
		case slices.Contains(addressesOf, of+"."+m.Name):
			out = append(out, "h.address("+r+")")
		case strings.Contains(kind, "."):
			out = append(out, "up(h, "+r+")")
		default:
			out = append(out, r)
		}
	}
	find := "r.at(" + strings.Join(named, ", ") + ")"
	if m.Session != "" {
		find = "r.about(" + strings.Join(append([]string{m.Session}, named...), ", ") + ")"
	}
	fmt.Fprintf(b, "func (r %sRouter) %s(%s) (%s) {\n", unexported(of), m.Name, strings.Join(params, ", "), strings.Join(append(results, "err error"), ", "))
	fmt.Fprintf(b, "h, err := %s\nif err != nil {\nreturn %s\n}\n", find, strings.Join(append(slices.Clone(given), "err"), ", "))
	fmt.Fprintf(b, "%s = h.%s.%s(%s)\n", strings.Join(append(given, "err"), ", "), field, m.Name, strings.Join(in, ", "))
	fmt.Fprintf(b, "return %s\n}\n\n", strings.Join(append(out, "h.upError(err)"), ", "))
}
