package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/internal/longtest"
)

func ranked(text string, r Rank) Message {
	m := say(5, text)
	m.Rank = r
	return m
}

// once refuses or delays the first call.
func once(err error) func(context.Context, int, call) error {
	return func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return err
		}
		return nil
	}
}

func TestHigherRankGoesFirst(t *testing.T) {
	inBubble(t, once(tooMany(60)), func(t *testing.T, b *bench) {
		ctx := t.Context()
		b.sendLater(ctx, ranked("first", Now))
		b.sendLater(ctx, ranked("card", Card))
		b.sendLater(ctx, ranked("other 1", Later))
		require.NoError(t, b.Post(ctx, ranked("other 2", Later)))
		require.NoError(t, b.Edit(ctx, to(5), 900, ranked("edit of a card", Card)))
		require.NoError(t, b.Post(ctx, ranked("receipt", Now)))
		b.sendLater(ctx, ranked("answer", Now))
		b.React(ctx, to(5), 4, "👀")
		b.Typing(ctx, to(5))
		b.idle(50 * time.Second)
		b.Typing(ctx, to(5)) // otherwise it is too old
		b.React(ctx, to(5), 5, "👀")
		b.idle(7 * time.Second)
		b.Typing(ctx, to(5))
		b.idle(time.Minute)
		calls := b.seen("", true)
		assert.Equal(t, []string{"first", "receipt", "answer", "other 1", "other 2", "card", "edit of a card"},
			texts(append(b.seen("send", true), b.seen("edit", true)...)))
		assert.Len(t, b.seen("react", true), 2)
		for _, c := range calls {
			assert.NotEqual(t, "typing", c.method, "there was always something to say")
		}
	})
}

func TestEditHasRankOfItsMessage(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		ctx := t.Context()
		card, err := b.Send(ctx, ranked("card", Card))
		require.NoError(t, err)
		b.reply = func(ctx context.Context, n int, c call) error { return once(tooMany(30))(ctx, n-1, c) }
		b.sendLater(ctx, ranked("first", Now))
		require.NoError(t, b.Edit(ctx, to(5), card, ranked("x", Now)))
		require.NoError(t, b.Edit(ctx, to(5), 900, ranked("edit", Now)))
		require.NoError(t, b.Edit(ctx, to(5), 900, ranked("edit, as a card", Card)))
		require.NoError(t, b.Edit(ctx, to(5), 901, ranked("edit of a dialog", Now)))
		b.sendLater(ctx, ranked("answer", Now))
		b.idle(time.Minute)
		var order []string
		for _, c := range b.seen("", true)[1:] {
			order = append(order, c.method+" "+c.text+c.buttons)
		}
		assert.Equal(t, []string{"send first", "edit edit of a dialog", "send answer", "edit x", "edit edit, as a card"}, order)
	})
}

func TestFileHasRank(t *testing.T) {
	inBubble(t, once(tooMany(60)), func(t *testing.T, b *bench) {
		ctx := t.Context()
		b.sendLater(ctx, ranked("first", Now))
		sent := make(chan error, 1)
		f := file(5, "other")
		f.Rank = Later
		go func() {
			_, err := b.SendFile(ctx, f)
			sent <- err
		}()
		synctest.Wait()
		b.sendLater(ctx, ranked("answer", Now))
		require.NoError(t, <-sent)
		assert.Equal(t, []string{"first", "answer", "a.txt: other ()"}, texts(b.seen("", true)))
	})
}

// A card that is drawn all the time must not use up the answer's budget.
func TestAnswerNeverWaitsForCard(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		chat := int64(-5) // a group: 17 a minute
		ctx, stop := context.WithCancel(t.Context())
		drawn := make(chan struct{})
		go func() {
			defer close(drawn)
			for i := 0; ctx.Err() == nil; i++ {
				m := say(chat, fmt.Sprint(i))
				m.Rank = Card
				assert.NoError(t, b.Edit(t.Context(), to(chat), 900, m))
				<-time.After(100 * time.Millisecond)
			}
		}()
		for range 10 {
			b.idle(20 * time.Second)
			before := time.Now()
			_, err := b.Send(t.Context(), say(chat, "answer"))
			require.NoError(t, err)
			assert.LessOrEqual(t, time.Since(before), 50*time.Millisecond)
		}
		stop()
		<-drawn
		assert.GreaterOrEqual(t, len(b.seen("edit", true)), 200/int(groupCards/time.Second), "the card is drawn all the same")
	})
}

