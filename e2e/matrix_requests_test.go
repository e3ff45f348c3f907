package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// asking kills the bot during a permission request: the terminal shows the dialog, and the hook
// waits for the bot.
func asking() []life {
	allow := func(command string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			m := s.newestAsk(command)
			s.tap(m, "Allow")
			s.becomes(m, "Allowed in the chat", true)
			s.pretended(command)
		}
	}
	waits := func(command string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			s.asked = s.hear(s.prompt("bash "+command), "wants to run a command")
		}
	}
	stands := func(s *stage) {
		s.t.Helper()
		s.until("the dialog stands", func() bool { return s.screenHas("work", "Do you want to proceed?") })
	}
	unshown := func(command string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			stands(s)
			assert.NotEmpty(s.t, s.card(command))
			assert.NotRegexp(s.t, `"message": *[1-9]`, s.shownAs(command), "no message is known")
		}
	}
	decided := func(command, word string) func(*stage) {
		return func(s *stage) {
			s.t.Helper()
			stands(s)
			assert.Contains(s.t, s.card(command), word)
		}
	}
	shown := func(s *stage) bool {
		return s.waits("permission prompt") && (s.noted(s.asked) || s.noted(s.follow(s.asked)))
	}
	const card, shownCard = "the request without a message", "the request with its message"
	return []life{{name: "permission", setup: working, rows: []crash{
		{step: "permission", point: "ask-saved", when: "not shown yet", disk: card, fresh: "shows it; the hook connects again",
			do: func(s *stage) { s.prompt("bash touch saved") }, dead: unshown("touch saved"), after: allow("touch saved")},
		{step: "permission", point: "card-sent", when: "shown, not recorded", disk: card, fresh: "shows it again; the newer message decides",
			also: "at most two messages",
			do:   func(s *stage) { s.prompt("bash touch sent") }, posts: 1, dead: unshown("touch sent"),
			after: both(allow("touch sent"), func(s *stage) { assert.LessOrEqual(s.t, s.heard("touch sent\n"), 2) })},
		{step: "permission", when: "it waits, and is answered later", disk: shownCard, fresh: "keeps its message",
			also: "one message",
			do:   waits("touch later"), until: shown, dead: stands,
			after: func(s *stage) {
				s.tap(s.asked, "Allow")
				s.becomes(s.asked, "Allowed in the chat", true)
				s.pretended("touch later")
				assert.Equal(s.t, 1, s.heard("touch later\n"))
			}},
		{step: "permission", when: "it waits, and is allowed in the terminal meanwhile", disk: shownCard, fresh: "shows that decision in its message",
			also: "one message",
			do:   waits("touch desk"), until: shown, dead: func(s *stage) { stands(s); s.answerInTerminal("work", "1") },
			after: func(s *stage) {
				s.becomes(s.asked, "Allowed in the terminal", true)
				assert.Equal(s.t, 1, s.heard("touch desk\n"))
			}},
		{step: "permission", when: "it waits, and is interrupted in the terminal meanwhile", disk: shownCard, fresh: "shows the interrupt in its message",
			also: "one message",
			do:   waits("touch never"), until: shown, dead: func(s *stage) { stands(s); s.answerInTerminal("work", "Escape") },
			after: func(s *stage) {
				s.becomes(s.asked, "Interrupted", true)
				assert.Equal(s.t, 1, s.heard("touch never\n"))
			}},
	}}, {name: "question comes below", setup: working, rows: []crash{
		{step: "permission", point: "card-again", when: "its message must move below, not posted yet", disk: "the request with its earlier message", fresh: "posts it below; the earlier one loses its buttons",
			also: "one message decides",
			do: func(s *stage) {
				waits("touch again")(s)
				s.hear(s.say("/list"), "work")
				s.drained()
				s.say("/waiting")
			},
			posts: 2, // at the point the cards are locked: an edit of the list has to wait
			dead:  stands,
			after: both(func(s *stage) {
				s.until("the earlier message has no buttons", func() bool {
					return !slices.ContainsFunc(s.api.Messages(s.chat()), func(m botapi.Message) bool {
						_, ok := m.Find("Allow")
						return m.ID == s.asked.ID && ok
					})
				})
			}, allow("touch again"))},
	}}, {name: "permission with words", setup: working, rows: []crash{
		{step: "permission", point: "ask-heard", when: "a reason was written, the hook does not have it", disk: "the request with the decision and the reason", fresh: "the hook gets the decision; the text that comes again is recognised",
			also: "the agent gets the reason once, not typed",
			do: func(s *stage) {
				waits("rm heard")(s)
				s.tap(s.asked, "Deny with reason")
				s.becomes(s.asked, "your next message", false)
				s.say("use the bin for heard")
			},
			dead: decided("rm heard", "use the bin for heard"),
			after: func(s *stage) {
				s.becomes(s.asked, "Denied in the chat", true)
				s.hear(s.asked.ID, "They wrote: use the bin for heard")
			}},
		{step: "permission", point: "ask-denied-with", when: "a waiting text became the reason, still queued", disk: "the request with the decision; the queued text", fresh: "the hook gets the decision; the text leaves the queue",
			also: "the agent gets the text once, not typed",
			do: func(s *stage) {
				waits("make deploy")(s)
				s.tapAside(s.hear(s.say("not on a Friday"), "work is waiting for your answer: permission for Bash"), "Deny with this text")
			},
			dead: both(decided("make deploy", "not on a Friday"), func(s *stage) { assert.Contains(s.t, s.inboxStates(), "held") }),
			after: func(s *stage) {
				s.becomes(s.asked, "Denied in the chat", true)
				s.hear(s.asked.ID, "not on a Friday")
			}},
	}}}
}

// newestAsk is the newest message of the request to run a command.
func (s *stage) newestAsk(command string) (newest botapi.Message) {
	s.t.Helper()
	s.until("the request is shown", func() bool {
		n := 0
		for _, m := range s.api.Messages(s.chat()) {
			if _, ok := m.Find("Allow"); m.FromBot && ok && containsFold(m.Text, command) {
				newest = m
				n++
			}
		}
		return n > 0 && s.noted(newest)
	})
	return newest
}

// pretended waits for the result of a command.
func (s *stage) pretended(command string) {
	s.t.Helper()
	s.hear(s.mark, "(pretended: "+command+")")
}

// tapAside taps a button whose handler dies, so the tap is never answered.
func (s *stage) tapAside(m botapi.Message, label string) {
	s.t.Helper()
	b, ok := m.Find(label)
	require.True(s.t, ok, "message %q has no button %q", m.Text, label)
	s.aside.Go(func() { _, _ = s.person.Tap(s.chat(), m.ID, b.Data) })
}

// card is the file of the request to run a command.
func (s *stage) card(command string) string {
	s.t.Helper()
	request := s.fileAbout("asks", command)
	require.NotEmpty(s.t, request, "there is no request to run %s", command)
	return request
}

// shownAs returns the file of the message with the request; empty: none.
func (s *stage) shownAs(command string) string {
	s.t.Helper()
	return s.fileAbout("cards", command)
}

// fileAbout is the file of a folder that names a command.
func (s *stage) fileAbout(folder, command string) string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.state, folder, "*.json"))
	require.NoError(s.t, err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(s.t, err)
		if strings.Contains(string(data), command) {
			return string(data)
		}
	}
	return ""
}
