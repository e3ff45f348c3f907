package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// theirs is the conversation that a window's agent writes.
var theirs = uuid.MustParse("11111111-0000-4000-8000-000000000001")

// shellWindow is a window in which nobody writes a conversation.
func shellWindow(t *testing.T, id string) lifecycle.Window {
	t.Helper()
	window, err := tmux.ParseWindowID(id)
	require.NoError(t, err)
	return lifecycle.Window{Pane: tmux.Pane{Window: window, WindowName: "mine", PID: 99, Command: "vim", Path: "/home/alice/x"}}
}

// agentWindow is a window in whose shell an agent runs that is proven to write a conversation.
func agentWindow(t *testing.T, id string, pid int) lifecycle.Window {
	t.Helper()
	w := shellWindow(t, id)
	one := atDesk(pid)
	one.ClaudeSessionID, one.Pane, one.InTmux = theirs, w.Pane, true
	w.Agent = &one
	w.Others = []process.Process{{Identity: process.Identity{PID: 99}, Args: []string{"-bash"}}}
	return w
}

// unbound makes these the windows of nobody, and gives the list that shows them.
func (w *world) unbound(t *testing.T, all ...lifecycle.Window) outbox.Message {
	t.Helper()
	w.windows.all = all
	w.mustHear(t, "/list")
	return w.sender.last(t)
}

func TestP2_OnlyWhatIsProvenCanBeArchived(t *testing.T) {
	protected, background := agentWindow(t, "@21", 4123), agentWindow(t, "@21", 4123)
	protected.Agent.Spared = process.GuardAncestor
	background.Agent.InTmux = false
	unproven := agentWindow(t, "@21", 4123)
	unproven.Agent.Proven = false
	dead := shellWindow(t, "@21")
	dead.Pane.Dead, dead.Pane.Path, dead.Ours = true, "", true
	agent := "• @21 mine: claude, pid 4123, 2 h, pts/3, ~/proj, conversation 11111111"
	desk := "   At the desk: tmux attach -t mine"
	for _, tt := range []struct {
		name   string
		window lifecycle.Window
		says   []string
		words  []string
	}{
		{"a shell", shellWindow(t, "@21"), []string{"• @21 mine: vim, ~/x", desk}, []string{"Ignore"}},
		{"a dead pane, ours", dead, []string{"• @21 mine: ended", desk}, []string{"Ignore"}},
		{"a proven agent", agentWindow(t, "@21", 4123), []string{agent}, []string{"Adopt", "Archive", "Ignore"}},
		{"a protected one", protected, []string{agent, desk}, []string{"Ignore"}},
		{"one in the background", background, []string{agent, desk}, []string{"Ignore"}},
		{"one that is not proven", unproven, []string{agent, desk}, []string{"Ignore"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			m := w.unbound(t, tt.window)
			head := []string{w.word(i18n.ListEmpty), "", "1 window belongs to no session; I leave it alone:"}
			assert.Equal(t, lines(append(head, tt.says...)...), m.Text.Text)
			assert.Equal(t, tt.words, words(m))
			assert.Empty(t, w.sessions.done())
			assert.Len(t, w.sender.texts(), 1)
			if slices.Equal(tt.words, []string{"Ignore"}) { // the buttons of what could be archived before
				w = newWorld(t)
				old := w.unbound(t, agentWindow(t, "@21", 4123))
				require.NoError(t, w.tapShown(t, alice, old, i18n.ButtonArchive))
				asked := w.quietly(t)
				w.windows.all = []lifecycle.Window{tt.window}
				require.NoError(t, w.tapShown(t, alice, old, i18n.ButtonAdopt))
				require.NoError(t, w.tapShown(t, alice, old, i18n.ButtonArchive))
				assert.Equal(t, []string{w.word(i18n.WritersChanged)}, w.sender.texts(), "the list is drawn again, and the rest is stale")
				require.NoError(t, w.tapShown(t, alice, asked, i18n.ButtonYesArchive))
				assert.Equal(t, slices.Repeat([]string{w.word(i18n.WritersChanged)}, 2), w.sender.texts())
				assert.Empty(t, w.sessions.done())
			}
		})
	}
}

