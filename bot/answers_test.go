package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
)

func TestP5_CursorFollowsConfirmedSend(t *testing.T) {
	w := chattest.NewWorld(t)
	first, second := chattest.Says("one"), chattest.Says("two", "three")
	c := chattest.TranscriptOf(t, "t.jsonl", first, second, chattest.TurnEnd)
	r := w.NewCurrentSession(t, "api", session.Completed, c)
	var before []talk.Cursor
	w.Telegram.OnSend = func(context.Context, outbox.Message) error {
		before = append(before, w.Cursors(r)[0])
		return nil
	}
	w.ReadNow(t, r)
	at := func(offset, block int) talk.Cursor {
		return talk.Cursor{Path: c.Path, Offset: int64(offset), Block: block}
	}
	all := len(first) + len(second)
	assert.Equal(t, []talk.Cursor{c, at(len(first), 0), at(len(first), 1)}, before, "while a part is being sent")
	assert.Equal(t, []string{"send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(first)),
		"send two", fmt.Sprintf("advance t.jsonl %d/1/0", len(first)),
		"send three", fmt.Sprintf("advance t.jsonl %d/0/0", all),
		fmt.Sprintf("advance t.jsonl %d/0/0", all+len(chattest.TurnEnd))}, w.Happened())
}

// The outbox gets the time with the whole text and with each part.
func TestAnswerHasTimeOfItsLine(t *testing.T) {
	at := func(said string) string {
		return strings.Replace(said, `{`, `{"timestamp":"2026-05-04T10:00:00Z",`, 1)
	}
	for _, tt := range []struct {
		name, lines string
		want        bool
	}{
		{"one message", at(chattest.Says("one")), true},
		{"several messages", at(chattest.Says(strings.Repeat("one line of many\n\n", 400))), true},
		{"a line without a time", chattest.Says("one"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", tt.lines, chattest.TurnEnd))
			w.ReadNow(t, r)
			require.NotEmpty(t, w.Telegram.Sent)
			for _, m := range w.Telegram.Sent {
				assert.Equal(t, tt.want, m.Written.Equal(time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)), m.Written)
			}
		})
	}
}

func TestP5_FailedSendIsRetriedFromCursor(t *testing.T) {
	for _, failure := range []error{outbox.ErrUnsure, outbox.ErrClosed, chattest.ErrDisk} {
		synctest.Test(t, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("two"), chattest.Says("three")))
			failing := 3
			w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
				if m.Text.Text == "two" && failing > 0 {
					failing--
					assert.Equal(t, int64(len(chattest.Says("one"))), w.Cursors(r)[0].Offset)
					return fmt.Errorf("send: %w", failure)
				}
				return nil
			}
			w.ReadNow(t, r)
			assert.Equal(t, []string{"one", "two", "three"}, w.Telegram.AnswersSent(), "in order, nothing overtakes")
			assert.Zero(t, failing)
		})
	}
}

func TestP5_StopDuringSendKeepsCursor(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("two"))
	r := w.NewCurrentSession(t, "api", session.Running, c)
	sending, answer := make(chan struct{}), make(chan error)
	w.Telegram.OnSend = func(context.Context, outbox.Message) error {
		close(sending)
		return <-answer
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	chattest.Receive(t, sending)
	cancel()
	answer <- outbox.ErrClosed
	assert.NoError(t, chattest.Receive(t, done), "a stop is no failure")
	assert.Equal(t, []talk.Cursor{c}, w.Cursors(r))
	assert.Empty(t, w.Happened())
}

// A call that is under way at a stop may finish; then it counts.
func TestP5_StopLetsSendFinish(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("two")))
	sending, answer := make(chan struct{}), make(chan error)
	w.Telegram.OnSend = func(ctx context.Context, _ outbox.Message) error {
		close(sending)
		err := <-answer
		return errors.Join(err, ctx.Err())
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	chattest.Receive(t, sending)
	cancel()
	answer <- nil
	assert.NoError(t, chattest.Receive(t, done))
	assert.Equal(t, []string{"one"}, w.Telegram.AnswersSent())
	assert.Equal(t, int64(len(chattest.Says("one"))), w.Cursors(r)[0].Offset)
}

