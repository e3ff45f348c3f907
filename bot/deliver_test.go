package bot_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

var errRefused = fmt.Errorf("send: %w", &outbox.Refused{Err: errors.New("bad request")})

// TestP5_DeliveryFallbacks refuses the first ways to show a part, and shows it in the next.
func TestP5_DeliveryFallbacks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rich   bool     // it is written in the form of rich messages
		refuse []string // rich, text, file
		noRich bool     // the server does not know the method
		want   []string // the chat's messages
	}{
		{name: "text", want: []string{"send the bad one"}},
		{name: "text is refused", refuse: []string{"text"}, want: []string{"file answer.txt"}},
		{name: "text is refused in every form", refuse: []string{"text", "file"}, want: []string{"marker"}},
		{name: "rich", rich: true, want: []string{"send rich the **bad** one"}},
		{name: "no rich messages there", rich: true, noRich: true, want: []string{"send the bad one"}},
		{name: "rich is refused", rich: true, refuse: []string{"rich"}, want: []string{"send the bad one"}},
		{name: "rich and text are refused", rich: true, refuse: []string{"rich", "text"}, want: []string{"file answer.txt"}},
		{name: "rich is refused in every form", rich: true, refuse: []string{"rich", "text", "file"}, want: []string{"marker"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Answers.Rich, w.Telegram.Rich = tt.rich, true
			r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("the **bad** one")))
			refused := func(what string) error {
				if slices.Contains(tt.refuse, what) {
					return errRefused
				}
				return nil
			}
			w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
				switch {
				case m.Rich != "" && tt.noRich:
					return fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrNoRich})
				case m.Rich != "":
					return refused("rich")
				}
				return refused("text")
			}
			w.Telegram.Upload = func(outbox.File) error { return refused("file") }
			w.ReadNow(t, r)
			assert.Equal(t, tt.want, w.InTheChat(t, r))
		})
	}
}

// A part whose file is refused keeps its caption.
func TestP5_RefusedFileKeepsCaption(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Completed, manyLines(t, 0))
	w.Telegram.Upload = func(outbox.File) error { return errRefused }
	w.ReadNow(t, r)
	said := slices.DeleteFunc(w.Happened(), func(e string) bool { return strings.HasPrefix(e, "advance") })
	caption := w.Word(i18n.OutputFull, i18n.Args{"Count": 100})
	assert.Equal(t, []string{"send " + caption, "post " + w.Marker(r)}, said[1:], "behind its beginning and its end")
}

func TestP5_OtherErrorKeepsFormat(t *testing.T) {
	for _, failure := range []error{outbox.ErrClosed, &outbox.Refused{Err: outbox.ErrBlocked}} {
		synctest.Test(t, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("x")))
			tries := 0
			w.Telegram.OnSend = func(context.Context, outbox.Message) error { tries++; return failure }
			stop := w.Running(t)
			time.Sleep(time.Minute)
			require.NoError(t, stop())
			assert.Greater(t, tries, 1, "it is tried again in the same way")
			assert.Empty(t, w.Happened())
		})
	}
}

// A cursor counts the parts of one form. If the server has gained or lost rich messages since, the
// item starts again.
func TestP5_PartsOfAnotherFormBeginAnew(t *testing.T) {
	text := chattest.Long(1500)
	for _, tt := range []struct {
		name string
		part int
		form string
		want string // the first word that is shown
	}{
		{"the same form", 1, "", ""},
		{"another form", 1, "rich", "word00000"},
		{"more parts than there are", 70, "", "word00000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says(text))
			c.Part, c.Form = tt.part, tt.form
			r := w.NewCurrentSession(t, "api", session.Completed, c)
			w.ReadNow(t, r)
			require.NotEmpty(t, w.Telegram.AnswersSent())
			first, _, _ := strings.Cut(w.Telegram.AnswersSent()[0], " ")
			if tt.want == "" {
				assert.NotEqual(t, "word00000", first)
			} else {
				assert.Equal(t, tt.want, first)
			}
			last := w.Cursors(r)[0]
			assert.Equal(t, talk.Cursor{Path: c.Path, Offset: int64(len(chattest.Says(text)))}, last, "behind an item there is no form")
		})
	}
}

