package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// SettingsError says where a settings file cannot be edited, and why. Line and Column count from 1;
// Column counts characters, not bytes.
type SettingsError struct {
	Line, Column int
	Reason       string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// document is a settings file that is edited by replacing bytes, so that all other bytes stay as
// they are. Positions are valid only until the next edit.
type document struct {
	bom, text string
	layout

	before *document // the file before the install; nil if unknown
}

// layout is the style in which a settings file is written.
type layout struct {
	newline string
	unit    string // one level of indentation
	lines   bool   // each member has its own line; else nothing stands between what is inserted
}

const byteOrderMark = "\ufeff"

// openDocument checks that data is one JSON object. A byte order mark, which some editors write and
// Claude Code ignores (2.1.328), is kept; an empty file counts as an empty object.
func openDocument(data []byte) (*document, error) {
	d := &document{text: string(data)}
	if text, ok := strings.CutPrefix(d.text, byteOrderMark); ok {
		d.bom, d.text = byteOrderMark, text
	}
	if strings.TrimSpace(d.text) == "" {
		d.text = "{}\n"
	}
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(d.text), &whole); err != nil {
		return nil, d.syntaxError(err)
	}
	if !d.root().IsObject() {
		return nil, d.errorAt(d.root().Index, "settings are one JSON object")
	}
	d.layout = layoutOf(d.text, elementsOf(d.root()))
	return d, nil
}

func (d *document) syntaxError(err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	at := int(syntax.Offset) - 1 // the offset counts the offending byte
	if strings.HasPrefix(syntax.Error(), "unexpected end") {
		at = len(d.text)
	}
	if rest := d.text[min(max(at, 0), len(d.text)):]; strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") {
		return d.errorAt(at, "comments are not JSON; Claude Code ignores such a file") // 2.1.328
	}
	return d.errorAt(at, "not valid JSON: "+syntax.Error())
}

