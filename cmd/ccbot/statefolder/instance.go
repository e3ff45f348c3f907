package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/spool"
)

// MakeInstance returns the random name of this ccbot, which is made once. The name distinguishes
// its windows from those of another ccbot on the same tmux server.
func MakeInstance(dir string) (string, error) {
	if id, err := ReadInstance(dir); id != "" || err != nil {
		return id, err
	}
	path := filepath.Join(dir, instanceFile)
	id := strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	if err := renameio.WriteFile(path, []byte(id+"\n"), 0o600, renameio.WithTempDir(dir)); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return id, nil
}

const instanceFile = "instance"

// ReadInstance reads that name; before the first start it is empty. A damaged name is an error:
// under a new name the running windows would belong to no ccbot.
func ReadInstance(dir string) (string, error) {
	data, err := spool.Folder{Path: dir}.Read(instanceFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	id := strings.TrimSpace(string(data))
	if err == nil && !instanceID.MatchString(id) {
		err = fmt.Errorf("%.40q is no such id", id)
	}
	if err != nil {
		return "", exit.Usage(fmt.Errorf("%s, the id of this ccbot, cannot be read (%w): write it back as the windows of its sessions have it, before the \"/\" of "+
			"`tmux show-options -w -t WINDOW @ccbot_session` (`tmux -L` with CCBOT_TMUX_SOCKET, where that is set); where none of them runs, delete the file", filepath.Join(dir, instanceFile), err))
	}
	return id, nil
}

var instanceID = regexp.MustCompile(`^[0-9a-f]{12}$`)
