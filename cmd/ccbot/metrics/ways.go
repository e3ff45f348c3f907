package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/port"
	"ccbot/port/news"
)

// waySpans are the limits of how long messages take, in seconds: a prompt may wait long for the end
// of a turn.
var waySpans = []float64{0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200}

// measureWays makes the metrics of messages on their way in and out.
func (m *Metrics) measureWays() {
	m.in = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "ccbot_prompt_delivery_seconds", Buckets: waySpans,
		Help: "Time from a message's arrival until the agent is proven to have it, including the wait for a running turn."})
	m.out = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "ccbot_answer_delivery_seconds", Buckets: waySpans,
		Help: "From the time of an answer's line in the transcript until Telegram has the answer."})
	m.asked = prometheus.NewCounter(prometheus.CounterOpts{Name: "ccbot_prompts_asked_total",
		Help: "Typed prompts without a proof of arrival: a person was asked."})
}

// Delivered notes that Telegram has a message whose line in a transcript has that time; zero: it
// comes from none.
func (m *Metrics) Delivered(written time.Time) {
	if !written.IsZero() {
		m.out.Observe(max(time.Since(written), 0).Seconds())
	}
}

// News counts the news of prompts that the chat has received.
type News struct {
	Chat interface {
		SessionNews(ctx context.Context, s port.Session, n news.News) error
	}
	Inbox   *inbox.Store
	Metrics *Metrics
}

// SessionNews passes one piece of news on, and counts it once the chat has it.
func (c News) SessionNews(ctx context.Context, s port.Session, n news.News) error {
	var received time.Time
	if delivered, ok := n.(news.Delivered); ok {
		if e, err := c.Inbox.Load(delivered.Key); err == nil {
			received = e.Received
		}
	}
	if err := c.Chat.SessionNews(ctx, s, n); err != nil {
		return err
	}
	if !received.IsZero() {
		c.Metrics.in.Observe(max(time.Since(received), 0).Seconds())
	}
	if _, ok := n.(news.Unproven); ok {
		c.Metrics.asked.Inc()
	}
	return nil
}

// Measure adds the measurements of each reading; memory returns the agents' memory, in bytes.
func (m *Metrics) Measure(in *inbox.Store, out *outbox.Outbox, pulse *inbox.Pulse, memory func() uint64) {
	for _, g := range []struct {
		name, help string
		now        func() float64
	}{
		{"ccbot_inbox_messages", "Messages that are accepted and not finished.", func() float64 {
			entries, _ := in.List()
			return float64(len(entries))
		}},
		{"ccbot_outbox_messages", "Messages and edits that Telegram does not have yet.", func() float64 { return float64(outbox.GoingOf(out).Waiting) }},
		{"ccbot_telegram_wait_seconds", "Rest of the longest wait that Telegram has asked for.", func() float64 {
			return max(outbox.GoingOf(out).Wait, 0).Seconds()
		}},
		{"ccbot_telegram_poll_age_seconds", "Since Telegram last answered a poll for messages.", func() float64 {
			ago, _, _ := pulse.State(time.Now())
			return ago.Seconds()
		}},
		{"ccbot_agents_memory_bytes", "Resident memory of the agents and of what they have started.", func() float64 { return float64(memory()) }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.now))
	}
	for _, c := range []struct {
		name, help string
		of         func(outbox.Stats) int
	}{
		{"ccbot_telegram_waits_total", "Times that Telegram has asked a chat to wait.", func(g outbox.Stats) int { return g.Waits }},
		{"ccbot_telegram_errors_total", "Calls of the Bot API that failed or were refused.", func(g outbox.Stats) int { return g.Errors }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: c.name, Help: c.help},
			func() float64 { return float64(c.of(outbox.GoingOf(out))) }))
	}
}
