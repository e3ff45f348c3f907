package card

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

var (
	here    = outbox.Conversation{ChatID: 5}
	there   = outbox.Conversation{ChatID: 5, ThreadID: 3}
	session = uuid.MustParse("01890000-0000-7000-8000-000000000001")
)

// question returns a card with two options.
func question(text string) Content {
	return Content{To: here, Session: session, Text: render.Plain(text), Options: [][]Option{
		{{Text: "Yes", Value: "yes", Style: outbox.Success, For: 7}, {Text: "No", Value: "no"}},
	}}
}

// world is a running bot and what people see of it.
type world struct {
	*testing.T
	*process
	chat *telegram
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, chat: newTelegram()}
		w.process = startProcess(t, dir, w.chat, anywhere)
		test(w)
	})
}

func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) restart() { w.process = w.restarted(w.T, w.chat, anywhere) }

func (w *world) show(key string, l Content) {
	w.Helper()
	require.NoError(w, w.kind.Show(w.Context(), key, l, payload{1}))
}

// shown shows a card and waits until it is in the chat.
func (w *world) shown(key string, l Content) {
	w.Helper()
	w.show(key, l)
	w.pass(10 * time.Second)
}

func (w *world) tap(m shownMessage, option int) (Tapped, bool) {
	return w.board.Tap(w.Context(), m.at, m.id, m.buttons[option].CallbackData)
}

// looks returns the texts that people see, with the labels of the buttons.
func (w *world) looks() []string {
	var all []string
	for _, m := range w.chat.seen() {
		text := m.text
		for _, b := range m.buttons {
			text += " [" + b.Text + "]"
		}
		all = append(all, text)
	}
	return all
}

func TestCardFromShowToClose(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		require.Equal(t, []string{"one [Yes] [No]"}, w.looks())
		first := w.chat.seen()[0]

		w.shown("k", question("one"))
		assert.Zero(t, w.chat.edits, "what is shown already is not drawn")
		tapped, ok := w.tap(first, 0)
		require.True(t, ok)
		assert.EqualValues(t, 7, tapped.For)
		tapped, ok = w.tap(first, 1)
		require.True(t, ok)
		assert.Zero(t, tapped.For)
		p, err := w.kind.Payload(tapped)
		require.NoError(t, err)
		assert.Equal(t, payload{1}, p)
		assert.Equal(t, []any{"test", "k", session, "no"}, []any{tapped.Kind, tapped.Key, tapped.Session, tapped.Option})

		w.shown("k", question("two"))
		assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		_, ok = w.tap(first, 1)
		assert.False(t, ok, "it was drawn for another text")
		c, ok := w.kind.Get("k")
		require.True(t, ok)
		assert.Equal(t, []Card[payload]{c}, w.kind.List())

		require.NoError(t, w.kind.Close(w.Context(), "k", render.Text{}))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"two"}, w.looks())
		assert.Len(t, filesIn(t, w.dir+"/cards"), 1, "people may tap it")
		w.pass(keepClosed)
		assert.Empty(t, filesIn(t, w.dir+"/cards"))
	})
}

// A start edits only the messages that do not show their cards yet.
func TestStartEditsOnlyChangedCards(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, key := range []string{"a", "b", "c"} {
			w.shown(key, question(key))
			require.NoError(t, w.kind.Close(w.Context(), key, render.Plain(key+" is decided")))
		}
		w.shown("open", question("open"))
		w.shown("open", question("still open"))
		w.shown("late", question("late"))
		require.NoError(t, w.kind.Close(w.Context(), "late", render.Plain("late is decided")))
		before := w.chat.edits
		w.restart() // before the last edit is sent
		w.pass(time.Minute)
		assert.Equal(t, 1, w.chat.edits-before)
		assert.Equal(t, []string{"a is decided", "b is decided", "c is decided", "still open [Yes] [No]",
			"late is decided"}, w.looks())
		assert.Len(t, filesIn(t, w.dir+"/cards"), 1, "what is over is forgotten")
		w.restart()
		w.pass(time.Minute)
		assert.Equal(t, 1, w.chat.edits-before)
	})
}

func TestWaitingCardIsSentOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.chat.do(func() { w.chat.blocked[5] = true })
		w.shown("k", question("one"))
		w.shown("gone", question("x"))
		w.shown("k", question("two"))
		require.NoError(t, w.kind.Close(w.Context(), "gone", render.Plain("over")))
		w.restart()
		w.chat.do(func() { clear(w.chat.blocked) })
		w.Resume(5)
		w.pass(time.Minute)
		assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		assert.Empty(t, filesIn(t, w.dir+"/outbox"))
	})
}

func TestCloseDuringSendEditsTheMessage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.show("k", question("one"))
		w.pass(callTakes / 2)
		require.NoError(t, w.kind.Close(w.Context(), "k", render.Plain("over")))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"over"}, w.looks())
	})
}

// A tap may arrive before the message's id is stored, and before a restarted outbox.
func TestTapRevealsTheMessageID(t *testing.T) {
	inWorld(t, func(w *world) {
		w.killAt.Store(beforeNote)
		w.shown("k", question("one"))
		w.process = w.reopened(w.T, w.chat, anywhere)
		_, ok := w.tap(w.chat.seen()[0], 0)
		assert.True(t, ok)
		w.start(w.T)
		w.pass(time.Minute)
		assert.Equal(t, []string{"one [Yes] [No]"}, w.looks())
		assert.Empty(t, filesIn(t, w.dir+"/outbox"))
	})
}

// If Means is set, only it decides: text and labels may change under a thumb.
func TestTapCountsWhileLabelsChange(t *testing.T) {
	content := func(text, word, value string) Content {
		l := question(text)
		l.Means, l.Options[0][1].Text, l.Options[0][1].Value = "the same", word, value
		return l
	}
	inWorld(t, func(w *world) {
		w.shown("k", content("one", "No", "no"))
		early := w.chat.seen()[0]
		w.shown("k", content("two", "No (2)", "no"))
		assert.Equal(t, []string{"two [Yes] [No (2)]"}, w.looks())
		tapped, ok := w.tap(early, 1)
		assert.True(t, ok)
		assert.Equal(t, "no", tapped.Option)
		w.shown("k", content("two", "No (3)", "no"))
		assert.Equal(t, []string{"two [Yes] [No (3)]"}, w.looks(), "new words alone are drawn, too")
		w.shown("k", content("two", "No (3)", "never"))
		_, ok = w.tap(early, 1)
		assert.False(t, ok)
	})
}

// TestTapCountsWhileOptionIsOffered: the keyboard may change between a look and a tap, but the same
// option of another thing is another option, and so is one of another person.
func TestTapCountsWhileOptionIsOffered(t *testing.T) {
	content := func(means string, options ...Option) Content {
		l := question("x")
		l.Means, l.Options = means, [][]Option{options}
		return l
	}
	stop, queue := Option{Text: "Stop", Value: "stop"}, Option{Text: "Queue", Value: "queue"}
	for _, tt := range []struct {
		name string
		now  Content
		want bool
	}{
		{"another one came before it", content("turn", queue, stop), true},
		{"another one came behind it", content("turn", stop, queue), true},
		{"it has gone", content("turn", queue), false},
		{"of the next turn", content("next", stop), false},
		{"of one person", content("turn", Option{Text: "Stop", Value: "stop", For: 7}), false},
		{"without a meaning of its own", content("", stop), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.shown("k", content("turn", stop))
				early := w.chat.seen()[0]
				w.shown("k", tt.now)
				tapped, ok := w.tap(early, 0)
				assert.Equal(t, tt.want, ok)
				assert.Equal(t, tt.want, tapped.Option == "stop")
			})
		})
	}
}

