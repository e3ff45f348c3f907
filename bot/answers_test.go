package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// says is a transcript line with what an agent says, block by block.
func says(blocks ...string) string {
	var content []map[string]string
	for _, text := range blocks {
		content = append(content, map[string]string{"type": "text", "text": text})
	}
	line, _ := json.Marshal(map[string]any{"type": "assistant", "uuid": uuid.NewString(), "message": map[string]any{"id": "m", "content": content}})
	return string(line) + "\n"
}

const turnEnd = `{"type":"system","subtype":"turn_duration","durationMs":5}` + "\n"

// transcriptOf writes lines into a new transcript.
func transcriptOf(t *testing.T, name string, lines ...string) transcript.Cursor {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return transcript.Cursor{Path: path}
}

func grow(t *testing.T, c transcript.Cursor, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(c.Path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString(strings.Join(lines, ""))
	require.NoError(t, err)
}

// running runs the bot until the test, or stop, ends it; stop returns its error.
func (w *world) running(t *testing.T) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return receive(t, done)
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// patience is for what must come; it only ends a test that fails.
const patience = 20 * time.Second

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// expect wants these events next, in this order.
func (w *world) expect(t *testing.T, events ...string) {
	t.Helper()
	for _, want := range events {
		require.Equal(t, want, receive(t, w.events))
	}
}

// happened are the events so far.
func (w *world) happened() []string {
	var all []string
	for {
		select {
		case e := <-w.events:
			all = append(all, e)
		default:
			return all
		}
	}
}

func (w *world) cursors(r session.Record) []transcript.Cursor {
	r, _ = w.records.Get(r.ID)
	return r.Cursors
}

func TestP5_TheCursorFollowsTheYes(t *testing.T) {
	w := newWorld(t)
	first, second := says("one"), says("two", "three")
	c := transcriptOf(t, "t.jsonl", first, second, turnEnd)
	r := w.currentSession(t, "api", session.Completed, c)
	var before []transcript.Cursor
	w.sender.send = func(context.Context, outbox.Message) error {
		before = append(before, w.cursors(r)[0])
		return nil
	}
	w.readNow(t, r)
	at := func(offset, block int) transcript.Cursor {
		return transcript.Cursor{Path: c.Path, Offset: int64(offset), Block: block}
	}
	all := len(first) + len(second)
	assert.Equal(t, []transcript.Cursor{c, at(len(first), 0), at(len(first), 1)}, before, "while a part is being sent")
	assert.Equal(t, []string{"send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(first)),
		"send two", fmt.Sprintf("advance t.jsonl %d/1/0", len(first)),
		"send three", fmt.Sprintf("advance t.jsonl %d/0/0", all),
		fmt.Sprintf("advance t.jsonl %d/0/0", all+len(turnEnd))}, w.happened())
}

func TestP5_ASendThatFailsIsTriedAgainFromItsCursor(t *testing.T) {
	for _, failure := range []error{outbox.ErrUnsure, outbox.ErrRevoked, errDisk} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Completed, transcriptOf(t, "t.jsonl", says("one"), says("two"), says("three")))
			failing := 3
			w.sender.send = func(_ context.Context, m outbox.Message) error {
				if m.Text.Text == "two" && failing > 0 {
					failing--
					assert.Equal(t, int64(len(says("one"))), w.cursors(r)[0].Offset)
					return fmt.Errorf("send: %w", failure)
				}
				return nil
			}
			w.readNow(t, r)
			assert.Equal(t, []string{"one", "two", "three"}, w.sender.answersSent(), "in order, nothing overtakes")
			assert.Zero(t, failing)
		})
	}
}

func TestP5_AStopDuringASendKeepsTheCursor(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("one"), says("two"))
	r := w.currentSession(t, "api", session.Running, c)
	sending, answer := make(chan struct{}), make(chan error)
	w.sender.send = func(context.Context, outbox.Message) error {
		close(sending)
		return <-answer
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	receive(t, sending)
	cancel()
	answer <- outbox.ErrClosed
	assert.NoError(t, receive(t, done), "a stop is no failure")
	assert.Equal(t, []transcript.Cursor{c}, w.cursors(r))
	assert.Empty(t, w.happened())
}

// A call that is under way at a stop may finish; then it counts.
func TestP5_AStopLetsASendFinish(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running, transcriptOf(t, "t.jsonl", says("one"), says("two")))
	sending, answer := make(chan struct{}), make(chan error)
	w.sender.send = func(ctx context.Context, _ outbox.Message) error {
		close(sending)
		err := <-answer
		return errors.Join(err, ctx.Err())
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	receive(t, sending)
	cancel()
	answer <- nil
	assert.NoError(t, receive(t, done))
	assert.Equal(t, []string{"one"}, w.sender.answersSent())
	assert.Equal(t, int64(len(says("one"))), w.cursors(r)[0].Offset)
}

