package answer

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat"
	"ccbot/port/talk"
)

func TestP5_RereadingOnePlaceIsSlow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		moves bool
		most  int // passes in an hour
	}{{"the cursor stands", false, 130}, {"the cursor moves", true, 1000}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reader := transcriptReader{answers: New(Deps{Chat: &chat.Chat{Log: slog.New(slog.DiscardHandler)}})}
				at := talk.Cursor{Path: "t"}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				passes := 0
				for ; ctx.Err() == nil && passes < 1000; passes++ {
					reader.waitToRetry(ctx, at, errReadAgain)
					if tt.moves {
						at.Offset++
					}
				}
				assert.LessOrEqual(t, passes, tt.most)
				if tt.moves {
					assert.Equal(t, tt.most, passes, "nothing waits")
				}
			})
		})
	}
}
