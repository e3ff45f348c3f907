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

// Status reads the last status line of a launch, where dir is $CCBOT_DIR. fs.ErrNotExist: it has shown none yet. Whose
// it is (process and session) stands in it and is the caller's to compare.
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

// maxUserSettings bounds a settings file of the person's, in bytes.
const maxUserSettings = 4 << 20

// ownStatusLine is the status line command that Claude Code would run in dir without a launch of ours: of the project's
// local settings, else of the project's, else of the user's in configDir. "" is none. A file that Claude Code could not
// read either counts as absent: it shows its own complaint, and the launch is not the place for another.
func ownStatusLine(dir, configDir string) string {
	var files []string
	if dir != "" {
		files = append(files, filepath.Join(dir, ".claude", "settings.local.json"), filepath.Join(dir, ".claude", "settings.json"))
	}
	if configDir != "" {
		files = append(files, filepath.Join(configDir, "settings.json"))
	}
	for _, file := range files {
		if own := statusLineOf(file); own != "" {
			return own
		}
	}
	return ""
}

func statusLineOf(file string) string {
	data, err := readUserSettings(file)
	if err != nil {
		return ""
	}
	var user struct {
		StatusLine statusLine `json:"statusLine"`
	}
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &user) != nil || user.StatusLine.Type != "command" {
		return ""
	}
	return user.StatusLine.Command
}

// readUserSettings follows links, as people keep their settings elsewhere. A project is foreign.
func readUserSettings(file string) ([]byte, error) {
	return ownfile.Read(file, maxUserSettings, ownfile.Links|ownfile.Others)
}
