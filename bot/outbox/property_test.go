package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// step is one thing a random program does with an outbox.
type step struct {
	what  int // 0 send, 1 post, 2 edit, 3 time passes, 4 react, 5 type, 6 send of a session with little time, 7 post of it, 8 file of it
	chat  int64
	rank  Rank
	after time.Duration
}

func steps(last int, chats ...int64) *rapid.Generator[[]step] {
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
		return step{
			what: rapid.IntRange(0, last).Draw(r, "what"), chat: rapid.SampledFrom(chats).Draw(r, "chat"),
			rank:  rapid.SampledFrom([]Rank{Now, Later, Card}).Draw(r, "rank"),
			after: time.Duration(rapid.IntRange(0, 5000).Draw(r, "ms")) * time.Millisecond,
		}
	}), 0, 30)
}

// callTakes is how long the Bot API takes to answer in these tests.
const (
	callTakes = 50 * time.Millisecond
	fileTakes = time.Minute // in addition
)

// asked is a message that must arrive, and the time of its call.
type asked struct {
	chat int64
	rank Rank
	text string
	at   time.Duration
}

// played holds the calls of a random program.
type played struct {
	asked   []asked
	said    []asked // by the session
	edited  map[int64]string
	waiting []<-chan result
}

// play does the steps, one after another, and waits for the end of all.
func play(t *testing.T, b *bench, steps []step) (p played, err error) {
	p.edited = map[int64]string{}
	session := uuid.New()
	for i, s := range steps {
		text := fmt.Sprint(i)
		m := say(s.chat, text)
		m.Rank = s.rank
		if s.what < 2 {
			p.asked = append(p.asked, asked{s.chat, s.rank, text, time.Since(b.start)})
		}
		switch s.what {
		case 0:
			p.waiting = append(p.waiting, b.sendLater(t.Context(), m))
		case 1:
			err = b.Post(t.Context(), m)
		case 2:
			err = b.Edit(t.Context(), to(s.chat), 1_000_000, m)
			p.edited[s.chat] = text
		case 3:
			b.idle(s.after)
		case 4:
			b.React(t.Context(), to(s.chat), i, "👀")
		case 5:
			b.Typing(t.Context(), to(s.chat))
		case 6:
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			p.waiting = append(p.waiting, b.sendLater(ctx, of(session, s.chat, Talk, text)))
			p.said = append(p.said, asked{chat: s.chat, text: text})
		case 7:
			err = b.Post(t.Context(), of(session, s.chat, Talk, text))
			p.said = append(p.said, asked{chat: s.chat, text: text})
		case 8:
			f := File{To: to(s.chat), Name: text, Body: strings.NewReader("x"), Size: 1, Rank: Later, Session: session}
			name := text + ": x ()"
			p.said = append(p.said, asked{chat: s.chat, text: name})
			out := make(chan result, 1)
			go func() {
				id, err := b.SendFile(t.Context(), f)
				out <- result{id, err}
			}()
			synctest.Wait()
			p.waiting = append(p.waiting, out)
		}
		if err != nil && !isRefusal(err) {
			return p, err
		}
		err = nil
	}
	b.idle(6 * time.Hour)
	return p, nil
}

// For any order of calls and any failures of the Bot API, every message arrives, in order within
// its chat and rank, once if the API reports clearly what it did not do; and an edited message ends
// with its last edit.
func TestOutboxProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := steps(5, 5, 6, -7).Draw(r, "steps")
		// A call without a connection and a 500 have not done anything, so each message arrives
		// exactly once.
		failures := rapid.SliceOfN(rapid.SampledFrom([]error{nil, errServer, errUnconnected, tooMany(3), tooMany(40)}), 0, 40).Draw(r, "failures")
		var fault string
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), func(_ context.Context, n int, c call) error {
				<-time.After(callTakes)
				if n <= len(failures) {
					return failures[n-1]
				}
				return nil
			})
			b.run(t)
			p, err := play(t, b, steps)
			if err != nil {
				fault = err.Error()
				return
			}
			fault = firstOf(allArrived(b, p), inOrder(b, p), holdsKept(b, failures))
		})
		if fault != "" {
			r.Fatal(fault)
		}
	})
}

func firstOf(faults ...string) string {
	for _, f := range faults {
		if f != "" {
			return f
		}
	}
	return ""
}

func allArrived(b *bench, p played) string {
	said, got, last := map[string][]string{}, map[string][]string{}, map[int64]string{}
	place := map[string]string{}
	for _, a := range p.asked {
		place[a.text] = fmt.Sprint("chat ", a.chat, " rank ", a.rank)
		said[place[a.text]] = append(said[place[a.text]], a.text)
	}
	for _, c := range b.seen("send", true) {
		got[place[c.text]] = append(got[place[c.text]], c.text)
	}
	for _, c := range b.seen("edit", true) {
		last[c.chat] = c.text
	}
	for where, texts := range said {
		if !slices.Equal(texts, got[where]) {
			return fmt.Sprintf("%s: said %v, arrived %v", where, texts, got[where])
		}
	}
	for chat, text := range p.edited {
		if text != last[chat] {
			return fmt.Sprintf("chat %d: edited to %q, shows %q", chat, text, last[chat])
		}
	}
	for _, w := range p.waiting {
		if r := <-w; r.err != nil || r.messageID == 0 {
			return fmt.Sprintf("send: %+v", r)
		}
	}
	if n := len(b.queues.edits); n != 0 {
		return fmt.Sprintf("%d edits are left", n)
	}
	return ""
}

