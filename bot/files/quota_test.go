package files

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
)

func TestQuotaIsPerSession(t *testing.T) {
	q, now := quota{}, time.Unix(1000, 0)
	first, second := uuid.New(), uuid.New()
	for range maxSends {
		assert.Zero(t, q.take(first, now))
	}
	assert.Equal(t, quotaInterval, q.take(first, now))
	assert.Zero(t, q.take(second, now))
	assert.Equal(t, time.Second, q.take(first, now.Add(quotaInterval-time.Second)))
	assert.Zero(t, q.take(first, now.Add(quotaInterval)))
	assert.Len(t, q.sent, 1, "a session that has sent nothing for a minute is forgotten")
}
