package main

import (
	"math"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"ccbot/recovery"
)

// ageMetric are the ages of the open sessions at the last recovery, as a histogram
// that is made anew each time. Their sum is not known.
type ageMetric struct {
	desc *prometheus.Desc

	mu      sync.Mutex
	buckets map[float64]uint64 // up to so many seconds, each with those before
	count   uint64
}

func newAgeMetric() *ageMetric {
	return &ageMetric{desc: prometheus.NewDesc("ccbot_recovery_session_age_seconds",
		"Time since the last sign of life of the open sessions, at the last recovery.", nil, nil)}
}

// set takes the buckets of a report, each without those before, the last without a
// bound.
func (m *ageMetric) set(ages []recovery.AgeBucket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.buckets, m.count = make(map[float64]uint64), 0
	for _, a := range ages {
		m.count += uint64(max(a.Count, 0))
		if a.UpTo > 0 {
			m.buckets[a.UpTo.Seconds()] = m.count
		}
	}
}

// Describe is of prometheus.Collector.
func (m *ageMetric) Describe(descs chan<- *prometheus.Desc) { descs <- m.desc }

// Collect is of prometheus.Collector.
func (m *ageMetric) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out <- prometheus.MustNewConstHistogram(m.desc, m.count, math.NaN(), m.buckets)
}
