package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ccbot/internal/pause"
)

func publish(ctx context.Context, js jetstream.JetStream, subject, id string, data []byte) error {
	if !js.Conn().IsConnected() {
		return fmt.Errorf("give the hub a message: %w", nats.ErrDisconnected) // the client would keep it
	}
	ctx, _, stop := until(ctx, js.Conn(), nats.RECONNECTING) // the answer would be lost
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := js.Publish(ctx, subject, data, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0)); err != nil {
		return fmt.Errorf("give the hub a message: %w", err)
	}
	return nil
}

// consume handles the messages of a consumer until ctx ends, and finds the consumer again after the
// hub has lost it. lost is called if the hub has no such consumer. While held the messages are left to another start
// of the program, which reads the same consumer.
func consume(ctx context.Context, js jetstream.JetStream, stream, name string, held func() bool, handle func(jetstream.Msg), lost func()) error {
	for attempts := 0; ; attempts++ {
		if held() {
			attempts = 1
		} else if read(ctx, js, stream, name, held, handle, lost) {
			attempts = 0
		}
		if err := pause.For(ctx, backoff(attempts)); err != nil {
			return err
		}
	}
}

// read handles messages until the consumer is lost or the connection was made again, and reports
// whether the next attempt may come at once.
func read(ctx context.Context, js jetstream.JetStream, stream, name string, held func() bool, handle func(jetstream.Msg), lost func()) (soon bool) {
	ctx, again, stop := until(ctx, js.Conn(), nats.CONNECTED)
	defer stop()
	find, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	consumer, err := js.Consumer(find, stream, name)
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		lost()
	}
	if err != nil {
		return again()
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(64), jetstream.PullExpiry(requestTimeout))
	if err != nil {
		return again()
	}
	defer messages.Stop()
	for handled := false; ; handled = true {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil { // also if no heartbeat comes: the hub is away, or has lost the consumer
			return handled || again()
		}
		if held() {
			_ = m.Nak() // otherwise it comes later
			return true
		}
		handle(m)
		_ = m.Ack() // without it the hub delivers the message again, and its receiver knows it
	}
}

// until returns a context that also ends when the connection changes to a status, a function that
// reports whether the context has ended, and a function that ends the wait.
func until(parent context.Context, conn *nats.Conn, change nats.Status) (ctx context.Context, ended func() bool, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	status := conn.StatusChanged(change)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-status:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() bool { return ctx.Err() != nil }, func() {
		cancel()
		<-done
		conn.RemoveStatusListener(status)
	}
}