// After a /clear the first transcript is not done with because of a stop.
func TestP5_AStopDoesNotPassTheRestOfAnEarlierTranscript(t *testing.T) {
	w := newWorld(t)
	one := transcriptOf(t, "one.jsonl", says("one"), says("two"))
	two := transcriptOf(t, "two.jsonl", says("three"))
	r := w.currentSession(t, "api", session.Running, one, two)
	ctx, cancel := context.WithCancel(t.Context())
	w.sender.send = func(context.Context, outbox.Message) error { cancel(); return nil }
	require.NoError(t, w.Run(ctx))
	require.Len(t, w.cursors(r), 2)

	w.sender.send = nil
	w.again()
	w.records.change(r.ID, func(r *session.Record) { r.State = session.Archived })
	w.readNow(t, r)
	assert.Equal(t, []string{"one", "two", "three"}, w.sender.answersSent())
}

// In every form, and as a file: then the chat is told, and the rest comes.
func TestP5_ARefusedPartIsPassed(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Completed, transcriptOf(t, "t.jsonl", says("one"), says("bad"), says("three")))
	refusal := fmt.Errorf("send: %w", &outbox.Refused{Err: errors.New("bad request")})
	w.sender.send = func(_ context.Context, m outbox.Message) error {
		if m.Text.Text == "bad" {
			return refusal
		}
		return nil
	}
	w.sender.upload = func(outbox.File) error { return refusal }
	w.readNow(t, r)
	assert.Equal(t, []string{"one", "three"}, w.sender.answersSent())
	assert.Equal(t, []string{w.marker(r)}, w.sender.texts())
	info, err := os.Stat(r.Cursors[0].Path)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), w.cursors(r)[0].Offset)
}

// marker is what stands where a part is missing.
func (w *world) marker(r session.Record) string {
	return w.word(i18n.PartNotShown, i18n.Args{"Name": r.Name, "Command": "tmux attach -t " + r.Name})
}

// long is a text of several parts, each word once.
func long(words int) string {
	var b strings.Builder
	for n := range words {
		fmt.Fprintf(&b, "word%05d ", n)
	}
	return strings.TrimSpace(b.String())
}

// TestP5_ALongAnswerGoesOnWhereItStopped stops at every part of a long answer, before and after the
// Bot API took it, and starts again. Meanwhile another session may have become the current one:
// what was begun is shown to its end, what was not gets its notice.
func TestP5_ALongAnswerGoesOnWhereItStopped(t *testing.T) {
	text := long(1500)
	for _, stays := range []bool{true, false} {
		for stop := range 5 {
			for _, taken := range []bool{false, true} {
				t.Run(fmt.Sprintf("stays current %v, stop %d, taken %v", stays, stop, taken), func(t *testing.T) {
					w := newWorld(t)
					r := w.currentSession(t, "api", session.Completed, transcriptOf(t, "t.jsonl", says("before", text, "after")))
					ctx, cancel := context.WithCancel(t.Context())
					sent := 0
					w.sender.send = func(context.Context, outbox.Message) error {
						if sent++; sent <= stop+1 {
							return nil
						}
						cancel()
						if taken {
							return nil
						}
						return outbox.ErrClosed
					}
					require.NoError(t, w.Run(ctx))
					w.sender.send = nil
					begun := w.cursors(r)[0].Part > 0
					if !stays {
						require.NoError(t, w.Chats.SetCurrent(atAlice, uuid.New()))
					}
					w.again()
					w.readNow(t, r)
					var shown []string
					for _, m := range w.sender.sent {
						assert.LessOrEqual(t, m.Text.Length(), 4096)
						shown = append(shown, strings.Fields(m.Text.Text)...)
					}
					all := strings.Fields("before " + text + " after")
					switch {
					case stays:
						assert.Equal(t, all, shown, "nothing is lost, nothing comes twice")
					case begun:
						assert.Equal(t, all[:len(all)-1], shown, "what was begun is shown to its end")
					default:
						assert.Equal(t, all[:len(shown)], shown)
					}
					assert.Equal(t, len(shown) < len(all), len(w.sender.texts()) == 1, "one notice for the rest")
				})
			}
		}
	}
}

