package claudekeys

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/agent"
	"ccbot/internal/ownfile"
)

// Source holds the paths of the files.
type Source struct {
	ConfigDir string // Claude Code's folder with the person's own settings
	Managed   string // the settings file of the machine's administrator; empty: none
	State     string // .claude.json, in which earlier versions kept the editor mode; empty: none
}

// ManagedSettings is the settings file of the machine's administrator on Linux.
const ManagedSettings = "/etc/claude-code/managed-settings.json"

// maxFile limits a file, in bytes.
const maxFile = 4 << 20

// Box returns what Keys returns, as agent.Keys.
func (s Source) Box(dir string) agent.Keys { return s.Keys(dir) }

// Keys reads the files as they are now; dir is the working directory of the session. A file that
// Claude Code cannot read counts as absent, as it does there. The editor mode is read when a key
// depends on it.
func (s Source) Keys(dir string) Keys {
	k := Keys{file: filepath.Join(s.ConfigDir, "keybindings.json")}
	k.bound = readBindings(k.file)
	k.settings = []string{s.Managed, filepath.Join(s.ConfigDir, "settings.json"), s.State}
	if dir != "" {
		k.settings = append(k.settings, filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json"))
	}
	return k
}

// vim reports whether any of the files chooses vim as the editor mode, whichever wins in Claude
// Code: the keys for vim operate the box in both editor modes.
func (k Keys) vim() bool { return slices.ContainsFunc(k.settings, choosesVim) }

func choosesVim(file string) bool {
	var settings struct {
		EditorMode string `json:"editorMode"`
	}
	return file != "" && readJSON(file, &settings) && settings.EditorMode == "vim"
}

func readJSON(file string, v any) bool {
	data, err := ownfile.Read(file, maxFile, ownfile.Links|ownfile.Others)
	return err == nil && json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), v) == nil
}

// binding binds a key to an action; nil unbinds it.
type binding struct {
	key    string
	action *string
}

// block is a JSON object of keys and actions, in the order of JavaScript, which Claude Code is
// written in: a key that the object has twice keeps its first place and has its last action.
type block []binding

// UnmarshalJSON keeps the order of the keys.
func (b *block) UnmarshalJSON(data []byte) error {
	var actions map[string]*string
	if err := json.Unmarshal(data, &actions); err != nil {
		return err
	}
	tokens, isKey := json.NewDecoder(bytes.NewReader(data)), false
	for token, err := tokens.Token(); err == nil; token, err = tokens.Token() {
		key, _ := token.(string)
		if action, found := actions[key]; isKey && found {
			*b = append(*b, binding{key, action})
			delete(actions, key)
		}
		isKey = !isKey
	}
	return nil
}

// readBindings reads keybindings.json. Of two bindings of one key in a context the last one counts,
// also if they have different names of the key.
func readBindings(file string) map[string]map[string]string {
	var in struct {
		Bindings []struct {
			Context  string `json:"context"`
			Bindings block  `json:"bindings"`
		} `json:"bindings"`
	}
	if !readJSON(file, &in) {
		return nil
	}
	all := make(map[string]map[string]string)
	for _, context := range in.Bindings {
		if all[context.Context] == nil {
			all[context.Context] = make(map[string]string)
		}
		for _, b := range context.Bindings {
			if name := normal(b.key); b.action != nil {
				all[context.Context][name] = *b.action
			} else {
				all[context.Context][name] = ""
			}
		}
	}
	return all
}

// aliases are other names of keys and modifiers. ctrl+m, ctrl+i and ctrl+[ are none: Claude Code
// reads their bytes as Enter, Tab and Esc, so a binding of them has no effect.
var aliases = map[string]string{"esc": "escape", "return": "enter", "control": "ctrl", "alt": "meta", "opt": "meta", "option": "meta"}

// normal returns the one name of a key or a sequence of keys.
func normal(key string) string {
	chords := strings.Fields(strings.ToLower(key))
	for i, chord := range chords {
		parts := strings.Split(chord, "+")
		for j, part := range parts {
			if name, ok := aliases[part]; ok {
				parts[j] = name
			}
		}
		chords[i] = strings.Join(parts, "+")
	}
	return strings.Join(chords, " ")
}
