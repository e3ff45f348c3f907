package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// crashing kills ccbot at each step of starts, prompts, ends and resumes.
func crashing() life {
	return life{"crashing", []testCase{
		{"kill -9 at a start", func(b *bench) {
			for i, point := range []string{"start-recorded", "window-begun", "bound"} {
				name := fmt.Sprintf("s%d", i)
				b.dies(point, func() { b.Open(name) }, func(mark int) { b.isReady(mark, name) })
			}
		}},
		{"kill -9 at a prompt", func(b *bench) {
			for _, point := range []string{"accepted", "prompt-offered", "typing-marked", "pasted", "entered", "prompt-finished", "prompt-ended"} {
				if point == "pasted" && b.Delivers {
					continue
				}
				said := "token at " + point
				b.dies(point, func() { b.Say("say " + said) }, func(mark int) {
					b.WaitFor(mark, said)
					assert.Equal(b.t, 1, b.Received("say "+said), "P4: once")
					assert.LessOrEqual(b.t, b.Count(said), 2, "P5: a crash repeats a part once at most")
					assert.Zero(b.t, b.Count("not certain that"))
				})
			}
		}},
		{"kill -9 at an end", func(b *bench) {
			for i, point := range []string{"stop-recorded", "ended", "news-saved"} {
				name := fmt.Sprintf("s%d", i)
				agent := b.agent(name)
				b.dies(point, func() { b.Tap(b.Say("/kill "+name), "Kill") }, func(mark int) {
					b.WaitFor(mark, name+" is archived")
					assert.False(b.t, b.Alive(agent), "P3: archive means dead")
				})
			}
		}},
		{"kill -9 at a resume", func(b *bench) {
			for i, point := range []string{"restore-recorded", "window-begun", "bound"} {
				name := fmt.Sprintf("s%d", i)
				b.dies(point, func() { b.Say("/resume " + name) }, func(mark int) { b.isReady(mark, name) })
			}
		}},
		{"cursor", (*bench).continues},
	}}
}

func (b *bench) isReady(mark int, name string) {
	b.t.Helper()
	b.WaitFor(mark, name+" is ready")
	b.agent(name)
	b.prompt("after the crash, " + name)
}

// dies kills ccbot at a failpoint, starts it again and looks at the result. mark is a message
// before the crash.
func (b *bench) dies(point string, do func(), after func(mark int)) {
	b.t.Helper()
	outer := b.t
	outer.Run(point, func(t *testing.T) {
		b.t = t
		b.As(t, func() {
			b.Stop()
			file := filepath.Join(t.TempDir(), "reached")
			b.Start("CCBOT_FAILPOINT="+point, "CCBOT_FAILFILE="+file)
			mark := b.Mark()
			do()
			b.Until("the point is reached", func() bool { _, err := os.Stat(file); return err == nil })
			b.Crash()
			b.Start()
			after(mark)
		})
	})
	b.t = outer
}

// continues lets the agent answer at the terminal while no ccbot runs: the answer comes once.
func (b *bench) continues() {
	const name = "s2"
	b.prompt("before the pause")
	b.Stop()
	b.Type(name, "say during the pause")
	b.Press(name, "Enter")
	b.Until("the agent has answered", func() bool { return b.Received("say during the pause") == 1 })
	mark := b.Mark()
	b.Start()
	b.WaitFor(mark, "during the pause")
	b.Stop()
	b.Start()
	b.prompt("after the pause")
	assert.Equal(b.t, 1, b.Count("during the pause"), "P5: once, and none twice")
	assert.Equal(b.t, 1, b.Count("before the pause"))
}