// What was taken, but is not on disk, comes twice: that one part only.
func TestP5_ACrashRepeatsAtMostThePartUnderWay(t *testing.T) {
	w := newWorld(t)
	text := long(1500)
	r := w.currentSession(t, "api", session.Completed, transcriptOf(t, "t.jsonl", says(text)))
	ctx, cancel := context.WithCancel(t.Context())
	w.sessions.advance = func(_ uuid.UUID, c transcript.Cursor) error {
		if c.Part == 2 { // killed after the yes, before it was on disk
			cancel()
			return errDisk
		}
		return nil
	}
	sent := 0
	w.sender.send = func(context.Context, outbox.Message) error {
		if sent++; sent > 2 {
			return outbox.ErrClosed
		}
		return nil
	}
	require.NoError(t, w.Run(ctx))
	w.sessions.advance, w.sender.send = nil, nil
	w.again()
	w.readNow(t, r)
	got := w.sender.answersSent()
	require.Greater(t, len(got), 3)
	assert.Equal(t, got[1], got[2], "the part under way")
	assert.Equal(t, strings.Fields(text), strings.Fields(strings.Join(append(got[:1:1], got[2:]...), " ")))
}

func TestWhatIsShown(t *testing.T) {
	line := func(format string, args ...any) string { return fmt.Sprintf(format, args...) + "\n" }
	user := func(text string) string {
		content, _ := json.Marshal(text)
		return line(`{"type":"user","message":{"content":%s}}`, content)
	}
	for _, tt := range []struct {
		name, line string
		want       []string
		typing     bool
	}{
		{"what the agent says", says("**hello**"), []string{"hello"}, false},
		{"nothing to see", says("\u200b"), nil, false},
		{"thinking", line(`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"}]}}`), nil, true},
		{"a tool", line(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"t"}]}}`), nil, true},
		{"a tool's result", line(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}}`), nil, false},
		{"a subagent", line(`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"aside"}]}}`), nil, false},
		{"a subagent's tool", line(`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use","name":"Bash"}]}}`), nil, true},
		{"something injected", line(`{"type":"assistant","isMeta":true,"message":{"content":[{"type":"text","text":"meta"}]}}`), nil, false},
		{"what the person said", user("a prompt"), nil, false},
		{"a summary", line(`{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}`), nil, false},
		{"an interrupt", user("[Request interrupted by user]"), []string{"api was interrupted. Send it what to do instead."}, false},
		{"an error of Claude's", line(`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"529"}]}}`),
			[]string{"api stopped with an error from Claude: 529. Send the message again to go on."}, false},
		{"a local command", user("<command-name>/cost</command-name>"), nil, false},
		{"its output", user("<local-command-stdout>\x1b[1mfive\x1b[0m dollars</local-command-stdout>"), []string{"five dollars"}, false},
		{"no output", user("<local-command-stdout>\x1b[1m\x1b[0m</local-command-stdout>"), nil, false},
		{"a compaction", line(`{"type":"system","subtype":"compact_boundary","content":"compacted"}`), nil, false},
		{"a queue operation", line(`{"type":"queue-operation","operation":"enqueue","content":"later"}`), nil, false},
		{"a type of a later day", line(`{"type":"dream","message":{"content":[{"type":"text","text":"x"}]}}`), nil, false},
		{"no JSON", "half a li\n", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Completed, transcriptOf(t, "t.jsonl", tt.line, says("the next")))
			w.readNow(t, r)
			assert.Equal(t, append(tt.want, "the next"), w.sender.answersSent(), "and the next line is read")
			assert.Equal(t, tt.typing, contains(w.sender.done(), "typing in 7"))
			for _, m := range w.sender.sent {
				assert.Equal(t, atAlice, m.To)
				assert.Empty(t, m.Buttons)
			}
		})
	}
}

func contains(list []string, line string) bool {
	for _, l := range list {
		if l == line {
			return true
		}
	}
	return false
}

func TestP5_NewsDoesNotCancelASend(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running, transcriptOf(t, "t.jsonl", says("one"), says("two")))
	sending, answer := make(chan context.Context), make(chan error)
	w.sender.send = func(ctx context.Context, m outbox.Message) error {
		if m.Text.Text != "one" {
			return nil
		}
		sending <- ctx
		return <-answer
	}
	w.running(t)
	ctx := receive(t, sending)
	w.newTranscript(t, r)
	receive(t, w.talk.lastWaiting().Done()) // the news is taken while the send lasts
	assert.NoError(t, ctx.Err())
	answer <- nil
	w.expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(says("one"))), "send two")
	assert.Equal(t, []string{"one", "two"}, w.sender.answersSent(), "each once")
}

func TestP5_AnAnswerIsShownAsItIsWritten(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("one"))
	w.currentSession(t, "api", session.Running, c)
	w.running(t)
	w.expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(says("one"))))
	half := says("two")
	grow(t, c, half[:20])
	grow(t, c, half[20:])
	w.expect(t, "send two")
}

