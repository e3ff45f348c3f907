package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/loop"
	"ccbot/port"
)

// loopKillsEnv is the number of kills in the long form, whose loop has 30 iterations.
const loopKillsEnv = "CCBOT_LOOP_KILLS"

// TestP4_LoopOutlivesRandomKills kills the program at random moments while a loop runs: no prompt
// comes twice, none is left out, there is no second loop, and nothing of a check stays.
func TestP4_LoopOutlivesRandomKills(t *testing.T) {
	t.Parallel()
	wanted, iterations := 6, 4
	if text := os.Getenv(loopKillsEnv); text != "" {
		var err error
		wanted, err = strconv.Atoi(text)
		require.NoError(t, err)
		iterations = 30
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	enough := filepath.Join(w.dir, "enough-kills") // the last check waits for it
	term.says(fmt.Sprintf("ccbot loop start work 'say I try' --check 'sleep 600 & sleep 0.3; n=$(grep -c . %s); echo prompts: $n; [ $n -ge %d ] || exit 1; until [ -e %s ]; do sleep 0.1; done' --max-turns %d",
		w.sent, iterations, enough, 2*iterations))
	seen := make(map[process.Identity]bool)
	kills, early, resumed, began := 0, 0, 0, time.Now()
	for {
		all := w.loops()
		require.Len(t, all, 1, "there is no second loop")
		l := all[0]
		for _, id := range l.Processes {
			seen[id] = true
		}
		if !l.State.Live() {
			break
		}
		if l.State == port.LoopPaused { // too many kills came during one check
			require.Equal(t, port.WhyCheckCut, l.Reason, l.Detail)
			w.until("ccbot is ready", func() bool { return strings.Contains(w.bot.log.String(), "msg=ready") })
			term.says("ccbot loop resume work")
			resumed++
		}
		if kills == wanted {
			require.NoError(t, os.WriteFile(enough, nil, 0o600))
			time.Sleep(100 * time.Millisecond)
			continue
		}
		life := 5 * time.Second // the kills keep pace with the iterations
		if kills*iterations < l.Iteration*wanted {
			life = 2 * time.Second
		}
		time.Sleep(time.Duration(random.Int64N(int64(life))))
		if !strings.Contains(w.bot.log.String(), "msg=ready") {
			early++
		}
		w.kill9()
		kills++
		w.launch()
	}
	l := w.newestLoop("is over", func(l loop.Loop) bool { return !l.State.Live() && len(l.Processes) == 0 })
	assert.Equal(t, []any{port.LoopDone, iterations, iterations}, []any{l.State, l.Iteration, l.Used.Turns}, "%s %s", l.Reason, l.Detail)
	assert.Equal(t, wanted, kills, "the loop was over before")
	received := w.received()
	twice, missing := 0, 0
	for n := range iterations {
		found := 0
		for _, text := range received {
			if first := n == 0 && text == "say I try"; first || n > 0 && strings.Contains(text, fmt.Sprintf("\nprompts: %d\n", n)) {
				found++
			}
		}
		twice += max(0, found-1)
		missing += max(0, 1-found)
	}
	assert.Len(t, received, iterations)
	assert.Equal(t, []int{0, 0}, []int{twice, missing}, "prompts that came twice, and that are missing")
	for id := range seen {
		assert.Equal(t, process.Gone, w.table.Liveness(id), id)
	}
	t.Logf("seed %d: %d kills, %d of them before ccbot was ready, %d iterations, %d prompts, %d twice, %d left out, %d loops, %d processes of checks, all gone, %d pauses; %s",
		seed, kills, early, iterations, len(received), twice, missing, len(w.loops()), len(seen), resumed, time.Since(began).Round(time.Second))
}
