package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ccbot/cmd/ccbot/upgrade"
	"ccbot/internal/spool"
)

// Format is the version of the folder. It goes up when a file of the folder gets another form, with
// a step in package upgrade that leads there.
//
//	2  prompts/ has the progress of each prompt
//	3  a key of a file has the name of the field that it holds
const Format = upgrade.Version

const formatFile = "format"

// ReadFormat is the version of a folder, 0 for one that is new. One with records has lost its version:
// a person was allowed to delete it. The steps leave alone what they have changed before, so it counts
// as the oldest.
func ReadFormat(dir string) (int, error) {
	data, err := spool.Folder{Path: dir}.Read(formatFile)
	if errors.Is(err, fs.ErrNotExist) {
		for _, files := range []string{"sessions/*.json", "inbox/*", "chats/*.json"} {
			if found, err := fs.Glob(os.DirFS(dir), files); err != nil || len(found) > 0 {
				return upgrade.Oldest, err
			}
		}
		return 0, nil
	}
	n := 0
	if err == nil {
		n, err = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s has no version of the folder, so it is not known which ccbot wrote the folder; nothing was changed: if it was this one, write %d into that file; if it was an older one, delete the file",
			filepath.Join(dir, formatFile), Format)
	}
	return n, nil
}

// CheckFormat returns why this ccbot cannot read the folder. It changes nothing.
func CheckFormat(dir string) error {
	n, err := Upgradable(dir)
	if err == nil && n != 0 && n != Format {
		err = fmt.Errorf("an older ccbot wrote the folder %s (version %d of the folder): restart ccbot, or run `ccbot recover`, which brings the folder to version %d", dir, n, Format)
	}
	return err
}

// Upgradable returns the version of a folder that this ccbot reads or brings up to date, or why it
// does neither. It changes nothing.
func Upgradable(dir string) (int, error) {
	n, err := ReadFormat(dir)
	switch {
	case err != nil:
		return 0, err
	case n > Format:
		return 0, fmt.Errorf("a newer ccbot wrote the folder %s (version %d of the folder, and this ccbot reads %d): use that ccbot or a later one, or set CCBOT_DIR to another folder; nothing was changed", dir, n, Format)
	case n != 0 && n < upgrade.Oldest:
		return 0, fmt.Errorf("the folder %s has version %d, which no released ccbot wrote: use the ccbot that wrote it, or set CCBOT_DIR to another folder; nothing was changed", dir, n)
	}
	return n, nil
}

// bringUpToDate makes the folder one of this version. The caller holds the lock.
func bringUpToDate(dir string, log *slog.Logger) error {
	n, err := Upgradable(dir) // the previous holder of the lock may have been newer
	if err != nil {
		return err
	}
	for ; n != 0 && n < Format; n++ {
		if err := upgrade.Step(dir, n, log); err != nil {
			return err
		}
		if err := noteFormat(dir, n+1); err != nil {
			return err
		}
	}
	if n == 0 {
		return noteFormat(dir, Format)
	}
	return nil
}

func noteFormat(dir string, version int) error {
	return spool.Folder{Path: dir, Fsync: true}.Put(formatFile, []byte(strconv.Itoa(version)+"\n"))
}