// After a /clear: what the first transcript still has comes first.
func TestP5_TheNextTranscriptComesAfterTheFirst(t *testing.T) {
	w := newWorld(t)
	one := transcriptOf(t, "one.jsonl", says("one"))
	two := transcriptOf(t, "two.jsonl", says("three"))
	three := transcript.Cursor{Path: filepath.Join(filepath.Dir(two.Path), "three.jsonl")}
	r := w.currentSession(t, "api", session.Running, one)
	w.running(t)
	w.expect(t, "send one", fmt.Sprintf("advance one.jsonl %d/0/0", len(says("one"))))

	grow(t, one, says("two"))
	w.records.change(r.ID, func(r *session.Record) { r.Cursors = append(r.Cursors, two, three) })
	w.newTranscript(t, r)
	w.expect(t, "send two", fmt.Sprintf("advance one.jsonl %d/0/0", len(says("one"))+len(says("two"))),
		"advance two.jsonl 0/0/0", "send three", fmt.Sprintf("advance two.jsonl %d/0/0", len(says("three"))), "advance three.jsonl 0/0/0")
	require.NoError(t, os.WriteFile(three.Path, []byte(says("four")), 0o600))
	w.expect(t, "send four", fmt.Sprintf("advance three.jsonl %d/0/0", len(says("four"))))
	assert.Len(t, w.cursors(r), 1)
}

// A conversation that begins as a copy gets its file, with all that was said before, at its first
// prompt.
func TestAForkDoesNotRepeatItsHistory(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api-fork", session.Archived, transcript.Cursor{})
	at := func(line string, when time.Time) string {
		return strings.Replace(line, `{`, fmt.Sprintf(`{"timestamp":%q,`, when.UTC().Format(time.RFC3339Nano)), 1)
	}
	copied := transcriptOf(t, "copy.jsonl", at(says("long ago"), r.CreatedAt.Add(-time.Second)), at(says("fresh"), r.CreatedAt.Add(time.Second)))
	w.records.change(r.ID, func(r *session.Record) { r.ForkOf, r.Cursors = uuid.New(), []transcript.Cursor{copied} })
	w.readNow(t, r)
	assert.Contains(t, w.happened(), "send fresh")
	assert.NotContains(t, w.happened(), "send long ago")

	w.records.change(r.ID, func(r *session.Record) { r.ForkOf, r.Cursors = uuid.Nil, []transcript.Cursor{copied} })
	w.readNow(t, r)
	assert.Contains(t, w.happened(), "send long ago", "of a session that is no copy everything is shown")
}

func TestP5_TheTailIsShownAndTheReaderLeaves(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("one"))
	r := w.currentSession(t, "api", session.Running, c)
	stop := w.running(t)
	w.expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(says("one"))))
	grow(t, c, says("two"), says("three"))
	w.records.change(r.ID, func(r *session.Record) { r.State = session.Archived })
	left := w.readerOf(r)
	w.newTranscript(t, r)
	receive(t, left)
	assert.Equal(t, []string{"one", "two", "three"}, w.sender.answersSent())
	require.NoError(t, stop())

	grow(t, c, says("four"))
	w.records.change(r.ID, func(r *session.Record) { r.State = session.Restoring })
	w.running(t)
	require.Eventually(t, func() bool { return len(w.sender.answersSent()) == 4 }, patience, time.Millisecond, "it comes back with the session")
}

func TestP5_AReplacedTranscriptIsToldAndFollowedFromItsEnd(t *testing.T) {
	for _, state := range []session.State{session.Running, session.Archived} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			c := transcriptOf(t, "t.jsonl", says("another"), says("conversation"))
			end := len(says("another")) + len(says("conversation"))
			c.Offset = 5000
			r := w.currentSession(t, "api", state, c)
			w.running(t)
			events := []string{receive(t, w.events), receive(t, w.events)}
			assert.ElementsMatch(t, []string{"post " + w.named(i18n.TranscriptReplaced, "api"), fmt.Sprintf("advance t.jsonl %d/0/0", end)}, events)
			grow(t, c, says("new"))
			w.records.change(r.ID, func(r *session.Record) { r.State = session.Running })
			w.newTranscript(t, r)
			w.expect(t, "send new")
			assert.Len(t, w.sender.texts(), 1, "told once")
		})
	}
}

