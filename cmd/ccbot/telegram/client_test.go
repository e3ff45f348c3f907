package telegram

import (
	"fmt"
	"net"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
)

// TestConnectWaitsForRetryAfter: asking again too early makes it longer.
func TestConnectWaitsForRetryAfter(t *testing.T) {
	limited := fmt.Errorf("x: %w", &tgbot.TooManyRequestsError{Message: "Too Many Requests", RetryAfter: 300})
	for _, tt := range []struct {
		name string
		err  error
		wait time.Duration
		want time.Duration
	}{
		{"nobody is in reach", net.ErrClosed, time.Second, time.Second},
		{"told to wait", limited, time.Second, 5 * time.Minute},
		{"told to wait less", &tgbot.TooManyRequestsError{RetryAfter: 3}, 30 * time.Second, 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, waitAfter(tt.err, tt.wait)) })
	}
}
