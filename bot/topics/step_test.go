package topics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/bot/conversation"
	"ccbot/port"
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
	live, over, between, back := in(port.StateRunning), in(port.StateArchived), in(port.StateCleanupFailed), in(port.StateRestoring)
	for _, tt := range []struct {
		name string
		was  conversation.Topic
		r    port.Session
		want conversation.Topic
	}{
		{"open", was(false), live, was(false)},
		{"archived", was(false), over, was(true)},
		{"resumed, and not ready yet", was(true), back, was(true)},
		{"resumed and ready", was(true), live, was(false)},
		{"being archived", was(false), in(port.StateStopping), was(false)},
		{"its end is not certain", was(false), between, was(false)},
		{"called otherwise", was(true), port.Session{Name: "web", State: port.StateArchived}, conversation.Topic{For: "x", Name: "web", Ended: true}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, step(tt.was, tt.r)) })
	}
}

// A second step changes nothing, so each change is sent to Telegram once.
func TestStepIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := conversation.Topic{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "topic"), Ended: rapid.Bool().Draw(t, "icon")}
		r := port.Session{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session"),
			State: rapid.SampledFrom([]port.State{port.StateRunning, port.StateCleanupFailed, port.StateArchived}).Draw(t, "state")}
		now := step(was, r)
		assert.Equal(t, now, step(now, r))
		assert.Equal(t, r.Name, now.Name)
	})
}
