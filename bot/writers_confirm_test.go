package bot_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	claudecode "ccbot/agent/claude"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
)

// writersEnd is the line for the end of these writers.
func writersEnd(r session.Record, who ...evidence.Writer) string {
	return fmt.Sprintf("end %v of %s", chattest.Identities(who), r.ID)
}

func TestP2_TakeOverAwaitsAnswer(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, chattest.InTerminal(4123))
			asked := w.TakeOver(t, m, chattest.TakeWord(k))
			assert.Equal(t, w.Word(i18n.EndConfirm, i18n.Args{"Processes": "claude (pid 4123, 2 h, pts/3)"}), w.Telegram.Last(t).Text.Text)
			assert.Empty(t, w.Doing(r))

			require.NoError(t, w.TapShown(t, chattest.Bob, asked, chattest.TakeWord(k)))
			assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.NotForYou))
			assert.Empty(t, w.Doing(r), "only who asked")

			require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonCancel))
			assert.Equal(t, w.Word(i18n.Cancelled), w.Telegram.LastEdit(t).Text.Text)
			assert.Empty(t, w.Doing(r))
		})
	}
}

// Only the first writers are named, so of more of them none can be ended from the chat.
func TestP2_UnnamedWritersAreNotEnded(t *testing.T) {
	var named []evidence.Writer
	for pid := range chat.MaxListed {
		named = append(named, chattest.InTerminal(pid+1))
	}
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := chattest.NewWorld(t)
			_, few := w.MarkReported(t, k, named...)
			asked := w.TakeOver(t, few, chattest.TakeWord(k))
			for _, one := range named {
				assert.Contains(t, asked.Text.Text, w.In(chattest.AtAlice).ProcessText(host.Process(one.Process, one.Age)))
			}

			w = chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, append(slices.Clone(named), chattest.InTerminal(100))...)
			assert.NotContains(t, chattest.Words(m), w.Word(chattest.TakeWord(k)))
			assert.Contains(t, m.Text.Text, w.Word(i18n.AndMore, i18n.Args{"Count": 1}))
			assert.Empty(t, w.Doing(r))
		})
	}
}

func TestP1_TakeOverEndsWritersAndContinues(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, chattest.InTerminal(4123), chattest.InTerminal(4124))
			asked := w.TakeOver(t, m, chattest.TakeWord(k))
			w.Again()
			w.Lifecycle.Ends = func(who []process.Identity) ([]ending.Ending, error) {
				w.Write()
				return []ending.Ending{chattest.Ended(4123, process.HowTerm, 0), chattest.Ended(4124, process.HowAlreadyGone, 0)}, nil
			}
			require.NoError(t, w.TapShown(t, chattest.Alice, asked, chattest.TakeWord(k)))
			said := chattest.Lines("claude (pid 4123) ended on request (TERM).", "claude (pid 4124) had ended already.")
			assert.Equal(t, []string{w.Word(i18n.Taking, i18n.Args{"Processes": "claude (pid 4123, 2 h, pts/3); claude (pid 4124, 2 h, pts/3)"}), m.Text.Text},
				chattest.TextsOf(w.Telegram, &w.Telegram.Edited), "the message that has led there loses its buttons, too")
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
			want, after := []string{writersEnd(r, chattest.InTerminal(4123), chattest.InTerminal(4124))}, []string(nil)
			switch k {
			case chattest.ResumeRefused:
				said = chattest.Lines(said, w.Restoring(r))
				w.CurrentIs(t, r.ID)
				assert.Contains(t, w.Lifecycle.Done()[1:], "restore "+r.ID.String())
			case chattest.OtherWriter:
				said = chattest.Lines(said, w.Named(i18n.WritersNone, "api"))
			case chattest.WriterAfterEnd:
				said, after = chattest.Lines(said, w.Named(i18n.WritersNone, "api")), w.WordsOf(i18n.ButtonResume)
			}
			assert.Equal(t, want, w.Doing(r), "nothing else is ended")
			assert.Equal(t, said, w.Telegram.Last(t).Text.Text)
			assert.Equal(t, after, chattest.Words(w.Telegram.Last(t)))

			posted := len(w.Telegram.Texts())
			require.NoError(t, w.TapShown(t, chattest.Alice, asked, chattest.TakeWord(k)), "a double tap")
			assert.Equal(t, want, w.Doing(r))
			assert.Empty(t, w.Telegram.Texts()[posted:])
			assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
		})
	}
}

