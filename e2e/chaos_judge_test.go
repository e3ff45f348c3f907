package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/suspect"
	"ccbot/try/botapi"
)

// figures are the results. The lists hold first words or other names, and should be empty.
type figures struct {
	*chaos
	took    time.Duration
	prompts struct {
		sent, typed, asked, again, dropped int
		lost, twice, disorder              []string
		why                                map[string]int // of asked: what kept ccbot from deciding
	}
	answers struct {
		written, messages, byCall, byKill int // messages: of those that came; the others are repeated ones
		lost, disorder, unexplained       []string
		causes                            map[string][]string // reasons of repetitions, by session and kill
	}
	calls struct {
		all, spoiled, applied int
		kinds                 map[botapi.FaultKind]int
	}
	pace struct {
		limited           int      // answers 429
		own               []string // those that were not injected: the bot was too fast
		broken, forgotten []string
		late              []string // they came so late that they may have been on the way all the same
	}
	kills, early, ownExits int
	upsets                 map[string]int
	requests               requestFigures
	memory, medianMemory   int
	unsound                []string
}

func (c *chaos) judge() figures {
	c.t.Helper()
	c.aside.Wait()
	f := figures{chaos: c, took: time.Since(c.began), kills: c.killed, early: c.early, upsets: c.upsets}
	var sizes []int
	for _, r := range c.runs {
		sizes = append(sizes, r.memory)
		if r.ownExit {
			f.ownExits++
		}
	}
	slices.Sort(sizes)
	f.memory, f.medianMemory = sizes[len(sizes)-1], sizes[len(sizes)/2]
	calls := c.api.Calls()
	require.Less(c.t, len(calls), 15_000, "so many that some may be forgotten")
	asked, answered := c.readTranscripts()
	f.judgePrompts(asked)
	f.prompts.why = make(map[string]int)
	for _, r := range c.runs {
		for _, why := range unprovenWhy.FindAllStringSubmatch(r.bot.log.String(), -1) {
			f.prompts.why[strings.Trim(why[1], `"`)]++
		}
	}
	f.judgeAnswers(answered, calls)
	f.countFaults(calls)
	f.judgePace(calls)
	f.unsound = c.unreadableFiles()
	f.requests = c.judgeRequests()
	return f
}

// unprovenWhy finds the reason of a question about a prompt in the log.
var unprovenWhy = regexp.MustCompile(`msg=prompt_unproven .*why=("[^"]*"|\S+)`)

// heardLine is one prompt or answer in a transcript.
type heardLine struct {
	file  string
	words []string
}

// readTranscripts returns the prompts and the answers of all agents, in the order of each file.
func (c *chaos) readTranscripts() (asked, answered []heardLine) {
	c.t.Helper()
	for _, file := range c.glob("projects", "*", "*.jsonl") {
		data, err := os.ReadFile(file)
		require.NoError(c.t, err)
		for line := range strings.Lines(string(data)) {
			kind, words := chaosWords(line)
			switch {
			case len(words) == 0:
			case kind == "user":
				asked = append(asked, heardLine{file, words})
			case kind == "assistant":
				answered = append(answered, heardLine{file, words})
			}
		}
	}
	return asked, answered
}

// chaosWords are our words in a line of a transcript.
func chaosWords(line string) (kind string, words []string) {
	var l struct {
		Type    string
		Message struct{ Content json.RawMessage }
	}
	if json.Unmarshal([]byte(line), &l) != nil {
		return "", nil
	}
	text := strings.NewReplacer(`"`, " ", `\n`, " ").Replace(string(l.Message.Content))
	for _, w := range strings.Fields(text) {
		if chaosWord.MatchString(w) {
			words = append(words, w)
		}
	}
	return l.Type, words
}

