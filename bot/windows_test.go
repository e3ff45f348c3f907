package bot_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/recovery"
)

func TestP2_OnlyProvenWindowIsArchived(t *testing.T) {
	protected, background := chattest.AgentWindow(t, "@21", 4123), chattest.AgentWindow(t, "@21", 4123)
	protected.Agent.Spared = process.GuardAncestor
	background.Agent.InTmux = false
	unproven := chattest.AgentWindow(t, "@21", 4123)
	unproven.Agent.Proven = false
	dead := chattest.ShellWindow(t, "@21")
	dead.Pane.Dead, dead.Pane.Path, dead.Ours = true, "", true
	agent := "• @21 mine: claude (pid 4123, 2 h, pts/3), ~/proj, conversation 11111111"
	cli := "   In a terminal: tmux attach -t mine"
	for _, tt := range []struct {
		name   string
		window evidence.Window
		says   []string
		words  []string
	}{
		{"a shell", chattest.ShellWindow(t, "@21"), []string{"• @21 mine: vim, ~/x", cli}, []string{"Hide"}},
		{"a dead pane, ours", dead, []string{"• @21 mine: ended", cli}, []string{"Hide"}},
		{"a proven agent", chattest.AgentWindow(t, "@21", 4123), []string{agent}, []string{"Connect", "Archive", "Hide"}},
		{"a protected one", protected, []string{agent, cli}, []string{"Hide"}},
		{"one in the background", background, []string{agent, cli}, []string{"Hide"}},
		{"one that is not proven", unproven, []string{agent, cli}, []string{"Hide"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			m := w.Unbound(t, tt.window)
			head := []string{"1 window with no session (nothing happens to it):"}
			assert.Equal(t, chattest.Lines(append(head, tt.says...)...), m.Text.Text)
			assert.Equal(t, tt.words, chattest.Words(m))
			assert.Empty(t, w.Lifecycle.Done())
			assert.Equal(t, []string{w.Word(i18n.ListEmpty), m.Text.Text}, w.Telegram.Texts())
			if slices.Equal(tt.words, []string{"Hide"}) { // the buttons of what could be archived before
				w = chattest.NewWorld(t)
				old := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
				require.NoError(t, w.TapShown(t, chattest.Alice, old, i18n.ButtonArchive))
				asked := w.Quietly(t)
				w.Windows.All = []evidence.Window{tt.window}
				require.NoError(t, w.TapShown(t, chattest.Alice, old, i18n.ButtonAdopt))
				require.NoError(t, w.TapShown(t, chattest.Alice, old, i18n.ButtonArchive))
				assert.Equal(t, []string{w.Word(i18n.WritersChanged)}, w.Telegram.Texts(), "the list is drawn again, and the rest is stale")
				require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonYesArchive))
				assert.Equal(t, slices.Repeat([]string{w.Word(i18n.WritersChanged)}, 2), w.Telegram.Texts())
				assert.Empty(t, w.Lifecycle.Done())
			}
		})
	}
}

func TestSeveralWindowsHaveNamedButtons(t *testing.T) {
	w := chattest.NewWorld(t)
	var all []evidence.Window
	for n := range 7 {
		all = append(all, chattest.ShellWindow(t, fmt.Sprint("@", n+20)))
	}
	all[1] = chattest.AgentWindow(t, "@21", 4123)
	all[1].Pane.WindowName = strings.Repeat("w\u202e\n", 500)
	m := w.Unbound(t, all...)
	assert.Equal(t, []string{"Hide @20", "Connect @21", "Archive @21", "Hide @21", "Hide @22", "Hide @23", "Hide @24", "Hide @25"}, chattest.Words(m))
	assert.True(t, strings.HasSuffix(m.Text.Text, "\n• and 1 more"), m.Text.Text)
	assert.Contains(t, m.Text.Text, "7 windows with no session (nothing happens to them):")
	assert.NotContains(t, m.Text.Text, "@26")
	assert.NotContains(t, m.Text.Text, "\u202e")
	for _, row := range m.Buttons {
		assert.Len(t, row, len(row))
	}
	assert.Len(t, m.Buttons, 6, "a row each")

	w.Windows.Err = chattest.ErrTable
	w.MustHear(t, "/list")
	assert.Equal(t, w.Word(i18n.ListEmpty), w.Telegram.Last(t).Text.Text, "the list does without them")
}

