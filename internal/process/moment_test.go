package process

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP2_StartedAfter(t *testing.T) {
	at := func(tick uint64) Moment { return Moment{Boot: "boot", Tick: tick} }
	p := Identity{PID: 9, Start: 100, Boot: "boot"}
	tests := []struct {
		name string
		id   Identity
		m    Moment
		want Answer
	}{
		{"before", p, at(101), No},
		{"long before", p, at(math.MaxUint64), No},
		{"in the same tick", p, at(100), Yes},
		{"after", p, at(99), Yes},
		{"another boot", p, Moment{Boot: "earlier", Tick: 1 << 40}, Yes},
		{"no moment", p, Moment{}, Maybe},
		{"a moment without a boot", p, Moment{Tick: 101}, Maybe},
		{"a moment without a tick", p, Moment{Boot: "boot"}, Maybe},
		{"an earlier boot without a tick", p, Moment{Boot: "earlier"}, Maybe},
		{"no start", Identity{PID: 9, Boot: "boot"}, at(101), Maybe},
		{"no boot", Identity{PID: 9, Start: 100}, at(101), Maybe},
		{"no pid", Identity{Start: 100, Boot: "boot"}, at(101), Maybe},
		{"nothing", Identity{}, Moment{}, Maybe},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, test.id.StartedAfter(test.m))
		})
	}
}

func TestAge(t *testing.T) {
	p := Identity{PID: 9, Start: 100, Boot: "boot"}
	tests := []struct {
		name string
		id   Identity
		m    Moment
		want time.Duration
		ok   bool
	}{
		{"some ticks", p, Moment{"boot", 103}, 3 * tick, true},
		{"just started", p, Moment{"boot", 100}, 0, true},
		{"rounding", p, Moment{"boot", 99}, 0, true},
		{"after the moment", p, Moment{"boot", 98}, 0, false},
		{"another boot", p, Moment{"earlier", 103}, 0, false},
		{"no moment", p, Moment{}, 0, false},
		{"no start", Identity{PID: 9, Boot: "boot"}, Moment{"boot", 103}, 0, false},
		{"longer than can be told", p, Moment{"boot", math.MaxUint64}, 0, false},
		{"the largest start", Identity{9, math.MaxUint64, "boot"}, Moment{"boot", math.MaxUint64}, 0, true},
		{"a year", p, Moment{"boot", 100 + uint64(365*24*time.Hour/tick)}, 365 * 24 * time.Hour, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			age, ok := test.id.Age(test.m)
			assert.Equal(t, test.ok, ok)
			assert.Equal(t, test.want, age)
		})
	}
}

func TestMoment_onDisk(t *testing.T) {
	type record struct {
		Ended Moment `json:"ended,omitzero"`
	}
	data, err := json.Marshal(record{Moment{"b", 7}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"ended":{"boot":"b","tick":7}}`, string(data))
	var back record
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, Moment{"b", 7}, back.Ended)
	data, err = json.Marshal(record{})
	require.NoError(t, err)
	assert.JSONEq(t, `{}`, string(data))

	assert.False(t, Moment{Boot: "b"}.Valid())
	assert.False(t, Moment{Tick: 7}.Valid())
	assert.True(t, Moment{"b", 7}.Valid())
}

func TestTable_Moment(t *testing.T) {
	k := newFake()
	table, err := k.tableOf()
	require.NoError(t, err)
	k.clock = 4711
	m, err := table.Moment()
	require.NoError(t, err)
	assert.Equal(t, Moment{"boot", 4711}, m)
	k.clockErr = errTest
	m, err = table.Moment()
	assert.ErrorIs(t, err, errTest)
	assert.Equal(t, Moment{}, m, "no half moment")
}