func TestP2_SurvivingProcessIsReported(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, chattest.InTerminal(1), chattest.InTerminal(2))
			asked := w.TakeOver(t, m, chattest.TakeWord(k))
			w.Lifecycle.Ends = func([]process.Identity) ([]ending.Ending, error) {
				w.Write(chattest.InTerminal(2))
				return []ending.Ending{chattest.Ended(1, process.HowKill, 0), chattest.Spared(2, process.ReasonUnproven)}, nil
			}
			require.NoError(t, w.TapShown(t, chattest.Alice, asked, chattest.TakeWord(k)))
			assert.Equal(t, chattest.Lines("claude (pid 1) ended by force (KILL).", "claude (pid 2) still runs: it may not belong to this session."),
				w.Telegram.Last(t).Text.Text)
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonShow))
			last := w.Telegram.LastEdit(t)
			assert.Contains(t, last.Text.Text, "• claude (pid 2, 2 h, pts/3)")
			assert.Equal(t, chattest.Words(m), chattest.Words(last), "it can be tried again")
			assert.Len(t, w.Lifecycle.Done(), map[chattest.Conflict]int{chattest.ResumeRefused: 2, chattest.OtherWriter: 1, chattest.WriterAfterEnd: 1}[k], "it does not come back beside the other one")
			assert.Equal(t, writersEnd(r, chattest.InTerminal(1), chattest.InTerminal(2)), w.Doing(r)[0])
		})
	}
}

func TestFailingEndIsReported(t *testing.T) {
	survived := ending.Ending{Outcome: process.Outcome{Process: chattest.Claude(1), How: process.HowKill}}
	unverified := chattest.Ended(1, process.HowKill, 0)
	unverified.Verified = false
	for _, tt := range []struct {
		name    string
		endings []ending.Ending
		err     error
		want    i18n.Key
	}{
		{"nothing is known", nil, chattest.ErrDisk, i18n.InternalError},
		{"it survived", []ending.Ending{survived}, nil, i18n.EndingUnknown},
		{"it is not verified", []ending.Ending{unverified}, nil, i18n.EndingUnknown},
		{"ended, and the record is not saved", []ending.Ending{chattest.Ended(1, process.HowTerm, 0)}, chattest.ErrDisk, i18n.HowKey.Of("term")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			_, m := w.MarkReported(t, chattest.OtherWriter, chattest.InTerminal(1))
			asked := w.TakeOver(t, m, i18n.ButtonTakeOver)
			w.Lifecycle.Ends = func([]process.Identity) ([]ending.Ending, error) {
				w.Lifecycle.OnWriters = func(uuid.UUID) ([]evidence.Writer, error) { return nil, chattest.ErrTable }
				return tt.endings, tt.err
			}
			w.Telegram.OnEdit = func(outbox.Message) error { return &outbox.Refused{Err: chattest.ErrDisk} }
			require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonTakeOver))
			want := w.Word(tt.want, i18n.Args{"Process": "claude (pid 1)"})
			assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), want)
			if tt.err != nil {
				w.AssertErrorShown(t, nil)
			}
		})
	}
}

func TestP2_UntriedEndIsReported(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		w := chattest.NewWorld(t)
		_, m := w.MarkReported(t, k, chattest.InTerminal(1))
		asked := w.TakeOver(t, m, chattest.TakeWord(k))
		w.Lifecycle.Ends = func([]process.Identity) ([]ending.Ending, error) { return nil, chattest.ErrDisk }
		require.NoError(t, w.TapShown(t, chattest.Alice, asked, chattest.TakeWord(k)))
		assert.Contains(t, w.Telegram.Texts(), "Could not end claude (pid 1, 2 h, pts/3).")
		assert.Equal(t, w.Word(i18n.InternalError), w.Telegram.Last(t).Text.Text)
	}
}

