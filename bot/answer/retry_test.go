package answer

import (
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestP5_WhatIsReadAgainAtTheSamePlaceIsNoHotLoop(t *testing.T) {
	for _, tt := range []struct {
		name  string
		moves bool
		most  int // passes in an hour
	}{{"the cursor stands", false, 130}, {"the cursor moves", true, 1000}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reader := transcriptReader{answers: New(Deps{})}
				at := talk.Cursor{Path: "t"}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				passes := 0
				for ; ctx.Err() == nil && passes < 1000; passes++ {
					reader.waitToRetry(ctx, views.Session{Cursors: []talk.Cursor{at}}, errReadAgain)
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

func TestANewPlaceIsTriedAtOnceAndToldAnew(t *testing.T) {
	at := func(offset int64) talk.Cursor { return talk.Cursor{Path: "t", Offset: offset} }
	var r retry
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		assert.Equal(t, want*time.Second, r.pauseAfter(at(1), errors.New("the disk is full")))
	}
	assert.Equal(t, time.Second, r.pauseAfter(at(2), errors.New("the disk is full")))
	assert.Zero(t, r.pauseAfter(at(3), errReadAgain))
	assert.Equal(t, time.Second, r.pauseAfter(at(3), errReadAgain))
}
