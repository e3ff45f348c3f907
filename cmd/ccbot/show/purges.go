package show

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/session"
)

// PurgesOf describes records that are due after that time, or were removed because of their age.
func PurgesOf(all []archive.Aged, records []session.Record, now time.Time, after time.Duration, what, next string) (purges []Purge) {
	names := make(map[uuid.UUID]string)
	for _, r := range records {
		names[r.ID] = r.Name
	}
	for _, aged := range all {
		old := now.Sub(aged.Ended)
		purges = append(purges, Purge{ID: aged.ID, Name: names[aged.ID], Ended: aged.Ended, Age: old.Seconds(),
			Why: fmt.Sprintf("%s: ended %s ago (ARCHIVE_PURGE_AFTER %s)%s", what, terminal.Age(old), terminal.Age(after), next)})
	}
	return purges
}