func TestCardIsShownAgainBelow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		w.shown("l", question("other"))
		shown, err := w.kind.Again(w.Context(), "k", Bring{})
		require.NoError(t, err)
		assert.True(t, shown)
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one", "other [Yes] [No]", "one [Yes] [No]"}, w.looks())
		_, ok := w.tap(w.chat.seen()[2], 0)
		assert.True(t, ok)
		w.restart()
		w.pass(time.Minute)
		assert.Len(t, w.looks(), 3)
		require.NoError(t, w.kind.Close(w.Context(), "k", render.Text{}))
		shown, err = w.kind.Again(w.Context(), "k", Bring{})
		require.NoError(t, err)
		assert.False(t, shown)
	})
}

func TestBelowShowsTheNewLook(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		w.shown("l", question("other"))
		require.NoError(t, w.kind.Repost(w.Context(), "k", question("two"), payload{1}))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one", "other [Yes] [No]", "two [Yes] [No]"}, w.looks())
		_, ok := w.tap(w.chat.seen()[2], 0)
		assert.True(t, ok)
		w.restart()
		require.NoError(t, w.kind.Close(w.Context(), "k", render.Text{}))
		require.NoError(t, w.kind.Repost(w.Context(), "k", question("three"), payload{1}))
		w.pass(time.Minute)
		assert.Equal(t, []string{"one", "other [Yes] [No]", "two"}, w.looks(), "one that is closed stays as it is")
	})
}

// The outbox may report an edit of the old message after the card has moved down.
func TestBelowDuringAnEdit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		old := w.board.listLocked()[0]
		require.NoError(t, w.kind.Repost(w.Context(), "k", question("two"), payload{1}))
		require.NoError(t, w.board.Sent(w.Context(), old.postName(), old.At, old.Message, old.message()))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"one", "two [Yes] [No]"}, w.looks())
	})
}

func TestTapOnCopyRemovesButtons(t *testing.T) {
	inWorld(t, func(w *world) {
		w.killAt.Store(beforeNote)
		w.shown("k", question("one"))
		w.restart()
		w.pass(time.Minute)
		require.Equal(t, []string{"one [Yes] [No]", "one [Yes] [No]"}, w.looks())
		_, ok := w.tap(w.chat.seen()[0], 0)
		assert.False(t, ok)
		w.pass(time.Minute)
		assert.Equal(t, []string{"one", "one [Yes] [No]"}, w.looks())
	})
}

// TestP5_ReplyToCopyCountsInPresentForm: a copy comes from a send whose answer was lost. The options
// of the same thing may have become others since, such as those of a question's next page.
func TestP5_ReplyToCopyCountsInPresentForm(t *testing.T) {
	page := func(option string) Content {
		l := question("one")
		l.Means, l.Options = "the questions", [][]Option{{{Text: "Red", Value: option}, {Text: "Skip", Value: "no"}}}
		return l
	}
	for _, tt := range []struct {
		name, now string
		counts    bool
	}{{"the same page", "o:0:0", true}, {"the next page", "o:1:0", false}} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.shown("k", page("o:0:0"))
				m := w.chat.seen()[0]
				var buttons []string
				for _, b := range m.buttons {
					buttons = append(buttons, b.CallbackData)
				}
				w.shown("k", page(tt.now))
				to, ok := w.board.Reply(w.Context(), here, m.id+7, buttons)
				assert.True(t, ok)
				assert.Equal(t, tt.counts, to.Message == m.id)
			})
		})
	}
}

