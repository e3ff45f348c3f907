package files

import (
	"context"
	"path"
	"slices"

	"ccbot/bot/inbox"
	"ccbot/internal/guard"
	"ccbot/internal/logkey"
	"ccbot/port/folders"
	"ccbot/port/news"
)

// Received removes the files from people that no prompt needs.
type Received struct {
	Files   folders.Received
	Entries interface{ List() ([]inbox.Entry, error) }
}

// remove removes those of the due files that no prompt waits with. A machine that does not answer
// asks again.
func (s *Files) remove(due news.FilesDue) {
	s.group.Add(func(ctx context.Context) {
		err := guard.Call(func() error {
			entries, err := s.received.Entries.List()
			if err != nil { // one that was not read may need a file
				return err
			}
			for _, e := range entries {
				due.Names = slices.DeleteFunc(due.Names, func(name string) bool {
					return slices.ContainsFunc(e.Files, func(file string) bool { return path.Base(file) == name })
				})
			}
			if len(due.Names) == 0 {
				return nil
			}
			return s.received.Files.Discard(ctx, due.Dir, due.Names)
		})
		if err != nil && ctx.Err() == nil {
			s.chat.Log.Info("inbox_not_cleaned", logkey.Error, err)
		}
	})
}