// After a /clear the first transcript is not done with because of a stop.
func TestP5_StopSkipsNothingOfEarlierTranscript(t *testing.T) {
	w := chattest.NewWorld(t)
	one := chattest.TranscriptOf(t, "one.jsonl", chattest.Says("one"), chattest.Says("two"))
	two := chattest.TranscriptOf(t, "two.jsonl", chattest.Says("three"))
	r := w.NewCurrentSession(t, "api", session.Running, one, two)
	ctx, cancel := context.WithCancel(t.Context())
	w.Telegram.OnSend = func(context.Context, outbox.Message) error { cancel(); return nil }
	require.NoError(t, w.Run(ctx))
	require.Len(t, w.Cursors(r), 2)

	w.Telegram.OnSend = nil
	w.Again()
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
	w.ReadNow(t, r)
	assert.Equal(t, []string{"one", "two", "three"}, w.Telegram.AnswersSent())
}

// In every form, and as a file: the chat gets a notice, and the rest comes.
func TestP5_RefusedPartIsSkipped(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("bad"), chattest.Says("three")))
	refusal := fmt.Errorf("send: %w", &outbox.Refused{Err: errors.New("bad request")})
	w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
		if m.Text.Text == "bad" {
			return refusal
		}
		return nil
	}
	w.Telegram.Upload = func(outbox.File) error { return refusal }
	w.ReadNow(t, r)
	assert.Equal(t, []string{"one", "three"}, w.Telegram.AnswersSent())
	assert.Equal(t, []string{w.Marker(r)}, w.Telegram.Texts())
	info, err := os.Stat(r.Cursors[0].Path)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), w.Cursors(r)[0].Offset)
}

// TestP5_LongAnswerContinuesAfterLastPart stops at every part of a long answer, before and after
// the Bot API took it, and starts again. If another session has become the current one, the begun
// answer is completed and the next one gets a notice.
func TestP5_LongAnswerContinuesAfterLastPart(t *testing.T) {
	text := chattest.Long(1500)
	for _, stays := range []bool{true, false} {
		for stop := range 5 {
			for _, taken := range []bool{false, true} {
				t.Run(fmt.Sprintf("stays current %v, stop %d, taken %v", stays, stop, taken), func(t *testing.T) {
					w := chattest.NewWorld(t)
					r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("before", text, "after")))
					ctx, cancel := context.WithCancel(t.Context())
					sent := 0
					w.Telegram.OnSend = func(context.Context, outbox.Message) error {
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
					w.Telegram.OnSend = nil
					begun := w.Cursors(r)[0].Part > 0
					if !stays {
						require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.New()))
					}
					w.Again()
					w.ReadNow(t, r)
					var shown []string
					for _, text := range w.Telegram.AnswersSent() {
						assert.LessOrEqual(t, chattest.Plain(text).Length(), 4096)
						shown = append(shown, strings.Fields(text)...)
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
					assert.Equal(t, len(shown) < len(all), len(w.Telegram.Texts()) == 1, "one notice for the rest")
				})
			}
		}
	}
}

// Only the part that was sent but is not noted on disk comes twice.
func TestP5_CrashRepeatsAtMostOnePart(t *testing.T) {
	w := chattest.NewWorld(t)
	text := chattest.Long(1500)
	r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says(text)))
	ctx, cancel := context.WithCancel(t.Context())
	w.Lifecycle.OnAdvance = func(_ uuid.UUID, c talk.Cursor) error {
		if c.Part == 2 { // killed after the yes, before it was on disk
			cancel()
			return chattest.ErrDisk
		}
		return nil
	}
	sent := 0
	w.Telegram.OnSend = func(context.Context, outbox.Message) error {
		if sent++; sent > 2 {
			return outbox.ErrClosed
		}
		return nil
	}
	require.NoError(t, w.Run(ctx))
	w.Lifecycle.OnAdvance, w.Telegram.OnSend = nil, nil
	w.Again()
	w.ReadNow(t, r)
	got := w.Telegram.AnswersSent()
	require.Greater(t, len(got), 3)
	assert.Equal(t, got[1], got[2], "the part under way")
	assert.Equal(t, strings.Fields(text), strings.Fields(strings.Join(append(got[:1:1], got[2:]...), " ")))
}