func TestStaleTaps(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		m := w.chat.seen()[0]
		data := m.buttons[0].CallbackData
		for _, tt := range []struct {
			name    string
			at      outbox.Conversation
			message int
			data    string
		}{
			{"not a card's", here, m.id, "p:1"},
			{"unknown card", here, m.id, "AAAAAAAAAAAAA" + data[idLength:]},
			{"another revision", here, m.id, data[:idLength+1] + strings.Repeat("A", revisionLength) + ":0"},
			{"no such option", here, m.id, strings.TrimSuffix(data, "0") + "2"},
			{"an option in other digits", here, m.id, strings.TrimSuffix(data, "0") + "00"},
			{"another place", there, m.id, data},
			{"another message", here, m.id + 1, data},
		} {
			_, ok := w.board.Tap(w.Context(), tt.at, tt.message, tt.data)
			assert.False(t, ok, tt.name)
		}
		_, ok := w.tap(m, 0)
		assert.True(t, ok)
	})
}

// TestP4_ButtonOfEarlierFormatIsStale: the card is drawn again and keeps its buttons.
func TestP4_ButtonOfEarlierFormatIsStale(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		m := w.chat.seen()[0]
		data := m.buttons[0].CallbackData
		for _, option := range []string{"0", "12"} {
			tapped, ok := w.board.Tap(w.Context(), m.at, m.id, data[:len(data)-optionLength]+option)
			assert.False(t, ok)
			assert.Equal(t, "k", tapped.Key)
		}
	})
}

func TestCardExpiresAfterRestart(t *testing.T) {
	inWorld(t, func(w *world) {
		l := question("one")
		l.Until = time.Now().Add(time.Minute)
		w.shown("now", l)
		m := w.chat.seen()[0]
		l.Until = time.Now().Add(time.Hour)
		w.shown("later", l)
		w.pass(time.Minute)
		assert.Equal(t, []string{"one", "one [Yes] [No]"}, w.looks())
		_, ok := w.tap(m, 0)
		assert.False(t, ok)
		w.restart()
		w.pass(time.Hour)
		assert.Equal(t, []string{"one", "one"}, w.looks())
		assert.Empty(t, w.kind.List())
	})
}

// A deleted message is sent again if the card has Renew or RenewOnce.
func TestDeletedMessage(t *testing.T) {
	for _, renew := range []bool{true, false} {
		inWorld(t, func(w *world) {
			erase := func() {
				w.chat.do(func() { w.chat.messages[len(w.chat.messages)-1].deleted = true })
			}
			l := question("one")
			l.Renew = renew
			w.shown("k", l)
			erase()
			l.Text = render.Plain("two")
			w.shown("k", l)
			if !renew {
				assert.Empty(t, w.looks())
				assert.Empty(t, w.kind.List())
				return
			}
			assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		})
	}
}

// becomes returns the argument of Moved for one moved place.
func becomes(from, to outbox.Conversation) func(outbox.Conversation, int) (outbox.Conversation, bool) {
	return func(at outbox.Conversation, _ int) (outbox.Conversation, bool) {
		if at == from {
			return to, false
		}
		return at, true
	}
}

func TestMovedResendsOpenCards(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		w.shown("over", question("x"))
		require.NoError(t, w.kind.Close(w.Context(), "over", render.Text{}))
		require.NoError(t, w.board.Moved(w.Context(), becomes(here, there)))
		require.NoError(t, w.board.Moved(w.Context(), becomes(here, there)), "it may come twice")
		w.pass(time.Minute)
		assert.Equal(t, []string{"one", "x", "one [Yes] [No]"}, w.looks())
		assert.Equal(t, there, w.chat.seen()[2].at)
		assert.Len(t, filesIn(t, w.dir+"/cards"), 1)
	})
}

// A card that people may see stays: its feature must still report the result.
func TestWithdrawRemovesOnlyUnseenCards(t *testing.T) {
	inWorld(t, func(w *world) {
		withdrawn := func() bool {
			gone, err := w.kind.Withdraw("k")
			require.NoError(t, err)
			return gone
		}
		assert.True(t, withdrawn(), "there is none")
		w.show("first", question("one"))
		w.show("k", question("two"))
		w.pass(callTakes / 2)
		assert.True(t, withdrawn(), "it waits behind another")
		w.pass(time.Minute)
		assert.Equal(t, []string{"one [Yes] [No]"}, w.looks())
		w.show("k", question("three"))
		w.pass(callTakes / 2)
		assert.False(t, withdrawn(), "the call that sends it is under way")
		w.pass(time.Minute)
		assert.False(t, withdrawn(), "it is in the chat")
		assert.Equal(t, []string{"one [Yes] [No]", "three [Yes] [No]"}, w.looks())
	})
}

