package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// undoShown is the receipt of a session that was archived so long ago.
func (w *world) undoShown(t *testing.T, r session.Record, ago time.Duration) outbox.Message {
	t.Helper()
	r.EndedAt = w.Now().Add(-ago)
	return w.receiptShown(t, r)
}

func (w *world) restoring(r session.Record) string {
	return w.word(i18n.Resuming, i18n.Args{"Name": r.Name, "Dir": "~/" + r.Name})
}

func (w *world) currentIs(t *testing.T, want uuid.UUID) {
	t.Helper()
	got, err := w.Chats.Current(atAlice)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestUndoAndResumeBringBack(t *testing.T) {
	for _, word := range []i18n.Key{i18n.ButtonUndo, i18n.ButtonResume} {
		t.Run(string(word), func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Archived)
			m := w.lostShown(t, r)
			if word == i18n.ButtonUndo {
				m = w.undoShown(t, r, time.Minute)
			}
			w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
			w.again()
			require.NoError(t, w.tapShown(t, bob, m, word), "any allowed person may, after a restart too")
			assert.Equal(t, []string{"restore " + r.ID.String(), "move " + r.ID.String() + " to 7"}, w.sessions.done())
			assert.Equal(t, []string{w.restoring(r)}, w.sender.texts())
			assert.Equal(t, 1, w.sender.spent)
			w.currentIs(t, r.ID)
		})
	}
}

// The pointer is not taken away from a session that was chosen meanwhile.
func TestUndoLeavesTheCurrentSession(t *testing.T) {
	for _, open := range []bool{false, true} {
		t.Run(fmt.Sprintf("open already: %t", open), func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", session.Archived)
			said, current := w.restoring(r), w.currentSession(t, "web", session.Running)
			if open {
				w.sessions.restore = func(uuid.UUID) (session.Record, error) {
					return r, deep(&lifecycle.StateError{State: session.Running, Want: "resumed"})
				}
				said, current = w.named(i18n.ResumeAlreadyOpen, "api"), r
			}
			require.NoError(t, w.tapShown(t, alice, w.undoShown(t, r, 0), i18n.ButtonUndo))
			w.currentIs(t, current.ID)
			assert.Equal(t, []string{said}, w.sender.texts())
		})
	}
}

func TestUndoIsOverAfterAMinute(t *testing.T) {
	for _, state := range []session.State{session.Archived, session.Running} {
		w := newWorld(t)
		r := w.session(t, "api", state)
		require.NoError(t, w.tapShown(t, alice, w.undoShown(t, r, 61*time.Second), i18n.ButtonUndo))
		assert.Equal(t, []string{"edit api is archived.", "answer query: " + w.word(i18n.StaleButton)}, w.sender.done())
		assert.Equal(t, 1, w.sender.spent)
		assert.Empty(t, w.sessions.done())
	}
}

func TestADoubleTapOnResumeBringsBackOnce(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	m := w.lostShown(t, r)
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResume))
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		return r, &lifecycle.StateError{State: session.Restoring, Want: "resumed"}
	}
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResume))
	assert.Equal(t, []string{w.restoring(r), w.named(i18n.ResumeAlreadyOpen, "api")}, w.sender.texts())
}

func TestAResumeThatFailsCanBeTappedAgain(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) { return session.Record{}, lifecycle.ErrNoClaude }
	require.NoError(t, w.tapShown(t, alice, w.lostShown(t, r), i18n.ButtonResume))
	assert.Len(t, w.sender.texts(), 1)
	assert.Zero(t, w.sender.spent)
	w.currentIs(t, uuid.Nil)
}

// "Your messages go to it now" must be true.
func TestAResumeOfAnOpenSessionMakesItCurrent(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	w.currentSession(t, "web", session.Running)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		return r, deep(&lifecycle.StateError{State: session.Running, Want: "resumed"})
	}
	require.NoError(t, w.tapShown(t, alice, w.lostShown(t, r), i18n.ButtonResume))
	assert.Equal(t, []string{w.named(i18n.ResumeAlreadyOpen, "api")}, w.sender.texts())
	w.currentIs(t, r.ID)
}

