//go:build bench

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// households measures several numbers of sessions; each is a point of a curve.
func (b *bench) households() {
	for _, n := range size([]int{1, 10, 100, 300}, []int{10}) {
		b.household(n)
	}
}

// household measures n idle sessions for a minute, their list, and a restart.
func (b *bench) household(n int) {
	c := b.newCrowd(min(n, 10))
	c.start()
	c.open(n)
	c.rest()
	b.sample(fmt.Sprint("memory ", n), memory(c.pid()))
	files, spawned := c.files(), c.spawned()
	bot, tmux := processor(c.pid()), processor(c.server)
	time.Sleep(size(time.Minute, 10*time.Second))
	minutes := size(1.0, 6)
	b.sample(fmt.Sprint("idle ", n), (processor(c.pid())-bot+processor(c.server)-tmux)*1000*minutes)
	b.sample(fmt.Sprint("growth ", n), memory(c.pid())-memoryOf(b, n))
	written := 0
	for name, state := range c.files() {
		if files[name] != state {
			written++
		}
	}
	b.sample(fmt.Sprint("files ", n), float64(written))
	if fmt.Sprint(spawned) != fmt.Sprint(c.spawned()) {
		b.sample(fmt.Sprint("processes ", n), 1)
	} else {
		b.sample(fmt.Sprint("processes ", n), 0)
	}
	b.list(c, fmt.Sprint("list ", n))
	if n == 100 {
		b.systemCalls(c)
	}
	c.stop()
	b.restart(c, fmt.Sprint(" ", n))
	c.stop()
}

// systemCalls counts system calls in an idle minute, if strace is installed.
func (b *bench) systemCalls(c *crowd) {
	c.rest()
	told := filepath.Join(benchFolder, "calls-of-"+b.side+".txt")
	cmd := exec.Command("strace", "-f", "-c", "-U", "calls,name", "-o", told, "-p", itoa(c.pid()))
	if err := cmd.Start(); err != nil {
		b.Log(err)
		return
	}
	time.Sleep(time.Minute)
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait() // it ends by the signal
	data, err := os.ReadFile(told)
	require.NoError(b, err)
	b.Logf("system calls of an idle minute:\n%s", data)
	if m := regexp.MustCompile(`(?m)^\s*(\d+) total`).FindSubmatch(data); m != nil {
		n, _ := strconv.ParseFloat(string(m[1]), 64) // the pattern has digits only
		b.sample("calls 100", n)
	}
}

// memoryOf is the last sample of the memory of a household.
func memoryOf(b *bench, n int) float64 {
	all := b.samples[fmt.Sprint(b.side, " memory ", n)]
	return all[len(all)-1]
}

// list asks for the list of the sessions.
func (b *bench) list(c *crowd, figure string) {
	for i := range size(3, 1) {
		p := c.people[i%len(c.people)]
		time.Sleep(time.Second) // the chat's pace
		began := time.Now()
		p.Send(p.ID(), "/list")
		b.sample(figure, ms(c.came(began, "the list", shows(p, "")).At.Sub(began)))
	}
}

// longestTurn returns the length of a turn in a busy household.
func longestTurn() time.Duration { return size(30*time.Second, 10*time.Second) }

// busy makes all sessions write ten lines a second, and measures how the chats show the current
// ones. It starts when each session has its card: before that the cards use up Telegram's pace.
func (b *bench) busy() {
	n := size(100, 20)
	binaries = profiled(binaries)
	c := b.newCrowd(10, withCards)
	profile := filepath.Join(benchFolder, b.side)
	c.start("CCBOT_BENCH_PROFILE=" + profile)
	c.open(n, "slow 600") // the turn outlives the measurement
	c.until("all have begun", func() bool { return len(lines[struct{}](b, c.sent)) == n })
	marked := make(map[string]time.Time)
	const steps = 3 // of each turn, so that it has a card
	for i := range c.sessions {
		for turn := range steps {
			c.work(i, turn, marked)
		}
	}
	c.rest()
	time.Sleep(2 * time.Second) // the chats may send again
	forgetPeak(c.pid())
	bot, tmux, began := processor(c.pid()), processor(c.server), time.Now()
	require.NoError(b, syscall.Kill(c.pid(), syscall.SIGUSR1))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for turn := steps; time.Since(began) < longestTurn(); turn++ {
		<-tick.C
		for i := range c.sessions {
			c.work(i, turn, marked)
		}
	}
	took := time.Since(began).Seconds()
	b.sample("busy bot", (processor(c.pid())-bot)/took)
	b.sample("busy tmux", (processor(c.server)-tmux)/took)
	b.sample("busy memory", peak(c.pid()))
	require.NoError(b, syscall.Kill(c.pid(), syscall.SIGUSR2))
	for word, at := range marked {
		sent := c.came(at, word, func(call botapi.Call) bool { return strings.Contains(call.Params["text"], word) })
		b.sample("busy answer", ms(sent.At.Sub(at)))
	}
	b.Logf("profiles: %s.*.pprof; calls: %v", profile, c.methods(began))
	c.stop()
}

// work writes the output of a session's turn: mostly tool calls and results, and one text a second
// in the background, or one in five seconds if a chat shows it.
func (c *crowd) work(i, turn int, marked map[string]time.Time) {
	s := &c.sessions[i]
	current := i >= len(c.sessions)-len(c.people)
	switch {
	case current && (turn+5*i)%50 == 49:
		word := fmt.Sprintf("said-%d-%d-", i, turn)
		marked[word] = s.append(c.t, s.line("assistant", text(word), "tool_use"))
	case !current && (turn+i)%10 == 9:
		s.append(c.t, s.line("assistant", text(fmt.Sprintf("I go on with step %d", turn)), "tool_use"))
	case turn%2 == 0:
		s.append(c.t, s.line("assistant", []any{map[string]any{"type": "tool_use", "name": "Bash",
			"id": fmt.Sprint("toolu_", i, "_", turn), "input": map[string]string{"command": "go test ./...", "description": "Run the tests"}}}, "tool_use"))
	default:
		s.append(c.t, s.line("user", []any{map[string]any{"type": "tool_result",
			"tool_use_id": fmt.Sprint("toolu_", i, "_", turn-1), "content": strings.Repeat("ok  \tccbot/some/package\t0.1s\n", 70)}}, nil))
	}
}

// methods counts the calls since a time.
func (c *crowd) methods(since time.Time) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]int)
	for _, call := range c.calls {
		if call.At.After(since) {
			all[call.Method]++
		}
	}
	return all
}
