package telegram

import (
	"context"
	"net"
	"syscall"
	"time"
)

const (
	dialTimeout = 30 * time.Second
	// dialAgain is how long an attempt to connect is alone. While the network is away the kernel
	// repeats an attempt after longer and longer pauses, up to 16 s, and so do name servers; a new
	// attempt succeeds at once when the network is back.
	dialAgain = 3 * time.Second
	// silence is how long a connection may confirm nothing of what was sent. Without this limit the
	// kernel repeats for a quarter of an hour, after longer and longer pauses, and a call that was
	// under way when the network went away waits for its own timeout although the network is back.
	silence = 10 * time.Second
)

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialOnce connects. It uses a separate resolver, because attempts that share one wait for the same
// question to a name server.
func dialOnce(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, Resolver: &net.Resolver{}, Control: limitSilence(silence),
		// A connection whose other end is gone is noticed after 20 to 30 seconds.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}}
	return d.DialContext(ctx, network, address)
}

// limitSilence returns a control function of a dialer: its connections end when the other end has
// confirmed nothing of what was sent for a time.
func limitSilence(after time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		// a kernel without the option has its own limit
		return c.Control(func(fd uintptr) { _ = setSilence(int(fd), after) })
	}
}

// persistent returns a dialFunc that begins another attempt every dialAgain while the earlier ones
// continue. The first connection is the result; an error is the result only if no attempt is under
// way.
func persistent(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		type result struct {
			conn net.Conn
			err  error
		}
		results, underWay := make(chan result), 0
		attempt := func() {
			underWay++
			go func() {
				conn, err := dial(ctx, network, address)
				results <- result{conn, err}
			}()
		}
		defer func() {
			cancel()
			go func() { // an attempt may have connected
				for ; underWay > 0; underWay-- {
					if late := <-results; late.conn != nil {
						_ = late.conn.Close()
					}
				}
			}()
		}()
		again := time.NewTicker(dialAgain)
		defer again.Stop()
		for attempt(); ; {
			select {
			case <-again.C:
				attempt()
			case r := <-results:
				underWay--
				if r.err == nil {
					return r.conn, nil
				}
				if underWay == 0 {
					return nil, r.err
				}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}