func TestAdoptAWindow(t *testing.T) {
	w := chattest.NewWorld(t)
	m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
	var asked lifecycle.AdoptRequest
	w.Lifecycle.OnAdopt, w.Lifecycle.Shell = func(q lifecycle.AdoptRequest) error { asked = q; w.Windows.All = nil; return nil }, 99
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonAdopt), "any allowed person may, after a restart too")
	assert.Equal(t, lifecycle.AdoptRequest{Agent: chattest.InTerminal(4123).Identity, AgentSessionID: chattest.Theirs, Confirmed: true, Conversation: chattest.AtAlice, Owner: chattest.Bob,
		Rule: "chat.adopt", Why: "asked for by 8"}, asked)
	assert.Equal(t, "mine is connected to its window (@4). ccbot will not close it. "+
		w.Word(i18n.AdoptedAsks), w.Telegram.Last(t).Text.Text)
	now, ok := w.CurrentSession(chattest.AtAlice, 0)
	assert.True(t, ok && now.AgentSessionID == chattest.Theirs)
	assert.Equal(t, w.Word(i18n.NoWindows), w.Telegram.LastEdit(t).Text.Text, "the message is drawn again")
	text, _ := w.ListText(t, chattest.AtAlice)
	assert.Contains(t, text.Text, "✓ mine")
}

// The window's conversation was a session's before: that session continues.
func TestWindowsConversationHasOwner(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states []session.State // of sessions that have the conversation, oldest first
		closed string          // of the first
		from   int             // the session to continue; -1: none
		says   i18n.Key        // the state of the session that has it
	}{
		{"one that is over", []session.State{session.Archived}, "", 0, ""},
		{"the newest of several", []session.State{session.Lost, session.Archived}, "", 1, ""},
		{"one that was too old when its conversation came back", []session.State{session.Archived}, session.ClosedStale, -1, ""},
		{"an open one", []session.State{session.Running, session.Archived}, "", -1, i18n.StateRunning},
		{"one that is ending", []session.State{session.Stopping}, "", -1, i18n.StateStopping},
		{"one that is not clean", []session.State{session.CleanupFailed}, "", -1, i18n.StateCleanupFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			var all []session.Record
			for i, state := range tt.states {
				r := w.Session(t, "api", state)
				w.Records.Change(r.ID, func(r *session.Record) {
					r.AgentSessionID = chattest.Theirs
					if i == 0 {
						r.ClosedReason = tt.closed
					}
				})
				all = append(all, r)
			}
			m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
			var asked *lifecycle.AdoptRequest
			w.Lifecycle.OnAdopt = func(q lifecycle.AdoptRequest) error { asked = &q; return nil }
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
			if tt.says != "" {
				assert.Nil(t, asked)
				assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.WindowOwned, i18n.Args{"Name": "api", "State": w.Word(tt.says)}))
				return
			}
			require.NotNil(t, asked)
			want := uuid.Nil
			if tt.from >= 0 {
				want = all[tt.from].ID
				assert.Contains(t, w.Telegram.Last(t).Text.Text, "api is connected")
			}
			assert.Equal(t, want, asked.From)
		})
	}
}

func TestWindowOutsideRootsIsNotAdopted(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Roots = []string{"/srv"}
	m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
	assert.Equal(t, w.OutsideText(t.Context(), "/home/alice/proj"), w.Telegram.Last(t).Text.Text)
	assert.Empty(t, w.Lifecycle.Done())
}

