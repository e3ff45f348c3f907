//go:build bench

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// starts measures several sizes of archives; each is a point of a curve.
func (b *bench) starts() {
	for _, n := range size([]int{0, 1000, 3000, 10000}, []int{0, 3000}) {
		c := b.newCrowd(1)
		c.archived(n)
		c.start() // the first one makes the tmux server and asks the agent for its version
		c.stop()
		for range size(3, 2) {
			b.restart(c, fmt.Sprint(" archived ", n))
			b.list(c, fmt.Sprint("list archived ", n))
			time.Sleep(size(5*time.Second, time.Second)) // the memory of the start is given back
			b.sample(fmt.Sprint("memory archived ", n), memory(c.pid()))
			b.sample(fmt.Sprint("commands archived ", n), float64(c.commands()))
			c.stop()
		}
	}
}

// restart measures a start until the first poll for updates, and leaves the bot running.
func (b *bench) restart(c *crowd, figure string) {
	began := time.Now()
	c.launch()
	polled := c.came(began, "the first poll", func(call botapi.Call) bool { return strings.EqualFold(call.Method, "getUpdates") })
	b.sample("poll"+figure, ms(polled.At.Sub(began)))
	b.sample("start processor"+figure, processor(c.pid())*1000)
	c.until("ccbot is ready", func() bool { return strings.Contains(c.bot.log.String(), "msg=ready") })
}

// longID is Claude's id of the session with a long transcript.
var longID = uuid.MustParse("6ba7b810-9dad-41d1-80b4-00c04fd430c8")

// longTranscript resumes, pages and adopts a session with a transcript of 500 MB. The stand-in of
// Claude does not read it.
func (b *bench) longTranscript() {
	c := b.newCrowd(1, "DEMOAGENT_NO_HISTORY=1")
	c.past500(b)
	c.start()
	time.Sleep(size(5*time.Second, 2*time.Second)) // the memory of the start is given back
	p, before, read := c.people[0], memory(c.pid()), 0.0
	forgetPeak(c.pid())
	figure := func(name string, took time.Duration) {
		time.Sleep(4 * time.Second) // the chat's pace; memory used after the first use counts also
		all := number(c.pid(), "io", `rchar: (\d+)`) / 1e6
		b.sample(name+" 500 MB", ms(took))
		b.sample(name+" read 500 MB", all-read)
		read = all
	}
	read = number(c.pid(), "io", `rchar: (\d+)`) / 1e6

	began := time.Now()
	p.Send(p.ID(), "/resume long")
	c.came(began, "it is ready", shows(p, "long is ready"))
	figure("resume", c.agentSince(b).Sub(began))

	began = time.Now()
	p.Send(p.ID(), "/history")
	figure("history", c.came(began, "a page", shows(p, "")).At.Sub(began))

	c.end("long")
	d := c.ccbotTerminal()
	pane, _ := d.shell()
	d.enter(pane, "DEMOAGENT_NO_HISTORY=1 "+c.agentPath()+" --resume "+longID.String())
	offered := c.offered(0, "Connect")
	writers := c.writersOf(longID.String())
	c.endLater(writers[0])
	time.Sleep(4 * time.Second)
	began = time.Now()
	c.tap(offered, "Connect")
	figure("adopt", c.came(began, "it is connected", shows(p, "is connected")).At.Sub(began))
	b.sample("memory 500 MB", peak(c.pid())-before)
	c.stop()
}

// agentSince returns the start time of the only agent, as it reports it.
func (c *crowd) agentSince(b *bench) time.Time {
	files, err := filepath.Glob(filepath.Join(c.claude, "sessions", "*.json"))
	require.NoError(b, err)
	require.Len(b, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(b, err)
	var told struct {
		StartedAt int64 `json:"startedAt"`
	}
	require.NoError(b, json.Unmarshal(data, &told))
	return time.UnixMilli(told.StartedAt)
}

// past500 archives a session with a long conversation.
func (c *crowd) past500(b *bench) {
	r := c.past("long", time.Now().UTC())
	r.AgentSessionID = longID
	s := benchSession{id: longID, transcript: filepath.Join(c.projects(), longID.String()+".jsonl")}
	require.NoError(b, os.MkdirAll(c.projects(), 0o755))
	f, err := os.Create(s.transcript)
	require.NoError(b, err)
	w := bufio.NewWriterSize(f, 1<<20)
	asked := s.line("user", "a question", nil)
	said := s.line("assistant", text(strings.Repeat("An answer of many words. ", 160)), "end_turn")
	for written := 0; written < size(500, 100)<<20; written += len(asked) + len(said) {
		_, _ = w.Write(asked) // Flush returns any error
		_, _ = w.Write(said)
	}
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
	require.NoError(b, c.store().Create(r))
}

// longLine writes a line of 10 MB into one session, while others answer.
func (b *bench) longLine() {
	c := b.newCrowd(6)
	c.start()
	c.open(6)
	for i := range c.sessions { // its reader is there
		c.answer(&c.sessions[i], fmt.Sprintf("hello-%d-", i))
	}
	time.Sleep(5 * time.Second)
	before := memory(c.pid())
	forgetPeak(c.pid())
	large := c.sessions[0].line("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_1",
		"content": strings.Repeat("0123456789", 1<<20)}}, nil)
	c.sessions[0].append(b, large)
	for i := range 15 {
		b.sample("beside a long line", ms(c.answer(&c.sessions[1+i%5], fmt.Sprintf("beside-%d-", i))))
	}
	c.answer(&c.sessions[0], "behind-")
	b.sample("memory long line", peak(c.pid())-before)
	c.stop()
}

// scan compares a scan of all processes with pgrep, using the benchmark of both.
func (b *bench) scan() {
	if b.side == baseline || benchQuick {
		b.Skip("thousands of processes, once: the ratio is to pgrep")
	}
	said := command(b, "..", "go", "test", "-run", "^$", "-bench", "Scan/.*/against_pgrep", "-benchtime", "10x",
		"./internal/process")
	told := regexp.MustCompile(`/(\d+)/against_pgrep\S*.*?([\d.]+) scan_ms\s+([\d.]+) x_pgrep`)
	found := told.FindAllStringSubmatch(said, -1)
	require.NotEmpty(b, found, said)
	for _, m := range found {
		var took, times float64
		_, err := fmt.Sscan(m[2]+" "+m[3], &took, &times)
		require.NoError(b, err)
		b.sample("scan "+m[1], took)
		b.sample("pgrep "+m[1], times)
	}
}