// A tap on an outdated message ends nothing and shows the present state.
func TestP2_StaleMessageShowsPresentState(t *testing.T) {
	reborn := chattest.InTerminal(4123)
	reborn.Start++
	protected := chattest.InTerminal(4123)
	protected.Spared = process.GuardAncestor
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		for _, tt := range []struct {
			name    string
			writers []evidence.Writer
			state   session.State
			says    i18n.Key
		}{
			{"the pid was reused", []evidence.Writer{reborn}, "", ""},
			{"one more", []evidence.Writer{chattest.InTerminal(4123), chattest.InTerminal(5)}, "", ""},
			{"another one", []evidence.Writer{chattest.InTerminal(5)}, "", ""},
			{"nobody any more", nil, "", i18n.WritersNone},
			{"it came back meanwhile", []evidence.Writer{chattest.InTerminal(4123)}, session.Running, i18n.WritersSecond},
			{"it ended meanwhile", []evidence.Writer{chattest.InTerminal(4123)}, session.Archived, i18n.WritersGhost},
			{"it came back, nobody else writes", nil, session.Running, i18n.WritersNone},
		} {
			if tt.state == session.Archived && k != chattest.OtherWriter || tt.state == session.Running && k == chattest.OtherWriter {
				continue // that changes nothing
			}
			t.Run(string(k)+": "+tt.name, func(t *testing.T) {
				w := chattest.NewWorld(t)
				one := chattest.InWindow(t, 4123)
				r, m := w.MarkReported(t, k, one)
				taps := w.Inspect(m, w.TakeOver(t, m, chattest.TakeWord(k)))
				if tt.state != "" {
					w.Records.Change(r.ID, func(r *session.Record) { r.State = tt.state })
				}
				if tt.state == session.Running || tt.state == session.Archived {
					tt.writers = slices.Clone(tt.writers)
					for i := range tt.writers {
						tt.writers[i] = one
					}
				}
				w.Write(tt.writers...)
				w.Again()
				for _, s := range taps {
					w.Telegram.Edited = nil
					require.NoError(t, w.TapSpot(t, chattest.Alice, s))
					switch {
					case len(tt.writers) == 0:
						assert.Equal(t, w.Named(tt.says, "api"), w.Telegram.Last(t).Text.Text, s.Button.Text)
					case tt.says != "":
						head, _, _ := strings.Cut(w.Telegram.LastEdit(t).Text.Text, "\n")
						assert.Equal(t, w.Word(tt.says, i18n.Args{"Name": "api", "State": w.Word(i18n.StateArchived)}), head, s.Button.Text)
					}
					for _, one := range tt.writers {
						assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, fmt.Sprintf("pid %d", one.PID))
					}
				}
				assert.Empty(t, w.Doing(r))
				assert.Equal(t, len(tt.writers) > 0, slices.Contains(w.Telegram.Done(), "post "+w.Word(i18n.WritersChanged)))
			})
		}
		t.Run(string(k)+": the same, but protected now", func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, chattest.InTerminal(4123))
			asked := w.TakeOver(t, m, chattest.TakeWord(k))
			w.Write(protected)
			require.NoError(t, w.TapShown(t, chattest.Alice, m, chattest.TakeWord(k)))
			require.NoError(t, w.TapShown(t, chattest.Alice, asked, chattest.TakeWord(k)))
			assert.Empty(t, w.Doing(r))
			assert.NotContains(t, chattest.Words(w.Telegram.LastEdit(t)), w.Word(chattest.TakeWord(k)))
		})
	}
}

func TestP6_UnknownWriterChangesNothing(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		for why, says := range map[error]i18n.Key{evidence.ErrUnreadable: i18n.NoEvidence, session.ErrNotFound: i18n.InternalError} {
			w := chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, chattest.InWindow(t, 4123))
			taps := w.Inspect(m, w.TakeOver(t, m, chattest.TakeWord(k)))
			w.Lifecycle.OnWriters = func(uuid.UUID) ([]evidence.Writer, error) { return nil, chattest.Deep(why) }
			for _, s := range taps {
				require.NoError(t, w.TapSpot(t, chattest.Alice, s))
			}
			assert.Empty(t, w.Doing(r))
			assert.Contains(t, w.Telegram.Done(), "post "+w.Word(says))
		}
	}
}

