package hooks

import (
	"fmt"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
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
