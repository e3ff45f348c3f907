package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// loses closes the pane of a session without ccbot.
func (s *stage) loses(name string) {
	s.t.Helper()
	b := s.open1(name).Binding
	s.tmux("kill-pane", "-t", b.Pane)
	s.until("its agent is gone", func() bool { return !s.alive(b.Agent) })
}

// open1 is the open session of that name.
func (s *stage) open1(name string) session.Record {
	s.t.Helper()
	for _, r := range s.records() {
		if r.Name == name && r.State.Live() {
			return r
		}
	}
	s.t.Fatalf("no session %s is open", name)
	return session.Record{}
}

// byHand continues a conversation in a person's shell on ccbot's server.
func (s *stage) byHand(claudeID string) {
	s.t.Helper()
	if s.desk == nil {
		s.desk = s.ccbotTerminal()
	}
	pane, _ := s.desk.shell()
	s.desk.enter(pane, s.agentPath()+" --resume "+claudeID)
}

// transferring kills the bot while a lost session continues in a person's window, with waiting
// prompts.
func transferring() life {
	said := []string{"held in order", "held behind it"}
	back := crash{step: "transfer", point: "adoption-saved", when: "recorded and reported",
		disk: "the record, bound to the agent, with its prompts", fresh: "watches the agent",
		also: "the prompts are typed in order, in the new window; reported at most twice",
		do: func(s *stage) {
			id := s.open1("alpha").AgentSessionID.String()
			s.use("alpha")
			s.prompt("slow 3600")
			s.until("the agent is busy", func() bool { return slices.Contains(s.received()[len(s.typed)-1:], "slow 3600") })
			for _, text := range said {
				s.prompt("say " + text)
			}
			s.until("they wait", func() bool { // and the prompt before them has left
				return len(s.open1("alpha").Prompts) == len(said) && slices.Equal(s.inboxStates(), []string{"held", "held"})
			})
			s.loses("alpha")
			s.until("it is lost", func() bool { return s.stateOf("alpha") == "lost" })
			s.byHand(id)
		},
		dead: onDisk("alpha", session.Running, true),
		after: func(s *stage) {
			for _, text := range said {
				s.answered(text)
			}
			hears("alpha is connected")(s)
			assert.True(s.t, s.open1("alpha").Binding.Adopted)
		}}
	inRecovery := crash{step: "transfer", point: "adoption-saved", when: "at a start, as the agent continued in a person's window",
		disk: "the record, bound to the agent", fresh: "watches the agent",
		prepare: func(s *stage) {
			id := s.open1("delta").AgentSessionID.String()
			s.loses("delta")
			s.byHand(id)
			s.until("an agent writes it", func() bool {
				w := s.writersOf(id)
				return len(w) == 1 && s.presenceSays(w[0].PID, id, `"status":"idle"`)
			})
		},
		dead: func(s *stage) { assert.True(s.t, s.open1("delta").Binding.Adopted) },
		after: func(s *stage) {
			s.use("delta")
			s.prompt("say in the person's window")
			s.answered("in the person's window")
			assert.True(s.t, s.open1("delta").Binding.Adopted)
		}}
	return life{name: "transfer", setup: func(s *stage) {
		for _, name := range []string{"alpha", "delta"} {
			s.open(name, s.dir)
			s.prompt("say hello from " + name)
			s.answered("hello from " + name)
		}
	}, rows: []crash{back, inRecovery}}
}