// A queue that never gets empty must not keep receipts away.
func TestReactionsAreNotStarved(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		ctx := t.Context()
		for chat := range int64(60) { // more than the budget of all chats can serve
			for i := range 4 {
				require.NoError(t, b.Post(ctx, say(chat+1, fmt.Sprint(i))))
			}
		}
		synctest.Wait()
		b.React(ctx, to(7), 4, "👀")
		asked := time.Since(b.start)
		b.idle(5 * time.Second)
		reactions := b.seen("react", true)
		require.Len(t, reactions, 1)
		assert.LessOrEqual(t, reactions[0].at-asked, reactTimeout+time.Second)
		assert.Less(t, len(b.seen("send", true)), 200, "the queues are still full")
	})
}

func TestReactionIsTriedAgain(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		tries int
	}{
		{"the chat must wait", tooMany(20), 2},
		{"the server fails", errServer, 2},
		{"the connection breaks", errBroken, 2},
		{"Telegram does not want it", errEntities, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, once(tt.err), func(t *testing.T, b *bench) {
				b.React(t.Context(), to(5), 4, "👀")
				b.idle(time.Minute)
				assert.Len(t, b.seen("react", false), tt.tries)
			})
		})
	}
	t.Run("not when a newer one has come", func(t *testing.T) {
		inBubble(t, func(_ context.Context, n int, _ call) error {
			<-time.After(time.Second)
			return once(errServer)(nil, n, call{})
		}, func(t *testing.T, b *bench) {
			b.React(t.Context(), to(5), 4, "👀")
			synctest.Wait()
			b.React(t.Context(), to(5), 4, "👌")
			b.idle(time.Minute)
			assert.Equal(t, []string{"👀", "👌"}, texts(b.seen("react", false)))
		})
	})
	t.Run("typing is not", func(t *testing.T) {
		inBubble(t, once(errServer), func(t *testing.T, b *bench) {
			b.Typing(t.Context(), to(5))
			b.idle(time.Minute)
			assert.Len(t, b.seen("typing", false), 1)
		})
	})
}

// TestP4_ReactionsSurviveAnOutage: each message that was accepted before it has its reaction soon
// after it, and so has a chat its answers. In a half-open connection a call has no answer at all,
// also not when the network is back.
func TestP4_ReactionsSurviveAnOutage(t *testing.T) {
	for name, away := range map[string]func(ctx context.Context) error{
		"broken": func(context.Context) error { <-time.After(callTakes); return errBroken },
		"silent": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		// the pauses between tries are the longest after three minutes
		long := time.Duration(longtest.Size(20, 5*60)) * time.Minute
		for _, outage := range []time.Duration{10 * time.Second, 3 * time.Minute, 3*time.Minute + 3900*time.Millisecond, long} {
			t.Run(fmt.Sprint(name, " for ", outage), func(t *testing.T) {
				var back atomic.Bool
				inBubble(t, func(ctx context.Context, _ int, c call) error {
					if !back.Load() {
						return away(ctx)
					}
					<-time.After(callTakes)
					return nil
				}, func(t *testing.T, b *bench) {
					for i := range 50 {
						b.React(t.Context(), to(5), 100+i, "👀")
						b.idle(50 * time.Millisecond)
					}
					if name == "broken" {
						require.NoError(t, b.Post(t.Context(), say(5, "answer")))
					}
					b.idle(outage)
					back.Store(true)
					healed := time.Since(b.start)
					b.idle(10 * time.Minute)
					reactions, answers := b.seen("react", true), b.seen("send", true)
					reacted := make(map[int]bool)
					for _, c := range reactions {
						reacted[c.message] = true
					}
					assert.Len(t, reacted, 50)
					assert.Len(t, answers, map[bool]int{true: 1}[name == "broken"])
					all := append(reactions, answers...)
					for _, c := range all {
						assert.LessOrEqual(t, c.at-healed, 10*time.Second)
					}
				})
			})
		}
	}
}

