package main

import (
	"cmp"
	"io"
	"net/url"
	"reflect"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/token"
)

// setting is one setting as `ccbot config --json` prints it.
type setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"` // "hidden", where it is a secret
	Source string `json:"source"`
	Place  string `json:"file,omitempty"` // of Source file
}

// Where the value of a setting comes from.
const (
	fromDefault     = "default"
	fromSettings    = "file"
	fromEnvironment = "environment"
)

func configCommand(environ []string, stdout io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "config", Args: noArgs, Short: "Print the settings, and where each comes from",
		Long: `Print each setting as this environment and ccbot.env have it: its value, and whether that is
the default, from the file, or from the environment. The bot's token is never printed. A
running bot has the settings of its own environment.`,
		Example: "  ccbot config\n  ccbot config --json | jq -r '.[] | select(.source != \"default\").name'",
		RunE: func(*cobra.Command, []string) error {
			all, err := settings(environ)
			if err != nil {
				return err
			}
			return terminal.Show(stdout, asJSON, all, func(p *terminal.Printer) {
				place := ""
				for _, s := range all {
					p.Line("%-26s %-12s %s", s.Name, s.Source, terminal.Printable(cmp.Or(s.Value, "-")))
					place = cmp.Or(place, s.Place)
				}
				if place != "" {
					p.Line("the file: %s", terminal.Printable(place))
				}
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// settings are all settings in the order of the documentation. What is set wrong is an error, as for every verb.
func settings(environ []string) (all []setting, err error) {
	if _, err := loadForReading(environ); err != nil {
		return nil, err
	}
	vars := env.ToMap(environ)
	merged, place, err := withFile(vars, vars["HOME"])
	if err != nil {
		return nil, err
	}
	for field := range reflect.TypeFor[config]().Fields() {
		name := field.Tag.Get("env")
		if name == "" {
			continue
		}
		s := setting{Name: name, Value: cmp.Or(merged[name], field.Tag.Get("envDefault")), Source: fromDefault}
		_, inEnvironment := vars[name]
		switch {
		case merged[name] == "":
		case inEnvironment:
			s.Source = fromEnvironment
		default:
			s.Source, s.Place = fromSettings, place
		}
		s.Value = token.New(merged["TELEGRAM_BOT_TOKEN"]).Clean(shownSetting(name, s.Value))
		all = append(all, s)
	}
	return all, nil
}

// shownSetting is a value without what is secret in it.
func shownSetting(name, value string) string {
	switch {
	case value == "":
		return ""
	case name == "TELEGRAM_BOT_TOKEN", token.New(value).Valid(): // people paste it into the wrong line
		return "hidden"
	case name == "TELEGRAM_API_URL":
		if address, err := url.Parse(value); err == nil {
			return address.Redacted()
		}
		return "hidden"
	}
	return value
}
