package claudekeys

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// read returns the keys of a person with these files, named by their path below the folder.
func read(t testing.TB, files map[string]string) Keys {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return Source{ConfigDir: filepath.Join(dir, "config"), Managed: filepath.Join(dir, "managed.json"), State: filepath.Join(dir, "state.json")}.Keys(filepath.Join(dir, "project"))
}

func chat(bindings string) map[string]string { return context("Chat", bindings) }

func context(name, bindings string) map[string]string {
	return map[string]string{"config/keybindings.json": `{"bindings":[{"context":"` + name + `","bindings":{` + bindings + `}}]}`}
}

func TestKeysOperateBox(t *testing.T) {
	vim := func(file string) map[string]string { return map[string]string{file: `{"editorMode":"vim"}`} }
	for _, tt := range []struct {
		name                  string
		files                 map[string]string
		submit, cancel, clear string // empty if unusable
	}{
		{"no files", nil, "Enter", "Escape", "C-u"},
		{"vim of the person", vim("config/settings.json"), "Enter", "C-c", "C-c"},
		{"vim of the project", vim("project/.claude/settings.json"), "Enter", "C-c", "C-c"},
		{"vim of the project, local", vim("project/.claude/settings.local.json"), "Enter", "C-c", "C-c"},
		{"vim of the machine", vim("managed.json"), "Enter", "C-c", "C-c"},
		{"vim of an earlier version", vim("state.json"), "Enter", "C-c", "C-c"},
		{"another editor mode", map[string]string{"config/settings.json": `{"editorMode":"normal"}`}, "Enter", "Escape", "C-u"},
		{"Esc unbound", chat(`"escape":null`), "Enter", "C-c", "C-u"},
		{"Esc moved", chat(`"Esc":null,"ctrl+g":"chat:cancel"`), "Enter", "C-c", "C-u"},
		{"Esc moved, C-c used", chat(`"escape":null,"ctrl+c":"chat:newline","ctrl+g":"chat:cancel"`), "Enter", "C-g", "C-u"},
		{"Esc unbound, C-c used", chat(`"escape":null,"ctrl+c":"chat:newline"`), "Enter", "", "C-u"},
		{"Enter moved", chat(`"enter":"chat:newline","ctrl+s":"chat:submit"`), "C-s", "Escape", "C-u"},
		{"other names of keys", chat(`"Return":"chat:newline","Control+S":"chat:submit"`), "C-s", "Escape", "C-u"},
		{"the later name submits", chat(`"enter":"chat:newline","return":"chat:submit"`), "Enter", "Escape", "C-u"},
		{"the earlier name submits", chat(`"Return":"chat:submit","Enter":"chat:newline"`), "", "Escape", "C-u"},
		{"a name keeps its first place", chat(`"enter":"chat:newline","return":"chat:submit","enter":"chat:newline"`), "Enter", "Escape", "C-u"},
		{"a name has its last action", chat(`"return":"chat:submit","enter":"chat:newline","enter":"chat:submit"`), "Enter", "Escape", "C-u"},
		{"the byte of Enter", chat(`"enter":"chat:newline","ctrl+m":"chat:submit"`), "", "Escape", "C-u"},
		{"the bytes of Enter and Esc are no keys", chat(`"ctrl+m":"chat:newline","ctrl+[":"chat:newline"`), "Enter", "Escape", "C-u"},
		{"no bindings", map[string]string{"config/keybindings.json": `{"bindings":[{"context":"Chat","bindings":null}]}`}, "Enter", "Escape", "C-u"},
		{"Enter begins a sequence", chat(`"enter x":"chat:newline"`), "", "Escape", "C-u"},
		{"a sequence submits", chat(`"enter":"chat:newline","ctrl+x ctrl+s":"chat:submit"`), "", "Escape", "C-u"},
		{"a letter submits", chat(`"enter":"chat:newline","s":"chat:submit"`), "", "Escape", "C-u"},
		{"a key that suspends submits", chat(`"enter":"chat:newline","ctrl+z":"chat:submit"`), "", "Escape", "C-u"},
		{"a key that tmux does not send submits", chat(`"enter":"chat:newline","shift+enter":"chat:submit"`), "", "Escape", "C-u"},
		{"C-u used", chat(`"ctrl+u":"chat:externalEditor"`), "Enter", "Escape", "C-c"},
		{"C-u and C-c used", chat(`"ctrl+u":"chat:externalEditor","ctrl+c":null`), "Enter", "Escape", ""},
		{"Enter used everywhere", context("Global", `"enter":"app:toggleTodos"`), "", "Escape", "C-u"},
		{"Enter used in another place", context("Footer", `"enter":"chat:newline"`), "Enter", "Escape", "C-u"},
		{"the defaults written down", chat(`"enter":"chat:submit","escape":"chat:cancel","up":"history:previous"`), "Enter", "Escape", "C-u"},
		{"no JSON", map[string]string{"config/keybindings.json": `{"bindings":[{"context":"Chat","bindings":{"enter":null}},]}`}, "Enter", "Escape", "C-u"},
		{"another shape", map[string]string{"config/keybindings.json": `[{"context":"Chat","bindings":{"enter":null}}]`}, "Enter", "Escape", "C-u"},
		{"bound twice", map[string]string{"config/keybindings.json": `{"bindings":[{"context":"Chat","bindings":{"enter":null}},` +
			`{"context":"Chat","bindings":{"enter":"chat:submit"}}]}`}, "Enter", "Escape", "C-u"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := read(t, tt.files)
			for i, find := range []func() (string, error){k.Submit, func() (string, error) { return k.Cancel(false) }, func() (string, error) { return k.Clear(false) }} {
				want := []string{tt.submit, tt.cancel, tt.clear}[i]
				got, err := find()
				assert.Equal(t, want, got)
				assert.Equal(t, want == "", err != nil)
			}
		})
	}
}

