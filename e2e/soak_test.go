//go:build bench

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soakPace is the time between the starts of two rounds of turns.
const soakPace = 5 * time.Second

// TestSoak lets ten agents answer for the time of CCBOT_SOAK, such as 1h, and measures by how much
// the memory of ccbot and of the tmux server and the state folder grow with the turns.
// CCBOT_SOAK_REPORT is the document whose section it writes.
func TestSoak(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("CCBOT_SOAK"))
	if err != nil {
		t.Skip("CCBOT_SOAK is not set")
	}
	b := &bench{T: t, samples: make(map[string][]float64)}
	c := b.newCrowd(10)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(c.dir), ".tmux.conf"), []byte(scrollback), 0o600))
	c.start()
	c.open(len(c.people))
	figures := []struct {
		name  string
		value func() float64 // in KB
		line
	}{
		{name: "memory of ccbot", value: func() float64 { return memory(c.pid()) * 1024 }},
		{name: "memory of the tmux server", value: func() float64 { return memory(c.server) * 1024 }},
		{name: "state folder", value: func() float64 { return bytesBelow(t, c.state) / 1024 }},
		{name: "state folder without `inbox/*.done` and `prompts/*.delivered`", value: func() float64 { return bytesBelow(t, c.state, ".done", ".delivered") / 1024 }},
		{name: "Claude Code's transcripts", value: func() float64 { return bytesBelow(t, filepath.Join(c.claude, "projects")) / 1024 }},
		{name: "log at the level `info`", value: func() float64 { return float64(len(c.bot.log.String())) / 1024 }},
	}
	turns, began := 0, time.Now()
	for round := 0; time.Since(began) < long; round++ {
		since := time.Now()
		for i, p := range c.people {
			p.Send(p.ID(), fmt.Sprintf("say t%d-%d-", round, i))
		}
		for i, p := range c.people {
			word := fmt.Sprintf("t%d-%d-", round, i)
			c.came(since, word, shows(p, word))
		}
		turns += len(c.people)
		if time.Since(began) > long/4 { // after the caches are full
			for i := range figures {
				figures[i].add(float64(turns), figures[i].value())
			}
		}
		time.Sleep(time.Until(since.Add(soakPace)))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d turns of %d agents in %d minutes, measured after the first quarter. `make soak` writes this.\n\n", turns, len(c.people),
		int(time.Since(began).Minutes()))
	text.WriteString("| | begin, MB | end, MB | growth, KB per 1,000 turns |\n|---|---:|---:|---:|\n")
	for _, f := range figures {
		fmt.Fprintf(&text, "| %s | %.1f | %.1f | %.0f |\n", f.name, f.first/1024, f.last/1024, 1000*f.slope())
	}
	text.WriteString("\nThe state folder keeps a handled message (`inbox/*.done`) for an hour, because Telegram may send it again, " +
		"and the end of a prompt (`prompts/*.delivered`) for two days or more.\n")
	t.Log(text.String())
	if path := os.Getenv("CCBOT_SOAK_REPORT"); path != "" {
		writeSection(t, path, "Soak", text.String())
	}
	c.stop()
}

// line is a series of points, whose slope is that of least squares.
type line struct{ n, sumX, sumY, sumXX, sumXY, first, last float64 }

func (l *line) add(x, y float64) {
	if l.n == 0 {
		l.first = y
	}
	l.n, l.sumX, l.sumY, l.sumXX, l.sumXY, l.last = l.n+1, l.sumX+x, l.sumY+y, l.sumXX+x*x, l.sumXY+x*y, y
}

func (l *line) slope() float64 {
	return (l.n*l.sumXY - l.sumX*l.sumY) / (l.n*l.sumXX - l.sumX*l.sumX)
}

// bytesBelow returns the size of a folder's files, except those with one of the extensions. Files
// removed during the call do not count.
func bytesBelow(t *testing.T, dir string, except ...string) (n float64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(except, filepath.Ext(d.Name())) {
			return nil //nolint:nilerr // it went meanwhile
		}
		if info, err := d.Info(); err == nil {
			n += float64(info.Size())
		}
		return nil
	})
	require.Positive(t, n)
	return n
}
