package ccbot_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lifetimes has the limits in the column "Removed" of the table of files, each with the constant of
// the program and its value. e2e.TestFilesTableHasLifetimes tries some of them.
var lifetimes = []struct{ row, limit, constant, value string }{
	{"inbox/", "`.done` an hour later", "bot/inbox.forgotten", "time.Hour"},
	{"inbox/", "of prompts not from Telegram 48 hours", "bot/inbox.redelivery", "48 * time.Hour"},
	{"prompts/", "the outcome 48 hours later", "internal/prompts.tombstoneTTL", "48 * time.Hour"},
	{"cards/", "an hour after they are closed", "bot/card.keepClosed", "time.Hour"},
	{"changes/", "newest 20 of a session", "host.keptMoments", "20"},
	{"changes/", "above 128 MiB", "host.maxMoments", "128 << 20"},
	{"asks/", "a week after their end", "bot/ask.keep", "7 * 24 * time.Hour"},
	{"events/", "after 7 days", "hooks.keepEvents", "7 * 24 * time.Hour"},
	{"usage/", "older than 40 days", "internal/ledger.kept", "40 * 24 * time.Hour"},
	{"backups/", "all but the newest ten", "recovery.backupsKept", "10"},
	{"backups/", "of `purged/` after 7 days", "recovery.PurgedFor", "7 * 24 * time.Hour"},
	{"quarantine/", "above 200", "hooks.maxRejected", "200"},
	{"quarantine/", "or 16 MiB", "hooks.maxRejectedBytes", "16 << 20"},
}

// TestFilesTableHasLimitsOfProgram compares the column with the constants, in both directions.
func TestFilesTableHasLimitsOfProgram(t *testing.T) {
	values := constants(t)
	removed := make(map[string]string)
	_, section, found := strings.Cut(pages(t)["docs/configuration.md"], "\n## Files\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) == 5 && strings.HasPrefix(line, "| `") {
			removed[strings.Trim(cells[0], "|` ")] = cells[3]
		}
	}
	for _, l := range lifetimes {
		assert.Equal(t, l.value, values[l.constant], "%s, which the row of %s names", l.constant, l.row)
		assert.Contains(t, removed[l.row], l.limit, "the row of %s has the value of %s", l.row, l.constant)
		removed[l.row] = strings.Replace(removed[l.row], l.limit, "", 1)
	}
	for row, rest := range removed {
		assert.NotRegexp(t, regexp.MustCompile(`\d|\bten\b|\ban? (hour|day|week)`), rest, "the row of %s has a limit without a constant", row)
	}
}
