package e2e

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

const (
	// reliabilityEnv names the document that the long form writes; without it the
	// short form runs.
	reliabilityEnv = "CCBOT_CHAOS_REPORT"
	// commitEnv names the commit that is tested, with its date.
	commitEnv = "CCBOT_CHAOS_COMMIT"
	// seedEnv repeats the choices of an earlier run. The timing still differs, so a run cannot be
	// repeated exactly.
	seedEnv = "CCBOT_CHAOS_SEED"
	// killsEnv is the number of kills in the long form, by default 20.
	killsEnv = "CCBOT_CHAOS_KILLS"
)

// chaosSize is the extent of a run.
type chaosSize struct {
	prompts, kills, sessions int
	upsets                   int    // of each kind, see upset
	timeouts                 int    // of calls, by ccbot's own timeout, which is long
	memory                   int    // megabytes, ccbot's limit
	machines                 int    // in addition to the chat's
	log                      string // LOG_LEVEL
}

// shortChaos is the form for .ci/run. Its ccbot may be built with the race detector, by hand, which
// takes five to ten times the memory.
func shortChaos() chaosSize {
	return chaosSize{prompts: 30, kills: 4, sessions: 2, upsets: 2, memory: 1024, log: "debug"}
}

func longChaos(t *testing.T) chaosSize {
	t.Helper()
	size := chaosSize{prompts: 200, kills: 20, sessions: 5, upsets: 12, timeouts: 3, memory: 128, log: "info"}
	if text := os.Getenv(killsEnv); text != "" {
		kills, err := strconv.Atoi(text)
		require.NoError(t, err)
		size.kills = kills
	}
	return size
}

// chaos is a world of people and agents with many faults.
type chaos struct {
	*stage
	size     chaosSize
	seed     uint64
	rich     bool
	rng      *rand.Rand // of the test's own steps
	faults   *faults
	began    time.Time
	program  string // the program under test
	sessions []*chaosChat
	runs     []*chaosRun
	plan     []step // future events, by number of sent prompts
	asked    map[string]*question
	upsets   map[string]int // done events, by name
	waiting  struct{ kill, start time.Time }
	killed   int
	early    int  // of them before the bot was ready
	soon     bool // the next kill does not wait for the bot to be ready
	hosts    []*chaosHost
	hub      *outages    // nil: the chat has one machine only
	store    string      // the disk of the hub
	deaths   []time.Time // of machines and the hub
	requests []*chaosRequest

	hooksKilled atomic.Int64
}

// chaosChat is one session with its own conversation.
type chaosChat struct {
	name   string
	person *botapi.Person
	thread int
	sent   []chaosPrompt
	seen   int             // newest message read
	heard  map[string]bool // first words of received answers
	last   time.Time       // when something was sent
	long   bool            // it was a text that Telegram could have cut
	host   *chaosHost      // nil: the chat's machine
}

// chaosPrompt is one text that a person sent: all its words are in no other one.
type chaosPrompt struct {
	id   string // its first word
	text string
}

// chaosRun is one life of the bot.
type chaosRun struct {
	bot            *botProcess
	started, ended time.Time
	memory         int // megabytes at its highest
	ownExit        bool
}

// TestP4_ChaosLosesNothing lets people write and agents answer while Bot API calls fail in every
// way, updates come twice and out of order, and the bot is killed with -9 repeatedly. At the end
// every prompt was typed once, every answer is in the chat, and the bot has kept Telegram's pace.
// With CCBOT_CHAOS_REPORT it runs the long form and writes that document.
func TestP4_ChaosLosesNothing(t *testing.T) {
	size, report := shortChaos(), os.Getenv(reliabilityEnv)
	if report == "" {
		t.Parallel()
		size.prompts, size.kills, size.upsets, size.sessions = 180, 18, 9, 4 // about two minutes
	} else {
		size = longChaos(t)
	}
	c := newChaos(t, size, chaosSeed(t, report != ""))
	t.Logf("%s=%d", seedEnv, c.seed)
	c.run(report, "The last run")
}