func TestP2_ArchiveShowsWindowsProcessesFirst(t *testing.T) {
	ours, split := chattest.AgentWindow(t, "@21", 4123), chattest.AgentWindow(t, "@21", 4123)
	ours.Ours, ours.Agent.Pane.PID, ours.Others = true, 4123, nil
	split.Ours, split.Agent.Pane.PID = true, 4123
	foot := "End claude (pid 4123, 2 h, pts/3) in the window @21 mine and archive its conversation? " +
		"Work in progress stops. To continue later: /resume"
	for _, tt := range []struct {
		name   string
		window evidence.Window
		says   []string
	}{
		{"in a person's shell", chattest.AgentWindow(t, "@21", 4123), []string{foot, "This keeps running: -bash (pid 99).", "The window stays open."}},
		{"in a window of ours", ours, []string{foot, "Its pane closes."}},
		{"in a window of ours that was split", split, []string{foot, "This keeps running: -bash (pid 99).", "Its pane closes."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			m := w.Unbound(t, tt.window)
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonArchive))
			asked := w.Telegram.Last(t)
			assert.Equal(t, chattest.Lines(tt.says...), asked.Text.Text)
			assert.Equal(t, []string{"End and archive", "Cancel"}, chattest.Words(asked))
			assert.Empty(t, w.Lifecycle.Done(), "nothing is done yet")

			w.Again()
			require.NoError(t, w.TapShown(t, chattest.Bob, asked, i18n.ButtonYesArchive))
			assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.NotForYou), "only who asked may")
			assert.Empty(t, w.Lifecycle.Done())

			require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonYesArchive))
			done := w.Lifecycle.Done()
			require.Len(t, done, 2)
			assert.Equal(t, "adopt 4123@41230 from "+uuid.Nil.String(), done[0])
			assert.Regexp(t, "^archive .* as archived$", done[1])
			assert.Equal(t, w.Named(i18n.Archiving, "mine"), w.Telegram.LastEdit(t).Text.Text)
			assert.Len(t, w.Telegram.Texts(), 3, "the receipt comes as news")
		})
	}
}

// No prompt that waits for the conversation's session goes to an agent that will end.
func TestP4_ArchivedWindowTakesNoSession(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID, r.Conversation = chattest.Theirs, chattest.InGroup })
	m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonArchive))
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return evidence.ErrUnreadable }
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonYesArchive))
	assert.Equal(t, session.Archived, w.Record(t, r.ID).State)
	done := w.Lifecycle.Done()
	require.Len(t, done, 2)
	assert.Equal(t, "adopt 4123@41230 from "+uuid.Nil.String(), done[0])
	assert.Regexp(t, "^archive .* as archived$", done[1])
	assert.NotContains(t, done[1], r.ID.String())
	assert.Equal(t, w.Word(i18n.NoEvidence), w.Telegram.Last(t).Text.Text)
}

// A tap is about the shown window: if its process, conversation or pane has changed, nothing is
// done.
func TestP2_ChangedWindowIsRedrawn(t *testing.T) {
	other, fresh, pane := chattest.AgentWindow(t, "@21", 5000), chattest.AgentWindow(t, "@21", 4123), chattest.AgentWindow(t, "@21", 4123)
	fresh.Agent.AgentSessionID = uuid.New()
	pane.Pane.PID = 100
	for name, now := range map[string][]evidence.Window{"gone": nil, "another agent": {other}, "another conversation": {fresh},
		"another pane": {pane}, "no agent": {chattest.ShellWindow(t, "@21")}} {
		for _, word := range []i18n.Key{i18n.ButtonAdopt, i18n.ButtonArchive, i18n.ButtonIgnore} {
			w := chattest.NewWorld(t)
			m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
			w.Windows.All = now
			require.NoError(t, w.TapShown(t, chattest.Alice, m, word))
			assert.Empty(t, w.Lifecycle.Done())
			assert.Len(t, w.Windows.All, len(now), "nothing is ignored")
			assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.WritersChanged), name)
			edit := w.Telegram.LastEdit(t)
			if now == nil {
				assert.Equal(t, w.Word(i18n.NoWindows), edit.Text.Text)
				assert.Empty(t, edit.Buttons)
				continue
			}
			fresh := w.Unbound(t, now...)
			assert.Equal(t, fresh.Text, edit.Text, name)
			assert.Equal(t, chattest.Faces(fresh.Buttons), chattest.Faces(edit.Buttons))
		}
	}
}

func TestP2_ArchiveIsForConfirmedWindow(t *testing.T) {
	w := chattest.NewWorld(t)
	m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonArchive))
	asked := w.Telegram.Last(t)
	w.Windows.All = []evidence.Window{chattest.AgentWindow(t, "@21", 5000)}
	require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonYesArchive))
	assert.Empty(t, w.Lifecycle.Done())
	assert.Equal(t, 1, w.Telegram.Spent, "the question is over")
	assert.Equal(t, w.Word(i18n.WritersChanged), w.Telegram.Last(t).Text.Text)
}