// inOrder reports whether no call was tried for a chat while one of a lesser rank waited there.
func inOrder(b *bench, p played) string {
	calls := b.seen("send", false)
	arrived := map[string]time.Duration{}
	for _, c := range b.seen("send", true) {
		arrived[c.text] = c.at
	}
	for _, c := range calls {
		i := slices.IndexFunc(p.asked, func(a asked) bool { return a.text == c.text })
		for _, a := range p.asked {
			at, ok := arrived[a.text]
			if a.chat == p.asked[i].chat && a.rank < p.asked[i].rank && a.at < c.at && (!ok || at > c.at) {
				return fmt.Sprintf("%s of rank %d was tried at %s, %s of rank %d waited since %s", c.text, p.asked[i].rank, c.at, a.text, a.rank, a.at)
			}
		}
	}
	return ""
}

// holdsKept reports whether no call to a chat began within a wait that Telegram had demanded.
func holdsKept(b *bench, failures []error) string {
	calls := b.seen("", false)
	for i, c := range calls {
		var wait time.Duration
		if i < len(failures) {
			wait = judge(failures[i], &job{}).wait
		}
		reported := c.at + callTakes
		if c.method == "file" {
			reported += fileTakes
		}
		for _, later := range calls {
			if wait > 0 && later.chat == c.chat && later.at > reported && later.at < reported+wait {
				return fmt.Sprintf("chat %d was to wait %s from %s, and was called at %s", c.chat, wait, reported, later.at)
			}
		}
	}
	return ""
}

// For any answers of Telegram, with refusals for good, chats that move and topics that go: accepted
// messages came in order within their chat and rank and at most once, unless an answer was lost, every caller gets a result,
// posts are taken or kept, and nothing is tried for ever.
func TestP5_OutboxPropertiesUnderAnyAnswer(t *testing.T) {
	verdicts := []error{nil, nil, errServer, errBroken, tooMany(3), tooMany(40), errEntities, errForbidden, errMute, errNoTopic,
		&tgbot.MigrateError{MigrateToChatID: -700}}
	rapid.Check(t, func(r *rapid.T) {
		steps := steps(8, 5, -7).Draw(r, "steps")
		answers := rapid.SliceOfN(rapid.SampledFrom(verdicts), 0, 40).Draw(r, "answers")
		var fault string
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), func(_ context.Context, n int, c call) error {
				<-time.After(callTakes)
				if c.method == "file" {
					<-time.After(fileTakes)
				}
				if n > len(answers) {
					return nil
				}
				if c.chat != -7 && judge(answers[n-1], &job{}).answer == moved {
					return nil
				}
				return answers[n-1]
			})
			b.run(t)
			p, err := play(t, b, steps)
			if err != nil {
				fault = err.Error()
				return
			}
			for range len(answers) + 1 { // kept messages go now
				b.Resume(5)
				b.Resume(-7)
				b.idle(time.Hour)
			}
			fault = firstOf(keptOrder(b, p, answers), holdsKept(b, answers), allHeard(t, b, p))
		})
		if fault != "" {
			r.Fatal(fault)
		}
	})
}

func isRefusal(err error) bool {
	refused := (*Refused)(nil)
	return errors.As(err, &refused)
}

func keptOrder(b *bench, p played, answers []error) string {
	last, passed := map[string]int{}, map[string]bool{}
	for i, c := range b.seen("", false)[:min(len(answers), len(b.seen("", false)))] {
		if judge(answers[i], &job{}).answer == lost {
			passed[c.text] = true // others may pass it
		}
	}
	spoken := map[int64]int{}
	for _, c := range b.seen("", true) {
		if passed[c.text] {
			continue
		}
		if i := slices.IndexFunc(p.said, func(a asked) bool { return a.text == c.text }); i >= 0 {
			if before, ok := spoken[p.said[i].chat]; ok && before >= i {
				return fmt.Sprintf("the session's %s came after %s", c.text, p.said[before].text)
			}
			spoken[p.said[i].chat] = i
		}
		i := slices.IndexFunc(p.asked, func(a asked) bool { return c.method == "send" && a.text == c.text })
		if i < 0 {
			continue
		}
		where := fmt.Sprint("chat ", p.asked[i].chat, " rank ", p.asked[i].rank)
		if before, ok := last[where]; ok && before >= i {
			return fmt.Sprintf("%s: %s came after %s", where, c.text, p.asked[before].text)
		}
		last[where] = i
	}
	return ""
}

func allHeard(t *testing.T, b *bench, p played) string {
	for _, w := range p.waiting {
		select {
		case <-w:
		default:
			return "a caller waits for ever"
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.queues.order {
		if l.queue.count+len(l.sideCalls) > 0 || l.flying || l.queue.uploading || l.sideBusy {
			return fmt.Sprintf("chat %d is not done: %d jobs, %d asides", l.chat, l.queue.count, len(l.sideCalls))
		}
	}
	if n := len(files(t, b.posts.folder.Path)); n > 0 {
		return fmt.Sprintf("%d posts are left", n)
	}
	if b.queues.flying != 0 || len(b.queues.edits) != 0 {
		return "something is left"
	}
	return ""
}