func TestSeveralWindowsHaveNamesOnTheirButtons(t *testing.T) {
	w := newWorld(t)
	var all []lifecycle.Window
	for n := range 7 {
		all = append(all, shellWindow(t, fmt.Sprint("@", n+20)))
	}
	all[1] = agentWindow(t, "@21", 4123)
	all[1].Pane.WindowName = strings.Repeat("w\u202e\n", 500)
	m := w.unbound(t, all...)
	assert.Equal(t, []string{"Ignore @20", "Adopt @21", "Archive @21", "Ignore @21", "Ignore @22", "Ignore @23", "Ignore @24", "Ignore @25"}, words(m))
	assert.True(t, strings.HasSuffix(m.Text.Text, "\n• and 1 more"), m.Text.Text)
	assert.Contains(t, m.Text.Text, "7 windows belong to no session; I leave them alone:")
	assert.NotContains(t, m.Text.Text, "@26")
	assert.NotContains(t, m.Text.Text, "\u202e")
	for _, row := range m.Buttons {
		assert.Len(t, row, len(row))
	}
	assert.Len(t, m.Buttons, 6, "a row each")

	w.windows.err = errTable
	w.mustHear(t, "/list")
	assert.Equal(t, w.word(i18n.ListEmpty), w.sender.last(t).Text.Text, "the list does without them")
}

func TestAdoptAWindow(t *testing.T) {
	w := newWorld(t)
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	var asked lifecycle.AdoptRequest
	w.sessions.adopt, w.sessions.shell = func(q lifecycle.AdoptRequest) error { asked = q; w.windows.all = nil; return nil }, 99
	w.again()
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonAdopt), "any allowed person may, after a restart too")
	assert.Equal(t, lifecycle.AdoptRequest{Agent: atDesk(4123).Identity, Claude: theirs, Asked: true, Conversation: atAlice, Owner: bob,
		Rule: "chat.adopt", Why: "asked for by 8"}, asked)
	assert.Equal(t, "mine goes on in the window @4: I type there, and never close it. "+
		w.word(i18n.AdoptedAsks), w.sender.last(t).Text.Text)
	now, ok, err := w.CurrentSession(atAlice)
	require.NoError(t, err)
	assert.True(t, ok && now.ClaudeSessionID == theirs)
	list := w.sender.lastEdit(t)
	assert.Contains(t, list.Text.Text, "✓ mine")
	assert.NotContains(t, list.Text.Text, "@21", "the list is drawn again")
}

// The window's conversation was a session's before: that goes on.
func TestAWindowsConversationHasAnOwner(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states []session.State // of sessions that have the conversation, oldest first
		closed string          // of the first
		from   int             // which of them is asked for; -1: none
		says   i18n.Key        // the state of the session that has it
	}{
		{"one that is over", []session.State{session.Archived}, "", 0, ""},
		{"the newest of several", []session.State{session.Lost, session.Archived}, "", 1, ""},
		{"one that was taken over before", []session.State{session.Lost}, session.ClosedTransferred, -1, ""},
		{"an open one", []session.State{session.Running, session.Archived}, "", -1, i18n.StateRunning},
		{"one that is ending", []session.State{session.Stopping}, "", -1, i18n.StateStopping},
		{"one that is not clean", []session.State{session.CleanupFailed}, "", -1, i18n.StateCleanupFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			var all []session.Record
			for i, state := range tt.states {
				r := w.session(t, "api", state)
				w.records.change(r.ID, func(r *session.Record) {
					r.ClaudeSessionID = theirs
					if i == 0 {
						r.Closed = tt.closed
					}
				})
				all = append(all, r)
			}
			m := w.unbound(t, agentWindow(t, "@21", 4123))
			var asked *lifecycle.AdoptRequest
			w.sessions.adopt = func(q lifecycle.AdoptRequest) error { asked = &q; return nil }
			require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
			if tt.says != "" {
				assert.Nil(t, asked)
				assert.Contains(t, w.sender.done(), "post "+w.word(i18n.WindowOwned, i18n.Args{"Name": "api", "State": w.word(tt.says)}))
				return
			}
			require.NotNil(t, asked)
			want := uuid.Nil
			if tt.from >= 0 {
				want = all[tt.from].ID
				assert.Contains(t, w.sender.last(t).Text.Text, "api goes on")
			}
			assert.Equal(t, want, asked.From)
		})
	}
}

func TestAWindowOutsideOfTheRootsIsNotAdopted(t *testing.T) {
	w := newWorld(t)
	w.Roots = []string{"/srv"}
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
	assert.Equal(t, w.OutsideText("/home/alice/proj"), w.sender.last(t).Text.Text)
	assert.Empty(t, w.sessions.done())
}

