package claudekeys

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ccbot/agent"
	"ccbot/internal/clip"
	"ccbot/internal/lazyregexp"
)

// Keys describes how the prompt box is operated. The zero value is a Claude Code without settings
// of a person.
type Keys struct {
	settings []string // the files that may choose the editor mode
	file     string
	bound    map[string]map[string]string // context → key → action; "" if the key is unbound
}

// Fault means that keybindings.json leaves no key that ccbot could press for a purpose.
type Fault = agent.KeyFault

// The keys as tmux names them.
const (
	enter     = "Enter"
	escape    = "Escape"
	clearRow  = "C-u"
	interrupt = "C-c"
)

// Submit returns the key that submits the text in the box.
func (k Keys) Submit() (string, error) { return k.choose("chat:submit", enter) }

// Cancel returns the key that ends a turn. Modal means that the screen shows an editor mode: there
// Esc may only change the mode.
func (k Keys) Cancel(modal bool) (string, error) {
	if modal || k.vim() {
		return k.choose("chat:cancel", interrupt)
	}
	return k.choose("chat:cancel", escape, interrupt)
}

// Clear returns the key that empties the box. C-u removes one row, and in vim's normal mode it
// leaves a letter; C-c removes all, and a second C-c ends Claude Code. Whole means that only a key
// that removes all will do.
func (k Keys) Clear(whole bool) (string, error) {
	if whole || k.vim() {
		return k.choose("", interrupt)
	}
	return k.choose("", clearRow, interrupt)
}

// choose returns the first of the default keys that has its own meaning in the box, otherwise a
// control key that the person has bound to the action.
func (k Keys) choose(action string, defaults ...string) (string, error) {
	var first *Fault
	for _, key := range defaults {
		fault := k.rebound(inBox, key)
		if fault == nil {
			return key, nil
		}
		if first == nil {
			first = fault
		}
	}
	for _, key := range slices.Sorted(maps.Keys(k.bound["Chat"])) {
		sent, ok := controlKey(key)
		if action != "" && k.bound["Chat"][key] == action && ok && !k.meansMore(key) {
			return sent, nil
		}
	}
	return "", first
}

// meansMore reports whether a key that is bound in the context Chat has another meaning in the box,
// or begins a sequence.
func (k Keys) meansMore(key string) bool {
	for context, bindings := range k.bound {
		for bound := range bindings {
			if first, _, sequence := strings.Cut(bound, " "); inBox(context) && first == key && (sequence || context != "Chat") {
				return true
			}
		}
	}
	return false
}

// Faults returns what prevents ccbot from submitting, cancelling or clearing, each once.
func (k Keys) Faults() (all []Fault) {
	for _, find := range []func() (string, error){k.Submit, func() (string, error) { return k.Cancel(false) }, func() (string, error) { return k.Clear(false) }} {
		_, err := find()
		if fault, found := errors.AsType[*Fault](err); found && !slices.Contains(all, *fault) {
			all = append(all, *fault)
		}
	}
	return all
}

// Other returns a Fault if a key, as tmux names it, has another meaning than by default: in the
// box, or in anything that takes keys in its place.
func (k Keys) Other(key string, box bool) error {
	where := inDialogs
	if box {
		where = inBox
	}
	if fault := k.rebound(where, key); fault != nil {
		return fault
	}
	return nil
}

// inBox and inDialogs report whether the bindings of a context apply there.
func inBox(context string) bool {
	return slices.Contains([]string{"Global", "Chat", "Autocomplete"}, context)
}

func inDialogs(context string) bool { return context == "Global" || !inBox(context) }

// rebound returns the binding that changes the meaning of a key, or nil. A sequence that begins
// with the key makes Claude Code wait for the next key.
func (k Keys) rebound(where func(context string) bool, key string) *Fault {
	name := fromTmux(key)
	for _, context := range slices.Sorted(maps.Keys(k.bound)) {
		if !where(context) {
			continue
		}
		for _, bound := range slices.Sorted(maps.Keys(k.bound[context])) {
			action := k.bound[context][bound]
			first, _, sequence := strings.Cut(bound, " ")
			if first == name && (sequence && action != "" || !sequence && !isDefault(context, name, action)) {
				return &Fault{File: k.file, Binding: clip.Runes(fmt.Sprintf("%s: %s → %s", context, bound, label(action)), maxBinding)}
			}
		}
	}
	return nil
}

// maxBinding limits the text of a binding, in characters: a file may have anything.
const maxBinding = 100

func label(action string) string {
	if action == "" {
		return "null"
	}
	return action
}

