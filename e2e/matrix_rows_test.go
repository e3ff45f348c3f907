package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
	"ccbot/try/botapi"
)

// onDisk asserts the state of a session and whether it knows its window.
func onDisk(name string, state session.State, bound bool) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		r := s.record(name)
		assert.Equal(s.t, state, r.State, "what is on disk of %s", name)
		assert.Equal(s.t, bound, r.Binding != nil, "%s is bound", name)
	}
}

// lacksNews asserts that the record of a session has news that the chat may lack.
func lacksNews(name string) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		assert.NotEmpty(s.t, s.record(name).News, "the news of %s", name)
	}
}

// reportsOnce is a row's end that waits until the chat has the news of a session: one message has
// the text.
func reportsOnce(name, text string) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		s.hear(s.mark, text)
		s.until("the news are acknowledged", func() bool { return len(s.record(name).News) == 0 })
		n := 0
		for _, m := range s.api.Messages(s.chat()) {
			if m.FromBot && m.ID > s.mark && strings.Contains(m.Text, text) {
				n++
			}
		}
		assert.Equal(s.t, 1, n, text)
	}
}

// both does one after the other.
func both(all ...func(*stage)) func(*stage) {
	return func(s *stage) {
		for _, f := range all {
			f(s)
		}
	}
}

// hears returns a row's end that waits for the bot's text, which may come twice.
func hears(text string) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		s.hear(s.mark, text)
		n := 0
		for _, m := range s.api.Messages(s.chat()) {
			if m.FromBot && m.ID > s.mark && strings.Contains(m.Text, text) {
				n++
			}
		}
		assert.LessOrEqual(s.t, n, 2, "a crash tells it twice at most: %s", text)
	}
}

// placeholdersClose waits until no window sleeps for an agent that never came.
func placeholdersClose(s *stage) {
	s.t.Helper()
	s.until("the placeholder has closed", func() bool { return !slices.Contains(s.windows(), tmux.PlaceholderName) })
}

// isNamed waits until a window has the name of a session.
func isNamed(name string) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		s.until("the window is named "+name, func() bool { return slices.Contains(s.windows(), name) })
	}
}

func opens(name string) func(*stage) {
	return func(s *stage) { s.say("/new " + name + " " + s.dir) }
}

func resumes(name string) func(*stage) {
	return func(s *stage) { s.say("/resume " + name) }
}

func kills(name string) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		s.tap(s.hear(s.say("/kill "+name), "End "+name), "Kill")
	}
}

// leaves ends the agent from inside, in the session that is current.
func leaves(s *stage) { s.prompt("/exit") }

// deadPane asserts that the pane of a session is there, and dead.
func deadPane(name string) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		id := s.record(name).ID.String()
		assert.True(s.t, slices.ContainsFunc(s.taggedPanes(), func(p taggedPane) bool { return p.record == id && p.dead == "1" }))
	}
}

// tagged asserts how many windows a session has.
func tagged(name string, want int) func(*stage) {
	return func(s *stage) {
		s.t.Helper()
		n := 0
		for _, p := range s.taggedPanes() {
			if p.record == s.record(name).ID.String() {
				n++
			}
		}
		assert.Equal(s.t, want, n, "windows of %s", name)
	}
}

