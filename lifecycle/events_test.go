package lifecycle

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// A nested claude inherits the launch, but is another process.
func TestP4_EventsOfOtherProcessesProveNothing(t *testing.T) {
	tests := []struct {
		name   string
		change func(*hookwire.Event)
	}{
		{"another pid", func(e *hookwire.Event) { e.AgentPID++ }},
		{"the same pid, started at another time", func(e *hookwire.Event) { e.AgentStart++ }},
		{"the same pid, before a reboot", func(e *hookwire.Event) { e.Boot = uuid.NewString() }},
		{"unproven process", func(e *hookwire.Event) { e.AgentPID, e.AgentStart, e.Boot = 0, 0, "" }},
		{"another launch", func(e *hookwire.Event) { e.Launch = uuid.NewString() }},
		{"no launch", func(e *hookwire.Event) { e.Launch = "" }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, _ := w.started()
				w.held(r, "k", viewtest.Said)
				w.pass(time.Second)
				before := w.get(r.ID)
				other := func(e *hookwire.Event) { e.SessionID = uuid.NewString() }
				w.hook(r, hookwire.SessionStart, other, tc.change)
				w.hook(r, hookwire.UserPromptSubmit, prompted(viewtest.Said), tc.change)
				w.hook(r, hookwire.Stop, other, tc.change)
				assert.Equal(t, before, w.get(r.ID))
				assert.Equal(t, typing.Typing, w.prompts.state("k"))
			})
		})
	}
}

func TestP8_EventsMayComeTwice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		events := []hookwire.Event{
			w.event(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "startup" }),
			w.event(r, hookwire.UserPromptSubmit, prompted(viewtest.Said)),
			w.event(r, hookwire.Stop),
		}
		for _, e := range events {
			require.NoError(t, w.HookEvent(w.ctx, e))
			w.pass(view.Soon) // the window gets its name
			once := w.get(r.ID)
			require.NoError(t, w.HookEvent(w.ctx, e))
			assert.Equal(t, once, w.get(r.ID), "%s changed something the second time", e.Name)
		}
		assert.Equal(t, 1, toldOf[news.Delivered](w.news))
	})
}

// TestP6_SchedulesOfAgentAreCounted: Stop counts them. A turn that Esc or an API error ends has no Stop, so one that is made counts at once.
func TestP6_SchedulesOfAgentAreCounted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		for _, step := range []struct {
			event     string
			has, want int
		}{
			{hookwire.PostToolUse, 1, 1},
			{hookwire.PostToolUse, 1, 1}, // of another one: the next Stop counts both
			{hookwire.StopFailure, 0, 1},
			{hookwire.Stop, 2, 2},
			{hookwire.PostToolUse, 1, 2},
			{hookwire.Stop, 0, 0},
			{hookwire.PostToolUse, 0, 0},
		} {
			w.hook(r, step.event, func(e *hookwire.Event) { e.Schedules = step.has })
			assert.Equal(t, step.want, w.get(r.ID).Binding.Schedules, step.event)
		}
	})
}

func TestClearChangesIdAndCursor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		before := w.get(r.ID)
		id := uuid.New()
		cleared := func(e *hookwire.Event) {
			e.SessionID, e.TranscriptPath, e.Source = id.String(), w.transcript(id), "clear"
		}
		told := toldOf[news.Transcript](w.news)
		w.present(r, id)
		w.hook(r, hookwire.SessionEnd, func(e *hookwire.Event) { e.Reason = "clear" })
		for range 2 { // also when it comes twice
			w.hook(r, hookwire.SessionStart, cleared)
		}
		got := w.get(r.ID)
		assert.Equal(t, id, got.AgentSessionID)
		assert.Equal(t, []uuid.UUID{before.AgentSessionID}, got.EarlierSessionIDs)
		assert.Equal(t, []talk.Cursor{{Path: w.transcript(before.AgentSessionID)}, {Path: w.transcript(id)}}, got.Cursors,
			"the old one is drained first")
		assert.Equal(t, told+1, toldOf[news.Transcript](w.news))
		followed := slices.DeleteFunc(got.History, func(c session.Change) bool { return c.Rule != ruleFollowed })
		assert.Len(t, followed, 1, "/why reports it")

		require.NoError(t, w.Advance(w.ctx, r.ID, talk.Cursor{Path: got.Cursors[0].Path, Offset: 10}))
		assert.Equal(t, int64(10), w.get(r.ID).Cursors[0].Offset)
		require.NoError(t, w.Advance(w.ctx, r.ID, talk.Cursor{Path: got.Cursors[1].Path, Offset: 5}))
		assert.Equal(t, []talk.Cursor{{Path: w.transcript(id), Offset: 5}}, w.get(r.ID).Cursors)
		require.NoError(t, w.Advance(w.ctx, r.ID, talk.Cursor{Path: "/elsewhere", Offset: 99}))
		assert.Equal(t, []talk.Cursor{{Path: w.transcript(id), Offset: 5}}, w.get(r.ID).Cursors)
	})
}

