package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/ownfile"
	"ccbot/internal/spool"
)

// Status reads the last status line of a launch, where dir is $CCBOT_DIR. fs.ErrNotExist means that
// the launch has shown none yet. The process and the session that it belongs to are in the result;
// comparing them is the caller's task.
func Status(dir string, recordID uuid.UUID) (hookwire.Status, error) {
	folder := spool.Folder{Path: filepath.Join(dir, hookwire.StatusFolder), MaxSize: hookwire.MaxStatus}
	data, err := folder.Read(recordID.String() + ".json")
	if err != nil {
		return hookwire.Status{}, fmt.Errorf("status: %w", err)
	}
	s, err := hookwire.ReadStatus(data)
	if err != nil {
		return hookwire.Status{}, err
	}
	if launch, err := uuid.Parse(s.Launch); err != nil || launch != recordID {
		return hookwire.Status{}, fmt.Errorf("status of %s: %w: it is of launch %s", recordID, hookwire.ErrMalformed, s.Launch)
	}
	return s, nil
}

// StatusRows returns the last outputs of the person's own status line command in a launch, where
// dir is $CCBOT_DIR. A program below the agent can also write them.
func StatusRows(dir string, recordID uuid.UUID) []string {
	return hookwire.ReadRows(filepath.Join(dir, hookwire.StatusFolder, recordID.String()+hookwire.RowsSuffix))
}

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