func TestWritersOfPurgedSession(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		w := chattest.NewWorld(t)
		r, m := w.MarkReported(t, k, chattest.InWindow(t, 4123))
		taps := w.Inspect(m, w.TakeOver(t, m, chattest.TakeWord(k)))
		w.Records.Forget(r.ID)
		for _, s := range taps {
			w.Telegram.Spent = 0
			require.NoError(t, w.TapSpot(t, chattest.Alice, s))
			assert.Equal(t, 1, w.Telegram.Spent, s.Button.Text)
		}
		assert.Empty(t, w.Doing(r))
	}
}

func TestP1_ForkLeavesOriginalToWriter(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter} {
		t.Run(string(k), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, m := w.MarkReported(t, k, chattest.Unsure(4123)) // nothing has to be proven: nothing is ended
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, r.ID))
			w.Again()
			require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonForkInstead))
			want := []string{`start "api-fork" in ` + r.Dir, "fork of " + r.AgentSessionID.String()}
			if k == chattest.OtherWriter { // a crash in between leaves the other one alone with it
				want = append([]string{"archive " + r.ID.String() + " as archived"}, want...)
			}
			assert.Equal(t, want, w.Doing(r))
			assert.Equal(t, w.Word(i18n.ForkStarted, i18n.Args{"Name": "api-fork", "From": "api", "Dir": "~/api"}), w.Telegram.Last(t).Text.Text)
			assert.Equal(t, 1, w.Telegram.Spent)
			list := w.Records.List()
			fork := list[0] // the fake's has no time
			w.CurrentIs(t, fork.ID)
			assert.Equal(t, "api-fork", fork.Name)
			assert.Equal(t, chattest.Bob, fork.Owner)

			require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonForkInstead), "a double tap")
			assert.Equal(t, want, w.Doing(r), "one fork")
		})
	}
}

func TestFailedForkReportsDoneSteps(t *testing.T) {
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter} {
		w := chattest.NewWorld(t)
		r, m := w.MarkReported(t, k, chattest.InTerminal(4123))
		w.Lifecycle.OnStart = func(port.Start) (session.Record, error) { return session.Record{}, claudecode.ErrNotInstalled }
		w.Lifecycle.OnArchive = func(id uuid.UUID) error {
			w.Records.Change(id, func(r *session.Record) { r.State = session.Archived })
			return nil
		}
		why := w.Word(i18n.AgentMissing, i18n.Args{"Command": "claude", "Agent": "Claude Code", "Setting": "CLAUDE_COMMAND"})
		w.Roots = []string{"/srv"}
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonForkInstead))
		assert.Equal(t, w.OutsideText(t.Context(), r.Dir), w.Telegram.Last(t).Text.Text)
		assert.Empty(t, w.Doing(r), "what cannot be started archives nothing")

		w.Roots = nil
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonForkInstead))
		assert.Equal(t, why, w.Telegram.Last(t).Text.Text)
		assert.Zero(t, w.Telegram.Spent, "it can be tapped again")
		w.Lifecycle.OnStart = nil
		if k == chattest.OtherWriter { // it has already ended, and a resume is refused
			w.MustHear(t, "/resume api")
			m = w.Telegram.Last(t)
		}
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonForkInstead))
		assert.Equal(t, w.Word(i18n.ForkStarted, i18n.Args{"Name": "api-fork", "From": "api", "Dir": "~/api"}), w.Telegram.Last(t).Text.Text)
	}
}

// TestForkOfRemovedWorktreeBeginsWhereTheSessionBegan, as a resume does.
func TestForkOfRemovedWorktreeBeginsWhereTheSessionBegan(t *testing.T) {
	w := chattest.NewWorld(t)
	r, m := w.MarkReported(t, chattest.ResumeRefused, chattest.InTerminal(4123))
	w.Records.Change(r.ID, func(r *session.Record) { r.NowDir = "/gone/side" })
	w.Again()
	w.Roots = []string{"/gone"}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonForkInstead))
	assert.Equal(t, w.OutsideText(t.Context(), r.Dir), w.Telegram.Last(t).Text.Text, "it may have to begin there")
	w.Roots = nil
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
		w.Lifecycle.OnStart = nil
		return session.Record{}, &lifecycle.DirError{Dir: q.Dir, Why: lifecycle.DirMissing}
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonForkInstead))
	assert.Equal(t, w.Word(i18n.ForkStarted, i18n.Args{"Name": "api-fork", "From": "api", "Dir": "~/api"}), w.Telegram.Last(t).Text.Text)
}