func TestP1_LeftoversThatAResumeEndedAreTold(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	w.sessions.leftovers = []lifecycle.Ending{ended(9, process.HowKill, time.Minute)}
	w.mustHear(t, "/resume api")
	assert.Equal(t, []string{lines("• claude, pid 9, 1 min ended with KILL.", w.restoring(r))}, w.sender.texts())

	w = newWorld(t)
	w.session(t, "api", session.Archived)
	w.sessions.leftovers = []lifecycle.Ending{ended(9, process.HowKill, time.Minute), spared(10, lifecycle.ReasonSecond)}
	w.sessions.restore = func(uuid.UUID) (session.Record, error) { return session.Record{}, lifecycle.ErrNoClaude }
	w.mustHear(t, "/resume api")
	assert.Equal(t, []string{lines("• claude, pid 9, 1 min ended with KILL.",
		w.word(i18n.ClaudeMissing, i18n.Args{"Command": "claude"}))}, w.sender.texts())
}

func TestResumeOfWhatIsNotCleanedUpIsExplained(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.CleanupFailed)
	w.records.change(r.ID, func(r *session.Record) {
		r.Cleanup = &session.CleanupError{Processes: []process.Identity{{PID: 5}}, Reason: "process 5 lives",
			Failures: []session.CleanupFailure{{Kind: "survived", PID: 5, Detail: "it survived KILL"}}}
	})
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		return r, &lifecycle.StateError{State: session.CleanupFailed, Want: "resumed"}
	}
	want := w.word(i18n.CleanupFailed, i18n.Args{"Name": "api", "Details": "pid 5 is alive even after KILL"})
	require.NoError(t, w.tapShown(t, alice, w.undoShown(t, r, 0), i18n.ButtonUndo))
	w.mustHear(t, "/resume api")
	require.NoError(t, w.Chats.SetCurrent(atAlice, r.ID))
	w.mustHear(t, "a prompt")
	assert.Equal(t, []string{want, want, lines(warning+want, w.word(i18n.NotDelivered))}, w.sender.texts())
	for _, m := range w.sender.posted {
		assert.Equal(t, w.wordsOf(i18n.ButtonRetry), words(m))
		w.sessions.forget()
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonRetry))
		assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.sessions.done())
	}
}

func TestResumeCommand(t *testing.T) {
	w := newWorld(t)
	w.mustHear(t, "/resume")
	assert.Equal(t, w.word(i18n.ResumeNone), w.sender.last(t).Text.Text)

	open := w.session(t, "open", session.Running)
	w.mustHear(t, "/resume open")
	assert.Equal(t, w.named(i18n.ResumeAlreadyOpen, "open"), w.sender.last(t).Text.Text)
	w.currentIs(t, open.ID)

	w.session(t, "going", session.Stopping)
	w.mustHear(t, "/resume going")
	assert.Equal(t, w.named(i18n.StillEnding, "going"), w.sender.last(t).Text.Text)
	w.currentIs(t, open.ID)

	old := w.session(t, "old", session.Lost)
	w.mustHear(t, "/resume old")
	assert.Contains(t, w.sessions.done(), "restore "+old.ID.String())
}

// A restore without a window may have been cut short: whether it goes on, or is open already, is
// for the session's worker to say.
func TestP8_AResumeThatWasCutShortIsResumed(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		state         session.State
		bound         bool
		want          string // asked of lifecycle; empty: it is open already
	}{
		{"cut short", "/resume api", session.Restoring, false, "restore %s"},
		{"cut short, elsewhere", "/resume api /srv", session.Restoring, false, "restore %s in /srv"},
		{"in its window", "/resume api", session.Restoring, true, ""},
		{"a new one", "/resume api", session.Starting, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "api", tt.state)
			w.records.change(r.ID, func(r *session.Record) {
				if tt.bound {
					r.Binding = &session.Binding{Window: "@21"}
				}
			})
			w.mustHear(t, tt.command)
			w.currentIs(t, r.ID)
			if tt.want == "" {
				assert.Empty(t, w.sessions.done())
				assert.Equal(t, []string{w.named(i18n.ResumeAlreadyOpen, "api")}, w.sender.texts())
				return
			}
			assert.Equal(t, []string{fmt.Sprintf(tt.want, r.ID)}, w.sessions.done())
			assert.Contains(t, w.sender.last(t).Text.Text, "api is coming back in ")
		})
	}
}

