package bot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// doing is what was asked of sessions apart from the first refused resume.
func (w *world) doing(r session.Record) []string {
	return slices.DeleteFunc(w.sessions.done(), func(line string) bool { return line == "restore "+r.ID.String() })
}

// ending is the line for the end of these writers.
func ending(r session.Record, who ...lifecycle.Writer) string {
	return fmt.Sprintf("end %v of %s", identities(who), r.ID)
}

// takeOver taps [Take over] or [Stop it] and gives the question.
func (w *world) takeOver(t *testing.T, m outbox.Message, word i18n.Key) outbox.Message {
	t.Helper()
	require.NoError(t, w.tapShown(t, alice, m, word))
	asked := w.sender.last(t)
	assert.Equal(t, w.wordsOf(word, i18n.ButtonCancel), words(asked))
	return asked
}

// looks are the buttons of a scene's message and of its question that look at the writers: all but
// [Cancel].
func (w *world) looks(m, asked outbox.Message) []spot {
	cancel := w.word(i18n.ButtonCancel)
	return slices.DeleteFunc(spots(m, asked), func(s spot) bool { return s.button.Text == cancel })
}

func takeWord(k conflict) i18n.Key {
	if k == writerAfterEnd {
		return i18n.ButtonStopIt
	}
	return i18n.ButtonTakeOver
}

func TestP2_TakeOverEndsNothingBeforeTheAnswer(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := newWorld(t)
			r, m := w.told(t, k, atDesk(4123))
			asked := w.takeOver(t, m, takeWord(k))
			assert.Equal(t, w.word(i18n.EndConfirm, i18n.Args{"Processes": "claude, pid 4123, 2 h, pts/3"}), w.sender.last(t).Text.Text)
			assert.Empty(t, w.doing(r))

			require.NoError(t, w.tapShown(t, bob, asked, takeWord(k)))
			assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.NotForYou))
			assert.Empty(t, w.doing(r), "only who asked")

			require.NoError(t, w.tapShown(t, alice, asked, i18n.ButtonCancel))
			assert.Equal(t, w.word(i18n.Cancelled), w.sender.lastEdit(t).Text.Text)
			assert.Empty(t, w.doing(r))
		})
	}
}

// Only the first writers are named, so of more of them none can be ended from the chat.
func TestP2_WritersThatNoMessageNamesAreNotEnded(t *testing.T) {
	var named []lifecycle.Writer
	for pid := range chat.MaxListed {
		named = append(named, atDesk(pid+1))
	}
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := newWorld(t)
			_, few := w.told(t, k, named...)
			asked := w.takeOver(t, few, takeWord(k))
			for _, one := range named {
				assert.Contains(t, asked.Text.Text, w.ProcessText(host.Process(one.Process, one.Age)))
			}

			w = newWorld(t)
			r, m := w.told(t, k, append(slices.Clone(named), atDesk(100))...)
			assert.NotContains(t, words(m), w.word(takeWord(k)))
			assert.Contains(t, m.Text.Text, w.word(i18n.AndMore, i18n.Args{"Count": 1}))
			assert.Empty(t, w.doing(r))
		})
	}
}

func TestP1_TakeOverEndsThemAndGoesOn(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := newWorld(t)
			r, m := w.told(t, k, atDesk(4123), atDesk(4124))
			asked := w.takeOver(t, m, takeWord(k))
			w.again()
			w.sessions.ends = func(who []process.Identity) ([]lifecycle.Ending, error) {
				w.write()
				return []lifecycle.Ending{ended(4123, process.HowTerm, 0), ended(4124, process.HowAlreadyGone, 0)}, nil
			}
			require.NoError(t, w.tapShown(t, alice, asked, takeWord(k)))
			said := lines("claude, pid 4123 ended with TERM.", "claude, pid 4124 was gone already.")
			assert.Equal(t, []string{w.word(i18n.Taking, i18n.Args{"Processes": "claude, pid 4123, 2 h, pts/3; claude, pid 4124, 2 h, pts/3"})},
				textsOf(w.sender, &w.sender.edited))
			assert.Empty(t, w.sender.lastEdit(t).Buttons)
			want, after := []string{ending(r, atDesk(4123), atDesk(4124))}, []string(nil)
			switch k {
			case resumeRefused:
				said = lines(said, w.restoring(r))
				w.currentIs(t, r.ID)
				assert.Contains(t, w.sessions.done()[1:], "restore "+r.ID.String())
			case otherWriter:
				said = lines(said, w.named(i18n.WritersNone, "api"))
			case writerAfterEnd:
				said, after = lines(said, w.named(i18n.WritersNone, "api")), w.wordsOf(i18n.ButtonResume)
			}
			assert.Equal(t, want, w.doing(r), "nothing else is ended")
			assert.Equal(t, said, w.sender.last(t).Text.Text)
			assert.Equal(t, after, words(w.sender.last(t)))

			posted := len(w.sender.texts())
			require.NoError(t, w.tapShown(t, alice, asked, takeWord(k)), "a double tap")
			assert.Equal(t, want, w.doing(r))
			assert.Empty(t, w.sender.texts()[posted:])
			assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
		})
	}
}

