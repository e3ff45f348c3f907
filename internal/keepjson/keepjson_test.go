package keepjson

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type sample struct {
	Version int    `json:"version"`
	Name    string `json:"name,omitempty"`
}

func TestUnknownFieldsSurviveARewrite(t *testing.T) {
	var v sample
	unknown, err := Unmarshal([]byte(`{"version":1,"name":"a","later":{"x":[1,2]},"also":null}`), 1, &v)
	require.NoError(t, err)
	v.Name = ""
	data, err := Marshal(v, unknown)
	require.NoError(t, err)
	assert.JSONEq(t, `{"version":1,"later":{"x":[1,2]},"also":null}`, string(data), "a known field that was emptied is not brought back")
}

func TestOtherVersionIsNotRead(t *testing.T) {
	for _, old := range []string{`{"version":1,"name":"a"}`, `{"name":"a"}`, `{"version":3,"name":5}`} {
		var v sample
		_, err := Unmarshal([]byte(old), 2, &v)
		require.ErrorContains(t, err, "this ccbot reads version 2")
		assert.Zero(t, v)
	}
}

func TestBadInput(t *testing.T) {
	for _, bad := range []string{"", "null", "[]", "{", `{"version":"x"}`, "\x00"} {
		var v sample
		_, err := Unmarshal([]byte(bad), 1, &v)
		assert.Error(t, err, "%q", bad)
	}
}