func TestShownItems(t *testing.T) {
	line := func(format string, args ...any) string { return fmt.Sprintf(format, args...) + "\n" }
	user := func(text string) string {
		content, _ := json.Marshal(text)
		return line(`{"type":"user","message":{"content":%s}}`, content)
	}
	failed := func(text, says string) string {
		return fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,%s,"message":{"content":[{"type":"text","text":%q}]}}`+"\n", says, text)
	}
	for _, tt := range []struct {
		name, line string
		want       []string
		typing     bool
	}{
		{"what the agent says", chattest.Says("**hello**"), []string{"hello"}, false},
		{"nothing to see", chattest.Says("\u200b"), nil, false},
		{"thinking", line(`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"}]}}`), nil, true},
		{"a tool", line(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"t"}]}}`), nil, true},
		{"a tool's result", line(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}}`), nil, false},
		{"a subagent", line(`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"aside"}]}}`), nil, false},
		{"a subagent's tool", line(`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use","name":"Bash"}]}}`), nil, true},
		{"something injected", line(`{"type":"assistant","isMeta":true,"message":{"content":[{"type":"text","text":"meta"}]}}`), nil, false},
		{"what the person said", user("a prompt"), nil, false},
		{"a summary", line(`{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}`), nil, false},
		{"an interrupt", user("[Request interrupted by user]"), []string{"api is interrupted. Tell it what to do instead."}, false},
		{"an error of Claude's", line(`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"529"}]}}`),
			[]string{"api stopped with an error from Claude: “529”. Send your message again to continue."}, false},
		{"an error that Claude has mended", line(`{"type":"assistant","isApiErrorMessage":true,"message":{"stop_reason":"tool_use","content":[{"type":"text","text":"API Error: an image was removed."}]}}`),
			[]string{"API Error: an image was removed."}, false},
		{"a conversation that is too long", failed("Prompt is too long", `"error":"invalid_request"`),
			[]string{"api stopped with an error from Claude: “Prompt is too long”. Its conversation no longer fits into the model's context. " +
				"Shorten it with /compact or begin a new one with /clear, then send your message again."}, false},
		{"an account without credit", failed("Credit balance is too low", `"error":"billing_error"`),
			[]string{"api stopped with an error from Claude: “Credit balance is too low”. Add credit to the account that Claude uses, then send your message again."}, false},
		{"a notice", line(`{"type":"system","subtype":"informational","level":"notice","content":"See the full changelog"}`), []string{"See the full changelog"}, false},
		{"a remark", line(`{"type":"system","subtype":"informational","level":"info","content":"Started in the background"}`), nil, false},
		{"a limit", failed("You've hit your 5-hour limit.", `"error":"rate_limit","quotaLimits":{"resetsAt":`+strconv.FormatInt(chattest.Started.Add(time.Hour).Unix(), 10)+`}`),
			[]string{"api has reached a limit: “You've hit your 5-hour limit”. It can continue at " + at(time.Hour) + ". If it does not, send your message again then."}, false},
		{"a login that is missing", failed("Not logged in · Please run /login", `"error":"authentication_failed"`),
			[]string{"api is logged out: “Not logged in · Please run /login”. Log in, then send your message again. In a terminal: tmux attach -t api"}, false},
		{"a hook of the person's", line(`{"type":"system","subtype":"informational","content":"UserPromptSubmit operation blocked by hook:\nnot on Fridays\n\nOriginal prompt: go",` +
			`"promptSubmitEnding":{"ending":{"kind":"blocked_by_hook"}}}`),
			[]string{"Your hook blocked the message to api: “not on Fridays”. Change the message and send it again."}, false},
		{"a hook that gives no reason", line(`{"type":"system","subtype":"informational","content":"UserPromptSubmit operation blocked by hook:\n\n\nOriginal prompt: go",` +
			`"promptSubmitEnding":{"ending":{"kind":"blocked_by_hook"}}}`),
			[]string{"Your hook blocked the message to api and gave no reason. Change the message and send it again."}, false},
		{"a local command", user("<command-name>/cost</command-name>"), nil, false},
		{"a conversation that begins anew", user("<command-name>/clear</command-name>"), []string{"api now has a new, empty conversation."}, false},
		{"a plan in a new conversation", line(`{"type":"user","planContent":"# Plan","message":{"content":"Implement the following plan:"}}`),
			[]string{"api carries out the plan in a new conversation."}, false},
		{"a schedule of the agent's own", line(`{"type":"system","subtype":"scheduled_task_fire","prompt":"look at\nthe build"}`),
			[]string{"api begins a turn by a schedule of its own: “look at”"}, false},
		{"its output", user("<local-command-stdout>\x1b[1mfive\x1b[0m dollars</local-command-stdout>"), []string{"five dollars"}, false},
		{"no output", user("<local-command-stdout>\x1b[1m\x1b[0m</local-command-stdout>"), nil, false},
		{"no content", user("<local-command-stdout>(no content)</local-command-stdout>"), nil, false},
		{"a compaction", line(`{"type":"system","subtype":"compact_boundary","content":"compacted"}`), nil, false},
		{"a queue operation", line(`{"type":"queue-operation","operation":"enqueue","content":"later"}`), nil, false},
		{"a type of a later day", line(`{"type":"dream","message":{"content":[{"type":"text","text":"x"}]}}`), nil, false},
		{"no JSON", "half a li\n", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", tt.line, chattest.Says("the next")))
			w.ReadNow(t, r)
			assert.Equal(t, append(tt.want, "the next"), w.Telegram.AnswersSent(), "and the next line is read")
			assert.Equal(t, tt.typing, chattest.Contains(w.Telegram.Done(), "typing in 7"))
			for _, m := range w.Telegram.Sent {
				assert.Equal(t, chattest.AtAlice, m.To)
				assert.Empty(t, m.Buttons)
			}
		})
	}
}

