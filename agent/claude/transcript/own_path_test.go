package transcript

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP9_OwnPathIsSessionsTranscript: a client names no other file of the machine.
func TestP9_OwnPathIsSessionsTranscript(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	id := uuid.MustParse("19700a32-a03e-4de9-a340-67e13a1f5792")
	name := id.String() + ".jsonl"
	projects := filepath.Join(base, "projects")
	for _, dir := range []string{"projects/-src", "projects/-src/deep", "elsewhere/-src", "home"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	for _, file := range []string{"projects/-src/" + name, "projects/-src/deep/" + name, "elsewhere/-src/" + name, "projects/" + name,
		"projects/-src/secret.jsonl"} {
		require.NoError(t, os.WriteFile(filepath.Join(base, file), nil, 0o600))
	}
	link := func(target, at string) {
		require.NoError(t, os.Symlink(filepath.Join(base, target), filepath.Join(base, at)))
	}
	link("elsewhere/-src", "projects/-out")
	link("projects/-src", "projects/-in")
	link("projects", "home/projects")
	require.NoError(t, os.Mkdir(filepath.Join(projects, "-links"), 0o700))
	link("projects/-src/secret.jsonl", "projects/-links/"+name)
	require.NoError(t, os.Mkdir(filepath.Join(projects, "-dangling"), 0o700))
	link("elsewhere/none.jsonl", "projects/-dangling/"+name)
	tests := []struct{ name, path, want string }{
		{"its own", "projects/-src/" + name, "projects/-src/" + name},
		{"through links to the folder", "home/projects/-in/" + name, "projects/-src/" + name},
		{"written with dots", "home/../projects/-src/" + name, "projects/-src/" + name},
		{"not there yet", "projects/-src2/" + name, "projects/-src2/" + name},
		{"of another session", "projects/-src/0190a000-0000-7000-8000-000000000001.jsonl", ""},
		{"of no session", "projects/-src/secret.jsonl", ""},
		{"not in a project", "projects/" + name, ""},
		{"too deep", "projects/-src/deep/" + name, ""},
		{"elsewhere", "elsewhere/-src/" + name, ""},
		{"elsewhere and not there", "elsewhere/-none/" + name, ""},
		{"a folder that leads elsewhere", "projects/-out/" + name, ""},
		{"a link to another file", "projects/-links/" + name, ""},
		{"a link to none", "projects/-dangling/" + name, ""},
		{"a way up", "projects/-src/../../elsewhere/-src/" + name, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := ""
			if tt.want != "" {
				want = filepath.Join(base, tt.want)
			}
			assert.Equal(t, want, Own(filepath.Join(base, "home/projects"), base+"/"+tt.path, id))
		})
	}
	assert.Empty(t, Own(projects, "", id))
	assert.Empty(t, Own(projects, "projects/-src/"+name, id), "relative")
	assert.Equal(t, filepath.Join(base, "none/-src", name), Own(filepath.Join(base, "none"), filepath.Join(base, "none/-src", name), id),
		"the first session of a machine")
}
