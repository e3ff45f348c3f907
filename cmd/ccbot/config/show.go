package config

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"slices"

	"github.com/caarlos0/env/v11"

	"ccbot/cmd/ccbot/environment"
	"ccbot/internal/token"
)

// Setting is one setting as `ccbot config --json` prints it.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`          // "hidden" for a secret
	Source string `json:"source"`         // default, file or environment
	Place  string `json:"file,omitempty"` // of the source "file"
}

// Settings returns all settings in the order of the documentation, and then the variables of agents
// that are set. A setting that is wrong is an error, as for every verb.
func Settings(environ []string) (all []Setting, err error) {
	if _, err := LoadForReading(environ); err != nil {
		return nil, err
	}
	vars := env.ToMap(environ)
	merged, place, err := withFile(vars, vars["HOME"])
	if err != nil {
		return nil, err
	}
	source := func(name string) (source, file string) {
		_, inEnvironment := vars[name]
		switch {
		case merged[name] == "":
			return "default", ""
		case inEnvironment:
			return "environment", ""
		}
		return "file", place
	}
	for field := range reflect.TypeFor[Config]().Fields() {
		name := field.Tag.Get("env")
		if name == "" {
			continue
		}
		s := Setting{Name: name, Value: cmp.Or(merged[name], field.Tag.Get("envDefault"))}
		s.Source, s.Place = source(name)
		s.Value = token.New(merged["TELEGRAM_BOT_TOKEN"]).Clean(shownSetting(name, s.Value))
		all = append(all, s)
	}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		if environment.ForAgents(name) {
			s := Setting{Name: name, Value: "hidden"} // it may be a key, or a URL with a password
			s.Source, s.Place = source(name)
			all = append(all, s)
		}
	}
	return all, nil
}

// shownSetting is a value without what is secret in it.
func shownSetting(name, value string) string {
	switch {
	case value == "":
		return ""
	// people paste it into the wrong line
	case name == "TELEGRAM_BOT_TOKEN", token.New(value).Valid():
		return "hidden"
	case name == "TELEGRAM_API_URL":
		if address, err := url.Parse(value); err == nil {
			return address.Redacted()
		}
		return "hidden"
	}
	return value
}
