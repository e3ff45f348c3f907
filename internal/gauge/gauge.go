package gauge

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/process"

	files "ccbot/internal/disk"
)

// Booted returns the machine's boot time, to the second.
func Booted(ctx context.Context) (time.Time, error) {
	seconds, err := host.BootTimeWithContext(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("boot time: %w", err)
	}
	if seconds == 0 || seconds > math.MaxInt32*2 {
		return time.Time{}, fmt.Errorf("boot time: invalid value %d", seconds)
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// Memory is the resident memory of a process without its children, in bytes. Pages that it shares
// with other processes count in full.
func Memory(ctx context.Context, pid int) (bytes uint64, err error) {
	if pid <= 0 || pid > math.MaxInt32 {
		return 0, fmt.Errorf("memory of process %d: not a process id", pid)
	}
	p := process.Process{Pid: int32(pid)}
	info, err := p.MemoryInfoWithContext(ctx)
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	return info.RSS, nil
}

// Sum returns the memory of the processes in bytes, without those that have ended.
func Sum(ctx context.Context, pids ...int) (bytes uint64) {
	for _, pid := range pids {
		one, _ := Memory(ctx, pid)
		bytes += one
	}
	return bytes
}

// Files returns the size of all files below a folder, in bytes. A file that is removed during the
// walk does not count.
func Files(dir string) (bytes uint64) {
	_ = files.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += uint64(max(info.Size(), 0))
		}
		return nil
	})
	return bytes
}

// Space is the space of a disk, in bytes.
type Space struct {
	Free  uint64 // for this user
	Total uint64
}

// Disk is the room of the disk that a path is on.
func Disk(ctx context.Context, path string) (Space, error) {
	usage, err := disk.UsageWithContext(ctx, path)
	if err != nil {
		return Space{}, fmt.Errorf("room of the disk of %s: %w", path, err)
	}
	return Space{Free: usage.Free, Total: usage.Total}, nil
}

// leastFree is the free space that a disk should have, or two percent of the disk if that is more.
const leastFree = 1 << 30

// Low reports whether a disk is almost full, and High whether it clearly is not. Between the two
// both are false, so that small changes do not toggle the state.
func (r Space) Low() bool { return r.Free < r.least() }

// High is there with Low.
func (r Space) High() bool { return r.Free > r.least()+r.least()/4 }

func (r Space) least() uint64 { return max(leastFree, r.Total/50) }

// Load returns the load of the last minute, for each processor; 0: unknown.
func Load(ctx context.Context) float64 {
	now, err := load.AvgWithContext(ctx)
	if err != nil {
		return 0
	}
	return now.Load1 / float64(runtime.NumCPU())
}