func TestP5_NewsDoesNotCancelASend(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("two")))
	sending, answer := make(chan context.Context), make(chan error)
	w.Telegram.OnSend = func(ctx context.Context, m outbox.Message) error {
		if m.Text.Text != "one" {
			return nil
		}
		sending <- ctx
		return <-answer
	}
	w.Running(t)
	ctx := chattest.Receive(t, sending)
	w.NewTranscript(t, r)
	chattest.Receive(t, w.Talk.LastWaiting().Done()) // the news is taken while the send lasts
	assert.NoError(t, ctx.Err())
	answer <- nil
	w.Expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(chattest.Says("one"))), "send two")
	assert.Equal(t, []string{"one", "two"}, w.Telegram.AnswersSent(), "each once")
}

func TestP5_AnswerIsShownWhileWritten(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
	w.NewCurrentSession(t, "api", session.Running, c)
	w.Running(t)
	w.Expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(chattest.Says("one"))))
	half := chattest.Says("two")
	chattest.Grow(t, c, half[:20])
	chattest.Grow(t, c, half[20:])
	w.Expect(t, "send two")
}

// After a /clear the rest of the first transcript comes first.
func TestP5_NextTranscriptFollowsFirst(t *testing.T) {
	w := chattest.NewWorld(t)
	one := chattest.TranscriptOf(t, "one.jsonl", chattest.Says("one"))
	two := chattest.TranscriptOf(t, "two.jsonl", chattest.Says("three"))
	three := talk.Cursor{Path: filepath.Join(filepath.Dir(two.Path), "three.jsonl")}
	r := w.NewCurrentSession(t, "api", session.Running, one)
	w.Running(t)
	w.Expect(t, "send one", fmt.Sprintf("advance one.jsonl %d/0/0", len(chattest.Says("one"))))

	chattest.Grow(t, one, chattest.Says("two"))
	w.Records.Change(r.ID, func(r *session.Record) { r.Cursors = append(r.Cursors, two, three) })
	w.NewTranscript(t, r)
	w.Expect(t, "send two", fmt.Sprintf("advance one.jsonl %d/0/0", len(chattest.Says("one"))+len(chattest.Says("two"))),
		"advance two.jsonl 0/0/0", "send three", fmt.Sprintf("advance two.jsonl %d/0/0", len(chattest.Says("three"))), "advance three.jsonl 0/0/0")
	require.NoError(t, os.WriteFile(three.Path, []byte(chattest.Says("four")), 0o600))
	w.Expect(t, "send four", fmt.Sprintf("advance three.jsonl %d/0/0", len(chattest.Says("four"))))
	assert.Len(t, w.Cursors(r), 1)
}