func TestP1_OnlyArchivedSessionIsForked(t *testing.T) {
	w := chattest.NewWorld(t)
	r, m := w.MarkReported(t, chattest.OtherWriter, chattest.InTerminal(4123))
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return chattest.Deep(chattest.ErrDisk) }
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonForkInstead))
	assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.Lifecycle.Done())
	assert.Equal(t, w.Word(i18n.InternalError), w.Telegram.Last(t).Text.Text)
}

func TestResumeRequestSurvivesTakeOver(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	w.Refuse(chattest.InTerminal(1))
	w.MustHear(t, "/resume api /srv/x")
	asked := w.TakeOver(t, w.Telegram.Last(t), i18n.ButtonTakeOver)
	w.Write(chattest.InTerminal(1))
	w.Lifecycle.Ends = func([]process.Identity) ([]ending.Ending, error) {
		w.Write()
		return []ending.Ending{chattest.Ended(1, process.HowTerm, 0)}, nil
	}
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonTakeOver))
	done := w.Lifecycle.Done()
	assert.Equal(t, "restore "+r.ID.String()+" in /srv/x", done[len(done)-1])
}

func TestSecondWriterIsLeft(t *testing.T) {
	w := chattest.NewWorld(t)
	_, m := w.MarkReported(t, chattest.OtherWriter, chattest.InTerminal(1))
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonCancel))
	assert.Equal(t, w.Word(i18n.Cancelled), w.Telegram.LastEdit(t).Text.Text)
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
	assert.Empty(t, w.Lifecycle.Done())
}

func TestAdopt(t *testing.T) {
	w := chattest.NewWorld(t)
	one := chattest.InWindow(t, 4123)
	r, m := w.MarkReported(t, chattest.WriterAfterEnd, one)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	w.Again()
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonAdopt))
	target := w.Record(t, r.ID)
	assert.Equal(t, []string{"adopt 4123@41230 from " + r.ID.String(), "move " + target.ID.String() + " to 7"}, w.Lifecycle.Done())
	assert.Equal(t, "api is connected to its window (@4). ccbot will not close it. "+
		"The window closes by itself when api ends. "+
		"This session was started by hand, so its permission requests appear here as a picture of its screen, and a status line that looks like a question holds your messages. To get buttons: /kill, then /resume.", w.Telegram.Last(t).Text.Text)
	w.CurrentIs(t, target.ID)
	assert.Equal(t, 1, w.Telegram.Spent)
	w.Write() // now it is the session's own agent
	require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonAdopt), "a double tap")
	assert.Len(t, w.Lifecycle.Done(), 2)
}

func TestP10_AdoptionReportsWindowStays(t *testing.T) {
	for shell, closes := range map[int]bool{0: true, 99: false} {
		w := chattest.NewWorld(t)
		_, m := w.MarkReported(t, chattest.WriterAfterEnd, chattest.InWindow(t, 4123))
		w.Lifecycle.Shell = shell
		require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
		assert.Equal(t, closes, strings.Contains(w.Telegram.Last(t).Text.Text, w.Named(i18n.AdoptedBare, "api")))
	}
}

// TestRefusedWindowIsExplained has the other reasons.
func TestFailedAdoptionIsExplained(t *testing.T) {
	w := chattest.NewWorld(t)
	_, m := w.MarkReported(t, chattest.WriterAfterEnd, chattest.InWindow(t, 4123))
	w.Write(chattest.InTerminal(4123)) // the same process, no longer in the foreground
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
	assert.Contains(t, w.Telegram.Done(), "post "+w.Word(i18n.WritersChanged))
	w = chattest.NewWorld(t)
	_, m = w.MarkReported(t, chattest.WriterAfterEnd, chattest.InWindow(t, 4123))
	w.Roots = []string{filepath.Join(w.AgentsHome, "api")}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
	assert.Equal(t, w.OutsideText(t.Context(), "/home/alice/proj"), w.Telegram.Last(t).Text.Text)
	assert.Empty(t, w.Lifecycle.Done())
}