func TestP2_WhoDidNotEndIsTold(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		t.Run(string(k), func(t *testing.T) {
			w := newWorld(t)
			r, m := w.told(t, k, atDesk(1), atDesk(2))
			asked := w.takeOver(t, m, takeWord(k))
			w.sessions.ends = func([]process.Identity) ([]lifecycle.Ending, error) {
				w.write(atDesk(2))
				return []lifecycle.Ending{ended(1, process.HowKill, 0), spared(2, process.ReasonUnproven)}, nil
			}
			require.NoError(t, w.tapShown(t, alice, asked, takeWord(k)))
			assert.Equal(t, lines("claude, pid 1 ended with KILL.", "claude, pid 2 was left alone: it is not proven to write this session."),
				w.sender.last(t).Text.Text)
			require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonShow))
			last := w.sender.lastEdit(t)
			assert.Contains(t, last.Text.Text, "• claude, pid 2, 2 h")
			assert.Equal(t, words(m), words(last), "it can be tried again")
			assert.Len(t, w.sessions.done(), map[conflict]int{resumeRefused: 2, otherWriter: 1, writerAfterEnd: 1}[k], "it does not come back beside the other one")
			assert.Equal(t, ending(r, atDesk(1), atDesk(2)), w.doing(r)[0])
		})
	}
}

func TestAnEndThatBreaksIsTold(t *testing.T) {
	survived := lifecycle.Ending{Outcome: process.Outcome{Process: claude(1), How: process.HowKill}}
	unverified := ended(1, process.HowKill, 0)
	unverified.Verified = false
	for _, tt := range []struct {
		name    string
		endings []lifecycle.Ending
		err     error
		want    i18n.Key
	}{
		{"nothing is known", nil, errDisk, i18n.InternalError},
		{"it survived", []lifecycle.Ending{survived}, nil, i18n.EndingUnknown},
		{"it is not verified", []lifecycle.Ending{unverified}, nil, i18n.EndingUnknown},
		{"ended, and the record is not saved", []lifecycle.Ending{ended(1, process.HowTerm, 0)}, errDisk, i18n.EndingDone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			_, m := w.told(t, otherWriter, atDesk(1))
			asked := w.takeOver(t, m, i18n.ButtonTakeOver)
			w.sessions.ends = func([]process.Identity) ([]lifecycle.Ending, error) {
				w.sessions.writers = func(uuid.UUID) ([]lifecycle.Writer, error) { return nil, errTable }
				return tt.endings, tt.err
			}
			w.sender.edit = func(outbox.Message) error { return &outbox.Refused{Err: errDisk} }
			require.NoError(t, w.tapShown(t, alice, asked, i18n.ButtonTakeOver))
			want := w.word(tt.want, i18n.Args{"Process": "claude, pid 1", "How": "ended with TERM"})
			assert.Contains(t, strings.Join(w.sender.texts(), "\n"), want)
			if tt.err != nil {
				w.toldOfError(t, nil)
			}
		})
	}
}

