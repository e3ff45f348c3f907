package spool

import (
	"errors"
	"os"
	"testing"
)

// SyncFolder makes the names in a folder survive a power cut, and closes the folder. Its parameters
// are the results of opening the folder: SyncFolder(os.Open(path)), or SyncFolder(root.Open(".")).
func SyncFolder(folder *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(flush(folder), folder.Close())
}

// flush waits until the disk has a file or a folder as it is now. No test cuts the power, and tests write so often that
// most of their time went into these waits: in a test nothing is waited for.
func flush(f *os.File) error {
	if testing.Testing() {
		return nil
	}
	return f.Sync()
}
