package inbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

const (
	numbersName = "numbers" // the file of the reserved number

	// reserve is how many numbers a write reserves. A crash skips those that were not used.
	reserve = 1000
)

// numbers are the numbers of offers. The engines remember them, so none may be used again. Each
// start continues at the time in milliseconds, if that is higher: a folder that was restored from
// an older copy does not know the numbers that were used since.
type numbers struct {
	last     int64
	reserved int64 // on disk: no number above it was used
}

// open reads the reserved number, which counts if the clock was set back.
func (n *numbers) open(f spool.Folder, log *slog.Logger) {
	data, err := f.Read(numbersName)
	if err == nil {
		err = json.Unmarshal(data, &n.reserved)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Error("file_unreadable", logkey.File, filepath.Join(filepath.Base(f.Path), numbersName), logkey.Error, err)
	}
	n.reserved = max(n.reserved, time.Now().UnixMilli())
	n.last = n.reserved
}

// next returns a number that was never used.
func (n *numbers) next(f spool.Folder) (int64, error) {
	if n.last >= n.reserved {
		data, err := json.Marshal(n.last + reserve)
		if err == nil {
			err = f.Put(numbersName, append(data, '\n'))
		}
		if err != nil {
			return 0, fmt.Errorf("reserve numbers for prompts: %w", err)
		}
		n.reserved = n.last + reserve
	}
	n.last++
	return n.last, nil
}