func TestForgetLeavesNoSessionFile(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		other := question("other")
		other.Session = uuid.Nil
		w.shown("other", other)
		other.Options = [][]Option{{{Text: "Open", Value: "open:" + session.String(), Session: session}}}
		w.shown("names it", other)
		other.Options = append(other.Options, []Option{{Text: "Next", Value: "open:" + uuid.NewString()}})
		w.shown("names others too", other)
		w.show("waits", question("two"))
		w.pass(callTakes / 2)
		require.NoError(t, w.board.Forget(w.Context(), session))
		w.pass(time.Minute)
		assert.Equal(t, []string{"one", "other [Yes] [No]", "other [Open]", "other [Open] [Next]", "two"}, w.looks(), "the last one was on its way")
		files := filesIn(t, w.dir+"/cards")
		assert.Len(t, files, 3)
		for _, name := range files {
			kept, err := os.ReadFile(w.dir + "/cards/" + name)
			require.NoError(t, err)
			assert.NotContains(t, string(kept), session.String())
		}
		assert.Empty(t, filesIn(t, w.dir+"/outbox"))
	})
}

func TestShowNowWaitsForTheEdit(t *testing.T) {
	inWorld(t, func(w *world) {
		require.ErrorIs(t, w.kind.ShowNow(w.Context(), "k", question("one"), payload{1}), ErrUnsent)
		w.pass(10 * time.Second)
		require.NoError(t, w.kind.ShowNow(w.Context(), "k", question("two"), payload{1}))
		assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		require.NoError(t, w.kind.ShowNow(w.Context(), "k", question("two"), payload{1}), "it is so already")

		go func() {
			time.Sleep(callTakes / 2) // while the edit is running
			assert.NoError(t, w.kind.Close(w.Context(), "k", render.Plain("over")))
		}()
		require.NoError(t, w.kind.ShowNow(w.Context(), "k", question("three"), payload{1}))
		w.pass(time.Minute)
		assert.Equal(t, []string{"over"}, w.looks())
	})
}

func TestRefusedCardIsForgottenAndReported(t *testing.T) {
	inWorld(t, func(w *world) {
		w.chat.do(func() { w.chat.refuse = true })
		w.shown("k", question("one"))
		assert.Equal(t, []string{"k"}, w.refused)
		assert.Empty(t, filesIn(t, w.dir+"/cards"))

		w.chat.do(func() { w.chat.refuse = true })
		w.show("k", question("one"))
		w.pass(callTakes / 2)
		w.show("k", question("two")) // the old content is refused
		w.pass(time.Minute)
		assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		assert.Len(t, w.refused, 1)
	})
}

func TestForbiddenCardIsNotSent(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		chat, allowed := newTelegram(), true
		w := &world{T: t, chat: chat}
		w.process = startProcess(t, dir, chat, func(outbox.Conversation) bool { return allowed })
		w.shown("k", question("one"))
		allowed = false
		w.shown("k", question("two"))
		w.shown("new", question("new"))
		require.ErrorIs(t, w.kind.ShowNow(t.Context(), "k", question("three"), payload{1}), ErrUnsent)
		require.NoError(t, w.kind.Close(t.Context(), "k", render.Text{}))
		w.pass(time.Minute)
		assert.Equal(t, []string{"one [Yes] [No]"}, w.looks())
	})
}

func TestRefusedEditKeepsTheCard(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		w.chat.do(func() { w.chat.noEdit = true })
		w.shown("k", question("two"))
		w.shown("k", question("three"))
		assert.Equal(t, []string{"three [Yes] [No]"}, w.looks(), "in the same message")
	})
}

