package seal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"ccbot/fleet/life"
	"ccbot/internal/spool"
)

// EpochFile stores the epoch of a link as an item of a folder that has Fsync, and the lives of the other end as
// another one.
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

// Known returns the stored lives.
func (f EpochFile) Known() (k life.Known, err error) {
	data, err := f.Folder.Read(f.lives())
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil {
		return k, fmt.Errorf("read the lives: %w", err)
	}
	return k, nil
}

// SetKnown stores lives.
func (f EpochFile) SetKnown(k life.Known) error {
	data, err := json.Marshal(k)
	if err == nil {
		err = f.Folder.Put(f.lives(), data)
	}
	if err != nil {
		return fmt.Errorf("write the lives: %w", err)
	}
	return nil
}

func (f EpochFile) lives() string { return f.Name + "-lives" }
