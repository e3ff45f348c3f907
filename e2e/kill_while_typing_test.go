package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/transcript"
	"ccbot/agent/codex/rollout"
	"ccbot/agent/jsonl"
	"ccbot/internal/pause"
	"ccbot/port/talk"
	"ccbot/try/botapi"
)

// roundsEnv is the number of rounds of each moment, by default one.
const roundsEnv = "CCBOT_KILL_ROUNDS"

// killMoments are the moments of a kill -9 while the bot types a text. The number after a "+" is a
// delay in milliseconds.
var killMoments = []string{"typing-marked", "pasted+0", "pasted+1", "pasted+5", "pasted+20", "pasted+50",
	"entered+0", "entered+1", "entered+5", "entered+20", "entered+50", "prompt-finished+0", "prompt-finished+50"}

// callMoments are those of a text that the bot delivers by a call.
var callMoments = []string{"typing-marked", "entered+0", "entered+1", "entered+5", "entered+20", "entered+50", "prompt-finished+0", "prompt-finished+50"}

// rounds returns the number of rounds.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv(roundsEnv)
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// killOutcome counts the outcomes of the texts of one moment.
type killOutcome struct{ once, asked, twice, lost int }

// TestP4_KillWhileTypingAsksNothing kills the bot around each step of typing a text and restarts
// it: the agent gets the text once, without a question.
func TestP4_KillWhileTypingAsksNothing(t *testing.T) {
	t.Parallel()
	killedAtEachMoment(t, newWorld(t), killMoments, "Killed at each moment of a typed text, demo agent")
}

// TestRealKillsAskNothing is the same with the real CLI.
func TestRealKillsAskNothing(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	killedAtEachMoment(t, w, killMoments, "Killed at each moment of a typed text, real CLI")
}

// TestRealP4_CodexKillsAskNothing is the same with the real Codex, which takes texts by a call.
func TestRealP4_CodexKillsAskNothing(t *testing.T) {
	t.Parallel()
	w := newCodexWorld(t)
	w.codex = filepath.Join(w.state, "..", "codex")
	killedAtEachMoment(t, w, callMoments, "Killed at each moment of a text, real Codex")
}

// TestP4_KillRightAfterConfirmingUpdate kills the bot up to 50 ms after Telegram may have dropped a
// text.
func TestP4_KillRightAfterConfirmingUpdate(t *testing.T) {
	inShortRun(t, "a kill between Telegram and the disk")
	t.Parallel()
	w := newWorld(t)
	var highest atomic.Int64
	confirmed := make(chan struct{}, 1)
	w.api.InjectFaults(func(c botapi.Call) botapi.Fault {
		if n, _ := strconv.ParseInt(c.Params["offset"], 10, 64); c.Method == "getUpdates" && n > highest.Load() {
			highest.Store(n)
			pause.Poke(confirmed)
		}
		return botapi.Fault{}
	})
	rounds := rounds(t)
	w.untilFirst()
	var o killOutcome
	for round := range rounds {
		select {
		case <-confirmed: // an earlier update
		default:
		}
		word := fmt.Sprintf("word-%d", round)
		sent := w.say("say " + word)
		<-confirmed
		time.Sleep(rand.N(50 * time.Millisecond))
		w.kill9()
		w.start()
		w.comesOf(sent, word, &o)
	}
	w.stop()
	assert.Equal(t, killOutcome{once: rounds}, o)
	reportKills(t, "Killed after a text was confirmed", o.row("0–50 ms later"))
}

// untilFirst runs the bot until its agent has answered once.
func (w *world) untilFirst() {
	w.t.Helper()
	w.start()
	w.open("work", w.dir)
	w.hear(w.say("say the first"), "the first")
	w.drained()
}

func (o killOutcome) row(moment string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d |\n", moment, o.once, o.asked, o.twice, o.lost)
}

// reportKills reports the outcomes.
func reportKills(t *testing.T, title, rows string) {
	t.Helper()
	reportTable(t, title, "| killed at | delivered once | asked | twice | lost |\n|---|---:|---:|---:|---:|\n", rows)
}

// reportTable logs a table, and writes it into the document if one is named. Rows with equal
// figures become one row.
func reportTable(t *testing.T, title, head, rows string) {
	t.Helper()
	var order []string
	names := make(map[string][]string) // by their figures
	for row := range strings.Lines(rows) {
		name, figures, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		if names[figures] == nil {
			order = append(order, figures)
		}
		names[figures] = append(names[figures], name)
	}
	table := head
	for _, figures := range order {
		table += "| " + strings.Join(names[figures], "; ") + " | " + figures
	}
	t.Logf("%s\n%s", title, table)
	if report := os.Getenv(reliabilityEnv); report != "" && !t.Failed() {
		writeSection(t, report, title, table)
	}
}