func TestP8_CardIsSentAfterFullDisk(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("first", question("first"))
		posts := w.dir + "/outbox"
		require.NoError(t, os.Rename(posts, posts+".away"))
		require.NoError(t, os.WriteFile(posts, nil, 0o600))
		require.Error(t, w.kind.Show(w.Context(), "k", question("one"), payload{1}))
		w.pass(time.Minute)
		assert.Len(t, w.looks(), 1)
		require.NoError(t, os.Remove(posts))
		require.NoError(t, os.Rename(posts+".away", posts))
		w.pass(time.Minute)
		assert.Equal(t, []string{"first [Yes] [No]", "one [Yes] [No]"}, w.looks(), "once, without another Show")
	})
}

func TestDiskFault(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		cards := w.dir + "/cards"
		require.NoError(t, os.Rename(cards, cards+".away"))
		require.NoError(t, os.WriteFile(cards, nil, 0o600))
		assert.Error(t, w.kind.Show(w.Context(), "k", question("two"), payload{1}))
		assert.Error(t, w.kind.Close(w.Context(), "k", render.Text{}))
		w.pass(time.Minute)
		assert.Equal(t, []string{"one [Yes] [No]"}, w.looks(), "what is not on disk is not shown")

		require.NoError(t, os.Remove(cards))
		require.NoError(t, os.Rename(cards+".away", cards))
		w.show("new", question("new"))
		w.pass(callTakes / 2)
		require.NoError(t, os.Rename(cards, cards+".away"))
		require.NoError(t, os.WriteFile(cards, nil, 0o600))
		w.pass(time.Minute)
		require.NoError(t, os.Remove(cards))
		require.NoError(t, os.Rename(cards+".away", cards))
		w.shown("new", question("newer"))
		assert.Equal(t, []string{"one [Yes] [No]", "newer [Yes] [No]"}, w.looks(), "it is sent once")
	})
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	inFolder := func(name string) string { return filepath.Join(dir, "cards", name) }
	require.NoError(t, os.MkdirAll(inFolder(""), 0o700))
	for name, text := range map[string]string{"x.json": "{", "AAAAAAAAAAAAA.json": `{"version":2,"id":"AAAAAAAAAAAAA"}`, "y.json": `{"version":1}`} {
		require.NoError(t, os.WriteFile(inFolder(name), []byte(text), 0o600))
	}
	kept := `{"version":1,"id":"BBBBBBBBBBBBB","kind":"test","key":"k","revision":"r","payload":{"n":1},"later":7,` +
		`"content":{"to":{"chat_id":5},"text":{"text":"one"}}}`
	require.NoError(t, os.WriteFile(inFolder("BBBBBBBBBBBBB.json"), []byte(kept), 0o600))
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, chat: newTelegram()}
		w.process = startProcess(t, dir, w.chat, anywhere)
		w.shown("k", question("two"))
		assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		data, err := os.ReadFile(inFolder("BBBBBBBBBBBBB.json"))
		require.NoError(t, err)
		assert.Contains(t, string(data), `"later":7`)
		assert.Equal(t, []string{"BBBBBBBBBBBBB.json"}, filesIn(t, inFolder("")))
		assert.Len(t, filesIn(t, filepath.Join(dir, "quarantine")), 6)
	})
}

// silent is a Sender that accepts everything.
type silent struct{}

func (silent) Post(context.Context, outbox.Message) error { return nil }
func (silent) Edit(context.Context, outbox.Conversation, int, outbox.Message) error {
	return errors.New("not called")
}
func (silent) EditNow(context.Context, outbox.Conversation, int, outbox.Message) error {
	return errors.New("not called")
}