func (f *figures) judgePrompts(asked []heardLine) {
	times, order := make(map[string]int), make(map[string][]string)
	for _, l := range asked {
		for _, w := range l.words {
			if firstWords.MatchString(w) {
				times[w]++
				order[l.file] = append(order[l.file], w)
			}
		}
	}
	at := make(map[string]int)
	for _, s := range f.sessions {
		for _, p := range s.sent {
			f.prompts.sent++
			at[p.id] = f.prompts.sent
			switch n := times[p.id]; {
			case n == 0:
				f.prompts.lost = append(f.prompts.lost, p.id)
			case n == 1:
				f.prompts.typed++
			default:
				f.prompts.twice = append(f.prompts.twice, fmt.Sprintf("%s: %d times", p.id, n))
			}
		}
	}
	for id, q := range f.asked {
		f.prompts.asked++
		f.prompts.again += min(q.again, 1)
		if q.again == 0 {
			f.prompts.dropped += min(q.dropped, 1)
		}
		delete(at, id) // later ones do not wait for the answer
	}
	for _, ids := range order {
		f.prompts.disorder = append(f.prompts.disorder, backwards(ids, at)...)
	}
}

// backwards returns the ids that come after one that should follow them. An id without a place in
// at is ignored.
func backwards(ids []string, at map[string]int) (wrong []string) {
	highest := 0
	for _, id := range ids {
		place, ok := at[id]
		if !ok {
			continue
		}
		if place < highest {
			wrong = append(wrong, id)
		}
		highest = max(highest, place)
	}
	return wrong
}

func (f *figures) judgeAnswers(answered []heardLine, calls []botapi.Call) {
	f.answers.causes = make(map[string][]string)
	at, words := make(map[string]int), make(map[string]bool)
	for _, l := range answered {
		for _, w := range l.words { // a part of a long one begins anywhere
			at[w] = len(at) + 1
		}
	}
	for _, s := range f.sessions {
		var firsts []string
		copies := make(map[string]int)
		for _, m := range f.messages(s) {
			body := withoutRepeated(m.Body())
			all := answerWords(body)
			if len(all) == 0 {
				continue
			}
			if copies[body]++; copies[body] == 1 {
				firsts = append(firsts, all[0])
			}
			for _, w := range all {
				words[w] = true
			}
		}
		f.answers.messages += len(copies)
		f.answers.disorder = append(f.answers.disorder, backwards(firsts, at)...)
		for body, n := range copies {
			if n > 1 {
				f.explainRepeats(s, body, n-1, calls)
			}
		}
	}
	for _, l := range answered {
		f.answers.written++
		if missing := slices.DeleteFunc(slices.Clone(l.words), func(w string) bool { return words[w] }); len(missing) > 0 {
			f.answers.lost = append(f.answers.lost, fmt.Sprintf("%s: %d of %d words", l.words[0], len(missing), len(l.words)))
		}
	}
}

// explainRepeats finds what made the bot send a text more than once: calls that
// Telegram had applied when their answers were spoiled, and kills between two of
// the calls.
func (f *figures) explainRepeats(s *chaosChat, body string, extra int, calls []botapi.Call) {
	var sends []botapi.Call
	for _, call := range calls {
		text := withoutRepeated(cmp.Or(call.Params["text"], richSource(call)))
		if call.Applied && strings.HasPrefix(call.Method, "send") && text == body {
			sends = append(sends, call)
		}
	}
	slices.SortFunc(sends, func(a, b botapi.Call) int { return a.At.Compare(b.At) })
	for i := 1; i < len(sends); i++ {
		before := sends[i-1]
		switch {
		case before.Fault == botapi.FaultResetAfter || before.Fault == botapi.FaultTruncated:
			f.answers.byCall++
		case f.killAfter(before.At).Before(sends[i].At):
			f.answers.byKill++
			cause := fmt.Sprintf("%s, killed at %s", s.name, f.killAfter(before.At).Sub(f.began))
			f.answers.causes[cause] = append(f.answers.causes[cause], strings.Fields(body)[0])
		default:
			f.answers.unexplained = append(f.answers.unexplained, fmt.Sprintf("%s in %s", strings.Fields(body)[0], s.name))
		}
	}
	if len(sends)-1 != extra {
		f.answers.unexplained = append(f.answers.unexplained, fmt.Sprintf("%s: %d copies, %d calls", strings.Fields(body)[0], extra+1, len(sends)))
	}
}

func richSource(call botapi.Call) string {
	var in struct{ Markdown string }
	_ = json.Unmarshal([]byte(call.Params["rich_message"]), &in) // none is ""
	return in.Markdown
}

