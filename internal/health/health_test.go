package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/health"
)

func TestWarnings(t *testing.T) {
	well := health.Figures{Version: "1", Up: time.Hour, Tmux: "3.5", Claude: "2.1", Outbox: 50,
		Poll: health.Poll{Ago: 40 * time.Second}, Hook: health.Hook{Events: 20, Slowest: 5 * time.Second},
		API: health.API{Errors: 7, Waits: 3}, Disk: health.Disk{Known: true, Free: 50 << 30, Total: 100 << 30}}
	tests := []struct {
		name   string
		change func(f *health.Figures)
		want   []health.Warning
	}{
		{"all is well, whatever was before", func(*health.Figures) {}, nil},
		{"stuck says more than failing", func(f *health.Figures) { f.Poll = health.Poll{Ago: time.Hour, Stuck: true, Failing: true} },
			[]health.Warning{{Code: health.PollsStuck, For: time.Hour}}},
		{"polls must wait", func(f *health.Figures) { f.Poll.Failing, f.Poll.Wait = true, time.Minute },
			[]health.Warning{{Code: health.PollsWait, For: time.Minute}}},
		{"no updates", func(f *health.Figures) { f.Poll.Failing = true }, []health.Warning{{Code: health.PollsFail}}},
		{"another program takes them", func(f *health.Figures) { f.Poll.Failing, f.Poll.Rival = true, true }, []health.Warning{{Code: health.PollsRival}}},
		{"the token is not known", func(f *health.Figures) { f.Poll.Failing, f.Poll.Unknown = true, true }, []health.Warning{{Code: health.PollsUnknown}}},
		{"nothing goes out", func(f *health.Figures) { f.API.Failing = true }, []health.Warning{{Code: health.APIFails}}},
		{"tmux does not answer", func(f *health.Figures) { f.TmuxSilent = time.Minute }, []health.Warning{{Code: health.TmuxHangs, For: time.Minute}}},
		{"a transcript that cannot be read, and one that is left unread", func(f *health.Figures) { f.Unread, f.Unreadable = []string{"a"}, []string{"a", "b"} },
			[]health.Warning{{Code: health.FilesUnread, Path: "a"}, {Code: health.NotReadable, Path: "b"}}},
		{"a machine whose messages do not pass, and one that is shown under another name", func(f *health.Figures) {
			f.Machines = []health.Machine{{Name: "B", Held: 2, For: time.Minute}, {Name: "C-2", Own: "C"}}
		}, []health.Warning{{Code: health.MachineHeld, Machine: "B", Count: 2, For: time.Minute}, {Code: health.MachineName, Machine: "C-2", Own: "C"}}},
		{"a machine of which the chat cannot read what it has", func(f *health.Figures) { f.Machines = []health.Machine{{Name: "B", Path: "p"}} },
			[]health.Warning{{Code: health.MachineUnread, Machine: "B", Path: "p"}}},
		{"a machine whose clock is off", func(f *health.Figures) {
			f.Machines = []health.Machine{{Name: "B", Skew: -time.Hour}, {Name: "C", Skew: time.Minute}}
		}, []health.Warning{{Code: health.MachineClock, Machine: "B", For: time.Hour}}},
		{"a machine that runs twice, and one that goes on with a copy of this folder", func(f *health.Figures) {
			f.Machines = []health.Machine{{Name: "B", Copies: true}, {Name: "C", Elsewhere: true}}
		}, []health.Warning{{Code: health.MachineCopies, Machine: "B"}, {Code: health.MachineElse, Machine: "C"}}},
		{"a hub that is silent for a moment", func(f *health.Figures) { f.HubSilent = 30 * time.Second }, nil},
		{"a hub that is silent", func(f *health.Figures) { f.HubSilent = time.Minute }, []health.Warning{{Code: health.HubSilent, For: time.Minute}}},
		{"a fleet that does not run", func(f *health.Figures) { f.FleetFailed = true }, []health.Warning{{Code: health.FleetFails}}},
		{"a full disk", func(f *health.Figures) { f.Disk.Low, f.Disk.Free = true, 5 }, []health.Warning{{Code: health.DiskLow, Bytes: 5}}},
		{"a disk of which nothing is known", func(f *health.Figures) { f.Disk = health.Disk{Low: true} }, nil},
		{"an end that is not proven", func(f *health.Figures) { f.NotClean = 2 }, []health.Warning{{Code: health.NotClean, Count: 2}}},
		{"an agent that does not answer", func(f *health.Figures) { f.Silent = 1 }, []health.Warning{{Code: health.AgentSilent, Count: 1}}},
		{"a chat has to wait", func(f *health.Figures) { f.API.Wait = time.Second }, []health.Warning{{Code: health.APIWaits, For: time.Second}}},
		{"much waits", func(f *health.Figures) { f.Outbox = 51 }, []health.Warning{{Code: health.OutboxLong, Count: 51}}},
		{"a key that has another meaning", func(f *health.Figures) { f.Keys = health.Keys{File: "f", Binding: "b"} },
			[]health.Warning{{Code: health.KeysBound, Keys: health.Keys{File: "f", Binding: "b"}}}},
		{"a word that ccbot does not know", func(f *health.Figures) { f.Words = []health.Word{{Agent: "A", Version: "1", Word: "w"}} },
			[]health.Warning{{Code: health.WordUnknown, Word: health.Word{Agent: "A", Version: "1", Word: "w"}}}},
		{"slow events", func(f *health.Figures) { f.Hook.Slowest++ }, []health.Warning{{Code: health.HooksSlow, For: 5*time.Second + 1}}},
		{"no file watches, which explains slow events", func(f *health.Figures) { f.Hook.Slowest, f.Watch = time.Minute, "watches" },
			[]health.Warning{{Code: health.NoWatches}}},
		{"no Claude Code", func(f *health.Figures) { f.Claude = "" }, []health.Warning{{Code: health.ClaudeUnknown}}},
		{"another agent instead of Claude Code", func(f *health.Figures) { f.Claude, f.Instead = "", "Codex" }, nil},
		{"a group that is not allowed", func(f *health.Figures) { f.RefusedGroups = []int64{-5, -6} },
			[]health.Warning{{Code: health.GroupRefused, Count: 2, Chats: []int64{-5, -6}}}},
		{"a group that refuses messages", func(f *health.Figures) { f.ShutGroups = []int64{-5} },
			[]health.Warning{{Code: health.GroupShut, Count: 1, Chats: []int64{-5}}}},
		{"a group whose General is closed", func(f *health.Figures) { f.ClosedGroups = []int64{-5} },
			[]health.Warning{{Code: health.GroupClosed, Count: 1, Chats: []int64{-5}}}},
		{"a group in which somebody writes anonymously", func(f *health.Figures) { f.AnonymousGroups = []int64{-5} },
			[]health.Warning{{Code: health.Anonymous, Count: 1, Chats: []int64{-5}}}},
		{"Claude Code is no longer found, which explains its unknown version", func(f *health.Figures) { f.Claude, f.ClaudeMissing = "", "claude" },
			[]health.Warning{{Code: health.ClaudeGone, Path: "claude"}}},
		{"a policy that shuts the hooks", func(f *health.Figures) { f.HooksShutBy = "/etc/p.json" },
			[]health.Warning{{Code: health.HooksShut, Path: "/etc/p.json"}}},
		{"strangers are no fault", func(f *health.Figures) { f.Refused = map[string]int{"message": 9} }, nil},
		{"an old Claude Code", func(f *health.Figures) { f.Claude, f.ClaudeNeeded = "2.0", "2.1" },
			[]health.Warning{{Code: health.ClaudeOld, Version: "2.0", Needed: "2.1"}}},
		{"just started", func(f *health.Figures) { f.Claude, f.Up = "", time.Minute }, nil},
		{"two at once, the worse one first", func(f *health.Figures) { f.Disk.Low, f.Poll.Failing, f.Disk.Free = true, true, 1 },
			[]health.Warning{{Code: health.PollsFail}, {Code: health.DiskLow, Bytes: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := well
			tt.change(&f)
			assert.Equal(t, tt.want, health.Warnings(f))
		})
	}
}