// recovering kills the bot inside a recovery. In each row one more session has
// lost its window while no bot ran.
func recovering() life {
	row := func(name, point, when, disk, fresh, also string, dead func(*stage)) crash {
		return crash{step: "recovery", point: point, when: when, disk: disk, fresh: fresh, also: also,
			prepare: func(s *stage) { s.loses(name) }, dead: dead, after: hears("disappeared: " + name)}
	}
	untouched := func(name string, complete, underWay int) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			assert.Equal(s.t, session.Running, s.record(name).State)
			full, half := s.backups()
			assert.Len(s.t, full, complete)
			assert.Len(s.t, half, underWay)
		}
	}
	stands := func(name string, state session.State, note string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			r := s.record(name)
			assert.Equal(s.t, state, r.State)
			assert.Equal(s.t, state == session.Lost, r.Unreported, "nobody was told yet")
			assert.True(s.t, slices.ContainsFunc(r.History, func(c session.Change) bool {
				return c.Rule == "recovery.mark_lost" && strings.Contains(c.Why, note)
			}), "%v", r.History)
		}
	}
	const lost = "marks it lost and reports it in one message"
	rows := []crash{
		row("alpha", "backup-file", "the backup is half written", "no backup; no record has changed", "makes one, "+lost,
			"the half is never listed", untouched("alpha", 0, 0)),
		row("bravo", "backup-made", "the backup is made", "a backup; no record has changed", "makes another backup, "+lost, "", untouched("bravo", 2, 0)),
		row("charlie", "recovery-noted", "the history announces an action", "a `running` record with a last line `begins`", lost, "the history ends with `done`",
			stands("charlie", session.Running, "begins")),
		row("delta", "recovery-applied", "the action was carried out", "an unreported `lost` record", "reports it", "reported once",
			stands("delta", session.Lost, "begins")),
		row("echo", "report-posted", "the message is posted, not recorded", "an unreported `lost` record; the message in the outbox", "reports it again", "reported at most twice",
			stands("echo", session.Lost, "done")),
		endingLeftovers(),
		restoringBackup(),
	}
	return life{name: "recovery", setup: func(s *stage) {
		for _, name := range []string{"alpha", "bravo", "charlie", "delta", "echo", "hotel", "golf"} {
			s.open(name, s.dir)
		}
		s.prompt("say hello")
		s.answered("hello")
	}, rows: rows}
}

// backups are the whole backups and those that were not finished.
func (s *stage) backups() (whole, underWay []string) {
	s.t.Helper()
	files, err := os.ReadDir(filepath.Join(s.state, "backups"))
	require.NoError(s.t, err)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") {
			underWay = append(underWay, f.Name())
			continue
		}
		whole = append(whole, f.Name())
	}
	return whole, underWay
}

// endingLeftovers makes an ended session with a living process of an earlier launch.
func endingLeftovers() crash {
	var leftover process.Identity
	return crash{step: "recovery", point: "leftovers-ended", when: "a leftover of an archived session is dead, not recorded",
		disk: "an unchanged `archived` record", fresh: "finds nothing alive", also: "the leftover is dead",
		prepare: func(s *stage) {
			id := s.claudeIDOf("golf")
			_, leftover = s.newPersonTerminal("DEMOAGENT_NO_PRESENCE=1").open(s.agentPath(), "--resume", id)
			s.until("it has become the agent", func() bool { return slices.Contains(s.writersOf(id), leftover) })
			s.loses("golf")
			now, err := s.table.Moment()
			require.NoError(s.t, err)
			s.edit("golf", func(r recordFile) {
				r.set("state", session.Archived)
				r.set("ended_at", time.Now().Add(-time.Minute).UTC())
				r.set("ended_moment", now)
				delete(r, "binding")
				delete(r, "bound")
			})
		},
		dead: func(s *stage) {
			assert.False(s.t, s.alive(leftover))
			assert.Equal(s.t, session.Archived, s.record("golf").State)
		},
		after: func(s *stage) { s.hear(s.say("/list"), "session") }}
}

