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

// readBindings reads keybindings.json. Of two bindings of one key in a context the last one counts.
func readBindings(file string) map[string]map[string]string {
	var in struct {
		Bindings []struct {
			Context  string             `json:"context"`
			Bindings map[string]*string `json:"bindings"`
		} `json:"bindings"`
	}
	if !readJSON(file, &in) {
		return nil
	}
	all := make(map[string]map[string]string)
	for _, block := range in.Bindings {
		if all[block.Context] == nil {
			all[block.Context] = make(map[string]string)
		}
		for key, action := range block.Bindings {
			if name := normal(key); action != nil {
				all[block.Context][name] = *action
			} else {
				all[block.Context][name] = ""
			}
		}
	}
	return all
}

// aliases are other names of keys and modifiers. The control keys among them send the same byte as
// the key.
var aliases = map[string]string{"esc": "escape", "return": "enter", "control": "ctrl", "alt": "meta", "opt": "meta", "option": "meta"}

var sameByte = map[string]string{"ctrl+m": "enter", "ctrl+i": "tab", "ctrl+[": "escape"}

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
		chord = strings.Join(parts, "+")
		if name, ok := sameByte[chord]; ok {
			chord = name
		}
		chords[i] = chord
	}
	return strings.Join(chords, " ")
}