// A conversation that starts as a copy gets its file, with the whole history, at its first prompt.
func TestForkDoesNotRepeatHistory(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api-fork", session.Archived, talk.Cursor{})
	at := func(line string, when time.Time) string {
		return strings.Replace(line, `{`, fmt.Sprintf(`{"timestamp":%q,`, when.UTC().Format(time.RFC3339Nano)), 1)
	}
	copied := chattest.TranscriptOf(t, "copy.jsonl", at(chattest.Says("long ago"), r.CreatedAt.Add(-time.Second)), at(chattest.Says("fresh"), r.CreatedAt.Add(time.Second)))
	w.Records.Change(r.ID, func(r *session.Record) { r.ForkOf, r.Cursors = uuid.New(), []talk.Cursor{copied} })
	w.ReadNow(t, r)
	assert.Contains(t, w.Happened(), "send fresh")
	assert.NotContains(t, w.Happened(), "send long ago")

	w.Records.Change(r.ID, func(r *session.Record) { r.ForkOf, r.Cursors = uuid.Nil, []talk.Cursor{copied} })
	w.ReadNow(t, r)
	assert.Contains(t, w.Happened(), "send long ago", "of a session that is no copy everything is shown")
}

func TestP5_TailIsShownThenReaderEnds(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
	r := w.NewCurrentSession(t, "api", session.Running, c)
	stop := w.Running(t)
	w.Expect(t, "send one", fmt.Sprintf("advance t.jsonl %d/0/0", len(chattest.Says("one"))))
	chattest.Grow(t, c, chattest.Says("two"), chattest.Says("three"))
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
	left := w.ReaderOf(r)
	w.NewTranscript(t, r)
	chattest.Receive(t, left)
	assert.Equal(t, []string{"one", "two", "three"}, w.Telegram.AnswersSent())
	require.NoError(t, stop())

	chattest.Grow(t, c, chattest.Says("four"))
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Restoring })
	w.Again() // a reader that the news has called may have been stopped before it left
	w.Running(t)
	waittest.Until(t, func() bool { return len(w.Telegram.AnswersSent()) == 4 }, "it comes back with the session")
}

func TestP5_ReplacedTranscriptIsFollowedFromEnd(t *testing.T) {
	for _, state := range []session.State{session.Running, session.Archived} {
		t.Run(string(state), func(t *testing.T) {
			w := chattest.NewWorld(t)
			c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("another"), chattest.Says("conversation"))
			end := len(chattest.Says("another")) + len(chattest.Says("conversation"))
			c.Offset = 5000
			r := w.NewCurrentSession(t, "api", state, c)
			w.Running(t)
			events := []string{chattest.Receive(t, w.Order), chattest.Receive(t, w.Order)}
			assert.ElementsMatch(t, []string{"post " + w.Named(i18n.TranscriptReplaced, "api"), fmt.Sprintf("advance t.jsonl %d/0/0", end)}, events)
			chattest.Grow(t, c, chattest.Says("new"))
			w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
			w.NewTranscript(t, r)
			w.Expect(t, "send new")
			assert.Len(t, w.Telegram.Texts(), 1, "told once")
		})
	}
}

func TestP5_ReplacedTranscriptIsReportedBeforeSkipping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("another"))
		c.Offset = 5000
		r := w.NewCurrentSession(t, "api", session.Archived, c)
		failing := 2
		w.Telegram.OnPost = func(outbox.Message) error {
			if failing--; failing >= 0 {
				return chattest.ErrDisk
			}
			return nil
		}
		w.ReadNow(t, r)
		assert.Equal(t, []string{w.Named(i18n.TranscriptReplaced, "api")}, w.Telegram.Texts())
	})
}