// The next archive looks for writers of the new conversation.
func TestP1_AfterClearTheNewIdCounts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		id := uuid.New()
		w.present(r, id)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.SessionID, e.TranscriptPath = id.String(), w.transcript(id) })
		w.archive(r)
		w.processes.StartNow(777, []string{"claude", "--resume", id.String()})
		_, err := w.restoreIt(r.ID)
		var refused *WriterError
		assert.ErrorAs(t, err, &refused)
	})
}

// Text before a resume is history, later text is shown.
func TestP5_ResumedTranscriptStartsAtEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		other := session.Record{AgentSessionID: uuid.New()}
		w.write(other, userLine("long ago"))
		w.present(r, other.AgentSessionID)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) {
			e.SessionID, e.TranscriptPath, e.Source = other.AgentSessionID.String(), w.transcript(other.AgentSessionID), "resume"
			e.TranscriptSize = 17
		})
		got := w.get(r.ID)
		c, _ := got.Cursor()
		assert.Equal(t, w.transcript(other.AgentSessionID), c.Path)
		assert.Equal(t, int64(17), c.Offset, "as it was when the hook ran, not when its event is read")
	})
}

// After a resume in another folder SessionStart names a file that is never made, and the first
// prompt names the true one: earlier text is history.
func TestP5_ResumeInOtherFolderRepeatsNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		other := session.Record{AgentSessionID: uuid.New()}
		w.write(other, userLine("long ago"))
		w.present(r, other.AgentSessionID)
		size := int64(len(userLine("long ago")) + 1)
		there := w.transcript(other.AgentSessionID)
		never := filepath.Join(filepath.Dir(filepath.Dir(there)), "elsewhere", filepath.Base(there))
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) {
			e.SessionID, e.TranscriptPath, e.Source = other.AgentSessionID.String(), never, "resume"
		})
		got := w.get(r.ID)
		c, _ := got.Cursor()
		assert.Equal(t, talk.Cursor{Path: there, Offset: size}, c)
		w.hook(r, hookwire.UserPromptSubmit, prompted("now"), func(e *hookwire.Event) {
			e.SessionID, e.TranscriptPath, e.TranscriptSize = other.AgentSessionID.String(), there, size+100
		})
		got = w.get(r.ID)
		c, _ = got.Cursor()
		assert.Equal(t, talk.Cursor{Path: there, Offset: size}, c, "it is followed already")
	})
}

// TestP5_RenamedTranscriptIsFollowed: an agent may keep its file with the folder in which it works. A shorter file of the
// same name is another one; of two that are long enough each could be it: /why says that none goes on.
func TestP5_RenamedTranscriptIsFollowed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.settled()
		w.write(r, userLine("hello"))
		was := w.transcript(r.AgentSessionID)
		end, err := jsonl.End(was)
		require.NoError(t, err)
		w.edit(r.ID, func(r *session.Record) { r.Cursors[len(r.Cursors)-1].Offset = end.Offset })
		there := filepath.Join(w.base, "projects", "-elsewhere", filepath.Base(was))
		require.NoError(t, os.MkdirAll(filepath.Dir(there), 0o700))
		require.NoError(t, os.Rename(was, was+".away"))
		before, noted := len(w.get(r.ID).History), int64(0)
		none := func() {
			t.Helper()
			w.Wake(r.ID)
			w.pass(time.Minute)
			got := w.get(r.ID)
			c, _ := got.Cursor()
			assert.Equal(t, talk.Cursor{Path: was, Offset: end.Offset}, c, "no cursor is lost")
			assert.Equal(t, session.Running, got.State)
			assert.Len(t, got.History, before+1)
			last := got.History[before]
			assert.Equal(t, ruleGone, last.Rule)
			noted = cmp.Or(noted, last.At.UnixNano())
			assert.Equal(t, noted, last.At.UnixNano(), "it is noted once")
		}
		none()
		require.NoError(t, os.WriteFile(there, []byte("{}\n"), 0o600))
		none()
		copied := filepath.Join(w.base, "projects", "-copied", filepath.Base(was))
		require.NoError(t, os.MkdirAll(filepath.Dir(copied), 0o700))
		for _, to := range []string{there, copied} {
			require.NoError(t, os.WriteFile(to, make([]byte, end.Offset), 0o600))
		}
		none()
		require.NoError(t, os.Remove(copied))
		require.NoError(t, os.Rename(was+".away", there))
		w.Wake(r.ID)
		w.pass(time.Minute)
		got := w.get(r.ID)
		c, _ := got.Cursor()
		assert.Equal(t, talk.Cursor{Path: there, Offset: end.Offset}, c)
		assert.Equal(t, ruleBack, got.History[len(got.History)-1].Rule)
	})
}

// Without a SessionStart, a prompt names the transcript: earlier text is history.
func TestP5_PromptsTranscriptStartsThere(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		there := filepath.Join(w.base, "projects", "-elsewhere", r.AgentSessionID.String()+".jsonl")
		w.hook(r, hookwire.UserPromptSubmit, prompted("now"), func(e *hookwire.Event) {
			e.TranscriptPath, e.TranscriptSize = there, 17
		})
		got := w.get(r.ID)
		c, _ := got.Cursor()
		assert.Equal(t, talk.Cursor{Path: there, Offset: 17}, c)
	})
}

