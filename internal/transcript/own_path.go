package transcript

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Own checks the path that a client gives for a session's transcript: <id>.jsonl in a folder of
// projectsDir. It returns the path with links followed, or "" for any other path. The file may not
// exist yet, nor may its folder.
func Own(projectsDir, path string, sessionID uuid.UUID) string {
	if !filepath.IsAbs(path) || filepath.Base(path) != sessionID.String()+suffix {
		return ""
	}
	projects, err := resolve(projectsDir)
	if err != nil {
		return ""
	}
	real, err := resolve(path)
	if err != nil || filepath.Base(real) != sessionID.String()+suffix || filepath.Dir(filepath.Dir(real)) != projects {
		return ""
	}
	return real
}

// resolve follows the links of a path as far as it exists. A link to a missing target is an error,
// because it is unknown where a file made through it would be.
func resolve(path string) (string, error) {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
		return real, err
	}
	if _, found := os.Lstat(path); found == nil {
		return "", err
	}
	above, err := resolve(filepath.Dir(path))
	return filepath.Join(above, filepath.Base(path)), err
}
