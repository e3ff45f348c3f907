package config

import (
	"cmp"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"

	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/statefolder"
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
	case name == "TELEGRAM_API_URL", name == "CCBOT_RELEASE_URL":
		if address, err := url.Parse(value); err == nil {
			return address.Redacted()
		}
		return "hidden"
	}
	return value
}

// IsPortable reports whether a backup for another machine may have a setting. It may have no token,
// no command line, because that may contain a secret, no folder of one machine, and no value of
// several lines.
func IsPortable(name, value string) bool {
	switch name {
	case tokenName, "CLAUDE_FLAGS", "VOICE_COMMAND", "CCBOT_DIR", "CCBOT_MACHINE", statefolder.ReadableVariable:
		return false
	}
	return slices.Contains(settingNames(), name) && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' })
}

// shortestSecret is the least length of a secret's value that is searched for in other settings.
const shortestSecret = 6

// Portable returns the settings of the settings file that a backup may have, and the names of the
// others that are set there: secrets, settings that repeat one, and those that are not portable.
func Portable(environ []string) (values map[string]string, hidden []string, err error) {
	vars, place := env.ToMap(environ), make(map[string]string)
	for _, name := range []string{"CCBOT_DIR", statefolder.ReadableVariable} { // where the file is, and whether it may be read
		if value, is := vars[name]; is {
			place[name] = value
		}
	}
	written, _, err := withFile(place, vars["HOME"])
	if err != nil {
		return nil, nil, err
	}
	merged := maps.Clone(written)
	maps.Copy(merged, vars)
	isSecret := func(name string) bool { return name == tokenName || environment.ForAgents(name) }
	repeats := func(value string) bool {
		for name, secret := range merged {
			if isSecret(name) && len(secret) >= shortestSecret && strings.Contains(value, secret) {
				return true
			}
		}
		return token.New(value).Valid()
	}
	values = make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(written)) {
		_, given := place[name]
		switch value := written[name]; {
		case given || value == "":
		case !isSecret(name) && !slices.Contains(settingNames(), name):
		// a password in an address
		case isSecret(name), !IsPortable(name, value), repeats(value), shownSetting(name, value) != value:
			hidden = append(hidden, name)
		default:
			values[name] = value
		}
	}
	return values, hidden, nil
}

const tokenName = "TELEGRAM_BOT_TOKEN"