func TestResumeElsewhere(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"/resume old /srv/x", " in /srv/x"},
		{"/resume old ~/my code", " in /home/alice/my code"},
		{`/resume old "~/my code"`, " in /home/alice/my code"},
		{"/resume OLD ~/old", " in /home/alice/old"},
		{"/resume .config", ""}, // a name may look like a path
		{"/resume .config /srv", " in /srv"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			w := newWorld(t)
			r := w.session(t, "old", session.Archived)
			if strings.Contains(tt.text, ".config") {
				r = w.session(t, ".config", session.Archived)
			}
			w.mustHear(t, tt.text)
			assert.Equal(t, []string{"restore " + r.ID.String() + tt.want}, w.sessions.done())
		})
	}
	for text, want := range map[string]i18n.Key{"/resume none /srv": i18n.NoSuchSession, "/resume /srv": i18n.NoSuchSession,
		"/resume open /srv": i18n.ResumeAlreadyOpen} {
		w := newWorld(t)
		w.session(t, "open", session.Running)
		w.mustHear(t, text)
		name := strings.TrimPrefix(text, "/resume ")
		if want == i18n.ResumeAlreadyOpen {
			name = "open"
		}
		assert.Equal(t, []string{w.named(want, name)}, w.sender.texts(), text)
		assert.Empty(t, w.sessions.done())
	}
}

func TestResumePicksTheLatest(t *testing.T) {
	w := newWorld(t)
	var latest []string
	for n := range 12 {
		r := w.session(t, fmt.Sprintf("s%d", n), session.Archived)
		latest = append([]string{"restore " + r.ID.String()}, latest...)
	}
	w.session(t, "open", session.Running)
	w.mustHear(t, "/resume")
	m := w.sender.last(t)
	assert.Equal(t, lines(w.word(i18n.ResumePick), w.word(i18n.ResumeMore, i18n.Args{"Count": 2})), m.Text.Text)
	assert.True(t, strings.HasPrefix(m.Buttons[0][0].Text, "s11, "), m.Buttons[0][0].Text)
	for n := range latest[:10] {
		m := w.heardShown(t, "/resume")
		require.NoError(t, w.tapSpot(t, alice, spots(m)[0]))
		assert.Equal(t, []string{latest[n]}, w.sessions.done())
	}
	for _, row := range m.Buttons {
		assert.Len(t, row, 1)
	}
}

// dirGone is a session whose directory is not there, in a home that is.
func dirGone(t *testing.T) (*world, session.Record) {
	t.Helper()
	w := newWorld(t)
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w.home, w.Home = home, home
	r := w.session(t, "api", session.Archived)
	w.sessions.restore = func(id uuid.UUID) (session.Record, error) {
		now, _ := w.records.Get(id)
		if last := w.sessions.done(); strings.Contains(last[len(last)-1], " in ") {
			now.Dir = strings.SplitN(last[len(last)-1], " in ", 2)[1]
		}
		if err := lifecycle.CheckDir(now.Dir); err != nil {
			return session.Record{}, deep(err)
		}
		now.State = session.Restoring
		w.records.put(now)
		return now, nil
	}
	return w, r
}

