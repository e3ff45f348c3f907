package running

import (
	"context"
	"errors"
	"log/slog"

	"ccbot/bot/conversation"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// noteCursors brings the positions that the chat has stored into the records, whose own are as of
// their last save. It runs before anything depends on what the chat has. The record of an ended
// session is saved with its position, and the chat's copy goes.
func noteCursors(ctx context.Context, store *session.Store, engine talk.CursorStore, chats *conversation.Store, log *slog.Logger) {
	for id, all := range chats.Cursors().All() {
		var failed error
		for _, at := range all {
			if r, ok := store.Get(id); ok && r.Shown(at) { // the record may have a later one
				failed = errors.Join(failed, engine.Advance(ctx, id, at))
			}
		}
		if r, ok := store.Get(id); failed == nil && ok && !r.State.Live() {
			failed = chats.Cursors().Drop(id)
		}
		if failed != nil { // the next start tries again
			log.Error("cursor_not_saved", logkey.SessionID, id.String(), logkey.Error, failed)
		}
	}
}
