// Package prices estimates the cost of tokens, in dollars. It knows the list prices of the date
// that its table names; the real price of an account is unknown.
//
// A person's file overrides the date, the source and each model that it names.
package prices

import (
	"bytes"
	_ "embed" // the table
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
)

//go:embed prices.json
var builtIn []byte

const (
	maxSize = 1 << 20 // of a file of prices, in bytes
	highest = 1e6     // no price is above it
)

// Table is a list of prices.
type Table struct {
	Date   string // 2026-11-18
	Source string
	Models map[string]Price // by the name of a model without a date
}

// Price holds a model's prices: for a million tokens of each kind, and for one web search.
type Price struct {
	Rates
	Search float64
	Long   *Long
}

// Rates are the prices of a million tokens.
type Rates struct{ Input, Output, Write5m, Write1h, Read float64 }

// Long are the rates of answers to a prompt with more tokens than Above, of all their tokens.
type Long struct {
	Rates
	Above int64
}

// Use holds the usage of one answer.
type Use struct{ Input, Output, Write5m, Write1h, Read, Searches int64 }

// Open returns the built-in table with the changes of the file. If the file is unusable, it returns
// an error and the built-in table; a missing file is not an error.
func Open(path string) (Table, error) {
	t, err := parse(builtIn)
	if err != nil {
		panic(err) // it is a part of this program
	}
	data, err := disk.Read(path, func() ([]byte, error) { return ownfile.Read(path, maxSize, ownfile.Links) })
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("prices: %w", err)
	}
	own, err := parse(data)
	if err != nil {
		return t, fmt.Errorf("prices in %s: %w", path, err)
	}
	maps.Copy(t.Models, own.Models)
	t.Date, t.Source = own.Date, own.Source
	return t, nil
}

// listed is a table as a file has it.
type listed struct {
	Date   string `json:"date"`
	Source string `json:"source"`
	Models map[string]struct {
		listedRates
		Search *float64 `json:"web_search"`
		Long   *struct {
			listedRates
			Above int64 `json:"above_tokens"`
		} `json:"long_prompt"`
	} `json:"models"`
}

// listedRates holds prices; the cache's may be omitted.
type listedRates struct {
	Input   float64  `json:"input"`
	Output  float64  `json:"output"`
	Write5m *float64 `json:"cache_write_5m"`
	Write1h *float64 `json:"cache_write_1h"`
	Read    *float64 `json:"cache_read"`
}

// all are the prices with those that are left out: the usual parts of the price of the input.
func (r listedRates) all() Rates {
	return Rates{Input: r.Input, Output: r.Output, Write5m: either(r.Write5m, r.Input*1.25), Write1h: either(r.Write1h, r.Input*2),
		Read: either(r.Read, r.Input/10)}
}

func either(said *float64, usual float64) float64 {
	if said == nil {
		return usual
	}
	return *said
}

// usualSearch is the price of a search of all models.
const usualSearch = 0.01

// parse reads a table, and refuses one that would give wrong figures in silence.
func parse(data []byte) (Table, error) {
	var in listed
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return Table{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Table{}, errors.New("unexpected data after the table")
	}
	if _, err := time.Parse(time.DateOnly, in.Date); err != nil {
		return Table{}, fmt.Errorf("\"date\" must look like 2026-11-18: %w", err)
	}
	t := Table{Date: in.Date, Source: in.Source, Models: make(map[string]Price)}
	for name, one := range in.Models {
		p := Price{Rates: one.all(), Search: either(one.Search, usualSearch)}
		if one.Long != nil {
			p.Long = &Long{Rates: one.Long.all(), Above: one.Long.Above}
		}
		if err := p.check(name); err != nil {
			return Table{}, err
		}
		t.Models[name] = p
	}
	return t, nil
}

// check returns an error if the price of a model is invalid.
func (p Price) check(name string) error {
	long := Long{Rates: p.Rates, Above: 1}
	if p.Long != nil {
		long = *p.Long
	}
	for _, n := range []float64{p.Input, p.Output, long.Input, long.Output, min(float64(long.Above), highest)} {
		if n <= 0 || n > highest {
			return fmt.Errorf("%s needs prices above 0 and up to %g for \"input\" and \"output\"", name, float64(highest))
		}
	}
	rest := []float64{p.Write5m, p.Write1h, p.Read, p.Search, long.Write5m, long.Write1h, long.Read}
	if slices.Min(rest) < 0 || slices.Max(rest) > highest {
		return fmt.Errorf("%s has a price below 0 or above %g", name, float64(highest))
	}
	return nil
}

// Of returns the price of a model, named as in a transcript, and whether it is known.
func (t Table) Of(model string) (Price, bool) {
	name := Plain(model)
	for _, one := range []string{model, name, name + "-0"} {
		if p, ok := t.Models[one]; ok {
			return p, true
		}
	}
	return Price{}, false
}

// Cost returns the cost of one answer.
func (p Price) Cost(u Use) float64 {
	r := p.Rates
	if p.Long != nil && u.Input+u.Write5m+u.Write1h+u.Read > p.Long.Above {
		r = p.Long.Rates
	}
	tokens := float64(u.Input)*r.Input + float64(u.Output)*r.Output + float64(u.Write5m)*r.Write5m + float64(u.Write1h)*r.Write1h +
		float64(u.Read)*r.Read
	return tokens/1e6 + float64(u.Searches)*p.Search
}

// decoration matches the parts that clouds, dates and the size of a context add to a model's name:
// "us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-opus-4@20250514", "claude-opus-5[1m]".
var decoration = lazyregexp.New(`^.*\b(claude-)|(\[.*|@.*|-v\d+(:\d+)?|-\d{8}(-v\d+(:\d+)?)?|-latest)(\[.*)?$`)

// Plain is the name of a model without what clouds, dates and the size of a context add to it.
func Plain(model string) string { return decoration.ReplaceAllString(model, "$1") }

// Name is a model as people call it, "Opus 5.5"; a name of another shape stays as it is.
func Name(model string) string {
	parts := strings.Split(strings.TrimPrefix(Plain(model), "claude-"), "-")
	var words, numbers []string
	for _, p := range parts {
		if strings.Trim(p, "0123456789") == "" {
			numbers = append(numbers, p)
		} else {
			words = append(words, p)
		}
	}
	if len(words) != 1 || words[0] == "" || len(numbers) == 0 || len(numbers) > 2 || !strings.Contains(model, "claude-") {
		return model
	}
	if len(numbers) == 2 && numbers[1] == "0" {
		numbers = numbers[:1]
	}
	return strings.ToUpper(words[0][:1]) + words[0][1:] + " " + strings.Join(numbers, ".")
}