// restoringBackup kills `ccbot recover --restore` in the midst of it; the same
// command finishes it.
func restoringBackup() crash {
	const edited = "restored by hand"
	return crash{step: "recovery", point: "restore-file", when: "`ccbot recover --restore` has written one record of several",
		disk: "a backup of the earlier records; one restored record", fresh: "the same command finishes it; the bot uses those records",
		also: "the earlier records are in a backup",
		args: []string{"recover", "--restore", "2020"},
		prepare: func(s *stage) {
			older := recovery.Backups{Dir: filepath.Join(s.state, "backups"), Sessions: filepath.Join(s.state, "sessions"),
				Now: func() time.Time { return time.Date(2020, 12, 31, 0, 0, 0, 0, time.UTC) }}
			_, err := older.Make(s.t.Context())
			require.NoError(s.t, err)
			for _, name := range []string{"alpha", "bravo", "hotel"} {
				s.edit(name, func(r recordFile) { r.set("host", edited) })
			}
		},
		locks: true, dead: func(s *stage) {
			n := 0
			for _, r := range s.records() {
				if r.Host == edited {
					n++
				}
			}
			assert.Equal(s.t, 2, n, "two of three are not back yet")
			b := s.run([]string{"recover", "--restore", "2020"})
			s.until("it is done", b.over)
			assert.Zero(s.t, b.cmd.ProcessState.ExitCode(), b.log)
		},
		after: func(s *stage) {
			for _, r := range s.records() {
				assert.NotEqual(s.t, edited, r.Host)
			}
			whole, _ := s.backups()
			assert.True(s.t, slices.ContainsFunc(whole, func(name string) bool {
				return strings.HasSuffix(name, ".tar.gz") && strings.Contains(unpacked(s.t, filepath.Join(s.state, "backups", name)), edited)
			}), "what was there is in a backup")
			s.hear(s.say("/list"), "session")
		}}
}

// set changes a field of a record file.
func (r recordFile) set(key string, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	r[key] = data
}

// edit changes a record on disk while no bot runs.
func (s *stage) edit(name string, change func(recordFile)) { s.world.edit(s.record(name).ID, change) }

func (w *world) edit(id uuid.UUID, change func(recordFile)) {
	w.t.Helper()
	path := filepath.Join(w.state, "sessions", id.String()+".json")
	data, err := os.ReadFile(path)
	require.NoError(w.t, err)
	var r recordFile
	require.NoError(w.t, json.Unmarshal(data, &r))
	change(r)
	data, err = json.MarshalIndent(r, "", "  ")
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(path, data, 0o600))
}

// otherBoot changes the records so that their agents ran before the last boot.
func (w *world) otherBoot() {
	w.t.Helper()
	for _, r := range w.records() {
		if !r.State.Live() || r.Binding == nil {
			continue
		}
		old := r.Binding.Agent.Boot
		w.edit(r.ID, func(f recordFile) {
			for key, value := range f {
				f[key] = json.RawMessage(strings.ReplaceAll(string(value), fmt.Sprintf("%q", old), `"11111111-2222-3333-4444-555555555555"`))
			}
		})
	}
}

// rebooting brings sessions back by itself after a reboot, and dies there.
func rebooting() life {
	return life{name: "reboot", env: []string{"CCBOT_RESUME_ON_START=all", "ORPHAN_GRACE=5m"}, setup: func(s *stage) {
		for _, name := range []string{"one", "two"} {
			s.open(name, s.dir)
			s.prompt("say hello from " + name)
			s.answered("hello from " + name)
		}
	}, rows: []crash{{step: "recovery", point: "restore-recorded", when: "an automatic resume after a reboot",
		disk: "a `restoring` record without a window", fresh: "continues the restore",
		prepare: func(s *stage) {
			s.endTmux()
			s.otherBoot()
		},
		dead: func(s *stage) {
			states := []session.State{s.record("one").State, s.record("two").State}
			assert.Contains(s.t, states, session.Restoring)
		},
		after: func(s *stage) {
			for _, name := range []string{"one", "two"} {
				s.comesBack(name)
			}
		}}}}
}

// comesBack waits for a session that was being restored at the crash.
func (s *stage) comesBack(name string) {
	s.t.Helper()
	s.until(name+" is back", func() bool { return s.record(name).State == session.Running })
}