// A restore continues at the chat's position: text written in between is shown.
func TestP5_RestoreKeepsCursor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		old := w.archived()
		require.NoError(t, w.Advance(w.ctx, old.ID, talk.Cursor{Path: w.transcript(old.AgentSessionID), Offset: 7}))
		r, err := w.restoreIt(old.ID)
		require.NoError(t, err)
		w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "resume" })
		got := w.get(r.ID)
		c, _ := got.Cursor()
		assert.Equal(t, int64(7), c.Offset)
	})
}

// An event that could not be kept is given again.
func TestP8_UnsavedEventIsError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		w.held(r, "k", viewtest.Said)
		w.pass(time.Second)
		w.news.fail = func(n news.News) error {
			if _, is := n.(news.Delivered); is {
				return errors.New("disk full")
			}
			return nil
		}
		e := w.event(r, hookwire.UserPromptSubmit, prompted(viewtest.Said))
		require.Error(t, w.HookEvent(w.ctx, e))
		assert.Equal(t, typing.Typing, w.prompts.state("k"))
		w.news.mu.Lock()
		w.news.fail = nil
		w.news.mu.Unlock()
		require.NoError(t, w.HookEvent(w.ctx, e))
		assert.Equal(t, typing.PromptState("finished"), w.prompts.state("k"))
	})
}

func TestUnknownRecordsEventIsDropped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		e := w.event(r, hookwire.Stop, func(e *hookwire.Event) { e.Launch = uuid.NewString() })
		assert.NoError(t, w.HookEvent(w.ctx, e), "else it would be given again for ever")
	})
}

// A program below the agent can write any event. Another conversation counts only if the agent's
// presence file names it, and a transcript only if it is the conversation's.
func TestP9_ForgedEventIsNotFollowed(t *testing.T) {
	tests := []struct {
		name    string
		present bool // the presence file names the other conversation
		absent  bool // there is no presence file
		change  func(w *world, other uuid.UUID, e *hookwire.Event)
		err     error
		follows bool
	}{
		{name: "another conversation", err: hooks.ErrContradicted, change: func(w *world, other uuid.UUID, e *hookwire.Event) {
			e.SessionID, e.TranscriptPath = other.String(), w.transcript(other)
		}},
		{name: "another conversation without a presence file", absent: true, err: hooks.ErrNotNamed, change: func(w *world, other uuid.UUID, e *hookwire.Event) {
			e.SessionID, e.TranscriptPath = other.String(), w.transcript(other)
		}},
		{name: "the transcript of another conversation", change: func(w *world, other uuid.UUID, e *hookwire.Event) {
			e.TranscriptPath = w.transcript(other)
		}},
		{name: "a second transcript of the conversation", change: func(w *world, _ uuid.UUID, e *hookwire.Event) {
			e.TranscriptPath = filepath.Join(w.base, "projects", "-forged", filepath.Base(e.TranscriptPath))
		}},
		{name: "a file outside of the projects", change: func(w *world, _ uuid.UUID, e *hookwire.Event) {
			e.TranscriptPath = filepath.Join(w.base, "elsewhere", filepath.Base(e.TranscriptPath))
		}},
		{name: "a named conversation with the transcript of the first", present: true, follows: true, change: func(_ *world, other uuid.UUID, e *hookwire.Event) {
			e.SessionID = other.String()
		}},
		{name: "a named conversation", present: true, follows: true, change: func(w *world, other uuid.UUID, e *hookwire.Event) {
			e.SessionID, e.TranscriptPath = other.String(), w.transcript(other)
		}},
	}
	for _, event := range []string{hookwire.SessionStart, hookwire.UserPromptSubmit} {
		for _, tc := range tests {
			t.Run(event+"/"+tc.name, func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					r, a := w.started()
					other := session.Record{AgentSessionID: uuid.New()}
					w.write(r, userLine("own"))
					w.write(other, userLine("of another session"))
					if tc.present {
						w.present(r, other.AgentSessionID)
					}
					a.mu.Lock()
					a.silent = tc.absent
					a.mu.Unlock()
					before := w.get(r.ID)
					e := w.event(r, event, func(e *hookwire.Event) { tc.change(w, other.AgentSessionID, e) })
					require.ErrorIs(t, w.HookEvent(w.ctx, e), tc.err)
					now := w.get(r.ID)
					want := []string{w.transcript(r.AgentSessionID)}
					if tc.follows {
						want = append(want, w.transcript(other.AgentSessionID))
						assert.Equal(t, other.AgentSessionID, now.AgentSessionID)
					} else {
						assert.Equal(t, before.AgentSessionID, now.AgentSessionID)
					}
					var follows []string
					for _, c := range now.Cursors {
						follows = append(follows, c.Path)
					}
					assert.Equal(t, want, follows)
				})
			})
		}
	}
}