func TestADirectoryThatIsGoneCanBeMadeAgain(t *testing.T) {
	w, r := dirGone(t)
	w.mustHear(t, "/resume api")
	m := w.sender.last(t)
	assert.Equal(t, w.word(i18n.DirGone, i18n.Args{"Name": "api", "Dir": "~/api"}), m.Text.Text)
	assert.Equal(t, w.wordsOf(i18n.ButtonMakeDir), words(m))
	w.again()
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonMakeDir))
	assert.DirExists(t, r.Dir)
	assert.Equal(t, w.restoring(r), w.sender.last(t).Text.Text)
	assert.Equal(t, 1, w.sender.spent)
	w.currentIs(t, r.ID)
}

func TestADirectoryOutsideTheRootsIsNotMade(t *testing.T) {
	w, r := dirGone(t)
	outside := t.TempDir()
	root := filepath.Join(w.home, "root")
	require.NoError(t, os.MkdirAll(root, 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "leads-out")))
	old := w.heardShown(t, "/resume api")
	w.Roots = []string{root}
	for _, dir := range []string{filepath.Join(root, "leads-out", "new"), filepath.Join(w.home, "api"), filepath.Join(root, "..", "x")} {
		w.records.change(r.ID, func(r *session.Record) { r.Dir = dir })
		require.NoError(t, w.tapShown(t, alice, old, i18n.ButtonMakeDir))
		assert.NoDirExists(t, dir)
		assert.Equal(t, w.OutsideText(dir), w.sender.last(t).Text.Text)
	}
	assert.Empty(t, w.sessions.done())

	in := filepath.Join(root, "a", "b")
	w.records.change(r.ID, func(r *session.Record) { r.Dir = in })
	w.mustHear(t, "/resume api")
	m := w.sender.last(t)
	assert.Equal(t, w.wordsOf(i18n.ButtonMakeDir), words(m))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonMakeDir))
	assert.DirExists(t, in)
}

func TestADirectoryThatCannotBeMadeIsTold(t *testing.T) {
	for _, roots := range []bool{false, true} {
		w, r := dirGone(t)
		m := w.heardShown(t, "/resume api")
		if roots {
			w.Roots = []string{w.home}
		}
		require.NoError(t, os.WriteFile(filepath.Join(w.home, "file"), nil, 0o600))
		w.records.change(r.ID, func(r *session.Record) { r.Dir = filepath.Join(w.home, "file", "below") })
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonMakeDir))
		assert.Equal(t, []string{w.word(i18n.DirNoAccess, i18n.Args{"Name": "api", "Dir": "~/file/below"})}, w.sender.texts())
		assert.Zero(t, w.sender.spent)
		assert.Empty(t, w.sessions.done())
	}
}

func TestEveryFaultOfADirectoryIsTold(t *testing.T) {
	for why, want := range map[lifecycle.DirFault]i18n.Key{lifecycle.DirMissing: i18n.DirGone, lifecycle.DirNotADir: i18n.DirNotADir,
		lifecycle.DirNoAccess: i18n.DirNoAccess, "of a later day": i18n.DirNoAccess} {
		w, r := dirGone(t)
		w.sessions.restore = func(uuid.UUID) (session.Record, error) { return r, deep(&lifecycle.DirError{Dir: r.Dir, Why: why}) }
		w.mustHear(t, "/resume api")
		m := w.sender.last(t)
		assert.Equal(t, w.word(want, i18n.Args{"Name": "api", "Dir": "~/api"}), m.Text.Text)
		assert.Contains(t, m.Text.Text, "/resume api PATH")
		assert.Equal(t, why == lifecycle.DirMissing, slices.Equal(w.wordsOf(i18n.ButtonMakeDir), words(m)))
	}
}

// A path that was typed is what its button means after a restart too.
func TestATypedDirectoryIsRemembered(t *testing.T) {
	w, r := dirGone(t)
	dir := filepath.Join(w.home, "typed", "new")
	w.mustHear(t, "/resume api "+dir)
	m := w.sender.last(t)
	assert.Contains(t, m.Text.Text, "~/typed/new")
	w.again()
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonMakeDir))
	assert.DirExists(t, dir)
	assert.Contains(t, w.sessions.done(), "restore "+r.ID.String()+" in "+dir)
	w.currentIs(t, r.ID)
}