// birthAndEnd starts three sessions, ends them, brings them back and lets two
// end by themselves.
func birthAndEnd() life {
	const starting, stopping, restoring = session.Starting, session.Stopping, session.Restoring
	return life{name: "birth and end", env: []string{"ORPHAN_GRACE=5m"}, rows: []crash{
		{step: "start", point: "start-recorded", when: "nothing is made",
			disk: "the command; a `starting` record without a window", fresh: "drops the record; the command starts the session again",
			do: opens("one"), dead: both(onDisk("one", starting, false), tagged("one", 0)), after: hears("one is ready")},
		{step: "start", point: "window-reserved", when: "the window is a placeholder without a tag",
			disk: "the command; a `starting` record without a window; a placeholder", fresh: "drops the record; the command starts the session again; the placeholder closes",
			do: opens("four"), dead: both(onDisk("four", starting, false), tagged("four", 0)), after: both(hears("four is ready"), placeholdersClose)},
		{step: "start", point: "window-tagged", when: "the placeholder has a tag and no agent",
			disk: "the command; a `starting` record without a window; a tagged placeholder", fresh: "drops the record; the command starts the session again; the placeholder closes",
			do: opens("five"), dead: both(onDisk("five", starting, false), tagged("five", 1)), after: both(hears("five is ready"), placeholdersClose)},
		{step: "start", point: "window-begun", when: "the agent runs in a window without a name",
			disk: "the command; a `starting` record without a window; an agent in a tagged window", fresh: "binds the record by the tag, and names the window; the command finds the session",
			do: opens("six"), dead: both(onDisk("six", starting, false), tagged("six", 1)), after: both(hears("six is ready"), isNamed("six"))},
		{step: "start", point: "window-made", when: "the window is not recorded",
			disk: "the command; a `starting` record without a window; a tagged window", fresh: "binds the record by the tag; the command finds the session",
			do: opens("two"), dead: both(onDisk("two", starting, false), tagged("two", 1)), after: hears("two is ready")},
		{step: "start", point: "bound", when: "the record has its window",
			disk: "the command; a `starting` record with pane and process", fresh: "watches the agent, reports when it is ready",
			do: opens("three"), dead: both(onDisk("three", starting, true), tagged("three", 1)), after: hears("three is ready")},

		{step: "read", point: "read-noted", when: "a part of a transcript is read",
			disk: "a note with its path in `reads`", fresh: "reads the file alone, a second later, and records the success",
			after: func(s *stage) {
				s.until("the read has passed", func() bool { return bytes.Contains(s.notes(), []byte(`"use":"passed"`)) })
			}},

		{step: "archive", point: "stop-recorded", when: "nothing has ended",
			disk: "a `stopping` record; its agent lives", fresh: "archives it and sends the receipt",
			do: kills("one"), dead: both(onDisk("one", stopping, true), tagged("one", 1)), after: hears("one is archived")},
		{step: "archive", point: "ended", when: "the agent is dead, not recorded",
			disk: "a `stopping` record; no window", fresh: "finds nothing alive, sends the receipt",
			do: kills("two"), dead: both(onDisk("two", stopping, true), tagged("two", 0)), after: hears("two is archived")},
		{step: "archive", point: "news-saved", when: "it is recorded, the receipt not sent",
			disk: "an `archived` record with the receipt", fresh: "sends the receipt",
			do: kills("three"), dead: both(onDisk("three", session.Archived, false), lacksNews("three"), tagged("three", 0)), after: reportsOnce("three", "three is archived")},
		{step: "archive", point: "news-shown", when: "the receipt is stored, its number is not",
			disk: "an `archived` record with the receipt; the receipt's card", fresh: "stores the number", also: "one receipt",
			do: kills("six"), dead: both(onDisk("six", session.Archived, false), lacksNews("six"), tagged("six", 0)), after: reportsOnce("six", "six is archived")},
		{step: "archive", point: "news-told", when: "the receipt is sent, not acknowledged",
			disk: "an `archived` record with the receipt; the receipt is sent", fresh: "acknowledges it", also: "one receipt",
			do: kills("four"), dead: both(onDisk("four", session.Archived, false), lacksNews("four"), tagged("four", 0)), after: reportsOnce("four", "four is archived")},
		{step: "archive", point: "news-acknowledged", when: "the receipt is sent and acknowledged",
			disk: "an `archived` record", fresh: "does nothing", also: "one receipt",
			do: kills("five"), dead: both(onDisk("five", session.Archived, false), tagged("five", 0)), after: reportsOnce("five", "five is archived")},

		{step: "restore", point: "restore-recorded", when: "no window yet",
			disk: "the command; a `restoring` record without a window", fresh: "continues the restore",
			do: resumes("one"), dead: both(onDisk("one", restoring, false), tagged("one", 0)), after: hears("one is ready")},
		{step: "restore", point: "window-reserved", when: "the window is a placeholder without a tag",
			disk: "the command; a `restoring` record without a window; a placeholder", fresh: "continues the restore; the placeholder closes",
			do: resumes("four"), dead: both(onDisk("four", restoring, false), tagged("four", 0)), after: both(hears("four is ready"), placeholdersClose)},
		{step: "restore", point: "window-tagged", when: "the placeholder has a tag and no agent",
			disk: "the command; a `restoring` record without a window; a tagged placeholder", fresh: "continues the restore; the placeholder closes",
			do: resumes("five"), dead: both(onDisk("five", restoring, false), tagged("five", 1)), after: both(hears("five is ready"), placeholdersClose)},
		{step: "restore", point: "window-begun", when: "the agent runs in a window without a name",
			disk: "the command; a `restoring` record without a window; an agent in a tagged window", fresh: "binds the record by the tag, and names the window",
			do: resumes("six"), dead: both(onDisk("six", restoring, false), tagged("six", 1)), after: both(hears("six is ready"), isNamed("six"))},
		{step: "restore", point: "window-made", when: "the window is not recorded",
			disk: "the command; a `restoring` record without a window; a tagged window", fresh: "binds the record by the tag",
			do: resumes("two"), dead: both(onDisk("two", restoring, false), tagged("two", 1)), after: hears("two is ready")},
		{step: "restore", point: "bound", when: "the record has its window",
			disk: "the command; a `restoring` record with pane and process", fresh: "watches the agent, reports when it is ready",
			do: resumes("three"), dead: both(onDisk("three", restoring, true), tagged("three", 1)), after: hears("three is ready")},

		{step: "end by itself", point: "news-saved", when: "the end is recorded, not reported",
			disk: "a `completed` record with the news of the end", fresh: "reports the end",
			do: leaves, dead: both(onDisk("three", session.Completed, false), lacksNews("three")), after: reportsOnce("three", "three ended at your request")},
		{step: "end by itself", point: "end-recorded", when: "the exit is recorded, the pane not closed",
			disk: "a `stopping` record with the exit status; the dead pane", fresh: "closes the pane and completes the record",
			prepare: func(s *stage) {
				s.start()
				s.hear(s.say("/resume three"), "three is ready")
				s.rest()
			},
			do: leaves, dead: both(onDisk("three", stopping, true), deadPane("three")), after: hears("three ended at your request")},
	}}
}

