package topics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/bot/conversation"
	"ccbot/port"
	"ccbot/port/news"
)

func TestDecidePlaceOfSession(t *testing.T) {
	for _, tt := range []struct {
		name string
		facts
		want placement
	}{
		{"a plain chat", facts{}, here},
		{"the main lane of a forum", facts{forum: true}, fresh},
		{"the topic of another session", facts{forum: true}, fresh},
		{"a topic that is free", facts{forum: true, free: true}, here},
		{"a session that has a topic", facts{forum: true, has: true}, own},
		{"a session that has a topic, in a free one", facts{forum: true, has: true, free: true}, own},
		{"a session that has a topic, where nobody knows of topics", facts{has: true}, own},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.decide()) })
	}
}

func TestStepOfTopic(t *testing.T) {
	was := func(over bool) conversation.Topic { return conversation.Topic{For: "x", Name: "api", Ended: over} }
	in := func(s port.State) port.Session { return port.Session{Name: "api", State: s} }
	live, over, between := in(port.StateRunning), in(port.StateArchived), in(port.StateCleanupFailed)
	for _, tt := range []struct {
		name string
		was  conversation.Topic
		r    port.Session
		said end
		want conversation.Topic
	}{
		{"open", was(false), live, unsaid, was(false)},
		{"archived before this run", was(false), over, unsaid, was(true)},
		{"archived, and the record does not say it yet", was(false), live, ended, was(true)},
		{"resumed, and not ready yet", was(true), live, ended, was(true)},
		{"resumed and ready", was(true), live, returned, was(false)},
		{"resumed before this run", was(true), live, unsaid, was(false)},
		{"its end is not certain, before this run", was(false), between, unsaid, was(false)},
		{"called otherwise", was(true), port.Session{Name: "web", State: port.StateArchived}, unsaid, conversation.Topic{For: "x", Name: "web", Ended: true}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, step(tt.was, tt.r, tt.said)) })
	}
}

// A second step changes nothing, so each change is sent to Telegram once.
func TestStepIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := conversation.Topic{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "topic"), Ended: rapid.Bool().Draw(t, "icon")}
		r := port.Session{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"),
			State: rapid.SampledFrom([]port.State{port.StateRunning, port.StateCleanupFailed, port.StateArchived}).Draw(t, "state")}
		said := end(rapid.IntRange(0, 2).Draw(t, "said"))
		now := step(was, r, said)
		assert.Equal(t, now, step(now, r, said))
		assert.Equal(t, r.Name, now.Name)
	})
}

func TestEndInNews(t *testing.T) {
	for _, n := range []news.News{news.Stopped{}, news.Ended{}, news.Failed{}, news.Lost{}} {
		assert.Equal(t, ended, endIn(n), "%T", n)
	}
	assert.Equal(t, returned, endIn(news.Ready{}))
	assert.Equal(t, unsaid, endIn(news.Typed{}))
}