func TestP2_ArchiveAWindowShowsFirstWhatEnds(t *testing.T) {
	ours, split := agentWindow(t, "@21", 4123), agentWindow(t, "@21", 4123)
	ours.Ours, ours.Agent.Pane.PID, ours.Others = true, 4123, nil
	split.Ours, split.Agent.Pane.PID = true, 4123
	foot := "Archive what runs in the window @21 mine? This ends: claude, pid 4123, 2 h, pts/3. " +
		"What it is doing there stops; what was said stays, and /resume brings it back."
	for _, tt := range []struct {
		name   string
		window lifecycle.Window
		says   []string
	}{
		{"in a person's shell", agentWindow(t, "@21", 4123), []string{foot, "This stays: -bash, pid 99.", "The window stays open."}},
		{"in a window of ours", ours, []string{foot, "The agent's pane is mine and closes."}},
		{"in a window of ours that was split", split, []string{foot, "This stays: -bash, pid 99.", "The agent's pane is mine and closes."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			m := w.unbound(t, tt.window)
			require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonArchive))
			asked := w.sender.last(t)
			assert.Equal(t, lines(tt.says...), asked.Text.Text)
			assert.Equal(t, []string{"Yes, archive", "Cancel"}, words(asked))
			assert.Empty(t, w.sessions.done(), "nothing is done yet")

			w.again()
			require.NoError(t, w.tapShown(t, bob, asked, i18n.ButtonYesArchive))
			assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.NotForYou), "only who asked may")
			assert.Empty(t, w.sessions.done())

			require.NoError(t, w.tapShown(t, alice, asked, i18n.ButtonYesArchive))
			done := w.sessions.done()
			require.Len(t, done, 2)
			assert.Equal(t, "adopt 4123@41230 from "+uuid.Nil.String(), done[0])
			assert.Regexp(t, "^archive .* as archived$", done[1])
			assert.Equal(t, w.named(i18n.Archiving, "mine"), w.sender.lastEdit(t).Text.Text)
			assert.Len(t, w.sender.texts(), 2, "the receipt comes as news")
		})
	}
}

// Nothing that waits for the session which had the conversation is for an agent that is to end.
func TestP4_AnArchivedWindowTakesNoSessionOver(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	w.records.change(r.ID, func(r *session.Record) { r.ClaudeSessionID, r.Conversation = theirs, inGroup })
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonArchive))
	w.sessions.archive = func(uuid.UUID) error { return lifecycle.ErrEvidence }
	require.NoError(t, w.tapShown(t, alice, w.sender.last(t), i18n.ButtonYesArchive))
	assert.Equal(t, r.ID, w.Successor(host.View(w.record(t, r.ID))).ID)
	done := w.sessions.done()
	require.Len(t, done, 2)
	assert.Equal(t, "adopt 4123@41230 from "+uuid.Nil.String(), done[0])
	assert.Regexp(t, "^archive .* as archived$", done[1])
	assert.NotContains(t, done[1], r.ID.String())
	assert.Equal(t, w.word(i18n.NoEvidence), w.sender.last(t).Text.Text)
}

// What a window shows is what a tap is about: another process in it, another conversation, another
// pane, and nothing is done.
func TestP2_AChangedWindowIsDrawnAgain(t *testing.T) {
	other, fresh, pane := agentWindow(t, "@21", 5000), agentWindow(t, "@21", 4123), agentWindow(t, "@21", 4123)
	fresh.Agent.ClaudeSessionID = uuid.New()
	pane.Pane.PID = 100
	for name, now := range map[string][]lifecycle.Window{"gone": nil, "another agent": {other}, "another conversation": {fresh},
		"another pane": {pane}, "no agent": {shellWindow(t, "@21")}} {
		for _, word := range []i18n.Key{i18n.ButtonAdopt, i18n.ButtonArchive, i18n.ButtonIgnore} {
			w := newWorld(t)
			m := w.unbound(t, agentWindow(t, "@21", 4123))
			w.windows.all = now
			require.NoError(t, w.tapShown(t, alice, m, word))
			assert.Empty(t, w.sessions.done())
			assert.Len(t, w.windows.all, len(now), "nothing is ignored")
			assert.Contains(t, w.sender.done(), "post "+w.word(i18n.WritersChanged), name)
			text, buttons := w.listText(t, atAlice)
			assert.Equal(t, text, w.sender.lastEdit(t).Text, name)
			assert.Equal(t, faces(buttons), faces(w.sender.lastEdit(t).Buttons))
		}
	}
}

