package spool

import (
	"errors"
	"os"
)

// SyncFolder makes the names in a folder survive a power cut, and closes the folder. Its parameters
// are the results of opening the folder: SyncFolder(os.Open(path)), or SyncFolder(root.Open(".")).
func SyncFolder(folder *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
