package transcript

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Own is the path of a session's transcript as a client names it, links followed, if it is one: <id>.jsonl in a folder
// of projectsDir. It may not exist yet, nor may its folder. "" is any other path.
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

// resolve follows the links of a path as far as it exists. A link to what does not exist is an error: nobody knows where
// a file made through it would be.
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
