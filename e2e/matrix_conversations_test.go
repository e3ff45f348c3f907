package e2e

import (
	"strconv"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moving kills the bot while a group becomes a supergroup.
func moving() life {
	inGroup := func(s *stage, chat int64, said string) {
		s.t.Helper()
		s.typed = append(s.typed, "say "+said)
		s.person.Send(chat, "say "+said)
		s.hearIn(chat, said)
	}
	return life{name: "a group that moves", env: []string{"ALLOWED_CHATS=" + strconv.FormatInt(group, 10)},
		setup: func(s *stage) {
			s.t.Helper()
			s.api.Group(group, "team", false)
			s.person.Send(group, "/new work "+s.dir)
			s.hearIn(group, "work is ready")
			inGroup(s, group, "hello")
		},
		rows: []crash{{step: "group", point: "move-told", when: "reported in the new chat, not recorded",
			disk: "the move, and the message", fresh: "reports it again",
			also: "at most twice; the old chat gets nothing",
			do:   func(s *stage) { require.NoError(s.t, s.person.Migrate(group, supergroup)) },
			after: func(s *stage) {
				s.t.Helper()
				inGroup(s, supergroup, "hello from the new chat")
				assert.LessOrEqual(s.t, s.count(supergroup, "ALLOWED_CHATS"), 2)
			}}}}
}

// opening kills the bot while it opens a topic for a session.
func opening() life {
	const forum = supergroup - 1
	opens := func(point, name, when, disk, fresh string, topics int) crash {
		return crash{step: "topic", point: point, when: when, disk: disk, fresh: fresh,
			also: "one session, shown in its topic",
			do:   func(s *stage) { s.person.Send(forum, "/new "+name+" "+s.dir) },
			after: func(s *stage) {
				s.t.Helper()
				s.until(name+" is ready in its topic", func() bool {
					for _, m := range s.api.Messages(forum) {
						if strings.Contains(m.Body(), name+" is ready") {
							return m.Thread == s.record(name).Conversation.ThreadID
						}
					}
					return false
				})
				made := 0
				for _, m := range s.api.Messages(forum) {
					if m.TopicCreated != nil && m.TopicCreated.Name == name {
						made++
					}
				}
				assert.LessOrEqual(s.t, made, topics)
				s.typed = append(s.typed, "say hello "+name)
				s.person.SendIn(forum, s.record(name).Conversation.ThreadID, "say hello "+name)
				s.hearIn(forum, "hello "+name)
			}}
	}
	return life{name: "topics", env: []string{"ALLOWED_CHATS=" + strconv.FormatInt(forum, 10)},
		setup: func(s *stage) { s.t.Helper(); s.api.Group(forum, "team", true) },
		rows: []crash{
			opens("topic-made", "one", "the topic exists, not recorded", "the message `/new`",
				"opens another topic for the session; the first stays empty", 2),
			opens("topic-noted", "two", "the topic is recorded, the session not started", "the message `/new`; the topic and its purpose",
				"starts the session in that topic", 1),
		}}
}
