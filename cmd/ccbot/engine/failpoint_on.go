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
//
// CCBOT_FAILPOINT=@FILE lets a test choose the point while the program runs: FILE names it. The
// program renames FILE to FILE.reached there, and continues when that is removed.
func Failpoint(environ []string) func(string) {
	vars := env.ToMap(environ)
	if file, chosen := strings.CutPrefix(vars["CCBOT_FAILPOINT"], "@"); chosen {
		return func(point string) { stopAt(file, point) }
	}
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

// stopAt stops if the file names the point.
func stopAt(file, point string) {
	if data, err := os.ReadFile(file); err != nil || string(data) != point || os.Rename(file, file+".reached") != nil {
		return
	}
	for {
		if _, err := os.Stat(file + ".reached"); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