func (d *document) errorAt(at int, reason string) error {
	before := d.text[:min(max(at, 0), len(d.text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &SettingsError{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line), Reason: reason}
}

func layoutOf(text string, members []element) layout {
	l := layout{newline: "\n", unit: "  ", lines: true}
	if strings.Contains(text, "\r\n") {
		l.newline = "\r\n"
	}
	if len(members) == 0 {
		return l
	}
	l.lines = strings.Contains(strings.TrimSpace(text), "\n")
	gap := text[strings.IndexByte(text, '{')+1 : members[0].start]
	if i := strings.LastIndexByte(gap, '\n'); i >= 0 {
		l.unit = gap[i+1:]
	}
	return l
}

func (d *document) root() gjson.Result {
	root := gjson.Parse(d.text)
	root.Raw = strings.TrimSpace(root.Raw) // gjson does not cut off what follows the root
	return root
}

// element is a member of an object, with its key, or an element of an array.
type element struct {
	start, end int // of the whole element, including a member's key
	key        string
	value      gjson.Result
}

func elementsOf(container gjson.Result) (all []element) {
	container.ForEach(func(key, value gjson.Result) bool {
		e := element{start: value.Index, end: value.Index + len(value.Raw), value: value}
		if container.IsObject() {
			e.start, e.key = key.Index, key.Str
		}
		all = append(all, e)
		return true
	})
	return all
}

// lastValue is the last member with the key: JavaScript, too, takes the last of several members
// with the same key.
func lastValue(object gjson.Result, key string) (found gjson.Result) {
	for _, e := range elementsOf(object) {
		if e.key == key {
			found = e.value
		}
	}
	return found
}

// distinct refuses an object in which the key occurs twice; with "" it checks every key.
func (d *document) distinct(object gjson.Result, key string) error {
	seen := make(map[string]bool)
	for _, e := range elementsOf(object) {
		if key != "" && e.key != key {
			continue
		}
		if seen[e.key] {
			return d.errorAt(e.start, fmt.Sprintf("the key %q stands here a second time; keep one of them", e.key))
		}
		seen[e.key] = true
	}
	return nil
}

func (d *document) splice(start, end int, with string) { d.text = d.text[:start] + with + d.text[end:] }

// add appends a new group with our hook to the groups of the event.
func (d *document) add(event, command string) error {
	group := fmt.Sprintf(`{"hooks":[{"type":"command","command":%s,"timeout":%d}]}`, quoteJSON(command), hookTimeout)
	hooks := lastValue(d.root(), "hooks")
	switch {
	case !hooks.Exists():
		d.insert(d.root(), "hooks", fmt.Sprintf(`{%s:[%s]}`, quoteJSON(event), group))
		return nil
	case !hooks.IsObject():
		return d.errorAt(hooks.Index, `"hooks" is not an object`)
	}
	groups := lastValue(hooks, event)
	switch {
	case !groups.Exists():
		d.insert(hooks, event, "["+group+"]")
		return nil
	case !groups.IsArray():
		return d.errorAt(groups.Index, fmt.Sprintf("%q is not an array", event))
	}
	d.insert(groups, "", group)
	return nil
}

// mend makes an entry run command, and keeps everything else that the person has set on it.
func (d *document) mend(e entry, command string) {
	members := elementsOf(e.hook)
	for i := len(members) - 1; i >= 0; i-- { // from the end, so that earlier positions stay valid
		switch m := members[i]; m.key {
		case "command":
			d.splice(m.value.Index, m.end, quoteJSON(command))
		case "args":
			d.cut(e.hook, i)
		}
	}
}

// remove removes an entry, and every container that becomes empty by the removal, except those that a
// person may have made: a group that has more than hooks, and what the file before the install had.
func (d *document) remove(e entry) {
	hooks := lastValue(d.beforeRoot(), "hooks")
	for _, l := range []struct {
		place
		had gjson.Result // the container before the install
		own bool         // it stays even if the container is not in the file before
	}{
		{place: e.hookAt, own: len(elementsOf(e.group)) > 1},
		{place: e.groupAt, had: lastValue(hooks, e.event)},
		{place: e.eventAt, had: hooks},
		{place: e.top, had: d.beforeRoot(), own: true},
	} {
		if len(elementsOf(l.container)) > 1 {
			d.cut(l.container, l.index)
			return
		}
		if same := l.had.Type == gjson.JSON && l.had.IsArray() == l.container.IsArray(); l.own || same {
			d.empty(l.container, l.had)
			return
		}
	}
}

// beforeRoot returns the root of the file before the install; it does not exist if that is unknown.
func (d *document) beforeRoot() gjson.Result {
	if d.before == nil {
		return gjson.Result{}
	}
	return d.before.root()
}

// empty removes what a container holds. If the container was empty before, it gets its blanks back.
func (d *document) empty(container, had gjson.Result) {
	blanks := ""
	if had.Type == gjson.JSON && len(elementsOf(had)) == 0 {
		blanks = had.Raw[1 : len(had.Raw)-1]
	}
	d.splice(container.Index+1, container.Index+len(container.Raw)-1, blanks)
}

// cut removes one element and its comma. It undoes insert byte for byte.
func (d *document) cut(container gjson.Result, i int) {
	all := elementsOf(container)
	switch {
	case len(all) == 1:
		d.empty(container, gjson.Result{})
	case i == 0:
		d.splice(all[0].start, all[1].start, "")
	default:
		d.splice(all[i-1].end, all[i].end, "")
	}
}

// insert puts a value (compact JSON) behind the last element of a container. The key is used for
// objects only.
func (d *document) insert(container gjson.Result, key, value string) {
	start, end := container.Index+1, container.Index+len(container.Raw)-1
	before, outer := "", d.indentAt(container.Index)
	indent, after := outer+d.unit, d.newline+outer
	if all := elementsOf(container); len(all) > 0 {
		last := all[len(all)-1]
		start, end = last.end, last.end
		before, indent, after = ",", d.indentAt(last.start), ""
	}
	colon := ":"
	if d.lines {
		var laid bytes.Buffer
		_ = json.Indent(&laid, []byte(value), indent, d.unit) // this package made it, so it is valid
		value, colon = strings.ReplaceAll(laid.String(), "\n", d.newline)+after, ": "
		before += d.newline + indent
	}
	if key != "" {
		before += quoteJSON(key) + colon
	}
	d.splice(start, end, before+value)
}

// indentAt is the indentation of the line that contains a position.
func (d *document) indentAt(at int) string {
	line := d.text[strings.LastIndexByte(d.text[:at], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// quoteJSON does not escape < > &, because a person reads the file.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string never fails
	return strings.TrimSuffix(b.String(), "\n")
}