func TestP2_AnEndThatWasNotTriedIsTold(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		w := newWorld(t)
		_, m := w.told(t, k, atDesk(1))
		asked := w.takeOver(t, m, takeWord(k))
		w.sessions.ends = func([]process.Identity) ([]lifecycle.Ending, error) { return nil, errDisk }
		require.NoError(t, w.tapShown(t, alice, asked, takeWord(k)))
		assert.Contains(t, w.sender.texts(), "I did not end claude, pid 1, 2 h, pts/3.")
		assert.Equal(t, w.word(i18n.InternalError), w.sender.last(t).Text.Text)
	}
}

// Whatever is tapped on a message that is not true any more ends nothing, and shows what is true.
func TestP2_WhatHasChangedIsShownAnew(t *testing.T) {
	reborn := atDesk(4123)
	reborn.Start++
	protected := atDesk(4123)
	protected.Spared = process.GuardAncestor
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		for _, tt := range []struct {
			name    string
			writers []lifecycle.Writer
			state   session.State
			says    i18n.Key
		}{
			{"the pid was reused", []lifecycle.Writer{reborn}, "", ""},
			{"one more", []lifecycle.Writer{atDesk(4123), atDesk(5)}, "", ""},
			{"another one", []lifecycle.Writer{atDesk(5)}, "", ""},
			{"nobody any more", nil, "", i18n.WritersNone},
			{"it came back meanwhile", []lifecycle.Writer{atDesk(4123)}, session.Running, i18n.WritersSecond},
			{"it ended meanwhile", []lifecycle.Writer{atDesk(4123)}, session.Archived, i18n.WritersGhost},
			{"it came back, nobody else writes", nil, session.Running, i18n.WritersNone},
		} {
			if tt.state == session.Archived && k != otherWriter || tt.state == session.Running && k == otherWriter {
				continue // that is no change
			}
			t.Run(string(k)+": "+tt.name, func(t *testing.T) {
				w := newWorld(t)
				one := inWindow(t, 4123)
				r, m := w.told(t, k, one)
				taps := w.looks(m, w.takeOver(t, m, takeWord(k)))
				if tt.state != "" {
					w.records.change(r.ID, func(r *session.Record) { r.State = tt.state })
				}
				if tt.state == session.Running || tt.state == session.Archived {
					tt.writers = slices.Clone(tt.writers)
					for i := range tt.writers {
						tt.writers[i] = one
					}
				}
				w.write(tt.writers...)
				w.again()
				for _, s := range taps {
					w.sender.edited = nil
					require.NoError(t, w.tapSpot(t, alice, s))
					switch {
					case len(tt.writers) == 0:
						assert.Equal(t, w.named(tt.says, "api"), w.sender.last(t).Text.Text, s.button.Text)
					case tt.says != "":
						head, _, _ := strings.Cut(w.sender.lastEdit(t).Text.Text, "\n")
						assert.Equal(t, w.word(tt.says, i18n.Args{"Name": "api", "State": w.word(i18n.StateArchived)}), head, s.button.Text)
					}
					for _, one := range tt.writers {
						assert.Contains(t, w.sender.lastEdit(t).Text.Text, fmt.Sprintf("pid %d", one.PID))
					}
				}
				assert.Empty(t, w.doing(r))
				assert.Equal(t, len(tt.writers) > 0, slices.Contains(w.sender.done(), "post "+w.word(i18n.WritersChanged)))
			})
		}
		t.Run(string(k)+": the same, but protected now", func(t *testing.T) {
			w := newWorld(t)
			r, m := w.told(t, k, atDesk(4123))
			asked := w.takeOver(t, m, takeWord(k))
			w.write(protected)
			require.NoError(t, w.tapShown(t, alice, m, takeWord(k)))
			require.NoError(t, w.tapShown(t, alice, asked, takeWord(k)))
			assert.Empty(t, w.doing(r))
			assert.NotContains(t, words(w.sender.lastEdit(t)), w.word(takeWord(k)))
		})
	}
}

func TestP6_WhereNobodyCanTellNothingIsDone(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		for why, says := range map[error]i18n.Key{lifecycle.ErrEvidence: i18n.NoEvidence, session.ErrNotFound: i18n.InternalError} {
			w := newWorld(t)
			r, m := w.told(t, k, inWindow(t, 4123))
			taps := w.looks(m, w.takeOver(t, m, takeWord(k)))
			w.sessions.writers = func(uuid.UUID) ([]lifecycle.Writer, error) { return nil, deep(why) }
			for _, s := range taps {
				require.NoError(t, w.tapSpot(t, alice, s))
			}
			assert.Empty(t, w.doing(r))
			assert.Contains(t, w.sender.done(), "post "+w.word(says))
		}
	}
}

