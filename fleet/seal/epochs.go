package seal

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"ccbot/internal/spool"
)

// EpochFile stores the epoch of a link as an item of a folder that has Fsync.
type EpochFile struct {
	Folder spool.Folder
	Name   string
}

// Epoch returns the stored number. A damaged file is an error, because with a lower number old
// messages would be opened.
func (f EpochFile) Epoch() (uint64, error) {
	data, err := f.Folder.Read(f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the epoch: %w", err)
	}
	epoch, err := strconv.ParseUint(string(data), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the epoch: %w", err)
	}
	return epoch, nil
}

// SetEpoch stores a number.
func (f EpochFile) SetEpoch(epoch uint64) error {
	if err := f.Folder.Put(f.Name, []byte(strconv.FormatUint(epoch, 10))); err != nil {
		return fmt.Errorf("write the epoch: %w", err)
	}
	return nil
}
