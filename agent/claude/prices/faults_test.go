package prices

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
)

// turnsOfPrices reads a person's own prices.
func turnsOfPrices() *disktest.Turns {
	var path string
	var table Table
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			path = filepath.Join(t.TempDir(), "prices.json")
			require.NoError(t, os.WriteFile(path, []byte(`{"date":"2026-01-02","source":"mine","models":{}}`), 0o600))
			return filepath.Dir(path)
		},
		Turn: func() (err error) {
			table, err = Open(path)
			if len(table.Models) == 0 {
				table.Source = "the built-in prices are missing"
			}
			return err
		},
		Done: func(t *testing.T) { assert.Equal(t, "mine", table.Source) },
	}
}

func TestP8_PricesOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfPrices() })
}
