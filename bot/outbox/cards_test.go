package outbox

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

func TestNextOfCards(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	const tick = time.Millisecond
	for _, tt := range []struct {
		name  string
		chat  int64
		spent int // of the two tokens of cards
		queue []Rank
		want  string
	}{
		{"a card leaves one", 1, 0, []Rank{Card}, "0"},
		{"and waits for it", 1, 1, []Rank{Card}, (CardsEach + tick).String()},
		{"a turning point takes it", 1, 1, []Rank{Turning}, "0"},
		{"before the other cards", 1, 0, []Rank{Card, Turning}, "1"},
		{"and waits when there is none", 1, 2, []Rank{Turning}, (CardsEach + tick).String()},
		{"a card after it waits longer", 1, 2, []Rank{Card}, (2*CardsEach + tick).String()},
		{"a group is slower", -1, 1, []Rank{Card}, (groupCards + tick).String()},
		{"the end of a card waits for none", 1, 2, []Rank{Closing}, "0"},
		{"and goes before all other calls of cards", 1, 0, []Rank{Card, Turning, Opening, Closing}, "3"},
		{"a card is sent before others are drawn", 1, 0, []Rank{Card, Turning, Opening}, "2"},
		{"a card takes one for its end", 1, 1, []Rank{Opening}, "0"},
		{"and waits when there is none", 1, 2, []Rank{Opening}, (CardsEach + tick).String()},
		{"messages do not wait for cards", 1, 2, []Rank{Card, Later}, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newChatQueue(tt.chat)
			for i, r := range tt.queue {
				l.queue.add(&job{rank: r, messageID: i})
			}
			l.cards.AllowN(now, tt.spent)
			turn, wait := l.jobTurn(now)
			got := wait.String()
			if wait == 0 {
				got = fmt.Sprint(turn.job.messageID)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestBecomeKeepsTurningPoint(t *testing.T) {
	for _, tt := range []struct{ waits, newer, want Rank }{
		{Card, Card, Card}, {Card, Turning, Turning}, {Turning, Card, Turning}, {Turning, Closing, Closing}, {Card, Closing, Closing}, {Turning, Now, Now}, {Now, Card, Card}} {
		j := &job{rank: tt.waits}
		j.become(&job{rank: tt.newer})
		assert.Equal(t, tt.want, j.rank, "%v", tt)
	}
}

// Sessions of one chat that all work, with a step a second each: their cards share the pace, take
// turns, and hold up no answer; a card at a turning point does not wait for the others' turns.
func TestManySessionsAnswerAtOnce(t *testing.T) {
	const sessions, seconds = 20, 120
	for name, chat := range map[string]int64{"a private chat": 5, "a group": -5} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, b *bench) {
				draw := func(session int, text string, r Rank) {
					m := say(chat, text)
					m.Rank = r
					require.NoError(t, b.Edit(t.Context(), to(chat), 900+session, m))
				}
				for second := range seconds {
					for session := range sessions {
						draw(session, fmt.Sprintf("%d of %d", second, session), Card)
					}
					b.idle(time.Second)
					if second%20 == 10 {
						_, err := b.Send(t.Context(), say(chat, fmt.Sprint("answer ", second)))
						require.NoError(t, err)
						all := b.seen("", true)
						assert.Equal(t, fmt.Sprint("answer ", second), all[len(all)-1].text, "nothing goes before an answer")
						draw(sessions, fmt.Sprint("asks ", second), Turning)
						b.idle(time.Second)
					}
				}
				each := CardsEach
				if chat < 0 {
					each = groupCards
				}
				edits := b.seen("edit", true)
				most := int((seconds+seconds/20)*time.Second/each) + cardsBurst
				assert.LessOrEqual(t, len(edits), most, "the pace is kept")
				assert.GreaterOrEqual(t, len(edits), most-cardsBurst-2, "and used")
				asks, drawn := 0, make(map[string]int)
				for _, e := range edits {
					var second, session int
					if n, _ := fmt.Sscanf(e.text, "%d of %d", &second, &session); n == 2 {
						drawn[fmt.Sprint(session)]++
						continue
					}
					asks++
				}
				if chat > 0 {
					assert.Equal(t, seconds/20, asks, "each turning point is shown")
				}
				least, last := seconds, 0
				for _, n := range drawn {
					least, last = min(least, n), max(last, n)
				}
				assert.LessOrEqual(t, last-least, 1, "the cards take turns")
				t.Logf("%d sessions, a step a second each for %d s: %d edits asked for, %d calls, %d of them turning points, %d answers",
					sessions, seconds, sessions*seconds, len(edits), asks, len(b.seen("send", true)))
			})
		})
	}
}

// The oldest edits are dropped, and their owner is notified. An edit that a caller waits for, the
// end of a card and a question stay.
func TestEditsOfCardsAreDropped(t *testing.T) {
	o := &owner{texts: map[string]string{}}
	inNamedBubble(t, t.TempDir(), o, once(tooMany(60)), func(b *bench) {
		b.sendLater(context.Background(), say(5, "first"))
		edit := func(message int, r Rank) Message {
			return Message{To: to(5), Text: render.Plain(fmt.Sprint(message)), Rank: r, Name: fmt.Sprint("card ", message)}
		}
		waits := make(chan error, 1)
		go func() { waits <- b.EditNow(context.Background(), to(5), 900, edit(900, Card)) }()
		synctest.Wait()
		for i, r := range []Rank{Closing, Question, Turning} {
			require.NoError(t, b.Edit(t.Context(), to(5), 800+i, edit(800+i, r)))
		}
		for i := range 3 * maxDrawings {
			require.NoError(t, b.Edit(t.Context(), to(5), 1000+i, edit(1000+i, Card)))
			synctest.Wait()
		}
		assert.Equal(t, maxDrawings+4, GoingOf(b.Outbox).Waiting)
		heard := o.notes()
		require.Len(t, heard, 2*maxDrawings+1)
		assert.Equal(t, "card 1000 1000: "+ErrDropped.Error(), heard[0])
		b.idle(time.Hour)
		require.NoError(t, <-waits)
		all := texts(b.seen("edit", true))
		assert.Len(t, all, maxDrawings+3)
		assert.Equal(t, []string{"801", "800", "802", "900"}, all[:4])
	})
}
