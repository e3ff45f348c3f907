package spool

import (
	"errors"
	"os"
)

// SyncFolder has the names in a folder survive a power cut, and closes the folder. It takes what opening the folder gave:
// SyncFolder(os.Open(path)), or SyncFolder(root.Open(".")).
func SyncFolder(folder *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
