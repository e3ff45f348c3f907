//go:build failpoints

package main

import (
	"os"
	"strings"
)

// failpoint makes a program for crash tests: at the point that CCBOT_FAILPOINT
// names it makes the file CCBOT_FAILFILE and stops for good, so that the test
// can kill it right there.
func failpoint(environ []string) func(string) {
	vars := make(map[string]string)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	if vars["CCBOT_FAILPOINT"] == "" {
		return nil
	}
	return func(point string) {
		if point != vars["CCBOT_FAILPOINT"] {
			return
		}
		if err := os.WriteFile(vars["CCBOT_FAILFILE"], []byte(point), 0o600); err != nil {
			panic(err)
		}
		select {}
	}
}
