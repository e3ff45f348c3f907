package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/try/botapi"
)

// overtaking kills the bot while a turn is interrupted for the second of two texts that wait.
func overtaking() life {
	row := func(point, when, fresh string, dead func(*stage)) crash {
		urgent, later := "urgent at "+point, "later at "+point
		return crash{step: "interrupt and send", point: point, when: when, disk: "both texts, `held`; their new order",
			fresh: fresh, also: "each arrives once, in the new order",
			do: func(s *stage) {
				s.t.Helper()
				s.prompt("slow until " + point)
				s.until("it works", func() bool { return s.record("work").Phase == "working" && s.quietInbox() })
				s.say("say " + later)
				s.until("one text waits", func() bool { return len(s.record("work").Prompts) == 1 })
				s.inFlight("say " + urgent)
				s.answers[later], s.typed = 2, append(s.typed, "say "+later)
				s.until("both texts wait", func() bool { return len(s.record("work").Prompts) == 2 })
				s.tap(s.hear(s.say("/queue"), "2 messages in the queue"), "2")
				s.tapAside(s.hear(s.mark, "Message 2 of 2"), "Interrupt and send")
			},
			dead: both(dead, func(s *stage) {
				s.t.Helper()
				r := s.record("work")
				require.Len(s.t, r.Prompts, 2)
				first, err := os.ReadFile(filepath.Join(s.state, "inbox", r.Prompts[0]+".json"))
				require.NoError(s.t, err)
				assert.Contains(s.t, string(first), urgent)
			}),
			after: func(s *stage) {
				s.t.Helper()
				s.makes(point)
				s.answered(urgent)
				s.answered(later)
				assert.Zero(s.t, s.heard("not certain that"), "nobody is asked")
			}}
	}
	works := func(s *stage) {
		s.t.Helper()
		assert.False(s.t, s.quietAgents(), "nothing was interrupted")
	}
	rests := func(s *stage) {
		s.t.Helper()
		s.until("the turn is over", s.quietAgents)
	}
	return life{name: "interrupt and send", setup: working, rows: []crash{
		row("queue-ordered", "the order is changed, Esc not pressed", "types both after the turn", works),
		row("turn-interrupted", "Esc is pressed, nothing typed", "types both", rests),
	}}
}

// quietInbox reports whether all typed texts have reached the agent.
func (s *stage) quietInbox() bool {
	return !slices.ContainsFunc(s.records(), func(r session.Record) bool { return len(r.Prompts) > 0 })
}

// stoppingTexts kills the bot while /stop takes texts out of the queue, and while a person sends
// them again.
func stoppingTexts() life {
	wait := func(s *stage, texts ...string) {
		s.t.Helper()
		s.prompt("slow 3600")
		s.until("it works", func() bool { return s.record("work").Phase == "working" && s.quietInbox() })
		for i, text := range texts {
			s.inFlight("say " + text)
			s.until("it waits", func() bool { return len(s.record("work").Prompts) == i+1 })
		}
	}
	const kept, back, sent, other = "kept at a stop", "back at a stop", "sent at a stop", "other at a stop"
	arrives := func(text string) func(s *stage) {
		return func(s *stage) {
			s.t.Helper()
			s.until("the text is sent", func() bool {
				for _, m := range s.api.Messages(s.chat()) {
					if b, ok := m.Find("Send"); ok && strings.Contains(m.Text, text) {
						_, _ = s.person.Tap(s.chat(), m.ID, b.Data) // another message may have taken its place
					}
				}
				return slices.Contains(s.received(), "say "+text)
			})
			s.answered(text)
		}
	}
	return life{name: "texts of a stop", setup: working, rows: []crash{
		{step: "stop", point: "text-listed", when: "the message asks about a text that is still queued",
			disk: "the text, `held`; the record lists it", fresh: "gets /stop again; one message asks about the text",
			also: "it arrives once",
			do: func(s *stage) {
				wait(s, kept)
				s.say("/stop")
			},
			dead: func(s *stage) {
				s.t.Helper()
				assert.Len(s.t, s.record("work").Prompts, 1)
				assert.Contains(s.t, s.inboxStates(), "held")
			},
			after: arrives(kept)},
		{step: "stop", point: "prompt-taken-back", when: "the engine has given the text back, the chat has not noted it",
			disk: "a tombstone of the engine; the text, `held`", fresh: "notes that the text is asked about",
			also: "it arrives once",
			do: func(s *stage) {
				wait(s, back)
				s.say("/stop")
			},
			dead: func(s *stage) {
				s.t.Helper()
				assert.Contains(s.t, s.inboxStates(), "held")
				assert.Empty(s.t, s.fieldOfFiles("prompts", `"state":"`))
			},
			after: arrives(back)},
		{step: "stop", point: "text-next", when: "[Send all]: one of two texts is queued",
			disk: "the first text, queued or typed; the second, `asked`", fresh: "continues with the first; the message asks about the second",
			also: "each arrives once",
			do: func(s *stage) {
				wait(s, sent, other)
				s.say("/stop")
				s.tapAside(s.find("the list of both", func(m botapi.Message) bool {
					return m.ID > s.mark && strings.Contains(m.Text, "work is interrupted") && strings.Contains(m.Text, "2. say "+other)
				}), "Send all")
			},
			dead: func(s *stage) {
				s.t.Helper()
				assert.Contains(s.t, s.inboxStates(), "asked")
			},
			after: func(s *stage) {
				s.t.Helper()
				s.answered(sent)
				s.tap(s.hear(s.mark, "was still queued at /stop"), "Send")
				s.answered(other)
			}},
	}}
}
