package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
)

// turnsOfLedger reads one transcript, which then goes, and another one.
func turnsOfLedger() *disktest.Turns {
	var d *fixture
	read := func(want int) error {
		b, _, err := d.Read(context.Background())
		if err == nil && len(b.Files) != want {
			err = errors.New("a transcript was not counted")
		}
		return err
	}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			d = newFixture(t)
			data, err := os.ReadFile("testdata/projects/-home-a-other/11111111-1111-4111-8111-111111111111.jsonl")
			require.NoError(t, err)
			d.put("-a/11111111-1111-4111-8111-111111111111.jsonl", string(data), noon)
			require.NoError(t, read(1))
			require.NoError(t, os.RemoveAll(filepath.Join(d.projects, "-a")))
			d.put("-b/22222222-2222-4222-8222-222222222222.jsonl", string(data), noon)
			return d.folder.Path
		},
		Turn: disktest.InOrder(func() error { return read(2) }, func() error { return read(2) }),
		Done: func(t *testing.T) {
			d.again()
			assert.NoError(t, read(2), "what was counted outlives its transcript")
		},
	}
}

func TestP8_UsageOutlivesFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfLedger() })
}