func TestP2_AnArchiveIsNotConfirmedForAnother(t *testing.T) {
	w := newWorld(t)
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonArchive))
	asked := w.sender.last(t)
	w.windows.all = []lifecycle.Window{agentWindow(t, "@21", 5000)}
	require.NoError(t, w.tapShown(t, alice, asked, i18n.ButtonYesArchive))
	assert.Empty(t, w.sessions.done())
	assert.Equal(t, 1, w.sender.spent, "the question is over")
	assert.Equal(t, w.word(i18n.WritersChanged), w.sender.last(t).Text.Text)
}

func TestAWindowInAReportLosesOnlyItsButtons(t *testing.T) {
	w := newWorld(t)
	r := w.lost(t, "api", session.ClosedReboot)
	w.windows.all = []lifecycle.Window{agentWindow(t, "@21", 4123), shellWindow(t, "@22")}
	rep := w.recoveredMessage(t)
	assert.Equal(t, []string{"Resume", "Adopt @21", "Archive @21", "Ignore @21", "Ignore @22"}, words(rep))
	require.NoError(t, w.tapShown(t, alice, rep, "Ignore @22"))
	assert.Contains(t, w.sender.done(), "post "+w.word(i18n.WindowIgnored, i18n.Args{"Window": "@22 mine"}))
	assert.Equal(t, faces(rep.Buttons[:2]), faces(w.sender.buttons), "with their colours")
	assert.Len(t, w.windows.all, 1)

	w.windows.all = []lifecycle.Window{agentWindow(t, "@21", 5000)} // changed
	require.NoError(t, w.tapShown(t, alice, w.sender.lastEdit(t), "Adopt @21"))
	assert.Empty(t, w.sessions.done()[1:])
	assert.Equal(t, faces(rep.Buttons[:1]), faces(w.sender.buttons))
	assert.Equal(t, w.word(i18n.WritersChanged), w.sender.last(t).Text.Text)
	assert.Equal(t, rep.Text, w.sender.now(w.idOf(data(rep)[0])).Text, "a report keeps its text")
	assert.Equal(t, session.Lost, w.record(t, r.ID).State)
}

func TestAWindowThatCannotBeTakenIsExplained(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want i18n.Key
	}{
		{"it changed", lifecycle.ErrChanged, i18n.WritersChanged},
		{"others write too", &lifecycle.WriterError{Writers: []lifecycle.Writer{atDesk(5)}}, i18n.StartUnsure},
		{"its owner came back", &lifecycle.StateError{State: session.Running}, i18n.WritersChanged},
		{"its owner goes on elsewhere", &lifecycle.MovedError{To: uuid.New()}, i18n.WritersChanged},
		{"its owner was purged", session.ErrNotFound, i18n.WritersChanged},
		{"no terminal", lifecycle.ErrNoTerminal, i18n.FootAdoptElsewhere},
		{"nobody sees who writes", lifecycle.ErrEvidence, i18n.NoEvidence},
		{"anything else", errDisk, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, word := range []i18n.Key{i18n.ButtonAdopt, i18n.ButtonArchive} {
				w := newWorld(t)
				m := w.unbound(t, agentWindow(t, "@21", 4123))
				button := w.spot(t, m, word)
				if word == i18n.ButtonArchive {
					require.NoError(t, w.tapSpot(t, alice, button))
					button = w.spot(t, w.sender.last(t), i18n.ButtonYesArchive)
				}
				w.sessions.adopt = func(lifecycle.AdoptRequest) error { return deep(tt.err) }
				err := w.tapSpot(t, alice, button)
				assert.Len(t, w.sessions.done(), 1, "nothing is archived")
				if tt.want == "" {
					w.toldOfError(t, err)
					continue
				}
				require.NoError(t, err)
				assert.Contains(t, strings.Join(w.sender.done(), "\n"), "post "+w.word(tt.want))
			}
		})
	}
	w := newWorld(t)
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	w.windows.err = errTable
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
	assert.Contains(t, w.sender.done(), "post "+w.word(i18n.InternalError))
	assert.Empty(t, w.sessions.done())
}

func TestP9_StrangersTouchNoWindow(t *testing.T) {
	w := newWorld(t)
	m := w.unbound(t, agentWindow(t, "@21", 4123))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonArchive))
	asked := w.sender.last(t)
	said := len(w.sender.done())
	for _, s := range spots(m, asked) {
		require.NoError(t, w.tapSpot(t, eve, s))
	}
	assert.Len(t, w.sender.done(), said, "strangers get silence")
	assert.Empty(t, w.sessions.done())
	assert.Len(t, w.windows.all, 1)
}
