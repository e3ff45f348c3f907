package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
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

// ReadFormat is the version of a folder, 0 for a folder that has none, because it is new.
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
		return 0, fmt.Errorf("%s has no version of the folder, so it is not known which ccbot wrote the folder; nothing was changed", filepath.Join(dir, formatFile))
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
