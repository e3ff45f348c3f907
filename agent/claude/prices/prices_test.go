package prices

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOfAcceptsTranscriptNames(t *testing.T) {
	table, err := Open(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	for _, tc := range []struct {
		model string
		input float64
		name  string
	}{
		{"claude-opus-5-5", 4, "Opus 5.5"},
		{"claude-opus-5-5[1m]", 4, "Opus 5.5"},
		{"claude-haiku-4-5-20251001", 1, "Haiku 4.5"},
		{"claude-sonnet-4-20250514", 3, "Sonnet 4"},
		{"claude-opus-4-1-20250805[1m]", 15, "Opus 4.1"},
		{"claude-3-5-haiku-latest", 0.8, "Haiku 3.5"},
		{"us.anthropic.claude-haiku-4-5-20251001-v1:0", 1, "Haiku 4.5"},
		{"claude-sonnet-4-5@20250929", 3, "Sonnet 4.5"},
		{"claude-fable-5-2", 8, "Fable 5.2"},
		{"claude-opus-9", 0, "Opus 9"},
		{"gpt-7", 0, "gpt-7"},
		{"claude-opus", 0, "claude-opus"},
		{"<synthetic>", 0, "<synthetic>"},
		{"", 0, ""},
		{"?", 0, "?"},
	} {
		p, known := table.Of(tc.model)
		assert.Equal(t, tc.input, p.Input, tc.model)
		assert.Equal(t, tc.input > 0, known, tc.model)
		assert.Equal(t, tc.name, Name(tc.model))
	}
}

func TestCost(t *testing.T) {
	table, err := Open("")
	require.NoError(t, err)
	for _, tc := range []struct {
		name, model string
		use         Use
		want        float64
	}{
		{"nothing", "claude-opus-5-5", Use{}, 0},
		{"input and output", "claude-opus-5-5", Use{Input: 1e6, Output: 1e5}, 4 + 2},
		{"the cache", "claude-opus-5-5", Use{Write5m: 1e6, Write1h: 1e6, Read: 1e6}, 5 + 8 + 0.2},
		{"searches", "claude-opus-5-5", Use{Searches: 3}, 0.03},
		{"a prompt that is not long", "claude-haiku-5-5", Use{Input: 1e4, Write5m: 1e4, Write1h: 1e4, Read: 7e4, Output: 1e6},
			0.001 + 0.00125 + 0.002 + 0.0007 + 0.5},
		{"a long prompt", "claude-haiku-5-5", Use{Input: 1e4, Write5m: 1e4, Write1h: 1e4, Read: 70_001, Output: 1e6, Searches: 1},
			0.005 + 0.00625 + 0.01 + 0.00350005 + 2.5 + 0.01},
	} {
		p, known := table.Of(tc.model)
		require.True(t, known, tc.name)
		assert.InDelta(t, tc.want, p.Cost(tc.use), 1e-9, tc.name)
	}
}

func TestPriceFileOverridesTable(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		opus, mine float64
		broken     bool
	}{
		{"a model more, and another price", `{"date":"2027-01-02","source":"our contract","models":{"mine":{"input":1,"output":2},"claude-opus-5-5":{"input":3,"output":9}}}`, 3, 1, false},
		{"no JSON", `{"date"`, 4, 0, true},
		{"nothing", ``, 4, 0, true},
		{"no date", `{"models":{"mine":{"input":1,"output":2}}}`, 4, 0, true},
		{"no price", `{"date":"2027-01-02","models":{"mine":{"input":1}}}`, 4, 0, true},
		{"a price below 0", `{"date":"2027-01-02","models":{"mine":{"input":1,"output":1,"cache_read":-1}}}`, 4, 0, true},
		{"a price of no money", `{"date":"2027-01-02","models":{"mine":{"input":1,"output":1e300}}}`, 4, 0, true},
		{"a word", `{"date":"2027-01-02","models":{"mine":{"input":"1","output":1}}}`, 4, 0, true},
		{"an unknown field", `{"date":"2027-01-02","models":{"mine":{"input":1,"output":1,"cache_write":1}}}`, 4, 0, true},
		{"an unknown field of a long prompt", `{"date":"2027-01-02","models":{"mine":{"input":1,"output":1,"long_prompt":{"above":1,"above_tokens":1,"input":1,"output":1}}}}`, 4, 0, true},
		{"something behind it", `{"date":"2027-01-02","models":{"mine":{"input":1,"output":1}}} {}`, 4, 0, true},
		{"a long prompt of no length", `{"date":"2027-01-02","models":{"mine":{"input":1,"output":1,"long_prompt":{"input":1,"output":1}}}}`, 4, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prices.json")
			require.NoError(t, os.WriteFile(path, []byte(tc.text), 0o600))
			table, err := Open(path)
			assert.Equal(t, tc.broken, err != nil, err)
			opus, _ := table.Of("claude-opus-5-5")
			mine, _ := table.Of("mine")
			assert.Equal(t, []float64{tc.opus, tc.mine}, []float64{opus.Input, mine.Input})
		})
	}
	_, err := Open(t.TempDir())
	assert.Error(t, err, "a folder")
}

// A price that the file omits is not zero.
func TestOmittedPricesHaveDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"date":"2027-01-02","models":{
		"short": {"input":10,"output":1},
		"free": {"input":10,"output":1,"cache_write_5m":0,"cache_write_1h":0,"cache_read":0,"web_search":0},
		"long": {"input":10,"output":1,"cache_read":3,"long_prompt":{"above_tokens":5,"input":100,"output":2,"cache_write_1h":1}}}}`), 0o600))
	table, err := Open(path)
	require.NoError(t, err)
	for name, want := range map[string]Price{
		"short": {Rates: Rates{Input: 10, Output: 1, Write5m: 12.5, Write1h: 20, Read: 1}, Search: 0.01},
		"free":  {Rates: Rates{Input: 10, Output: 1}},
		"long": {Rates: Rates{Input: 10, Output: 1, Write5m: 12.5, Write1h: 20, Read: 3}, Search: 0.01,
			Long: &Long{Rates: Rates{Input: 100, Output: 2, Write5m: 125, Write1h: 1, Read: 10}, Above: 5}},
	} {
		got, known := table.Of(name)
		assert.True(t, known)
		assert.Equal(t, want, got, name)
	}
}

func TestExampleOfDocumentIsTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## Prices\n")
	require.True(t, found)
	_, example, found := strings.Cut(section, "```json\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	table, err := parse([]byte(example))
	require.NoError(t, err)
	assert.Equal(t, Rates{Input: 2, Output: 8, Write5m: 2.5, Write1h: 4, Read: 0.2}, table.Models["our-model"].Long.Rates)
}