// working opens the session that most lives are about.
func working(s *stage) { s.open("work", s.dir) }

// prompting kills the bot between a message and the proof that the agent has it.
func prompting() life {
	row := func(point, when, disk, fresh string, dead func(*stage)) crash {
		said := "token at " + point + " " + when
		return crash{step: "prompt", point: point, when: when, disk: disk, fresh: fresh, dead: dead,
			do: func(s *stage) { s.inFlight("say " + said) },
			after: func(s *stage) {
				s.answered(said)
				next := "next after " + said
				s.prompt("say " + next)
				s.answered(next)
				assert.Zero(s.t, s.heard("not certain that"), "nobody is asked")
			}}
	}
	inbox := func(state string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			assert.Contains(s.t, s.inboxStates(), state, "states of what is in the inbox")
		}
	}
	engine := func(states ...string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			assert.Equal(s.t, states, s.fieldOfFiles("prompts", `"state":"`), "states of what the engine has")
		}
	}
	inBox := func(s *stage) { // the first word: a text of several lines shows as one row each
		s.t.Helper()
		s.until("it stands in the box", func() bool { return s.screenHas("work", "token at pasted") || s.screenHas("work", "line one") })
	}
	done := func(s *stage) { // the record lists the key only if it was saved since
		s.t.Helper()
		assert.Empty(s.t, s.inboxStates())
	}
	got := func(s *stage) {
		s.t.Helper()
		assert.Equal(s.t, s.typed, s.received())
	}
	const typing = "the text, `typing`"
	again := crash{step: "prompt", point: "pasted", when: "between paste and Enter, 15 minutes ago",
		disk: typing + "; it is in the prompt box", fresh: "asks; [Send again] clears the box and types it again",
		do: func(s *stage) { s.inFlight("say token at pasted, long ago") }, dead: both(engine("typing"), inBox, typedLongAgo),
		after: func(s *stage) {
			s.tap(s.hear(s.mark, "not certain that"), "Send again")
			s.answered("token at pasted, long ago")
		}}
	dropped := crash{step: "prompt", point: "pasted", when: "between paste and Enter, 15 minutes ago, then discarded",
		disk: typing + "; it is in the prompt box", fresh: "asks; [Discard] clears the box",
		also: "the agent gets only the next text",
		do:   func(s *stage) { s.say("line one\nline two\nline three") }, dead: both(engine("typing"), inBox, typedLongAgo),
		after: func(s *stage) {
			s.tap(s.hear(s.mark, "not certain that"), "Discard")
			s.prompt("say after the drop")
			s.answered("after the drop")
		}}
	long := strings.Repeat("word ", 1000) + "end"
	cut := crash{step: "cut text", point: "parts-joined", when: "the first part has the others, not finished",
		disk: "all parts, `accepted`; the first has the others", fresh: "finishes the others, types the text",
		also: "one prompt", do: func(s *stage) { s.prompt(long) },
		dead: func(s *stage) {
			s.t.Helper()
			assert.Equal(s.t, []string{"accepted", "accepted"}, s.inboxStates())
		},
		after: func(s *stage) {
			s.t.Helper()
			s.until("the agent has the text", func() bool { return slices.Contains(s.received(), long) })
		}}
	return life{name: "prompt", setup: working, rows: []crash{
		cut,
		row("accepted", "on disk, not handled", "the update in the inbox", "handles the update", inbox("accepted")),
		row("prompt-offered", "offered to the engine, not held", "the text with a number, `held`; the engine has nothing",
			"offers it again with the same number", both(inbox("held"), engine())),
		row("typing-marked", "nothing typed", typing+" with time and place", "sees the empty box of the idle agent, types it",
			engine("typing")),
		row("pasted", "between paste and Enter", typing+"; it is in the prompt box", "sees the text in the box of the idle agent, presses Enter",
			both(engine("typing"), inBox)),
		row("entered", "between Enter and receipt", typing+"; the agent has it", "finds the proof in hook or transcript", both(engine("typing"), got)),
		row("prompt-ended", "finished by the engine, not by the chat", "a tombstone of the engine; the text, `held`", "finishes the text",
			both(inbox("held"), engine())),
		row("prompt-finished", "proven, still in the record", "the text is done; the record may list its key", "removes the key", done),
		again, dropped,
	}}
}