// For any content and payload, buttons have 1 to 64 bytes and lead back to their options, and the
// text fits in one message.
func TestButtonsFit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		option := rapid.Custom(func(r *rapid.T) Option {
			return Option{Text: rapid.String().Draw(r, "words"), Value: rapid.StringN(0, 300, -1).Draw(r, "value")}
		})
		l := Content{To: here, Text: render.Plain("x" + rapid.StringN(0, 9000, -1).Draw(r, "text"))}
		l.Options = rapid.SliceOfN(rapid.SliceOfN(option, 0, 4), 0, 30).Draw(r, "options")
		c := record{ID: "AAAAAAAAAAAAA", Content: l.fitting(), Revision: revisionOf(l, nil)}
		if n := c.Content.Text.Length(); n > render.Limit {
			r.Fatalf("a text of %d", n)
		}
		for i, b := range slices.Concat(c.message().Buttons...) {
			back, ok := parse(b.Data)
			o, found := c.option(back.option)
			if len(b.Data) > 64 || !ok || !found || o.Value != slices.Concat(l.Options...)[i].Value || back.revision != c.Revision {
				r.Fatalf("%q leads to %+v", b.Data, o)
			}
		}
	})
}

func TestShowRefusesInvalidCards(t *testing.T) {
	b, err := Open(filepath.Join(t.TempDir(), "cards"), "", silent{}, anywhere, nil)
	require.NoError(t, err)
	require.ErrorIs(t, NewKind[payload](b, "k", nil).Show(t.Context(), "k", Content{To: here}, payload{}), errBlank)
	require.Error(t, NewKind[func()](b, "f", nil).Show(t.Context(), "k", question("x"), func() {}))
	assert.Empty(t, b.cards)
}

func TestNewestPostsStayOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		post := func(text string, to outbox.Conversation) {
			l := question(text)
			l.To = to
			require.NoError(w, w.kind.Post(w.Context(), l, payload{1}))
		}
		post("elsewhere", there)
		for n := range 500 { // a person asks every minute
			post(fmt.Sprint(n), here)
			w.pass(time.Minute)
		}
		var open []string
		for _, c := range w.kind.List() {
			open = append(open, c.Content.Text.Text)
		}
		assert.ElementsMatch(t, []string{"490", "491", "492", "493", "494", "495", "496", "497", "498", "499", "elsewhere"}, open)
		looks := w.looks()
		assert.Contains(t, looks, "489", "it has lost its buttons")
		assert.Contains(t, looks, "490 [Yes] [No]")
		w.pass(2 * keepClosed)
		assert.Len(t, filesIn(t, w.dir+"/cards"), keepOpen+1)
	})
}

// TestP5_PostIsSentBehindNewerOnes: a post that waits for its rate is not closed by Tidy.
func TestP5_PostIsSentBehindNewerOnes(t *testing.T) {
	inWorld(t, func(w *world) {
		for n := range 3 * keepOpen {
			require.NoError(w, w.kind.Post(w.Context(), question(fmt.Sprint(n)), payload{1}))
		}
		w.pass(10 * time.Minute)
		require.NoError(w, w.kind.Post(w.Context(), question("last"), payload{1}))
		w.pass(10 * time.Minute)
		looks := w.looks()
		require.Len(t, looks, 3*keepOpen+1, "each is there")
		assert.Equal(t, []string{"0", "1"}, looks[:2], "the older ones have lost their buttons")
		assert.Equal(t, "last [Yes] [No]", looks[3*keepOpen])
	})
}

// fullDisk refuses posts.
type fullDisk struct{ Sender }

func (fullDisk) Post(context.Context, outbox.Message) error { return errors.New("the disk is full") }

func TestFailedPostIsNotSentLater(t *testing.T) {
	inWorld(t, func(w *world) {
		w.board.sender = fullDisk{w.board.sender}
		require.Error(t, w.kind.Post(w.Context(), question("one"), payload{1}))
		assert.Empty(t, filesIn(t, w.dir+"/cards"))
	})
}

