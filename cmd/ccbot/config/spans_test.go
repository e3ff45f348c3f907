package config

import (
	"bytes"
	"reflect"
	"strconv"
	"testing"
	"time"

	"ccbot/internal/sourcetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spans are the variables that hold a time span.
func spans() (names []string) {
	for f := range fields() {
		if f.Type == reflect.TypeFor[time.Duration]() {
			names = append(names, f.Tag.Get("env"))
		}
	}
	return names
}

// TestDurationsHaveOneSource holds that a time span has its variable, its default and
// its parser in one place.
func TestDurationsHaveOneSource(t *testing.T) {
	names := spans()
	require.Contains(t, names, "ARCHIVE_PURGE_AFTER")
	forbidden := map[string][]string{ // allowed in the file before the colon only
		"cmd/ccbot/config/config.go":    {"envDefault:", "`env:"},
		"internal/timespan/timespan.go": {"ParseDuration", "spanForm", "time.Duration(s.", "time.Duration(c.", "* time.Hour + "},
	}
	const config = "cmd/ccbot/config/config.go"
	for _, name := range names {
		forbidden[config] = append(forbidden[config], strconv.Quote(name))
	}
	seen := make(map[string]bool)
	for path, text := range sourcetest.OfProgram(t) {
		for place, words := range forbidden {
			for _, word := range words {
				if found := bytes.Contains(text, []byte(word)); path == place {
					seen[place] = seen[place] || found
				} else {
					assert.False(t, found, "%s has %q: that belongs into %s", path, word, place)
				}
			}
		}
	}
	assert.Equal(t, map[string]bool{config: true, "internal/timespan/timespan.go": true}, seen, "the patterns still find what they are for")
}

// Each variable reaches those who need it: none is forgotten, no two are mixed up.
func TestDurationsAreAllOfThem(t *testing.T) {
	environ := []string{"HOME=" + t.TempDir()}
	for i, name := range spans() {
		environ = append(environ, name+"="+(time.Duration(i+1)*time.Second).String())
	}
	c, err := LoadForReading(environ)
	require.NoError(t, err)
	for i, name := range spans() {
		for f := range fields() {
			if f.Tag.Get("env") == name {
				assert.Equal(t, time.Duration(i+1)*time.Second, reflect.ValueOf(c).FieldByIndex(f.Index).Interface(), name)
			}
		}
	}
	assert.Len(t, spans(), 9)
}
