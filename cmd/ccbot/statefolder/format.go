package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/spool"
)

// Format is the version of the folder. It goes up when an earlier ccbot would do harm in a folder
// that a later one has used; such a ccbot refuses the folder.
//
//	1  the inbox has the progress of each prompt
//	2  prompts/ has it: an earlier ccbot would type again what the inbox shows as waiting
const Format = 2

const formatFile = "format"

// ReadFormat is the version of a folder, 0 when no ccbot has noted one there.
func ReadFormat(dir string) (int, error) {
	data, err := spool.Folder{Path: dir}.Read(formatFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	n := 0
	if err == nil {
		n, err = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	if err != nil || n < 1 {
		return 0, exit.Usage(fmt.Errorf("%s has no version of the folder; if no newer ccbot has used it, delete the file", filepath.Join(dir, formatFile)))
	}
	return n, nil
}

// refuseNewer refuses a folder that a newer ccbot has made its own. It changes nothing.
func refuseNewer(dir string) error {
	n, err := ReadFormat(dir)
	if err == nil && n > Format {
		err = exit.Usage(fmt.Errorf("the folder %s is of a newer ccbot (version %d of the folder, this ccbot knows %d): use the newer ccbot, or set CCBOT_DIR to another folder; nothing was changed", dir, n, Format))
	}
	return err
}

// noteFormat makes the folder one of this version. The caller holds the lock.
func noteFormat(dir string) error {
	if err := refuseNewer(dir); err != nil { // the previous holder of the lock may have been newer
		return err
	}
	if n, err := ReadFormat(dir); err != nil || n == Format {
		return err
	}
	return spool.Folder{Path: dir}.Put(formatFile, []byte(strconv.Itoa(Format)+"\n"))
}