// isDefault reports whether an action is what the key does anyway: /keybindings writes a file with
// all default bindings. Every action of a known default is accepted in its context.
func isDefault(context, key, action string) bool {
	return slices.Contains(strings.Fields(defaults[context][key]), action)
}

// defaults has the default bindings of the keys that ccbot presses (2.1.328).
var defaults = map[string]map[string]string{
	"Chat": {"enter": "chat:submit", "escape": "chat:cancel", "shift+tab": "chat:cycleMode", "meta+p": "chat:modelPicker",
		"up": "history:previous", "down": "history:next", "space": "voice:pushToTalk"},
	"Autocomplete": {"tab": "autocomplete:accept", "escape": "autocomplete:dismiss", "up": "autocomplete:previous", "down": "autocomplete:next"},
	"Settings": {"escape": "confirm:no", "up": "select:previous", "down": "select:next", "space": "select:accept",
		"enter": "select:accept settings:close", "ctrl+u": "scroll:halfPageUp"},
	"Confirmation": {"enter": "confirm:yes", "escape": "confirm:no", "up": "confirm:previous", "down": "confirm:next",
		"tab": "confirm:nextField", "space": "confirm:toggle", "shift+tab": "confirm:cycleMode"},
	"Tabs": {"tab": "tabs:next", "shift+tab": "tabs:previous", "right": "tabs:next", "left": "tabs:previous"},
	"Transcript": {"escape": "transcript:exit", "ctrl+u": "scroll:halfPageUp", "space": "scroll:fullPageDown",
		"up": "scroll:lineUp", "down": "scroll:lineDown", "ctrl+c": "transcript:exit"},
	"HistorySearch": {"escape": "historySearch:accept", "tab": "historySearch:accept", "enter": "historySearch:execute", "ctrl+c": "historySearch:cancel"},
	"Help":          {"escape": "help:dismiss"},
	"Attachments":   {"right": "attachments:next", "left": "attachments:previous", "down": "attachments:exit", "escape": "attachments:exit"},
	"Footer": {"up": "footer:up", "down": "footer:down", "right": "footer:next", "left": "footer:previous",
		"enter": "footer:openSelected", "escape": "footer:clearSelection"},
	"AbovePrompt": {"tab": "abovePrompt:next", "right": "abovePrompt:next", "shift+tab": "abovePrompt:previous",
		"left": "abovePrompt:previous", "enter": "abovePrompt:press", "space": "abovePrompt:press", "escape": "abovePrompt:leave",
		"up": "pane:scrollUp", "down": "pane:scrollDown"},
	"AbovePromptInput": {"tab": "abovePrompt:next", "shift+tab": "abovePrompt:previous", "enter": "abovePrompt:press", "escape": "abovePrompt:leave"},
	"AbovePromptSelect": {"tab": "abovePrompt:next", "shift+tab": "abovePrompt:previous", "down": "abovePrompt:highlightNext",
		"up": "abovePrompt:highlightPrevious", "enter": "abovePrompt:press", "escape": "abovePrompt:leave"},
	"Pane": {"tab": "abovePrompt:next", "shift+tab": "abovePrompt:previous", "enter": "abovePrompt:press",
		"escape": "abovePrompt:leave", "up": "pane:scrollUp", "down": "pane:scrollDown"},
	"DiffDialog": {"escape": "diff:dismiss", "left": "diff:previousSource", "right": "diff:nextSource",
		"up": "diff:previousFile", "down": "diff:nextFile", "space": "scroll:fullPageDown"},
	"ModelPicker":  {"left": "modelPicker:decreaseEffort", "right": "modelPicker:increaseEffort", "s": "modelPicker:thisSessionOnly"},
	"EffortSlider": {"left": "effortSlider:decreaseEffort", "right": "effortSlider:increaseEffort", "tab": "effortSlider:toggleUltracode", "s": "effortSlider:thisSessionOnly"},
	"Select":       {"up": "select:previous", "down": "select:next", "enter": "select:accept", "escape": "select:cancel"},
	"Plugin":       {"space": "plugin:toggle"},
}

// control matches the keys that tmux sends as one byte that no other key has.
var control = lazyregexp.New(`^ctrl\+([abefgklnopqrstvwxy])$`)

func controlKey(name string) (key string, ok bool) {
	m := control.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	return "C-" + m[1], true
}

// fromTmux returns the name that keybindings.json has for a key.
func fromTmux(key string) string {
	switch key {
	case "BTab":
		return "shift+tab"
	case escape, enter, "Up", "Down", "Left", "Right", "Space", "Tab":
		return strings.ToLower(key)
	}
	return strings.NewReplacer("C-", "ctrl+", "M-", "meta+").Replace(key)
}
