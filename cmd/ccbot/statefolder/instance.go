package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/spool"
)

// MakeInstance returns the random name of this ccbot, which is made once. The name distinguishes
// its windows from those of another ccbot on the same tmux server.
func MakeInstance(dir string) (string, error) {
	if id, err := ReadInstance(dir); id != "" || err != nil {
		return id, err
	}
	id := strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	return id, spool.Folder{Path: dir}.Put(instanceFile, []byte(id+"\n"))
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
			"`tmux show-options -w -t WINDOW @ccbot_session` (`tmux -L` if CCBOT_TMUX_SOCKET is set); if none of them runs, delete the file", filepath.Join(dir, instanceFile), err))
	}
	return id, nil
}

var instanceID = lazyregexp.New(`^[0-9a-f]{12}$`)
