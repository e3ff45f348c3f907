package link

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"ccbot/internal/pause"
)

func publish(ctx context.Context, js jetstream.JetStream, subject, id string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if _, err := js.Publish(ctx, subject, data, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0)); err != nil {
		return fmt.Errorf("give the hub a message: %w", err)
	}
	return nil
}

// consume handles the messages of a consumer until ctx ends, and finds the consumer again after the
// hub has lost it.
func consume(ctx context.Context, js jetstream.JetStream, stream, name string, handle func(jetstream.Msg)) error {
	for attempts := 0; ; attempts++ {
		if read(ctx, js, stream, name, handle) {
			attempts = 0
		}
		if err := pause.For(ctx, backoff(attempts)); err != nil {
			return err
		}
	}
}

// read handles messages until the consumer or its connection is lost, and reports whether it
// handled any. The end of the consumer is no error: the hub may lose its disk at any time.
func read(ctx context.Context, js jetstream.JetStream, stream, name string, handle func(jetstream.Msg)) (handled bool) {
	find, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	consumer, err := js.Consumer(find, stream, name)
	if err != nil {
		return false
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(64), jetstream.PullExpiry(requestTimeout))
	if err != nil {
		return false
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil { // also if no heartbeat comes: the hub is away, or has lost the consumer
			return handled
		}
		handle(m)
		handled = true
		_ = m.Ack() // without it the hub delivers the message again, and its receiver knows it
	}
}