// pictured is a transcript line with what a tool has shown.
func pictured(mediaTypes ...string) string {
	var blocks []string
	for i, mediaType := range mediaTypes {
		blocks = append(blocks, fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":%q,"data":%q}}`,
			mediaType, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "picture %d", i+1))))
	}
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[%s]}]}}`,
		strings.Join(blocks, ",")) + "\n"
}

func TestP5_PicturesOfToolsAreShown(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("look"),
		pictured("image/png", "image/jpeg", "image/tiff", "image/webp", "image/gif"), chattest.Says("nice")))
	var sent []string
	w.Telegram.Upload = func(f outbox.File) error { // afterwards the file is closed
		sent = append(sent, chattest.Content(t, f))
		return nil
	}
	w.ReadNow(t, r)
	var got []string
	for i, f := range w.Telegram.Files {
		got = append(got, fmt.Sprintf("%s photo=%v", f.Name, f.Photo))
		assert.Equal(t, fmt.Sprintf("picture %d", i+1), sent[i])
		assert.Equal(t, r.ID, f.Session)
	}
	assert.Equal(t, []string{"image-1.png photo=true", "image-2.jpg photo=true", "image-3 photo=false",
		"image-4.webp photo=false", "image-5.gif photo=false"}, got)
	assert.Equal(t, []string{"look", "nice"}, w.Telegram.AnswersSent())
}

func TestThinkingIsFolded(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Answers.Thinking = true
	w.ReadNow(t, w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Thinks)))
	require.Equal(t, []string{"hm\nso"}, w.Telegram.AnswersSent())
	require.Len(t, w.Telegram.Sent[0].Text.Entities, 1)
	assert.EqualValues(t, "expandable_blockquote", w.Telegram.Sent[0].Text.Entities[0].Type)

	w.Answers.Rich, w.Telegram.Rich = true, true
	w.ReadNow(t, w.NewCurrentSession(t, "rich", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Thinks)))
	require.Len(t, w.Telegram.Sent, 2)
	assert.Contains(t, w.Telegram.Sent[1].Rich, "<summary>"+w.Word(i18n.Thought)+"</summary>")
}

// manyLines returns a transcript with an output of two parts: an excerpt, and the whole as a file.
// The chat already has shown parts.
func manyLines(t *testing.T, shown int) talk.Cursor {
	t.Helper()
	command, out := chattest.PromptLine("<bash-input>x</bash-input>"), strings.TrimSpace(strings.Repeat("line\n", 100))
	c := chattest.TranscriptOf(t, "t.jsonl", command, chattest.PromptLine("<bash-stdout>"+out+"</bash-stdout>"))
	c.Offset, c.Part = int64(len(command)), shown
	return c
}

// A command of the terminal may print too much for a chat.
func TestLongOutputIsAFile(t *testing.T) {
	var out strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&out, "line %d\n", n)
	}
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.PromptLine("<bash-stdout>"+out.String()+"</bash-stdout>")))
	w.ReadNow(t, r)
	require.Len(t, w.Telegram.Files, 1)
	assert.Contains(t, chattest.Content(t, w.Telegram.Files[0]), strings.TrimSpace(out.String()))
	shown := strings.Join(append(w.Telegram.AnswersSent(), w.Telegram.Files[0].Caption.Text), "\n")
	assert.Contains(t, shown, "line 0\nline 1\n")
	assert.NotContains(t, shown, "line 1900")
}

// A panic at an item does not end the bot: its text is sent unchanged, and if that panics also, it
// is skipped and reported.
func TestP5_CrashingItemIsSkipped(t *testing.T) {
	for _, times := range []int{1, 2, 100} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("bad"), chattest.Says("three")))
				crashes := 0
				w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
					if m.Text.Text == "bad" && crashes < times {
						crashes++
						panic("a mistake of ours")
					}
					return nil
				}
				w.ReadNow(t, r)
				assert.Equal(t, min(times, 2), crashes)
				if times < 2 {
					assert.Equal(t, []string{"one", "bad", "three"}, w.Telegram.AnswersSent())
					assert.Empty(t, w.Telegram.Texts())
				} else {
					assert.Equal(t, []string{"one", "three"}, w.Telegram.AnswersSent())
					assert.Equal(t, []string{w.Marker(r)}, w.Telegram.Texts())
				}
			})
		})
	}
}

// A text that cannot be rendered is sent unchanged, and the next item is rendered again.
func TestP5_UnrenderableTextIsSentUnchanged(t *testing.T) {
	for _, tt := range []struct {
		name     string
		times    int
		want     []string
		reported bool
	}{
		{"rendered", 0, []string{"one", "two"}, false},
		{"as it is", 1, []string{"**one**", "two"}, false},
		{"not at all", 2, []string{"two"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says("**one**"), chattest.Says("**two**")))
			w.Answers.Rich, w.Answers.Sender = true, &chattest.RenderCrash{FakeSender: w.Telegram, Times: tt.times}
			w.ReadNow(t, r)
			assert.Equal(t, tt.want, w.Telegram.AnswersSent())
			var reported []string
			if tt.reported {
				reported = []string{w.Marker(r)}
			}
			assert.Equal(t, reported, w.Telegram.Texts())
		})
	}
}

// Items held before the crashing item get their notice.
func TestP5_CrashSkipsNoHeldItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		r := w.Beside(t, session.Completed, chattest.Says("one"), chattest.ToolUse, chattest.Says("two"))
		w.Telegram.OnTyping = func() { panic("a mistake of ours") }
		w.ReadNow(t, r)
		assert.Empty(t, w.Telegram.AnswersSent())
		assert.Equal(t, []string{w.Notice("api", "one"), w.Marker(r), w.Notice("api", "two")}, w.Telegram.Texts())
	})
}

// Found out at its first part, an item is counted in plain messages: a crash repeats one of those,
// not all of them.
func TestP5_ServerWithoutRichMessages(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Answers.Rich, w.Telegram.Rich = true, true
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says(chattest.Long(1500)))
	r := w.NewCurrentSession(t, "api", session.Completed, c)
	tried := 0
	w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
		if m.Rich != "" {
			tried++
			w.Telegram.Rich = false
			return fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrNoRich})
		}
		return nil
	}
	w.ReadNow(t, r)
	assert.Equal(t, 1, tried)
	assert.Equal(t, strings.Fields(chattest.Long(1500)), strings.Fields(strings.Join(w.Telegram.AnswersSent(), " ")))
	assert.Contains(t, w.Happened(), "advance t.jsonl 0/0/2")
	assert.Empty(t, w.Cursors(r)[0].Form)
}

func TestP5_RichMessagesIfSupported(t *testing.T) {
	table := "| a | b |\n|---|---|\n| 1 | 2 |"
	for _, tt := range []struct {
		name           string
		config, server bool
		want           bool
	}{{"both", true, true, true}, {"switched off", false, true, false}, {"an older server", true, false, false}} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Answers.Rich, w.Telegram.Rich = tt.config, tt.server
			r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says(table)))
			w.ReadNow(t, r)
			require.Len(t, w.Telegram.Sent, 1)
			assert.Equal(t, tt.want, w.Telegram.Sent[0].Rich != "")
		})
	}
}