// run lets people write during all events, and asserts the result. It writes the section with a
// title into the document report; empty: into none.
func (c *chaos) run(report, title string) {
	c.t.Helper()
	for _, s := range c.sessions {
		c.openChat(s)
	}
	c.storm()
	c.calm()
	f := c.judge()
	c.t.Logf("%s=%d\n%s\ntoo fast: %q\nforgotten by a kill: %q", seedEnv, c.seed, f.table(), f.pace.own, f.pace.forgotten)
	if report != "" {
		writeSection(c.t, report, title, f.document())
	}
	c.hold(f)
}

// shortSeed makes every run of the short form the same.
const shortSeed = 8

func chaosSeed(t *testing.T, long bool) uint64 {
	t.Helper()
	text := os.Getenv(seedEnv)
	switch {
	case text == "" && !long:
		return shortSeed
	case text == "":
		return rand.Uint64N(1_000_000) //nolint:gosec // not a secret
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	return seed
}

// newChaos makes the world. The seed decides whether the server has rich
// messages.
func newChaos(t *testing.T, size chaosSize, seed uint64) *chaos {
	t.Helper()
	c := &chaos{size: size, seed: seed, rich: seed%2 == 1, rng: rand.New(rand.NewPCG(seed, 1)), //nolint:gosec // repeatable
		faults: newFaults(seed), asked: make(map[string]*question), upsets: make(map[string]int)}
	api := botapitest.Start(t, botapi.Options{Rich: c.rich, RealLimits: true})
	var allowed []string
	for i := range size.sessions {
		id := int64(2001 + min(i, 3)) // the last ones share a chat
		allowed = append(allowed, strconv.FormatInt(id, 10))
		s := &chaosChat{name: "s" + itoa(i), person: api.Person(id, "Person "+itoa(i)), heard: make(map[string]bool)}
		s.person.Start()
		if i > 0 && i >= size.sessions-2 {
			s.thread = s.person.OpenTopic(id, s.name)
		}
		c.sessions = append(c.sessions, s)
	}
	w := newWorld(t, "TELEGRAM_BOT_TOKEN="+api.Token(), "TELEGRAM_API_URL="+api.URL(), "ALLOWED_USERS="+strings.Join(allowed, ","),
		"LOG_LEVEL="+size.log)
	w.api, w.person = api, c.sessions[0].person
	c.stage, c.program = &stage{world: w}, filepath.Join(binaries, "ccbot")
	if size.memory < shortChaos().memory {
		c.withoutRaceDetector()
	}
	c.makePlan()
	c.began = time.Now()
	return c
}

// withoutRaceDetector runs the long form with the release program, because its memory is measured.
func (c *chaos) withoutRaceDetector() {
	c.t.Helper()
	dir := shortDir(c.t)
	for _, name := range []string{"ccbot", "ccbot-hook", "ccbot-try"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "ccbot/cmd/"+name).CombinedOutput()
		require.NoError(c.t, err, "%s", out)
	}
	c.program = filepath.Join(dir, "ccbot")
	link := c.agentPath()
	require.NoError(c.t, os.Remove(link))
	require.NoError(c.t, os.Symlink(filepath.Join(dir, "ccbot-try"), link))
}

// openChat starts a session in its conversation, before the storm.
func (c *chaos) openChat(s *chaosChat) {
	c.t.Helper()
	if len(c.runs) == 0 {
		c.begin()
		c.untilReady()
	}
	at := c.world
	if s.host != nil {
		at = s.host.world
	}
	dir := filepath.Join(at.dir, s.name)
	require.NoError(c.t, os.Mkdir(dir, 0o755)) //nolint:gosec // a project
	s.person.SendIn(s.person.ID(), s.thread, "/new "+s.name+" "+s.of(dir))
	c.until(s.name+" is ready", func() bool {
		return slices.ContainsFunc(c.messages(s), func(m botapi.Message) bool { return strings.Contains(m.Body(), s.name+" is ready") })
	})
}

// messages returns the bot's messages in a conversation.
func (c *chaos) messages(s *chaosChat) []botapi.Message {
	return slices.DeleteFunc(c.api.Messages(s.person.ID()), func(m botapi.Message) bool { return !m.FromBot || m.Thread != s.thread })
}

// begin starts the bot without waiting.
func (c *chaos) begin() {
	c.t.Helper()
	b := &botProcess{cmd: exec.Command(c.program), log: &lockedBuffer{}, done: make(chan struct{})}
	b.cmd.Env, b.cmd.Stdout, b.cmd.Stderr = c.env, b.log, b.log
	require.NoError(c.t, b.cmd.Start())
	go func() { _ = b.cmd.Wait(); close(b.done) }()
	c.bot = b
	c.runs = append(c.runs, &chaosRun{bot: b, started: time.Now()})
}

