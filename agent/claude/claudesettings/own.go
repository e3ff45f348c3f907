package claudesettings

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"ccbot/internal/ownfile"
)

// maxUserSettings limits a settings file of a person, in bytes.
const maxUserSettings = 4 << 20

// ownStatusLine returns the status line command that Claude Code would run in dir without our
// launch: from the project's local settings, else from the project's settings, else from the user's
// settings in configDir. "" means none.
func ownStatusLine(dir, configDir string) string {
	var files []string
	if dir != "" {
		files = append(files, filepath.Join(dir, ".claude", "settings.local.json"), filepath.Join(dir, ".claude", "settings.json"))
	}
	if configDir != "" {
		files = append(files, filepath.Join(configDir, "settings.json"))
	}
	for _, file := range files {
		// A file that Claude Code could not read either counts as absent: Claude Code shows that
		// error itself.
		var user struct {
			StatusLine statusLine `json:"statusLine"`
		}
		data, err := readUserSettings(file)
		if err == nil && json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &user) == nil &&
			user.StatusLine.Type == "command" && user.StatusLine.Command != "" {
			return user.StatusLine.Command
		}
	}
	return ""
}

// readUserSettings follows links, because people keep their settings elsewhere. It reads files of
// other users too, because a project may belong to one.
func readUserSettings(file string) ([]byte, error) {
	return ownfile.Read(file, maxUserSettings, ownfile.Links|ownfile.Others)
}