func TestP5_AReplacedTranscriptIsToldBeforeItIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := transcriptOf(t, "t.jsonl", says("another"))
		c.Offset = 5000
		r := w.currentSession(t, "api", session.Archived, c)
		failing := 2
		w.sender.post = func(outbox.Message) error {
			if failing--; failing >= 0 {
				return errDisk
			}
			return nil
		}
		w.readNow(t, r)
		assert.Equal(t, []string{w.named(i18n.TranscriptReplaced, "api")}, w.sender.texts())
	})
}

func TestP5_AReplacedTranscriptThatEndsInHalfALineIsToldOnce(t *testing.T) {
	w := newWorld(t)
	whole, half := says("another"), says("the rest of it")
	c := transcriptOf(t, "t.jsonl", whole, half[:20])
	c.Offset = 5000
	w.currentSession(t, "api", session.Running, c)
	told := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.sender.post = func(outbox.Message) error {
		if told <- struct{}{}; len(told) > 50 {
			cancel()
		}
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	receive(t, told)
	grow(t, c, half[20:], says("new"))
	require.Eventually(t, func() bool { return contains(w.sender.answersSent(), "new") || ctx.Err() != nil }, patience, time.Millisecond)
	cancel()
	require.NoError(t, receive(t, done))
	assert.Empty(t, told, "told once")
	assert.Equal(t, []string{"the rest of it", "new"}, w.sender.answersSent())
}

func TestReadersAreOnlyForWhatIsAllowed(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("secret"))
	r := w.session(t, "api", session.Running, c)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: eve} })
	w.running(t)
	inList := w.listed(t, r)
	w.expect(t, "post "+inList.on.Text.Text)
	require.NoError(t, w.tapSpot(t, alice, inList))
	assert.Contains(t, receive(t, w.events), "secret") // with its name above it until it is current
	assert.Equal(t, atAlice, w.sender.sent[0].To, "P9: not before it was moved to who may see it")
}

func TestP9_AnEndedSessionOfAnotherPlaceIsLeft(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived, transcriptOf(t, "t.jsonl", says("secret")))
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: eve} })
	r, _ = w.records.Get(r.ID)
	w.readNow(t, r)
	assert.Empty(t, w.sender.done())
	assert.Equal(t, r.Cursors, w.cursors(r), "it is shown when somebody takes it over")
}

// A session that failed before it had a transcript: there is nothing to wait for.
func TestAReaderWithNothingToReadLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stop := w.running(t)
		for _, r := range []session.Record{w.session(t, "failed", session.Failed), {ID: uuid.New()}} {
			w.newTranscript(t, r)
			receive(t, w.readerOf(r))
		}
		require.NoError(t, stop())
	})
}

// TestP5_WhateverComesDuringALeaveIsShown is the same with real readers: lines are written and told
// at the moment when the last reader is leaving.
func TestP5_WhateverComesDuringALeaveIsShown(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl")
	r := w.currentSession(t, "api", session.Archived, c)
	w.running(t)
	for n := range 300 {
		grow(t, c, says(fmt.Sprint(n)))
		w.newTranscript(t, r)
		if n%3 == 0 { // else the next one meets a reader that is on its way out
			require.Eventually(t, func() bool { return len(w.sender.answersSent()) == n+1 }, patience, 10*time.Microsecond)
		}
	}
	require.Eventually(t, func() bool { return len(w.sender.answersSent()) == 300 }, patience, time.Millisecond)
	for n, text := range w.sender.answersSent() {
		require.Equal(t, fmt.Sprint(n), text)
	}
}

// paced runs the bot for a minute of fake time and wants what fails to be tried again, but not in a
// hot loop.
func paced(t *testing.T, prepare func(t *testing.T, w *world, again func() error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w, times := newWorld(t), 0
		prepare(t, w, func() error {
			if times++; times > 1000 {
				cancel() // a hot loop never lets fake time go on
			}
			return errDisk
		})
		require.NoError(t, w.Run(ctx))
		assert.Greater(t, times, 1, "it is tried again")
		assert.LessOrEqual(t, times, 100)
	})
}

func TestAPartThatCannotBeSentIsNotTriedInAHotLoop(t *testing.T) {
	paced(t, func(t *testing.T, w *world, again func() error) {
		w.sender.send = func(context.Context, outbox.Message) error { return again() }
		w.currentSession(t, "api", session.Archived, transcriptOf(t, "one.jsonl", says("x")))
	})
}

func TestACursorThatCannotBeSavedIsNotTriedInAHotLoop(t *testing.T) {
	paced(t, func(t *testing.T, w *world, again func() error) {
		w.sessions.advance = func(uuid.UUID, transcript.Cursor) error { return again() }
		w.currentSession(t, "api", session.Archived, transcriptOf(t, "one.jsonl"), transcriptOf(t, "two.jsonl"))
	})
}
