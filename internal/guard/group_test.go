package guard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCrashedFunctionRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, crashes := 0, 0
		end := errors.New("the end")
		err := Keep(t.Context(), func() error {
			if runs++; runs < 4 {
				panic("at work")
			}
			return end
		}, func(*Panic) { crashes++ })
		assert.Equal(t, end, err)
		assert.Equal(t, 3, crashes)
	})
}

func TestCrewRunsAllAddedFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Group
		var ended []string
		crashes := 0
		worker := func(name string) func(context.Context) {
			return func(ctx context.Context) {
				if crashes == 0 {
					panic(name)
				}
				<-ctx.Done()
				ended = append(ended, name)
			}
		}
		c.Add(worker("early"))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx, func(*Panic) { crashes++ }) }()
		synctest.Wait()
		c.Add(func(ctx context.Context) { <-ctx.Done() })
		assert.Equal(t, 1, crashes)
		time.Sleep(lastRestart)
		stop()
		assert.NoError(t, <-done)
		assert.Equal(t, []string{"early"}, ended)
	})
}