func TestADamagedTranscriptIsAskedAbout(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	fault := true
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		if !fault {
			return r, nil
		}
		return r, deep(&lifecycle.TranscriptError{Health: transcript.Health{Path: "/x", Faults: []transcript.Fault{
			transcript.FaultHalfLine, transcript.FaultNUL, transcript.FaultDuplicate}}})
	}
	w.mustHear(t, "/resume api /srv/x")
	m := w.sender.last(t)
	assert.Equal(t, w.word(i18n.TranscriptDamaged, i18n.Args{"Name": "api", "Details": lines(w.word(i18n.FaultHalfLine) + "; " +
		w.word(i18n.FaultNUL) + "; " + w.word(i18n.FaultDuplicate))}), m.Text.Text)
	assert.Equal(t, w.wordsOf(i18n.ButtonUseCopy, i18n.ButtonUseAsIs, i18n.ButtonCancel), words(m))
	w.mustHear(t, "/resume api /srv/x")
	other := w.sender.last(t)
	w.mustHear(t, "/resume api")
	here := w.sender.last(t)
	w.again()
	fault = false
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonUseCopy))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonUseAsIs), "it is over")
	require.NoError(t, w.tapShown(t, alice, other, i18n.ButtonUseAsIs))
	require.NoError(t, w.tapShown(t, alice, here, i18n.ButtonUseCopy), "where it was")
	head := "restore " + r.ID.String()
	assert.Equal(t, []string{head + " in /srv/x", head + " in /srv/x", head, head + " in /srv/x as copy", head + " in /srv/x as as_is",
		head + " as copy"}, w.sessions.done())
}

func TestATranscriptWithNothingLeftBeginsAnew(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	nothing := true
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		if !nothing {
			return r, nil
		}
		return r, deep(&lifecycle.TranscriptError{Nothing: true, Health: transcript.Health{Faults: []transcript.Fault{transcript.FaultNUL}}})
	}
	w.mustHear(t, "/resume api")
	m := w.sender.last(t)
	assert.Equal(t, w.named(i18n.TranscriptEmpty, "api"), m.Text.Text)
	assert.Equal(t, w.wordsOf(i18n.ButtonBeginAnew, i18n.ButtonCancel), words(m))
	w.again()
	nothing = false
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonBeginAnew))
	head := "restore " + r.ID.String()
	assert.Equal(t, []string{head, head + " as copy"}, w.sessions.done())
	w.currentIs(t, r.ID)
}

// TestBroughtBackAtTheDesk: texts go to what is open, and the chat says to which.
func TestBroughtBackAtTheDesk(t *testing.T) {
	tests := []struct {
		name   string
		before session.State // of the current session; empty: there is none
		takes  bool
	}{
		{"there is none", "", true},
		{"the current one is lost", session.Lost, true},
		{"it is archived", session.Archived, true},
		{"it is open", session.Running, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			want := w.session(t, "api", session.Restoring)
			back := want
			require.NoError(t, w.Chats.SetCurrent(atAlice, uuid.Nil))
			if tt.before != "" {
				other := w.session(t, "other", tt.before)
				require.NoError(t, w.Chats.SetCurrent(atAlice, other.ID))
				if !tt.takes {
					want = other
				}
			}
			current, err := w.Resumer.ResumedAtDesk(t.Context(), back.ID)
			require.NoError(t, err)
			assert.Equal(t, want.ID, current.ID)
			now, err := w.Chats.Current(atAlice)
			require.NoError(t, err)
			assert.Equal(t, want.ID, now)
			assert.Equal(t, w.word(i18n.Resuming, i18n.Args{"Name": "api", "Dir": w.Short(back.Dir)}), w.sender.last(t).Text.Text)
		})
	}
}

func TestBroughtBackWithoutAChat(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Restoring)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = session.Conversation{} })
	for _, id := range []uuid.UUID{r.ID, uuid.New()} {
		current, err := w.Resumer.ResumedAtDesk(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, uuid.Nil, current.ID)
	}
	assert.Empty(t, w.sender.texts())
}
