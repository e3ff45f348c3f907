package claudesettings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"ccbot/internal/hookwire"
	"ccbot/internal/lazyregexp"
)

// SettingsError describes why a settings file cannot be edited, and where. Line and Column count
// from 1; Column counts characters, not bytes.
type SettingsError struct {
	Line, Column int
	Reason       string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// document is the content of a settings file. Edits replace bytes, so that all others stay.
type document struct {
	mark string // a byte order mark, which some editors write and Claude Code ignores (2.1.328)
	text string // one JSON object
	end  string // the blanks after it
}

const byteOrderMark = "\ufeff"

// openDocument checks that data is one JSON object, and that it is distinct. An empty file counts
// as an empty object.
func openDocument(data []byte) (*document, error) {
	d := &document{text: string(data)}
	if text, ok := strings.CutPrefix(d.text, byteOrderMark); ok {
		d.mark, d.text = byteOrderMark, text
	}
	if strings.TrimSpace(d.text) == "" {
		d.text = "{}\n"
	}
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(d.text), &whole); err != nil {
		return nil, d.syntaxError(err)
	}
	body := strings.TrimRight(d.text, " \t\r\n")
	d.text, d.end = body, d.text[len(body):]
	if !gjson.Parse(d.text).IsObject() {
		return nil, d.errorAt(len(d.text)-len(strings.TrimLeft(d.text, " \t\r\n")), "settings are one JSON object")
	}
	return d, d.distinct()
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

// distinct refuses a second "hooks" or "disableAllHooks" at the top, and any key that stands twice
// in one object below "hooks": gjson and sjson take the first one, Claude Code the last (2.1.328).
func (d *document) distinct() error {
	var check func(container gjson.Result, only ...string) error
	check = func(container gjson.Result, only ...string) (err error) {
		seen := make(map[string]bool)
		container.ForEach(func(key, value gjson.Result) bool {
			switch {
			case len(only) > 0 && !slices.Contains(only, key.Str):
				return true
			case container.IsObject() && seen[key.Str]:
				err = d.errorAt(key.Index, fmt.Sprintf("the key %q stands here a second time; keep one of them", key.Str))
			case value.IsObject() || value.IsArray():
				err = check(value)
			}
			seen[key.Str] = true
			return err == nil
		})
		return err
	}
	return check(gjson.Parse(d.text), "hooks", "disableAllHooks")
}

// entry is one hook of ccbot.
type entry struct {
	event       string
	group, hook int // indexes
	command     string
	limited     bool // under a matcher that excludes some events of this name
}

// entries returns our hooks, in the order of the installed events and then of the file. An element
// that does not have the shape of a hook is skipped.
func (d *document) entries() (all []entry) {
	for _, event := range installedEvents() {
		groups := d.get("hooks." + event)
		for i, group := range elements(groups) {
			for j, hook := range elements(group.Get("hooks")) {
				if isOurs(hook) {
					all = append(all, entry{event, i, j, hook.Get("command").Str, limits(event, group.Get("matcher"))})
				}
			}
		}
	}
	return all
}

func (d *document) get(path string) gjson.Result { return gjson.Get(d.text, path) }

// elements returns the elements of an array, none of any other value.
func elements(array gjson.Result) []gjson.Result {
	if !array.IsArray() {
		return nil
	}
	return array.Array()
}

// A command of ccbot has exactly the form of InstalledCommand. A line that a person has written or
// changed is that person's.
var commandForm = lazyregexp.New(`^('(?:[^']|'\\'')*') --dir ('(?:[^']|'\\'')*') --installed >/dev/null 2>&1 \|\| :$`)

func isOurs(hook gjson.Result) bool {
	words := commandForm.FindStringSubmatch(hook.Get("command").String())
	return words != nil && hook.Get("type").Str == "command" && !hook.Get("args").Exists() && filepath.Base(unquote(words[1])) == hookName
}

// StateDir returns the state folder that a command of ccbot names, or "" for any other command.
func StateDir(command string) string {
	if words := commandForm.FindStringSubmatch(command); words != nil {
		return unquote(words[2])
	}
	return ""
}

// unquote undoes shellQuote.
func unquote(word string) string {
	return strings.ReplaceAll(word[1:len(word)-1], `'\''`, "'")
}

// limits reports whether a group's matcher keeps its hooks from running at some events of this
// name. At SessionStart the matcher is compared with the kind of start; UserPromptSubmit has
// nothing to compare it with.
func limits(event string, matcher gjson.Result) bool {
	all := []string{"", "*", ".*"}
	return event == hookwire.SessionStart && matcher.Type == gjson.String && !slices.Contains(all, matcher.Str)
}

// add appends a group with our hook to the groups of the event.
func (d *document) add(event, command string) error {
	if hooks := d.get("hooks"); hooks.Exists() && !hooks.IsObject() {
		return d.errorAt(hooks.Index, `"hooks" is not an object`)
	}
	path := "hooks." + event
	if groups := d.get(path); groups.Exists() && !groups.IsArray() {
		return d.errorAt(groups.Index, fmt.Sprintf("%q is not an array", event))
	}
	group := fmt.Sprintf(`{"hooks":[{"type":"command","command":%s,"timeout":%d}]}`, quoteJSON(command), hookTimeout)
	return d.set(sjson.SetRaw(d.text, path+".-1", group))
}

// remove removes entries of ccbot, and the groups that hold nothing else.
func (d *document) remove(ours []entry) error {
	for _, e := range slices.Backward(ours) { // from the end, so that earlier indexes stay valid
		path := "hooks." + e.event + "." + strconv.Itoa(e.group)
		if err := d.set(sjson.Delete(d.text, path+".hooks."+strconv.Itoa(e.hook))); err != nil {
			return err
		}
		if group := d.get(path); len(group.Map()) > 1 || len(elements(group.Get("hooks"))) > 0 {
			continue
		}
		if err := d.set(sjson.Delete(d.text, path)); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes the events, and "hooks", if they are empty and before does not have them.
func (d *document) tidy(ours []entry, before []byte) error {
	had := gjson.ParseBytes(bytes.TrimPrefix(before, []byte(byteOrderMark)))
	var paths []string
	for _, e := range ours {
		paths = append(paths, "hooks."+e.event)
	}
	for _, path := range append(paths, "hooks") {
		now := d.get(path)
		if empty := now.IsArray() && len(now.Array()) == 0 || now.IsObject() && len(now.Map()) == 0; !empty || had.Get(path).Exists() {
			continue
		}
		if err := d.set(sjson.Delete(d.text, path)); err != nil {
			return err
		}
	}
	return nil
}

// errBroken means a fault in our own edit, found before the result reaches the file.
var errBroken = errors.New("the edit would have broken the file; nothing was changed")

func (d *document) set(text string, err error) error {
	if err != nil || !json.Valid([]byte(text)) {
		return errors.Join(errBroken, err)
	}
	d.text = text
	return nil
}

// bytes returns the file's content.
func (d *document) bytes() []byte { return []byte(d.mark + d.text + d.end) }

// quoteJSON does not escape < > &, because a person reads the file.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string never fails
	return strings.TrimSuffix(b.String(), "\n")
}
