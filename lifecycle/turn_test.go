package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/agent/history"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
)

func TestSameWork(t *testing.T) {
	p := history.Progress{Path: "a", Offset: 1, Turns: 1, LastTurnAt: viewtest.Noon, Model: "m", PermissionMode: "plan", Tasks: []port.Task{{ID: "1", Text: "one", Status: "pending"}}}
	tests := []struct {
		name   string
		change func(p *history.Progress)
		same   bool
	}{
		{"nothing", func(*history.Progress) {}, true},
		{"read further", func(p *history.Progress) { p.Offset++ }, true},
		{"another zone", func(p *history.Progress) { p.LastTurnAt = p.LastTurnAt.In(time.FixedZone("", 3600)) }, true},
		{"another conversation", func(p *history.Progress) { p.Path = "b" }, false},
		{"another beginning", func(p *history.Progress) { p.From++ }, false},
		{"a turn", func(p *history.Progress) { p.Turns++ }, false},
		{"its end", func(p *history.Progress) { p.LastTurnAt = p.LastTurnAt.Add(1) }, false},
		{"model", func(p *history.Progress) { p.Model = "n" }, false},
		{"the model asked for", func(p *history.Progress) { p.RequestedModel = "m[1m]" }, false},
		{"mode", func(p *history.Progress) { p.PermissionMode = "" }, false},
		{"tokens", func(p *history.Progress) { p.Tokens.Output++ }, false},
		{"a task", func(p *history.Progress) { p.Tasks = []port.Task{{ID: "1", Text: "one", Status: "completed"}} }, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			q := p
			tc.change(&q)
			assert.Equal(t, tc.same, sameWork(p, q))
		})
	}
}