func TestReportedWindowLosesOnlyButtons(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Lost(t, "api", session.ClosedReboot)
	w.Windows.All = []evidence.Window{chattest.AgentWindow(t, "@21", 4123), chattest.ShellWindow(t, "@22")}
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	require.Len(t, w.Telegram.Posted, 2)
	rep, windows := w.Telegram.Posted[0], w.Telegram.Posted[1]
	assert.Equal(t, []string{"Resume"}, chattest.Words(rep))
	assert.Equal(t, []string{"Connect @21", "Archive @21", "Hide @21", "Hide @22"}, chattest.Words(windows))
	require.NoError(t, w.TapShown(t, chattest.Alice, windows, "Hide @22"))
	assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.WindowIgnored, i18n.Args{"Window": "@22 mine"}))
	assert.Equal(t, []string{"Connect", "Archive", "Hide"}, chattest.Words(w.Telegram.LastEdit(t)))
	assert.Len(t, w.Windows.All, 1)

	w.Windows.All = []evidence.Window{chattest.AgentWindow(t, "@21", 5000)} // changed
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.LastEdit(t), "Connect"))
	assert.Empty(t, w.Lifecycle.Done()[1:])
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "pid 5000")
	assert.Equal(t, w.Word(i18n.WritersChanged), w.Telegram.Last(t).Text.Text)
	shown := w.Telegram.Now(w.IDOf(chattest.Data(rep)[0]))
	assert.Equal(t, rep.Text, shown.Text, "a report keeps its text")
	assert.Equal(t, chattest.Faces(rep.Buttons), chattest.Faces(shown.Buttons))
	assert.Equal(t, session.Lost, w.Record(t, r.ID).State)
}

func TestRefusedWindowIsExplained(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want i18n.Key
	}{
		{"it changed", lifecycle.ErrChanged, i18n.WritersChanged},
		{"others write too", &lifecycle.WriterError{Writers: []evidence.Writer{chattest.InTerminal(5)}}, i18n.StartUnsure},
		{"its owner came back", &lifecycle.StateError{State: session.Running}, i18n.WritersChanged},
		{"its owner was purged", session.ErrNotFound, i18n.WritersChanged},
		{"no terminal", lifecycle.ErrNoTerminal, i18n.FootAdoptElsewhere},
		{"nobody sees who writes", evidence.ErrUnreadable, i18n.NoEvidence},
		{"anything else", chattest.ErrDisk, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, word := range []i18n.Key{i18n.ButtonAdopt, i18n.ButtonArchive} {
				w := chattest.NewWorld(t)
				m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
				button := w.Spot(t, m, word)
				if word == i18n.ButtonArchive {
					require.NoError(t, w.TapSpot(t, chattest.Alice, button))
					button = w.Spot(t, w.Telegram.Last(t), i18n.ButtonYesArchive)
				}
				w.Lifecycle.OnAdopt = func(lifecycle.AdoptRequest) error { return chattest.Deep(tt.err) }
				err := w.TapSpot(t, chattest.Alice, button)
				assert.Len(t, w.Lifecycle.Done(), 1, "nothing is archived")
				if tt.want == "" {
					w.AssertErrorShown(t, err)
					continue
				}
				require.NoError(t, err)
				assert.Contains(t, strings.Join(w.Telegram.Done(), "\n"), "post "+w.Word(tt.want))
			}
		})
	}
	w := chattest.NewWorld(t)
	m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
	w.Windows.Err = chattest.ErrTable
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
	assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.InternalError))
	assert.Empty(t, w.Lifecycle.Done())
}

func TestP9_StrangersTouchNoWindow(t *testing.T) {
	w := chattest.NewWorld(t)
	m := w.Unbound(t, chattest.AgentWindow(t, "@21", 4123))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonArchive))
	asked := w.Telegram.Last(t)
	said := len(w.Telegram.Done())
	for _, s := range chattest.Spots(m, asked) {
		require.NoError(t, w.TapSpot(t, chattest.Eve, s))
	}
	assert.Len(t, w.Telegram.Done(), said, "strangers get silence")
	assert.Empty(t, w.Lifecycle.Done())
	assert.Len(t, w.Windows.All, 1)
}