func killedAtEachMoment(t *testing.T, w *world, moments []string, title string) {
	t.Helper()
	rounds := rounds(t)
	w.untilFirst()
	w.stop()
	var table strings.Builder
	for i, moment := range moments {
		var o killOutcome
		for round := range rounds {
			w.killedOnce(moment, fmt.Sprintf("word-%d-%d", i, round), &o)
		}
		table.WriteString(o.row(moment))
		assert.Equal(t, killOutcome{once: rounds}, o, moment)
	}
	reportKills(t, title, table.String())
}

// killedOnce kills the bot at a moment, restarts it, and counts the outcome of the text.
func (w *world) killedOnce(moment, word string, o *killOutcome) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "reached")
	w.start("CCBOT_FAILPOINT="+moment, "CCBOT_FAILFILE="+file)
	sent := w.say("say " + word)
	w.until("the bot has died", func() bool {
		if _, err := os.Stat(file); err == nil && !w.bot.over() {
			w.kill9()
		}
		return w.bot.over()
	})
	w.start()
	w.comesOf(sent, word, o)
	w.stop()
}

// comesOf counts the outcomes of a text after all work is done.
func (w *world) comesOf(sent int, word string, o *killOutcome) {
	w.t.Helper()
	answered := func() bool {
		return len(w.after(sent, func(m botapi.Message) bool { return m.Text == word })) > 0
	}
	asked := func() []botapi.Message {
		return w.after(sent, func(m botapi.Message) bool { return strings.Contains(m.Text, "not certain that") })
	}
	w.until("it is answered, or asked about", func() bool { return answered() || len(asked()) > 0 })
	switch n := w.saidTo(word); {
	case len(asked()) > 0:
		o.asked++
	case n == 0:
		o.lost++
	case n == 1:
		o.once++
	default:
		o.twice++
	}
	discard := w.discarder(asked)
	w.until("the inbox is empty", func() bool { discard(); return len(w.inboxStates()) == 0 })
	w.drained()
}

// discarder returns a function that discards the texts of questions, and taps each button once.
// Repeat it until there are no questions: a tap on a copy left by a kill repeats the question in a
// new message, and the question of a tapped message may get more texts and other buttons.
func (w *world) discarder(asked func() []botapi.Message) (discard func()) {
	type button struct {
		message int
		data    string
	}
	tapped := make(map[button]bool)
	return func() {
		for _, m := range asked() {
			label, ok := discards(m)
			if !ok {
				continue
			}
			found, _ := m.Find(label)
			if one := (button{m.ID, found.Data}); !tapped[one] {
				tapped[one] = true
				w.tap(m, label)
			}
		}
	}
}

// discards returns the label of the button that discards all that a message asks about.
func discards(m botapi.Message) (label string, ok bool) {
	for _, label := range []string{"Discard all", "Discard"} {
		if _, ok := m.Find(label); ok {
			return label, true
		}
	}
	return "", false
}

// saidTo counts the prompts with a word in the transcripts.
func (w *world) saidTo(word string) (n int) {
	w.t.Helper()
	pattern, form := filepath.Join(w.claude, "projects", "*", "*.jsonl"), transcript.Form()
	if w.codex != "" {
		pattern, form = filepath.Join(w.codex, "sessions", "*", "*", "*", "*.jsonl"), rollout.New(w.codex).Form
	}
	files, err := filepath.Glob(pattern)
	require.NoError(w.t, err)
	for _, file := range files {
		r := form.Open(talk.Cursor{Path: file})
		for {
			item, ok, err := r.Next()
			require.NoError(w.t, err)
			if !ok {
				break
			}
			if item.Kind == jsonl.UserPrompt && jsonl.Contains(item.Text, word) {
				n++
			}
		}
		require.NoError(w.t, r.Close())
	}
	return n
}

// after returns the bot's messages after id for which of is true.
func (w *world) after(id int, of func(botapi.Message) bool) (found []botapi.Message) {
	for _, m := range w.api.Messages(w.chat()) {
		if m.ID > id && m.FromBot && of(m) {
			found = append(found, m)
		}
	}
	return found
}
