package claudesettings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPolicyShutsHooks: only what Claude Code itself would follow counts.
func TestPolicyShutsHooks(t *testing.T) {
	for name, tt := range map[string]struct {
		main string // empty: there is no file
		more map[string]string
		want string // relative
	}{
		"no policy":                    {},
		"another policy":               {main: `{"permissions":{"deny":["WebFetch"]}}`},
		"its own hooks only":           {main: `{"allowManagedHooksOnly":true}`, want: "managed-settings.json"},
		"no hooks at all":              {main: `{"disableAllHooks":true}`, want: "managed-settings.json"},
		"it allows others":             {main: `{"allowManagedHooksOnly":false,"disableAllHooks":false}`},
		"a word instead of the truth":  {main: `{"allowManagedHooksOnly":"true"}`},
		"damaged":                      {main: `{"allowManagedHooksOnly":true`},
		"in a file of the folder":      {more: map[string]string{"10-hooks.json": `{"allowManagedHooksOnly":true}`}, want: "managed-settings.d/10-hooks.json"},
		"a later file takes it back":   {main: `{"allowManagedHooksOnly":true}`, more: map[string]string{"20.json": `{"allowManagedHooksOnly":false}`}},
		"a file that says nothing":     {main: `{"allowManagedHooksOnly":true}`, more: map[string]string{"20.json": `{}`}, want: "managed-settings.json"},
		"the other word is taken back": {main: `{"allowManagedHooksOnly":true}`, more: map[string]string{"20.json": `{"disableAllHooks":false}`}, want: "managed-settings.json"},
		"no file of settings":          {more: map[string]string{"hooks.txt": `{"allowManagedHooksOnly":true}`}},
	} {
		dir := t.TempDir()
		managed := filepath.Join(dir, "managed-settings.json")
		if tt.main != "" {
			require.NoError(t, os.WriteFile(managed, []byte(tt.main), 0o600))
		}
		require.NoError(t, os.Mkdir(filepath.Join(dir, "managed-settings.d"), 0o700))
		for file, content := range tt.more {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "managed-settings.d", file), []byte(content), 0o600))
		}
		want := tt.want
		if want != "" {
			want = filepath.Join(dir, want)
		}
		assert.Equal(t, want, HooksShutBy(managed), name)
	}
}