// A sound does not count.
func TestOpenCardsAreCountedByNeed(t *testing.T) {
	inWorld(t, func(w *world) {
		asking := NewKind[payload](w.board, "asking", nil).Asking()
		loud, awaiting, undecided := question("one"), question("two"), question("three")
		loud.Sounds, awaiting.Needs, undecided.Needs = true, Answer, Decision
		require.NoError(t, asking.Show(t.Context(), "k", loud, payload{}))
		assert.Zero(t, w.board.Needs(session), "it makes a sound")
		require.NoError(t, asking.Show(t.Context(), "k", awaiting, payload{}))
		require.NoError(t, asking.Show(t.Context(), "l", undecided, payload{}))
		require.NoError(t, asking.Show(t.Context(), "m", undecided, payload{}))
		assert.Equal(t, Needs{Answers: 1, Decisions: 2}, w.board.Needs(session))
		assert.Zero(t, w.board.Needs(uuid.Nil))
		w.pass(0)
		before := w.looks()
		require.NoError(t, asking.DropNeeds(session, "", time.Now().Add(-time.Minute)))
		assert.Equal(t, Needs{Answers: 1, Decisions: 2}, w.board.Needs(session), "they were asked after that")
		require.NoError(t, asking.DropNeeds(session, "m", time.Now().Add(time.Minute)))
		assert.Equal(t, Needs{Decisions: 1}, w.board.Needs(session))
		w.pass(0)
		assert.Equal(t, before, w.looks(), "messages and buttons stay")
		require.NoError(t, asking.Close(t.Context(), "m", render.Text{}))
		assert.Zero(t, w.board.Needs(session), "closed")
	})
}

func TestHintIsShownUntilClose(t *testing.T) {
	inWorld(t, func(w *world) {
		content := question(strings.Repeat("a", render.Limit))
		content.Hint = render.Plain("tap one")
		w.shown("k", content)
		require.Len(t, w.looks(), 1)
		text, _, _ := strings.Cut(w.looks()[0], " [")
		assert.True(t, strings.HasSuffix(text, "\ntap one"))
		assert.LessOrEqual(t, len(text), render.Limit)
		require.NoError(t, w.kind.Close(w.Context(), "k", render.Text{}))
		w.pass(10 * time.Second)
		assert.NotContains(t, w.looks()[0], "tap one")
	})
}

func TestRedrawChangesOnlyWhatIsOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.shown("k", question("one"))
		require.NoError(t, w.kind.Redraw(w.Context(), "k", question("two"), payload{2}))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"two [Yes] [No]"}, w.looks())
		require.NoError(t, w.kind.Redraw(w.Context(), "k", Content{To: here, Text: render.Plain("three")}, payload{3}))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"three"}, w.looks())
		require.NoError(t, w.kind.Redraw(w.Context(), "k", question("four"), payload{4}))
		w.pass(10 * time.Second)
		assert.Equal(t, []string{"three"}, w.looks(), "it is closed")
	})
}

// TestClosedCardsCostNothing: the cost of a card does not depend on the number of closed ones.
func TestClosedCardsCostNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		cost := func() uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 20 {
				key := NewKey()
				require.NoError(w, w.kind.Show(w.Context(), key, question("x"), payload{1}))
				synctest.Wait()
				require.NoError(w, w.kind.Close(w.Context(), key, render.Text{}))
				synctest.Wait()
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		cost()
		w.pass(2 * keepClosed)
		few := cost()
		w.board.mu.Lock()
		for i := range 5000 {
			c := record{Version: version, ID: fmt.Sprintf("%013d", i), Kind: w.kind.name, Key: fmt.Sprint(i), Closed: true, Drawn: true, forget: time.Now().Add(keepClosed)}
			c.Content = question("old")
			w.board.setLocked(c)
		}
		w.board.mu.Unlock()
		many := cost()
		w.Logf("20 cards cost %d bytes among few others, %d among 5,000 closed ones", few, many)
		assert.LessOrEqual(w, float64(many), 1.1*float64(few))
	})
}
