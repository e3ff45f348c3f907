package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

const (
	look = 60 * time.Millisecond // how often the test looks at what there is
	// ahead is the number of prompts of a session that may wait for answers, so that kills and
	// faults meet every step.
	ahead   = 4
	stalled = 20 * time.Second // then another prompt is sent all the same
)

// faults spoils calls at random.
type faults struct {
	mu     sync.Mutex
	rng    *rand.Rand
	outage time.Time // the end of the outage
	hangs  int       // messages that will hang until ccbot gives up
}

func newFaults(seed uint64) *faults {
	return &faults{rng: rand.New(rand.NewPCG(seed, 2))} //nolint:gosec // repeatable
}

// spoiledShare is the part of the calls that is spoiled outside of outages.
const spoiledShare = 0.08

// choose decides about one call.
func (f *faults) choose(c botapi.Call) botapi.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	kinds := []botapi.FaultKind{botapi.FaultTooMany, botapi.FaultInternal, botapi.FaultHTML502, botapi.FaultResetBefore,
		botapi.FaultResetAfter, botapi.FaultTruncated, botapi.FaultHang}
	message := strings.HasPrefix(c.Method, "send") && c.Method != "sendChatAction"
	switch {
	case f.hangs > 0 && message:
		f.hangs--
		return botapi.Fault{Kind: botapi.FaultHang}
	case c.At.Before(f.outage):
		kinds = kinds[1:4]
	case f.rng.Float64() >= spoiledShare:
		return botapi.Fault{}
	}
	return botapi.Fault{Kind: kinds[f.rng.IntN(len(kinds))], RetryAfter: 1 + f.rng.IntN(3),
		Hold: time.Duration(500+f.rng.IntN(2500)) * time.Millisecond}
}

func (f *faults) hang() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hangs++
}

func (f *faults) breakDown(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outage = time.Now().Add(d)
}

// step is an event after a number of prompts.
type step struct {
	after int
	what  string
}

// The events in addition to prompts and spoiled calls.
const (
	kill        = "kills"
	outage      = "outages"
	timeout     = "calls without an answer"
	duplicates  = "updates sent again"
	unknownKind = "updates of an unknown kind"
	unreadable  = "updates that cannot be decoded"
)

// makePlan spreads the events over the prompts.
func (c *chaos) makePlan() {
	add := func(what string, times int) {
		for range times {
			c.plan = append(c.plan, step{1 + c.rng.IntN(c.size.prompts-1), what})
		}
	}
	add(kill, c.size.kills)
	add(timeout, c.size.timeouts)
	for _, what := range []string{outage, duplicates, unknownKind, unreadable} {
		add(what, c.size.upsets)
	}
	if c.size.machines > 0 {
		for _, what := range []string{hostKill, hubKill, hubLoss, hubHang, hostHang} {
			add(what, max(c.size.upsets, c.size.kills/5))
		}
		add(hookRequest, c.size.upsets)
	}
	slices.SortStableFunc(c.plan, func(a, b step) int { return a.after - b.after })
}

// storm runs until all prompts are sent and all events are done.
func (c *chaos) storm() {
	c.t.Helper()
	c.api.InjectFaults(c.faults.choose)
	c.api.ShuffleUpdates(rand.New(rand.NewPCG(c.seed, 3))) //nolint:gosec // repeatable
	c.whileMoving("not all is sent, or not all has happened", func() bool {
		c.listen()
		c.lifeAndDeath()
		c.happen()
		c.write()
		c.decide()
		time.Sleep(look)
		return c.sent() == c.size.prompts && len(c.plan) == 0 && c.waiting.kill.IsZero() && c.running() && c.revive()
	})
}

// calm waits until nothing changes. It still answers questions.
func (c *chaos) calm() {
	c.t.Helper()
	c.api.InjectFaults(nil)
	c.api.ShuffleUpdates(nil)
	c.whileMoving("not everything has settled", func() bool {
		c.listen()
		c.lifeAndDeath()
		c.decide()
		time.Sleep(look)
		return c.running() && c.now().bot.ready() && c.revive() && c.api.Pending() == 0 && c.quiet() && c.quietHosts() && c.allowed()
	})
	r := c.now()
	r.memory = highestMemory(r.bot.cmd.Process.Pid)
	c.stop()
	r.ended = time.Now()
	c.stopHosts()
}