// typedLongAgo changes the mark as if ccbot had typed fifteen minutes ago.
func typedLongAgo(s *stage) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.state, "prompts", "*.json"))
	require.NoError(s.t, err)
	require.Len(s.t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(s.t, err)
	before, rest, ok := strings.Cut(string(data), `"mark":{"at":"`)
	require.True(s.t, ok)
	at, rest, _ := strings.Cut(rest, `"`)
	typed, err := time.Parse(time.RFC3339Nano, at)
	require.NoError(s.t, err)
	then := typed.Add(-15 * time.Minute).Format(time.RFC3339Nano)
	require.NoError(s.t, os.WriteFile(files[0], []byte(before+`"mark":{"at":"`+then+`"`+rest), 0o600))
}

// inboxStates are the states of the entries in the inbox.
func (w *world) inboxStates() (states []string) {
	w.t.Helper()
	return w.fieldOfFiles("inbox", `"state":"`)
}

// fieldOfFiles are the values that follow a mark in the files of a state folder.
func (w *world) fieldOfFiles(dir, mark string) (values []string) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.state, dir, "*.json"))
	require.NoError(w.t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) { // the bot was quicker
			continue
		}
		require.NoError(w.t, err)
		if _, rest, ok := strings.Cut(strings.ReplaceAll(string(data), `": "`, `":"`), mark); ok {
			value, _, _ := strings.Cut(rest, `"`)
			values = append(values, value)
		}
	}
	return values
}

