//go:build failpoints

package engine

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// killed is the exit code of a program that stops as if it were killed: the code that a shell
// reports for SIGKILL.
const killed = 137

// Failpoint makes a program for crash tests. At the point that CCBOT_FAILPOINT names, the program
// makes the file CCBOT_FAILFILE and stops for good, so that the test can kill it right there. When
// a number follows the point after a "+", the program continues and exits that many milliseconds
// later, as after a SIGKILL: nothing is flushed, closed or deferred.
func Failpoint(environ []string) func(string) {
	vars := env.ToMap(environ)
	wanted, after, goesOn := strings.Cut(vars["CCBOT_FAILPOINT"], "+")
	if wanted == "" {
		return nil
	}
	return func(point string) {
		if point != wanted {
			return
		}
		if goesOn {
			wait, err := strconv.Atoi(after)
			if err != nil {
				panic(err)
			}
			time.AfterFunc(time.Duration(wait)*time.Millisecond, func() { os.Exit(killed) })
			return
		}
		if err := os.WriteFile(vars["CCBOT_FAILFILE"], []byte(point), 0o600); err != nil {
			panic(err)
		}
		select {}
	}
}
