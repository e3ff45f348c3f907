package bot

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// This file knows how the data of a button is written: it taps made-up buttons and buttons of
// earlier versions, and has the helpers of those tests that still write such data.

// dataOf is the data of the button with this word.
func dataOf(t *testing.T, w *world, m outbox.Message, word i18n.Key) string {
	t.Helper()
	return w.spot(t, m, word).button.Data
}

func verbs(m outbox.Message) (all []string) {
	for _, d := range data(m) {
		verb, _, _ := strings.Cut(d, ":")
		all = append(all, verb)
	}
	return all
}

// tapIn taps a button, or a made-up one, of a message as it stands in a private chat.
func (w *world) tapIn(t *testing.T, from int64, to session.Conversation, m outbox.Message, data string) error {
	t.Helper()
	m.To = to
	return w.Handle(t.Context(), "1", tapOn(from, asTelegram(m), data))
}

// undo is the data of an [Undo] so long after the end.
func (w *world) undo(r session.Record, later time.Duration) string {
	return "undo:" + ref(r.ID) + ":" + strconv.FormatInt(w.Now().Add(-later).Unix(), 10)
}

func TestAMadeUpButtonOfAWindowDoesNothing(t *testing.T) {
	protected := agentWindow(t, "@21", 4123)
	protected.Agent.Spared = process.GuardAncestor
	for _, window := range []lifecycle.Window{shellWindow(t, "@21"), protected} {
		w := newWorld(t)
		w.unbound(t, window)
		for _, verb := range []string{"wad", "war", "wyes"} {
			require.NoError(t, w.tap(t, alice, fmt.Sprintf("%s:@21:%s:l:7", verb, windowMark(window))))
		}
		assert.Empty(t, w.sessions.done())
		for _, text := range w.sender.texts()[1:] {
			assert.Equal(t, w.word(i18n.WritersChanged), text)
		}
	}
}

func TestMadeUpButtonsOfWindowsDoNothing(t *testing.T) {
	w := newWorld(t)
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	mark, said := windowMark(w.windows.all[0]), len(w.sender.done())
	require.NoError(t, w.tapIn(t, eve, atAlice, m, "wyes:@21:"+mark+":q:13"))
	assert.Len(t, w.sender.done(), said, "strangers get silence")
	for _, bad := range []string{"wad", "wad:@21", "wad:@21:x", "wad::x:l", "wyes:@21:" + mark + ":q"} {
		require.NoError(t, w.tap(t, alice, bad))
	}
	assert.Empty(t, w.sessions.done())
	assert.Len(t, w.windows.all, 1)
}

func TestMadeUpTimesResumeNothing(t *testing.T) {
	w := newWorld(t)
	w.lost(t, "api", session.ClosedReboot)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	m := w.sender.last(t)
	for _, bad := range []string{"rall", "rall:", "rall:0", "rall:0:x", "rall:x:9000000000000", "rall:0:9000000000000:2",
		"rall:9000000000000:0", "rpick:0:9223372036854775808"} {
		require.NoError(t, w.tapIn(t, alice, atAlice, m, bad))
		require.NoError(t, w.tap(t, alice, bad), "past the look at the buttons")
	}
	assert.Empty(t, w.restored())
}

func TestAMadeUpAdoptDoesNothing(t *testing.T) {
	for _, all := range [][]lifecycle.Writer{{inWindow(t, 1)}, {desk(1)}, {desk(1), desk(2)}} {
		w := newWorld(t)
		r := w.session(t, "api", session.CleanupFailed)
		w.write(all...)
		require.NoError(t, w.tap(t, alice, fmt.Sprintf("gad:%s:%s", ref(r.ID), writersMark(identities(all)))))
		assert.Empty(t, w.sessions.done())
		assert.Contains(t, w.sender.done(), "post "+w.word(i18n.WritersChanged))
	}
}

func TestHashesTellWritersApart(t *testing.T) {
	a, c := process.Identity{PID: 1, Start: 2, Boot: "x"}, process.Identity{PID: 3, Start: 4, Boot: "x"}
	mark := writersMark([]process.Identity{a, c})
	assert.Equal(t, mark, writersMark([]process.Identity{c, a}), "in any order")
	assert.Len(t, mark, 8)
	seen := map[string]bool{mark: true}
	for _, other := range [][]process.Identity{nil, {a}, {c}, {a, a}, {a, c, c},
		{{PID: 1, Start: 3, Boot: "x"}, c}, {{PID: 1, Start: 2, Boot: "y"}, c}, {{PID: 2, Start: 2, Boot: "x"}, c}} {
		other := writersMark(other)
		assert.False(t, seen[other])
		seen[other] = true
	}
}

func TestResumesReadBack(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	other := w.session(t, "web", session.Running)
	for _, q := range []chat.Resume{{}, {Dir: other.Dir}, {Dir: w.home}, {Damaged: lifecycle.UseCopy},
		{Dir: "/srv/other", Damaged: lifecycle.UseAsItIs}} {
		q.Session, q.To, q.From = r, atAlice, alice
		if q.Dir != "" {
			_, ok := w.TappedResume(chat.Tap{To: atAlice, From: alice, Args: []string{q.Data()}})
			require.False(t, ok, "nobody has typed that directory")
			require.NoError(t, w.Chats.NoteDir(atAlice, q.Dir))
		}
		got, ok := w.TappedResume(chat.Tap{To: atAlice, From: alice, Args: []string{q.Data(), "x"}})
		require.True(t, ok, q.Data())
		assert.Equal(t, q, got)
		assert.LessOrEqual(t, len(q.Data()), 31)
	}
	for _, bad := range []string{"", ".", "x", ref(uuid.New()), ref(r.ID) + ".x", ref(r.ID) + "..x", ref(r.ID) + "..c.", ref(r.ID) + "=",
		ref(r.ID)[:21], strings.ToUpper(r.ID.String()), "{" + r.ID.String() + "}", "urn:uuid:" + r.ID.String()} {
		_, ok := w.TappedResume(chat.Tap{To: atAlice, Args: []string{bad}})
		assert.False(t, ok, bad)
	}
	_, ok := w.TappedResume(chat.Tap{})
	assert.False(t, ok)
}

func FuzzParseRef(f *testing.F) {
	f.Add("AAAAAAAAAAAAAAAAAAAAAA")
	f.Add("000000000000000000000\rA")
	f.Add(uuid.NewString())
	f.Fuzz(func(t *testing.T, text string) {
		if id, ok := parseRef(text); ok {
			assert.Contains(t, []string{ref(id), id.String()}, text, "one spelling each")
		}
	})
}