// whileMoving waits until done returns true, without a timeout as long as there is progress: a busy
// machine needs ten times as long.
func (c *chaos) whileMoving(what string, done func() bool) {
	c.t.Helper()
	before, since := "", time.Now()
	for !done() {
		now := c.progress()
		if now != before {
			before, since = now, time.Now()
		}
		if time.Since(since) > waitTimeout {
			c.explain()
			c.t.Fatalf("%s, and nothing has happened for %s, %s after the begin: %s; %s", what, waitTimeout, time.Since(c.began), now, c.unsettled())
		}
	}
}

// progress returns counts that only grow.
func (c *chaos) progress() string {
	answered := 0
	for _, s := range c.sessions {
		answered += len(s.heard)
	}
	typed := 0
	for _, w := range c.worlds() {
		log, _ := os.ReadFile(w.sent) // missing before the first prompt
		typed += bytes.Count(log, []byte("\n"))
	}
	return fmt.Sprintf("%d sent, %d typed, %d answered, %d starts", c.sent(), typed, answered, len(c.runs))
}

// unsettled returns the content of the inbox and the outbox.
func (c *chaos) unsettled() string {
	var all []string
	for _, dir := range []string{"inbox", "outbox", "events"} {
		files, _ := filepath.Glob(filepath.Join(c.state, dir, "*.json"))
		all = append(all, fmt.Sprintf("%d in %s", len(files), dir))
	}
	return strings.Join(all, ", ")
}

func (c *chaos) sent() (n int) {
	for _, s := range c.sessions {
		n += len(s.sent)
	}
	return n
}

// lifeAndDeath kills and restarts the bot when it is due.
func (c *chaos) lifeAndDeath() {
	c.revive()
	switch w := &c.waiting; {
	case !c.running():
		if time.Now().Before(w.start) {
			return
		}
		c.begin()
		if c.soon = !w.kill.IsZero() && c.rng.IntN(3) == 0; c.soon {
			w.kill = time.Now().Add(c.upTo(800 * time.Millisecond))
		}
	case w.kill.IsZero() || time.Now().Before(w.kill) || !c.soon && !c.now().bot.ready():
		return
	default:
		c.crashNow()
		w.kill, c.soon = time.Time{}, false
		w.start = time.Now().Add(c.upTo(700 * time.Millisecond))
	}
}

func (c *chaos) upTo(d time.Duration) time.Duration { return time.Duration(c.rng.Int64N(int64(d))) }

// happen runs the due events of the plan.
func (c *chaos) happen() {
	for len(c.plan) > 0 && c.plan[0].after <= c.sent() {
		next := c.plan[0]
		if next.what == kill {
			if !c.waiting.kill.IsZero() {
				return // one at a time
			}
			c.waiting.kill = time.Now().Add(c.upTo(1500 * time.Millisecond))
		} else if !c.upset(next.what) {
			return
		}
		c.plan = c.plan[1:]
	}
}

// upset makes an event. It returns false if an earlier one is not over.
func (c *chaos) upset(what string) bool {
	s := c.sessions[c.rng.IntN(len(c.sessions))]
	count := 1
	switch what {
	case outage:
		c.faults.breakDown(time.Second + c.upTo(3*time.Second))
	case timeout:
		c.faults.hang()
	case duplicates:
		count = c.api.Redeliver(1 + c.rng.IntN(10))
	case unknownKind:
		_, err := c.api.Inject([]byte(`{"telepathy":{"from":` + fmt.Sprint(s.person.ID()) + `}}`))
		require.NoError(c.t, err)
	case hookRequest:
		if !c.sendRequest(s) {
			return false
		}
	case unreadable:
		s.person.ForwardFromTheFuture(s.person.ID(), "from the future")
	default:
		if !c.upsetHosts(what) {
			return false
		}
	}
	c.upsets[what] += count
	return true
}