func TestP5_PartialLineReportsReplacementOnce(t *testing.T) {
	w := chattest.NewWorld(t)
	whole, half := chattest.Says("another"), chattest.Says("the rest of it")
	c := chattest.TranscriptOf(t, "t.jsonl", whole, half[:20])
	c.Offset = 5000
	w.NewCurrentSession(t, "api", session.Running, c)
	reported := make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Telegram.OnPost = func(outbox.Message) error {
		if reported <- struct{}{}; len(reported) > 50 {
			cancel()
		}
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	chattest.Receive(t, reported)
	chattest.Grow(t, c, half[20:], chattest.Says("new"))
	waittest.Until(t, func() bool { return chattest.Contains(w.Telegram.AnswersSent(), "new") || ctx.Err() != nil })
	cancel()
	require.NoError(t, chattest.Receive(t, done))
	assert.Empty(t, reported, "told once")
	assert.Equal(t, []string{"the rest of it", "new"}, w.Telegram.AnswersSent())
}

func TestReadersNeedAllowedChats(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("secret"))
	r := w.Session(t, "api", session.Running, c)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Eve} })
	w.Running(t)
	inList := w.Listed(t, r)
	w.Expect(t, "post "+inList.On.Text.Text)
	require.NoError(t, w.TapSpot(t, chattest.Alice, inList))
	assert.Contains(t, chattest.Receive(t, w.Order), "secret") // with its name above it until it is current
	assert.Equal(t, chattest.AtAlice, w.Telegram.Sent[0].To, "P9: not before it was moved to who may see it")
}

func TestP9_EndedSessionElsewhereIsSkipped(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("secret")))
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: chattest.Eve} })
	r, _ = w.Records.Get(r.ID)
	w.ReadNow(t, r)
	assert.Empty(t, w.Telegram.Done())
	assert.Equal(t, r.Cursors, w.Cursors(r), "it is shown when somebody takes it over")
}

// A session that failed before it had a transcript: there is nothing to wait for.
func TestReaderWithoutTextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		stop := w.Running(t)
		for _, r := range []session.Record{w.Session(t, "failed", session.Failed), {ID: uuid.New()}} {
			w.NewTranscript(t, r)
			chattest.Receive(t, w.ReaderOf(r))
		}
		require.NoError(t, stop())
	})
}

// TestP5_TextDuringReaderEndIsShown repeats that with real readers: lines are written and reported
// while the last reader ends.
func TestP5_TextDuringReaderEndIsShown(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl")
	r := w.NewCurrentSession(t, "api", session.Archived, c)
	w.Running(t)
	for n := range 300 {
		chattest.Grow(t, c, chattest.Says(fmt.Sprint(n)))
		w.NewTranscript(t, r)
		if n%3 == 0 { // else the next one meets a reader that is on its way out
			waittest.Until(t, func() bool { return len(w.Telegram.AnswersSent()) == n+1 })
		}
	}
	waittest.Until(t, func() bool { return len(w.Telegram.AnswersSent()) == 300 })
	for n, text := range w.Telegram.AnswersSent() {
		require.Equal(t, fmt.Sprint(n), text)
	}
}

// paced runs the bot for a minute of fake time and wants what fails to be tried again, but not in a
// hot loop.
func paced(t *testing.T, prepare func(t *testing.T, w *chattest.World, again func() error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w, times := chattest.NewWorld(t), 0
		prepare(t, w, func() error {
			if times++; times > 1000 {
				cancel() // a hot loop would stop fake time
			}
			return chattest.ErrDisk
		})
		require.NoError(t, w.Run(ctx))
		assert.Greater(t, times, 1, "it is tried again")
		assert.LessOrEqual(t, times, 100)
	})
}

func TestUnsentPartIsRetriedWithBackoff(t *testing.T) {
	paced(t, func(t *testing.T, w *chattest.World, again func() error) {
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { return again() }
		w.NewCurrentSession(t, "api", session.Archived, chattest.TranscriptOf(t, "one.jsonl", chattest.Says("x")))
	})
}

func TestUnsavedCursorIsRetriedWithBackoff(t *testing.T) {
	paced(t, func(t *testing.T, w *chattest.World, again func() error) {
		w.Lifecycle.OnAdvance = func(uuid.UUID, talk.Cursor) error { return again() }
		w.NewCurrentSession(t, "api", session.Archived, chattest.TranscriptOf(t, "one.jsonl"), chattest.TranscriptOf(t, "two.jsonl"))
	})
}