func TestWritersOfASessionThatWasPurged(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter, writerAfterEnd} {
		w := newWorld(t)
		r, m := w.told(t, k, inWindow(t, 4123))
		taps := w.looks(m, w.takeOver(t, m, takeWord(k)))
		w.records.forget(r.ID)
		for _, s := range taps {
			w.sender.spent = 0
			require.NoError(t, w.tapSpot(t, alice, s))
			assert.Equal(t, 1, w.sender.spent, s.button.Text)
		}
		assert.Empty(t, w.doing(r))
	}
}

func TestP1_ForkLeavesTheOriginalToTheOther(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter} {
		t.Run(string(k), func(t *testing.T) {
			w := newWorld(t)
			r, m := w.told(t, k, unsure(4123)) // nothing has to be proven: nothing is ended
			require.NoError(t, w.Chats.SetCurrent(atAlice, r.ID))
			w.again()
			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonForkInstead))
			want := []string{`start "api-fork" in ` + r.Dir, "fork of " + r.ClaudeSessionID.String()}
			if k == otherWriter { // a crash in between leaves the other one alone with it
				want = append([]string{"archive " + r.ID.String() + " as archived"}, want...)
			}
			assert.Equal(t, want, w.doing(r))
			assert.Equal(t, w.word(i18n.ForkStarted, i18n.Args{"Name": "api-fork", "From": "api", "Dir": "~/api"}), w.sender.last(t).Text.Text)
			assert.Equal(t, 1, w.sender.spent)
			list := w.records.List()
			fork := list[0] // the fake's has no time
			w.currentIs(t, fork.ID)
			assert.Equal(t, "api-fork", fork.Name)
			assert.Equal(t, bob, fork.Owner)

			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonForkInstead), "a double tap")
			assert.Equal(t, want, w.doing(r), "one fork")
		})
	}
}

func TestAForkThatFailsSaysWhatWasDone(t *testing.T) {
	for _, k := range []conflict{resumeRefused, otherWriter} {
		w := newWorld(t)
		r, m := w.told(t, k, atDesk(4123))
		w.sessions.start = func(lifecycle.StartRequest) (session.Record, error) { return session.Record{}, lifecycle.ErrNoClaude }
		w.sessions.archive = func(id uuid.UUID) error {
			w.records.change(id, func(r *session.Record) { r.State = session.Archived })
			return nil
		}
		why := w.word(i18n.ClaudeMissing, i18n.Args{"Command": "claude"})
		w.Roots = []string{"/srv"}
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonForkInstead))
		assert.Equal(t, w.OutsideText(r.Dir), w.sender.last(t).Text.Text)
		assert.Empty(t, w.doing(r), "what cannot be started archives nothing")

		w.Roots = nil
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonForkInstead))
		assert.Equal(t, why, w.sender.last(t).Text.Text)
		assert.Zero(t, w.sender.spent, "it can be tapped again")
		w.sessions.start = nil
		if k == otherWriter { // it is over by now, and a resume is refused
			w.mustHear(t, "/resume api")
			m = w.sender.last(t)
		}
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonForkInstead))
		assert.Equal(t, w.word(i18n.ForkStarted, i18n.Args{"Name": "api-fork", "From": "api", "Dir": "~/api"}), w.sender.last(t).Text.Text)
	}
}

func TestP1_WhatIsNotArchivedIsNotForked(t *testing.T) {
	w := newWorld(t)
	r, m := w.told(t, otherWriter, atDesk(4123))
	w.sessions.archive = func(uuid.UUID) error { return deep(errDisk) }
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonForkInstead))
	assert.Equal(t, []string{"archive " + r.ID.String() + " as archived"}, w.sessions.done())
	assert.Equal(t, w.word(i18n.InternalError), w.sender.last(t).Text.Text)
}

