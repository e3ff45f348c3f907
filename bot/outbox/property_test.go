package outbox

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// step is one thing a random program does with an outbox.
type step struct {
	what  int // 0 send, 1 post, 2 edit, 3 time passes
	chat  int64
	after time.Duration
}

// Whatever is asked in whatever order, and however the Bot API fails: every message arrives, in order within its
// chat, once when the API says clearly what it did not do; and a message that is edited ends as it was meant last.
func TestOutboxProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) step {
			return step{
				what: rapid.IntRange(0, 3).Draw(r, "what"), chat: rapid.SampledFrom([]int64{5, 6, -7}).Draw(r, "chat"),
				after: time.Duration(rapid.IntRange(0, 5000).Draw(r, "ms")) * time.Millisecond,
			}
		}), 0, 30).Draw(r, "steps")
		failures := rapid.SliceOfN(rapid.SampledFrom([]error{nil, errServer, errBroken, tooMany(3)}), 0, 30).Draw(r, "failures")
		var fault string
		synctest.Test(t, func(t *testing.T) { fault = play(t, steps, failures) })
		if fault != "" {
			r.Fatal(fault)
		}
	})
}

func play(t *testing.T, steps []step, failures []error) string {
	b := newBench(t, t.TempDir(), func(_ context.Context, n int, c call) error {
		<-time.After(50 * time.Millisecond)
		if n <= len(failures) {
			return failures[n-1]
		}
		return nil
	})
	b.run(t)
	said, edited := map[int64][]string{}, map[int64]string{}
	var waiting []<-chan result
	for i, s := range steps {
		text := fmt.Sprint(i)
		switch s.what {
		case 0:
			waiting = append(waiting, b.sendLater(t.Context(), say(s.chat, text)))
			said[s.chat] = append(said[s.chat], text)
		case 1:
			if err := b.Post(t.Context(), say(s.chat, text)); err != nil {
				return err.Error()
			}
			said[s.chat] = append(said[s.chat], text)
		case 2:
			if err := b.Edit(t.Context(), to(s.chat), 1_000_000, say(s.chat, text)); err != nil {
				return err.Error()
			}
			edited[s.chat] = text
		case 3:
			b.idle(s.after)
		}
	}
	b.idle(time.Hour)
	return outcome(b, said, edited, waiting)
}

func outcome(b *bench, said map[int64][]string, edited map[int64]string, waiting []<-chan result) string {
	got, last := map[int64][]string{}, map[int64]string{}
	for _, c := range b.seen("", true) {
		if c.method == "send" {
			got[c.chat] = append(got[c.chat], c.text)
		} else {
			last[c.chat] = c.text
		}
	}
	for _, chat := range []int64{5, 6, -7} {
		if !slices.Equal(said[chat], got[chat]) {
			return fmt.Sprintf("chat %d: said %v, arrived %v", chat, said[chat], got[chat])
		}
		if edited[chat] != last[chat] {
			return fmt.Sprintf("chat %d: edited to %q, shows %q", chat, edited[chat], last[chat])
		}
	}
	for _, w := range waiting {
		if r := <-w; r.err != nil || r.messageID == 0 {
			return fmt.Sprintf("send: %+v", r)
		}
	}
	if n := len(b.edits); n != 0 {
		return fmt.Sprintf("%d edits are left", n)
	}
	return ""
}