// answering kills the bot while the Bot API holds an answer.
func answering() life {
	row := func(kind botapi.FaultKind, when string) crash {
		var withdraw func()
		calls := 0
		said := "the answer of " + string(kind)
		return crash{step: "answer", when: when, disk: "a cursor before the answer", fresh: "sends the answer",
			also: "at most twice",
			do: func(s *stage) {
				calls = len(s.api.Calls())
				withdraw = s.api.Fault(botapi.Fault{Method: "sendMessage", Kind: kind})
				s.inFlight("say " + said)
			},
			until: func(s *stage) bool {
				for _, c := range s.api.Calls()[calls:] {
					if c.Fault == kind {
						return true
					}
				}
				return kind == botapi.FaultHang && slices.Contains(s.received(), "say "+said) && s.quietAgents()
			},
			dead: func(s *stage) {
				withdraw()
				r := s.record("work")
				c, _ := r.Cursor()
				info, err := os.Stat(c.Path)
				require.NoError(s.t, err)
				assert.Less(s.t, c.Offset, info.Size())
			},
			after: func(s *stage) {
				s.answered(said)
				s.prompt("say after " + said)
				s.answered("after " + said)
			}}
	}
	shown := crash{step: "answer", point: "part-shown", when: "the chat has the answer and the position after it",
		disk: "the position in `chats/`; an earlier one in the record", fresh: "continues after the answer", also: "one message",
		do: func(s *stage) { s.prompt("say the shown answer") },
		dead: func(s *stage) {
			s.t.Helper()
			r := s.record("work")
			shown := s.shownInChats(s.state, r.ID)
			require.Len(s.t, shown, 1)
			assert.True(s.t, r.Cursors[0].Precedes(shown[0]))
		},
		after: func(s *stage) {
			s.answered("the shown answer")
			s.prompt("say after the shown answer")
			s.answered("after the shown answer")
		}}
	return life{name: "answer", setup: working, rows: []crash{
		shown,
		row(botapi.FaultHang, "the Bot API does not answer"),
		row(botapi.FaultResetAfter, "the Bot API took it, the connection broke"),
	}}
}

// quietAgents reports whether all agents are idle.
func (s *stage) quietAgents() bool {
	return !slices.ContainsFunc(s.records(), func(r session.Record) bool {
		return r.Binding != nil && !s.presenceSays(r.Binding.Agent.PID, `"status":"idle"`)
	})
}

// secondWriters kills the bot between the message about a second writer and its
// record.
func secondWriters() life {
	var second process.Identity
	return life{name: "second writer", setup: func(s *stage) {
		working(s)
		s.prompt("say hello")
		s.answered("hello")
	}, rows: []crash{{step: "second writer", point: "news-told", when: "reported, not acknowledged",
		disk: "a `running` record with the writer and the news; the warning is sent", fresh: "acknowledges the news",
		also: "reported once; a later /kill spares it and reports that",
		do: func(s *stage) {
			second = s.newPersonTerminal().agent("--resume", s.claudeIDOf("work"))
			s.seconds = append(s.seconds, second)
		},
		dead: both(lacksNews("work"), func(s *stage) { assert.Contains(s.t, s.record("work").SecondWriters, second) }),
		after: func(s *stage) {
			s.until("it is told and noted", func() bool {
				return s.told(pid(second)) > 0 && slices.Contains(s.record("work").SecondWriters, second)
			})
			assert.Equal(s.t, 1, s.told(pid(second)))
			assert.Contains(s.t, s.end("work").Text, pid(second))
		}}}}
}

// cliResume resumes the conversation in a terminal during an interrupted archive.
func cliResume() life {
	var later process.Identity
	return life{name: "desk resume", setup: func(s *stage) {
		working(s)
		s.prompt("say hello")
		s.answered("hello")
	}, rows: []crash{{step: "archive", point: "stop-recorded", when: "the conversation continues in the terminal meanwhile",
		disk: "a `stopping` record; its agent and a later one in the terminal live", fresh: "ends its own agent; reports the other one: [End it]",
		also: "the receipt names the spared process",
		do:   kills("work"),
		dead: func(s *stage) {
			onDisk("work", session.Stopping, true)(s)
			later = s.newPersonTerminal().agent("--resume", s.claudeIDOf("work"))
			s.seconds = append(s.seconds, later)
		},
		after: func(s *stage) {
			assert.Contains(s.t, s.hear(s.mark, "work is archived.").Text, pid(later), "the receipt says who was spared")
			assert.Contains(s.t, s.offered(s.mark, "End it").Text, pid(later))
		}}}}
}

// stubbornTools kills an agent whose tool would outlive it.
func stubbornTools() life {
	return life{name: "stubborn", env: stubborn, setup: working, rows: []crash{
		{step: "archive", point: "below-recorded", when: "before the KILL",
			disk: "a `stopping` record with the agent's processes; agent and tool live", fresh: "kills the agent, then its tool",
			also: "the tool is dead",
			do: func(s *stage) {
				s.typed = append(s.typed, "child 3600")
				s.withChild()
				kills("work")(s)
			},
			dead: func(s *stage) {
				onDisk("work", session.Stopping, true)(s)
				assert.NotEmpty(s.t, s.record("work").Descendants)
				assert.NotEmpty(s.t, s.tools())
			},
			after: hears("work is archived")},
	}}
}