func TestTheWishSurvivesATakeOver(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Archived)
	w.refuse(atDesk(1))
	w.mustHear(t, "/resume api /srv/x")
	asked := w.takeOver(t, w.sender.last(t), i18n.ButtonTakeOver)
	w.write(atDesk(1))
	w.sessions.ends = func([]process.Identity) ([]lifecycle.Ending, error) {
		w.write()
		return []lifecycle.Ending{ended(1, process.HowTerm, 0)}, nil
	}
	w.again()
	require.NoError(t, w.tapShown(t, alice, asked, i18n.ButtonTakeOver))
	done := w.sessions.done()
	assert.Equal(t, "restore "+r.ID.String()+" in /srv/x", done[len(done)-1])
}

func TestASecondWriterIsLeft(t *testing.T) {
	w := newWorld(t)
	_, m := w.told(t, otherWriter, atDesk(1))
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonCancel))
	assert.Equal(t, w.word(i18n.Cancelled), w.sender.lastEdit(t).Text.Text)
	assert.Empty(t, w.sender.lastEdit(t).Buttons)
	assert.Empty(t, w.sessions.done())
}

func TestAdopt(t *testing.T) {
	w := newWorld(t)
	one := inWindow(t, 4123)
	r, m := w.told(t, writerAfterEnd, one)
	w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
	w.again()
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonAdopt))
	target := w.Successor(host.View(w.record(t, r.ID)))
	assert.Equal(t, []string{"adopt 4123@41230 from " + r.ID.String(), "move " + target.ID.String() + " to 7"}, w.sessions.done())
	assert.Equal(t, "api goes on in the window @4: I type there, and never close it. "+
		"No shell is in that window, so tmux closes it when api ends. "+
		"Permission questions show here only as a screen until you /kill and /resume it.", w.sender.last(t).Text.Text)
	w.currentIs(t, target.ID)
	assert.Equal(t, 1, w.sender.spent)
	w.write() // now it is the session's own agent
	require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonAdopt), "a double tap")
	assert.Len(t, w.sessions.done(), 2)
}

func TestP10_AnAdoptionSaysWhetherTheWindowStays(t *testing.T) {
	for shell, closes := range map[int]bool{0: true, 99: false} {
		w := newWorld(t)
		_, m := w.told(t, writerAfterEnd, inWindow(t, 4123))
		w.sessions.shell = shell
		require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
		assert.Equal(t, closes, strings.Contains(w.sender.last(t).Text.Text, w.named(i18n.AdoptedBare, "api")))
	}
}

func TestAnAdoptionThatFailsIsExplained(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want i18n.Key
	}{
		{"it changed", lifecycle.ErrChanged, i18n.WritersChanged},
		{"others write too", &lifecycle.WriterError{Writers: []lifecycle.Writer{atDesk(5)}}, i18n.StartUnsure},
		{"it came back", &lifecycle.StateError{State: session.Running}, i18n.WritersChanged},
		{"it goes on elsewhere", &lifecycle.MovedError{To: uuid.New()}, i18n.WritersChanged},
		{"it was purged", session.ErrNotFound, i18n.WritersChanged},
		{"no terminal", lifecycle.ErrNoTerminal, i18n.FootAdoptElsewhere},
		{"nobody sees who writes", lifecycle.ErrEvidence, i18n.NoEvidence},
		{"anything else", errDisk, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			_, m := w.told(t, writerAfterEnd, inWindow(t, 4123))
			w.sessions.adopt = func(lifecycle.AdoptRequest) error { return deep(tt.err) }
			err := w.tapShown(t, alice, m, i18n.ButtonAdopt)
			if tt.want == "" {
				w.toldOfError(t, err)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, strings.Join(w.sender.done(), "\n"), "post "+w.named(tt.want, "api"))
			assert.Zero(t, w.sender.spent)
		})
	}
	w := newWorld(t)
	_, m := w.told(t, writerAfterEnd, inWindow(t, 4123))
	w.write(atDesk(4123)) // the same process, not in the foreground any more
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
	assert.Contains(t, w.sender.done(), "post "+w.word(i18n.WritersChanged))
	w = newWorld(t)
	_, m = w.told(t, writerAfterEnd, inWindow(t, 4123))
	w.Roots = []string{filepath.Join(w.home, "api")}
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
	assert.Equal(t, w.OutsideText("/home/alice/proj"), w.sender.last(t).Text.Text)
	assert.Empty(t, w.sessions.done())
}
