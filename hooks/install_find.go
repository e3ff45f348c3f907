package hooks

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"mvdan.cc/sh/v3/syntax"

	"ccbot/internal/hookwire"
)

// entry is one hook of ours in a settings file, with the containers around it.
type entry struct {
	event   string
	command string
	exec    bool // it has "args": the command is a program, not a shell line
	limited bool // under a matcher that excludes some events of this name

	hook, group                   gjson.Result
	hookAt, groupAt, eventAt, top place
}

// place is one element of a container.
type place struct {
	container gjson.Result
	index     int
}

func (e entry) runs(command string) bool { return !e.exec && e.command == command }

// entries finds our hooks, in the file's order. A key that occurs twice on the way to them is
// refused: Claude Code takes the last one (seen with 2.1.328), and a removal could make an earlier
// one valid again. An element that does not have the shape of a hook is skipped.
func (d *document) entries() ([]entry, error) {
	root := d.root()
	if err := d.distinct(root, "hooks"); err != nil {
		return nil, err
	}
	var all []entry
	for i, top := range elementsOf(root) {
		if top.key != "hooks" || !top.value.IsObject() {
			continue
		}
		if err := d.distinct(top.value, ""); err != nil {
			return nil, err
		}
		for j, event := range elementsOf(top.value) {
			found, err := d.eventEntries(event)
			if err != nil {
				return nil, err
			}
			for _, e := range found {
				e.eventAt, e.top = place{top.value, j}, place{root, i}
				all = append(all, e)
			}
		}
	}
	return all, nil
}

func (d *document) eventEntries(event element) ([]entry, error) {
	if !event.value.IsArray() {
		return nil, nil
	}
	var all []entry
	for i, group := range elementsOf(event.value) {
		if !group.value.IsObject() {
			continue
		}
		if err := d.distinct(group.value, "hooks"); err != nil {
			return nil, err
		}
		list := lastValue(group.value, "hooks")
		if !list.IsArray() {
			continue
		}
		for j, hook := range elementsOf(list) {
			e, ok := readEntry(hook.value)
			if !ok {
				continue
			}
			if err := d.distinct(hook.value, ""); err != nil {
				return nil, err
			}
			e.event, e.limited = event.key, limits(event.key, lastValue(group.value, "matcher"))
			e.group = group.value
			e.hookAt, e.groupAt = place{list, j}, place{event.value, i}
			all = append(all, e)
		}
	}
	return all, nil
}

func readEntry(hook gjson.Result) (entry, bool) {
	if !hook.IsObject() {
		return entry{}, false
	}
	kind, command := lastValue(hook, "type"), lastValue(hook, "command")
	if kind.Type != gjson.String || kind.Str != "command" || command.Type != gjson.String {
		return entry{}, false
	}
	e := entry{hook: hook, command: command.Str, exec: lastValue(hook, "args").Exists()}
	if e.exec {
		return e, filepath.Base(e.command) == hookName
	}
	return e, runsOurs(e.command)
}

// limits reports whether a group's matcher keeps its hooks from running at some events of this
// name. At SessionStart the matcher is compared with the kind of start; UserPromptSubmit has
// nothing to compare it with.
func limits(event string, matcher gjson.Result) bool {
	all := []string{"", "*", ".*"}
	return event == hookwire.SessionStart && matcher.Type == gjson.String && !slices.Contains(all, matcher.Str)
}

// runsOurs reports whether a shell line is a hook of ours: it runs ccbot-hook, from any folder, and
// nothing else. A line that does more is the person's own and is left alone.
func runsOurs(line string) bool {
	if !strings.Contains(line, hookName) {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	ours, foreign := false, false
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		switch program(call) {
		case hookName:
			ours = true
		case ":", "true": // these keep the exit code 0
		default:
			foreign = true
		}
		return true
	})
	return ours && !foreign
}

// program is the base name of the program that a command runs, as far as it can be read without a
// shell.
func program(call *syntax.CallExpr) string {
	if len(call.Args) == 0 {
		return ""
	}
	return path.Base(literal(call.Args[0].Parts))
}

func literal(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(literal(p.Parts))
		default:
			// A variable in the folder's name does no harm; in the program's name it makes the
			// program unknown.
			b.WriteByte('$')
		}
	}
	return b.String()
}

// StateDir returns the state folder that a command of ours names, and "" if it names none.
func StateDir(command string) (dir string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil {
		return ""
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || program(call) != hookName {
			return true
		}
		for i, arg := range call.Args[:len(call.Args)-1] {
			if arg.Lit() == "--dir" {
				dir = literal(call.Args[i+1].Parts)
			}
		}
		return true
	})
	return dir
}