func TestFaultNamesFileAndBinding(t *testing.T) {
	var bindings []string
	for _, fault := range read(t, chat(`"enter":"chat:newline","escape":null,"ctrl+c":null,"ctrl+u":null`)).Faults() {
		assert.Equal(t, "keybindings.json", filepath.Base(fault.File))
		bindings = append(bindings, fault.Binding)
	}
	assert.Equal(t, []string{"Chat: enter → chat:newline", "Chat: escape → null", "Chat: ctrl+u → null"}, bindings)
	assert.Empty(t, read(t, nil).Faults())
}

func TestScreenModeCountsAsVim(t *testing.T) {
	k := Keys{}
	cancel, err := k.Cancel(true)
	require.NoError(t, err)
	empty, err := k.Clear(true)
	require.NoError(t, err)
	assert.Equal(t, []string{"C-c", "C-c"}, []string{cancel, empty})
}

func TestP7_DialogKeysKeepTheirMeaning(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   map[string]string
		refused []string
	}{
		{"no file", nil, nil},
		{"down approves", context("Confirmation", `"down":"confirm:yes"`), []string{"Down"}},
		{"down approves in a list", context("Select", `"down":"select:accept"`), []string{"Down"}},
		{"Enter of the box", chat(`"enter":"chat:newline"`), nil},
		{"a key for all", context("Global", `"up":"app:toggleTodos"`), []string{"Up"}},
		{"the defaults written down", context("Confirmation", `"enter":"confirm:yes","escape":"confirm:no","up":"confirm:previous"`), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, refused := read(t, tt.files), []string(nil)
			for _, key := range []string{"Up", "Down", "Left", "Right", "Space", "Tab", "BTab", "Enter", "Escape", "s"} {
				if k.Other(key, false) != nil {
					refused = append(refused, key)
				}
			}
			assert.Equal(t, tt.refused, refused)
		})
	}
	assert.Error(t, read(t, chat(`"shift+tab":"chat:submit"`)).Other("BTab", true), "a key that switches the mode")
}

// FuzzP7_LettersAreNotPressed reads any file: the keys are those that the package names, or control
// keys.
func FuzzP7_LettersAreNotPressed(f *testing.F) {
	f.Add(`{"bindings":[{"context":"Chat","bindings":{"enter":"chat:newline","ctrl+s":"chat:submit","x":"chat:submit"}}]}`)
	f.Add(`{"bindings":[{"context":"Chat","bindings":{"escape":null,"ctrl+c":null,"a":"chat:cancel"}}]}`)
	allowed := regexp.MustCompile(`^(Enter|Escape|C-[abcefgklnopqrstuvwxy])$`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "keybindings.json"), []byte(text), 0o600))
		k := Source{ConfigDir: dir}.Keys("")
		for _, find := range []func() (string, error){k.Submit, func() (string, error) { return k.Cancel(false) }, func() (string, error) { return k.Clear(false) }} {
			if key, err := find(); err == nil {
				assert.Regexp(t, allowed, key)
			}
		}
	})
}