func (c *chaos) untilReady() {
	c.t.Helper()
	c.until("ccbot is ready", func() bool { return c.now().bot.ready() })
}

func (b *botProcess) ready() bool { return strings.Contains(b.log.String(), "msg=ready") }

// now returns the newest run.
func (c *chaos) now() *chaosRun { return c.runs[len(c.runs)-1] }

// running reports whether the bot lives. It records an exit that was not a kill.
func (c *chaos) running() bool {
	r := c.now()
	if r.ended.IsZero() && r.bot.over() {
		r.ended, r.ownExit = time.Now(), true
		c.waiting.start = time.Now().Add(time.Second) // as a service manager would
	}
	return r.ended.IsZero()
}

// crashNow ends the bot with SIGKILL.
func (c *chaos) crashNow() {
	c.t.Helper()
	r := c.now()
	r.memory = highestMemory(r.bot.cmd.Process.Pid)
	if !r.bot.ready() {
		c.early++
	}
	c.killed++
	c.kill9()
	r.ended = time.Now()
}

// highestMemory returns the maximal resident memory of a process in megabytes; 0: unknown.
func highestMemory(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kilobytes, _ := strconv.Atoi(cmp.Or(strings.Fields(rest + " 0 0")[0], "0"))
	return (kilobytes + 1023) / 1024
}

// hold asserts the figures.
func (c *chaos) hold(f figures) {
	c.t.Helper()
	assert.Equal(c.t, c.size.prompts, f.prompts.sent)
	assert.Equal(c.t, c.size.kills, f.kills)
	assert.Empty(c.t, f.prompts.lost, "P4: prompts that no agent got")
	assert.Empty(c.t, f.prompts.twice, "P4: prompts that an agent got twice")
	assert.Empty(c.t, f.prompts.disorder, "P4: prompts that came out of order")
	assert.Equal(c.t, c.size.prompts, f.answers.written, "answers that the agents gave")
	assert.Empty(c.t, f.answers.lost, "P5: answers that are not in the chat")
	assert.Empty(c.t, f.answers.disorder, "P5: answers that came out of order")
	assert.Empty(c.t, f.answers.unexplained, "P5: repeated, and neither a kill nor a spoiled call explains it")
	for cause, repeated := range f.answers.causes {
		assert.Len(c.t, repeated, 1, "P5: a crash repeats the one part in flight: %s", cause)
	}
	if os.Getenv(reliabilityEnv) != "" { // otherwise other tests share the machine, and the time between an OK and its note is long
		assert.LessOrEqual(c.t, f.answers.byKill, f.kills+len(c.deaths), "P5: repeated messages")
	}
	assert.Empty(c.t, f.pace.broken, "retry_after was not waited for")
	assert.LessOrEqual(c.t, len(f.pace.late), 1+f.pace.limited/10, "retry_after was not waited for: %v", f.pace.late)
	assert.Zero(c.t, f.ownExits, "the bot ended by itself")
	c.holdRequests(f.requests)
	assert.Empty(c.t, f.unsound, "P8: what cannot be read")
	assert.LessOrEqual(c.t, f.memory, c.size.memory, "megabytes")
	c.windowsAndWriters()
	for _, h := range c.hosts {
		h.windowsAndWriters()
		assert.NotContains(c.t, h.bot.log.String(), "DATA RACE")
	}
	for _, r := range c.runs {
		assert.NotContains(c.t, r.bot.log.String(), "DATA RACE")
		assert.NotContains(c.t, r.bot.log.String(), "panic:")
	}
	if c.t.Failed() {
		c.logErrors()
		c.logPrompts()
		c.explainHosts()
	}
}

// logErrors logs the errors of all runs of the bot.
func (c *chaos) logErrors() {
	for n, r := range c.runs {
		for line := range strings.Lines(r.bot.log.String()) {
			if strings.Contains(line, "level=ERROR") {
				c.t.Logf("run %d, from %s to %s: %s", n, r.started.Sub(c.began), r.ended.Sub(c.began), clipped(line))
			}
		}
	}
}