// write sends a few prompts at once to a session with few unanswered ones.
func (c *chaos) write() {
	s := c.sessions[c.rng.IntN(len(c.sessions))]
	open := len(s.sent) - len(s.heard)
	if open >= ahead && time.Since(s.last) < stalled || s.long && time.Since(s.last) < cutWithin {
		return
	}
	s.long = false
	for range min(1+c.rng.IntN(3), c.size.prompts-c.sent()) {
		length := 20 + c.rng.IntN(80)
		if c.rng.IntN(10) == 0 {
			length = longPrompt
		}
		p := newPrompt(s.name, len(s.sent), length)
		s.sent = append(s.sent, p)
		s.person.SendIn(s.person.ID(), s.thread, p.text)
		s.last = time.Now()
		if s.long = length == longPrompt; s.long {
			return // the next text would be taken for its rest
		}
	}
}

// longPrompt is the length of a message whose answer, with its heading, needs several messages.
// Telegram could have cut it: a text from the same person within cutWithin belongs to it.
const (
	longPrompt = 4000
	cutWithin  = 3 * time.Second
)

// newPrompt returns a prompt of about length characters, whose answer is its words.
func newPrompt(session string, n, length int) chaosPrompt {
	text := "say"
	for i := 0; len(text) < length; i++ {
		text += fmt.Sprintf(" %sp%dw%d", session, n, i)
	}
	return chaosPrompt{id: strings.Fields(text)[1], text: text}
}

var (
	chaosWord  = regexp.MustCompile(`^s\d+p\d+w\d+$`)
	firstWords = regexp.MustCompile(`\b[sq]\d+p\d+w0\b`) // q: of a request for a permission
)

// answerWords returns the words of a message without other content.
func answerWords(text string) []string {
	words := strings.Fields(text)
	if slices.ContainsFunc(words, func(w string) bool { return !chaosWord.MatchString(w) }) {
		return nil
	}
	return words
}

// withoutRepeated is what the agent has said in a message, without the line above one whose answer was lost several times.
func withoutRepeated(text string) string { return strings.TrimPrefix(text, "(perhaps repeated)\n") }

// listen records which answers have come.
func (c *chaos) listen() {
	for _, s := range c.sessions {
		for _, m := range c.messages(s) {
			if m.ID <= s.seen {
				continue
			}
			s.seen = m.ID
			if words := answerWords(withoutRepeated(m.Body())); len(words) > 0 && firstWords.MatchString(words[0]) {
				s.heard[words[0]] = true
			}
		}
	}
}

// question is a question of the bot about an unproven prompt.
type question struct {
	prompt  string // first word
	tapping atomic.Bool
	again   int // how often it was sent once more
	dropped int
}

// decide answers such questions as a person does: it reads the transcript.
func (c *chaos) decide() {
	if !c.running() || !c.now().bot.ready() {
		return
	}
	c.allow()
	for _, s := range c.sessions {
		for _, m := range c.messages(s) {
			if again := dataOf(m, "Send again"); again != "" {
				c.decideOn(s, m, again)
			}
		}
	}
}

// dataOf returns the data of a message's button with a word.
func dataOf(m botapi.Message, word string) string {
	for _, row := range m.Keyboard {
		for _, b := range row {
			if b.Text == word {
				return b.Data
			}
		}
	}
	return ""
}

func (c *chaos) decideOn(s *chaosChat, m botapi.Message, again string) {
	id := firstWords.FindString(m.Body())
	q := c.asked[id]
	if q == nil {
		q = &question{prompt: id}
		c.asked[id] = q
	}
	if q.tapping.Load() {
		return
	}
	data, count := again, &q.again
	if strings.Contains(c.allTranscripts(), id) {
		data, count = dataOf(m, "Discard"), &q.dropped
	}
	if _, ok := m.Find(data); !ok {
		c.t.Errorf("message %d has no button %q: %v", m.ID, data, m.Keyboard)
		return
	}
	*count++
	q.tapping.Store(true)
	c.aside.Go(func() {
		_, _ = s.person.Tap(s.person.ID(), m.ID, data) // while the bot is down, the tap fails and the question stays
		time.Sleep(time.Second)                        // the message changes a moment after the answer
		q.tapping.Store(false)
	})
}

// allTranscripts returns the content of all transcripts.
func (c *chaos) allTranscripts() string {
	var all strings.Builder
	for _, f := range c.glob("projects", "*", "*.jsonl") {
		data, err := os.ReadFile(f)
		require.NoError(c.t, err)
		all.Write(data)
	}
	return all.String()
}