// killAfter is the first kill after a moment; without any it is now.
func (f *figures) killAfter(at time.Time) time.Time {
	first := time.Now()
	for _, r := range f.runs {
		if r.ended.After(at) {
			first = r.ended
			break
		}
	}
	for _, death := range f.deaths {
		if death.After(at) && death.Before(first) {
			return death
		}
	}
	return first
}

func (f *figures) countFaults(calls []botapi.Call) {
	f.calls.all, f.calls.kinds = len(calls), make(map[botapi.FaultKind]int)
	for _, call := range calls {
		if call.Fault == "" {
			continue
		}
		f.calls.spoiled++
		f.calls.kinds[call.Fault]++
		if call.Applied {
			f.calls.applied++
		}
	}
}

// onTheWay is for how long after a refusal other calls of the chat may still
// come in: they left before the bot had read it. A busy machine delays one of them, or the reading, for longer.
const onTheWay = 500 * time.Millisecond

// judgePace finds calls to a chat, or polls, before the time that a 429 had named.
func (f *figures) judgePace(calls []botapi.Call) {
	for _, limit := range calls {
		if limit.Status != 429 || limit.RetryAfter == 0 {
			continue
		}
		f.pace.limited++
		if run := f.runs[f.runAt(limit.At)]; limit.Fault == "" {
			f.pace.own = append(f.pace.own, fmt.Sprintf("%s to %s, %s after a start", limit.Method, limit.Params["chat_id"], limit.At.Sub(run.started)))
		}
		late := os.Getenv(reliabilityEnv) == "" // one for each refusal: otherwise other tests share the machine
		until := limit.Ended.Add(time.Duration(limit.RetryAfter) * time.Second)
		for _, call := range calls {
			if !sameQueue(limit, call) || !call.At.After(limit.Ended.Add(onTheWay)) || !call.At.Before(until) {
				continue
			}
			early := fmt.Sprintf("%s to %s, %s too early", call.Method, call.Params["chat_id"], until.Sub(call.At))
			if n := f.runAt(limit.At); f.runAt(call.At) != n && f.mayForget(limit, f.runs[n].ended) {
				f.pace.forgotten = append(f.pace.forgotten, fmt.Sprintf("%s, told %s before the kill", early, f.runs[n].ended.Sub(limit.Ended)))
				continue
			}
			if late {
				f.pace.late, late = append(f.pace.late, early), false
				continue
			}
			f.pace.broken = append(f.pace.broken, early)
		}
	}
}

// mayForget reports whether a fresh start can miss a wait: it was for a poll, or the kill came
// before it was on disk.
func (f *figures) mayForget(limit botapi.Call, killed time.Time) bool {
	return limit.Params["chat_id"] == "" || killed.Before(limit.Ended.Add(onTheWay))
}

// sameQueue reports whether the wait of one call applies to another.
func sameQueue(limit, call botapi.Call) bool {
	if chat := limit.Params["chat_id"]; chat != "" {
		return call.Params["chat_id"] == chat
	}
	return limit.Method == call.Method && limit.Method == "getUpdates"
}

// runAt is which life of the bot a moment belongs to.
func (f *figures) runAt(at time.Time) (n int) {
	for i, r := range f.runs {
		if !at.Before(r.started) {
			n = i
		}
	}
	return n
}

// unreadableFiles returns state files that are not JSON or contain the token, and quarantined files
// other than undecodable updates.
func (c *chaos) unreadableFiles() (unsound []string) {
	c.t.Helper()
	_, secret, _ := strings.Cut(c.api.Token(), ":")
	aside := make(map[string]bool) // by name: a kill between two steps sets one aside twice
	walkFiles(c.t, c.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case strings.Contains(path, "/quarantine/"):
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			aside[name] = true
		case filepath.Ext(path) == ".json" && !json.Valid(data):
			unsound = append(unsound, path)
		}
		if strings.Contains(string(data), secret) {
			unsound = append(unsound, "the token is in "+path)
		}
		return nil
	})
	for _, path := range suspect.Read(filepath.Join(c.state, suspect.Name), c.table.Self().Boot) {
		unsound = append(unsound, path+" is left unread")
	}
	if len(aside) != c.upsets[unreadable] {
		unsound = append(unsound, fmt.Sprintf("%d in quarantine, %d updates that nobody can decode", len(aside), c.upsets[unreadable]))
	}
	return unsound
}