// TestP5_OnSentPrecedesSenderResult: a reply may come as soon as the message can be seen.
func TestP5_OnSentPrecedesSenderResult(t *testing.T) {
	inBubble(t, once(errServer), func(t *testing.T, b *bench) {
		var (
			reported []string
			at       []time.Time
		)
		b.OnSent = func(m Message, id int) {
			reported = append(reported, fmt.Sprint(m.Session, " ", m.To.ThreadID, " ", id))
			at = append(at, m.Written)
		}
		one, two, three := uuid.New(), uuid.New(), uuid.New()
		m := inTopic(5, 9, "a")
		m.Session = one
		_, err := b.Send(t.Context(), m)
		require.NoError(t, err)
		want := []string{fmt.Sprint(one, " ", 9, " ", 1)}
		assert.Equal(t, want, reported)
		m.Session = two
		require.NoError(t, b.Post(t.Context(), m))
		b.idle(time.Minute)
		want = append(want, fmt.Sprint(two, " ", 9, " ", 2))
		assert.Equal(t, want, reported)
		f := file(5, "x")
		f.Session, f.Written = three, time.Unix(7, 0)
		_, err = b.SendFile(t.Context(), f)
		require.NoError(t, err)
		want = append(want, fmt.Sprint(three, " ", 0, " ", 3))
		assert.Equal(t, want, reported)
		assert.Equal(t, []time.Time{{}, {}, time.Unix(7, 0)}, at, "when what it shows was written")
		require.NoError(t, b.Edit(t.Context(), to(5), 1, say(0, "b")))
		b.idle(time.Minute)
		assert.Equal(t, want, reported)
	})
}

func TestPostsKeepTheirSessionAndRank(t *testing.T) {
	b := newBench(t, t.TempDir(), nil)
	m := Message{To: to(5), Text: render.Plain("receipt"), Session: uuid.New(), Rank: Later}
	require.NoError(t, b.Post(t.Context(), m))
	got, ok := b.posts.read(files(t, b.posts.folder.Path)[0])
	require.True(t, ok)
	assert.Equal(t, m, got.Message)
	// As the program before wrote it.
	name := fmt.Sprintf("%020d.json", 1)
	write(t, filepath.Join(b.posts.folder.Path, name), `{"version":1,"created":"2026-01-01T00:00:00Z","message":{"to":{"chat_id":5},"text":{"text":"old"}}}`)
	got, ok = b.posts.read(name)
	require.True(t, ok)
	assert.Equal(t, say(5, "old"), got.Message)
	data, err := os.ReadFile(filepath.Join(b.posts.folder.Path, files(t, b.posts.folder.Path)[1]))
	require.NoError(t, err)
	assert.Contains(t, string(data), m.Session.String())
}

// A message of a person proves that the API is in reach.
func TestP4_MessageEndsAPIBackoff(t *testing.T) {
	down := true
	inBubble(t, func(context.Context, int, call) error {
		if down {
			return errBroken
		}
		return nil
	}, func(t *testing.T, b *bench) {
		waiting := b.sendLater(t.Context(), say(5, "x"))
		b.idle(time.Hour)
		down = false
		back := time.Now()
		b.Resume(5)
		require.NoError(t, (<-waiting).err)
		assert.Zero(t, time.Since(back))
	})
	inBubble(t, once(tooMany(60)), func(t *testing.T, b *bench) {
		waiting := b.sendLater(t.Context(), say(5, "x"))
		b.Resume(5)
		require.NoError(t, errors.Join((<-waiting).err))
		assert.Equal(t, time.Minute, time.Since(b.start), "what Telegram has asked for is kept")
	})
}

// TestQuestionNeverWaitsForCards: the card of a group reports that its agent waits, and the
// question comes a moment later. The edit of the card takes nothing that the question needs, also
// if answers have used up the budget.
func TestQuestionNeverWaitsForCards(t *testing.T) {
	for name, answers := range map[string]int{"a free budget": 0, "a used one": groupBurst} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, b *bench) {
				ctx, chat := t.Context(), int64(-5)
				for i := range answers {
					m := say(chat, fmt.Sprint("answer ", i))
					m.Rank = Answer
					require.NoError(t, b.Post(ctx, m))
				}
				for i := range 8 { // a card of each session comes to a turning point
					m := say(chat, fmt.Sprint("waits ", i))
					m.Rank = Turning
					require.NoError(t, b.Edit(ctx, to(chat), 900+i, m))
				}
				b.idle(6 * time.Second)
				free := len(b.seen("edit", true)) // before the question came
				m := say(chat, "question")
				m.Rank = Question
				before := time.Now()
				_, err := b.Send(ctx, m)
				require.NoError(t, err)
				assert.Zero(t, time.Since(before), "it is sent at once")
				assert.Len(t, b.seen("edit", true), free, "no card went before it")
				assert.Equal(t, answers == 0, free > 0)
			})
		})
	}
}
