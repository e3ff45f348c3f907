package main

import (
	"flag"

	"ccbot/cmd/ccbot/exit"
)

// described is the command for the program that makes the man pages.
type described struct {
	Use      string          `json:"use"`
	Short    string          `json:"short"`
	Long     string          `json:"long"`
	Example  string          `json:"example"`
	Flags    []describedFlag `json:"flags"`
	Commands []described     `json:"commands"`
	More     []section       `json:"more,omitempty"`
}

type describedFlag struct {
	Name, Usage, Default, Type string
}

// section is a section of the man page: names and their meanings.
type section struct {
	Title string      `json:"title"`
	Rows  [][2]string `json:"rows"`
}

// describe returns the content of the man pages, with the defaults of a user.
func (p program) describe() described {
	pin := described{Use: "pin", Short: "Print the pin of the hub's key, and make the key if there is none", Example: "  ccbot-hub pin"}
	unit := described{Use: "unit", Short: "Print a systemd unit of this user for the hub",
		Example: "  ccbot-hub unit > ~/.config/systemd/user/ccbot-hub.service"}
	root := described{Use: "ccbot-hub", Short: "Carry the messages between a chat and its other machines",
		Long: "Run the hub of a chat with several machines, until SIGTERM or SIGINT. The chat and the machines\n" +
			"connect to its port; all that they send is sealed. `ccbot host hub` on the chat's machine makes\n" +
			"the file trust.json, which has no secret. Only key.pem has to be kept.",
		Example: "  ccbot-hub --listen 0.0.0.0:4443", Commands: []described{pin, unit}}
	s := settings{listen: "0.0.0.0:4443", dir: "~/.local/state/ccbot-hub", maxStore: 4096}
	s.flags().VisitAll(func(f *flag.Flag) {
		_, usage := flag.UnquoteUsage(f)
		root.Flags = append(root.Flags, describedFlag{f.Name, usage, f.DefValue, "string"})
	})
	root.More = []section{{"EXIT STATUS", exit.Meanings[:3]}, {"FILES", [][2]string{
		{"~/.local/state/ccbot-hub", "the folder, or below $XDG_STATE_HOME"},
		{"key.pem", "the key, whose pin each machine knows"},
		{"trust.json", "the fleet that the hub serves"},
		{"store", "messages until they are taken; may be lost at any time"},
	}}, {"ENVIRONMENT", [][2]string{
		{"CCBOT_HUB_LISTEN", "as --listen"}, {"CCBOT_HUB_DIR", "as --dir"}, {"CCBOT_HUB_TRUST", "as --trust"}, {"CCBOT_HUB_MAX_STORE", "as --max-store"},
	}}}
	return root
}
