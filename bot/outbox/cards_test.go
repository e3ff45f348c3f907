package outbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		{"messages do not wait for cards", 1, 2, []Rank{Card, Later}, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLane(tt.chat)
			for _, r := range tt.queue {
				l.queue = append(l.queue, &job{rank: r})
			}
			l.cards.AllowN(now, tt.spent)
			turn, wait := l.jobTurn(now)
			got := wait.String()
			if wait == 0 {
				for i, j := range l.queue {
					if j == turn.job {
						got = fmt.Sprint(i)
					}
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestAWaitingTurningPointStaysOne(t *testing.T) {
	for _, tt := range []struct{ waits, newer, want Rank }{
		{Card, Card, Card}, {Card, Turning, Turning}, {Turning, Card, Turning}, {Turning, Now, Now}, {Now, Card, Card}} {
		j := &job{rank: tt.waits}
		j.become(&job{rank: tt.newer})
		assert.Equal(t, tt.want, j.rank, "%v", tt)
	}
}

// Sessions of one chat that all work, with a step a second each: their cards share the pace, take turns,
// and hold up no answer; what comes to a turning point does not wait for the others' turns.
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
