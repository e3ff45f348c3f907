package membudget

import (
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

func TestBudget(t *testing.T) {
	const (
		v1 = "25 20 0:22 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n"
		v2 = "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	)
	none := int64(math.MaxInt64)
	for _, tt := range []struct {
		name    string
		goLimit int64
		files   map[string]string
		want    int64
	}{
		{"nothing is known", none, nil, Most},
		{"GOMEMLIMIT", 40 << 20, nil, 10 << 20},
		{"little memory", none, map[string]string{"proc/meminfo": "MemTotal:      131072 kB\nMemFree:  1 kB\n"}, 32 << 20},
		{"much memory", none, map[string]string{"proc/meminfo": "MemTotal:      24684012 kB\n"}, Most},
		{"version 1", none, map[string]string{"proc/self/cgroup": "9:cpu:/x\n4:cpuset,memory:/a/b\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "67108864\n"}, 16 << 20},
		{"version 1 without a limit", none, map[string]string{"proc/self/cgroup": "4:memory:/a\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, Most},
		{"version 2", none, map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/memory.max": "50331648\n"}, 12 << 20},
		{"the group above has the limit", none, map[string]string{"proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/b/c/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "67108864\n"}, 16 << 20},
		{"both versions", none, map[string]string{"proc/self/cgroup": "4:memory:/a\n0::/b\n", "proc/self/mountinfo": v1 + v2,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "134217728\n", "sys/fs/cgroup/b/memory.max": "100000000\n"}, 25_000_000},
		{"a container that shows its own group only", none, map[string]string{"proc/self/cgroup": "4:memory:/docker/1f\n",
			"proc/self/mountinfo":                        "25 20 0:22 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "67108864\n"}, 16 << 20},
		{"a path of the host", none, map[string]string{"proc/self/cgroup": "0::/../../system.slice/x\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "67108864\n"}, 16 << 20},
		{"the smallest counts", 48 << 20, map[string]string{"proc/meminfo": "MemTotal: 1048576 kB\n", "proc/self/cgroup": "0::/\n",
			"proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "67108864\n"}, 12 << 20},
		{"damaged files", none, map[string]string{"proc/meminfo": "MemTotal:\n", "proc/self/cgroup": "x\n::\n4:memory\n",
			"proc/self/mountinfo": "x - y\n\n"}, Most},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			assert.Equal(t, tt.want, Budget(root, tt.goLimit))
		})
	}
}
