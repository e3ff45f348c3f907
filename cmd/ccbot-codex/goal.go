package main

import (
	"context"
	"net"
	"time"

	"ccbot/agent/codex/greeting"
	"ccbot/internal/jsonrpc"
)

// pauseTimeout is much longer than the server needs to pause a goal.
const pauseTimeout = 5 * time.Second

// pauseGoal pauses the goal of a conversation that is about to be resumed: Codex would begin a turn for
// it by itself, as soon as it has the conversation. A server that knows no goals has none to pause.
func pauseGoal(ctx context.Context, socket, conversation string) error {
	ctx, done := context.WithTimeout(ctx, pauseTimeout)
	defer done()
	raw, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	c, err := jsonrpc.Open(ctx, raw)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := greeting.Greet(ctx, c); err != nil {
		return err
	}
	var found struct {
		Goal struct {
			Status string `json:"status"`
		} `json:"goal"`
	}
	if err := c.Call(ctx, "thread/goal/get", map[string]string{"threadId": conversation}, &found); err != nil || found.Goal.Status != "active" {
		return err
	}
	return c.Call(ctx, "thread/goal/set", map[string]string{"threadId": conversation, "status": "paused", "origin": "user"}, nil)
}
