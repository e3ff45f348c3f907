package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/spool"
)

// botFile has the id of the bot whose messages the chats of a restored folder name.
const botFile = "bot"

// KeepBot notes the bot of the chats that are restored.
func KeepBot(dir, id string) error {
	return spool.Folder{Path: dir, Fsync: true}.Put(botFile, []byte(id+"\n"))
}

// Bot returns the id that KeepBot has noted; empty if nothing was restored.
func Bot(dir string) (string, error) {
	data, err := spool.Folder{Path: dir}.Read(botFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	id := strings.TrimSpace(string(data))
	if err == nil && id == "" { // KeepBot writes none like it
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("the file %s in %s cannot be read: move it away: %w", botFile, dir, err)
	}
	return id, nil
}

// CheckBot returns an error if the folder was restored from a backup of another bot than id, whose
// messages the chats then name. An empty id is unknown, and passes.
func CheckBot(dir, id string) error {
	is, err := Bot(dir)
	if err != nil || id == "" || is == "" || is == id {
		return err
	}
	return exit.Usage(fmt.Errorf("%s is of bot %.20s, and the token is of bot %s: use the token of bot %.20s; to continue with the other bot, "+
		"delete chats/ and the file bot there, then people choose their settings again", dir, is, id, is))
}
