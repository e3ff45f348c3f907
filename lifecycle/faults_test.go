package lifecycle

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/agent/claude/presence"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/tmux/tmuxtest"
)

// faultySession has a prompt in its queue when the faults begin. Its agent takes the prompt.
type faultySession struct {
	w *world
	r session.Record
	a *agent
}

func (f *faultySession) Begin(t *testing.T) string {
	base := t.TempDir()
	f.w = newWorld(t, base)
	f.w.run()
	f.r, f.a = f.w.started()
	f.a.set(func(a *agent) { a.status = presence.Busy })
	f.w.held(f.r, "k", viewtest.Said)
	f.w.pass(time.Second)
	return filepath.Join(base, "state")
}

func (f *faultySession) Act(t *testing.T) {
	f.a.set(func(a *agent) { a.status = presence.Idle })
	f.w.WakeAll()
	synctest.Wait()
	e := f.w.event(f.r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
	go func() { // as hooks.Events does
		for f.w.HookEvent(f.w.ctx, e) != nil {
			time.Sleep(5 * time.Second)
		}
	}()
}

func (f *faultySession) Check(t *testing.T) {
	assert.Equal(t, []string{viewtest.Said}, f.a.heard(), f.w.logged())
	assert.Equal(t, typing.PromptState("finished"), f.w.prompts.state("k"), f.w.logged())
	assert.Empty(t, f.w.get(f.r.ID).Prompts, f.w.logged())
}

func TestP4_SessionsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return &faultySession{} })
}

// TestP8_StepsOutliveLongFault: a fault that lasted for an hour costs a session at most five
// seconds more. Only the steps themselves try again: the agent is gone.
func TestP8_StepsOutliveLongFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faultySession{}
		heal := disktest.FailAll(t, "create", filepath.Join(f.Begin(t), "sessions"))
		f.w.tmux.die(f.a, tmuxtest.Exit{Status: 0})
		f.w.WakeAll()
		time.Sleep(time.Hour)
		heal()
		time.Sleep(disktest.HealTime)
		synctest.Wait()
		assert.Equal(t, session.Completed, f.w.get(f.r.ID).State, f.w.logged())
	})
}
