package running

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ccbot/cmd/ccbot/ccbottest"
	"ccbot/internal/session/sessiontest"
	"ccbot/try/demoagent"
)

// Shorter names for most tests here.
var (
	one, idOf                  = sessiontest.Over, sessiontest.ID
	stateWith, machine, tree   = ccbottest.StateWith, ccbottest.Machine, ccbottest.Tree
	socketDir, folder, refused = ccbottest.SocketDir, ccbottest.Text, ccbottest.Refused
)

const goodToken = ccbottest.GoodToken

// TestMain lets this test binary be the agent of a session, and a program that crashes.
func TestMain(m *testing.M) {
	syscall.Umask(0o022) // with 002 the folders of a test could be written by the group
	testscript.Main(m, map[string]func(){"crash": crash, "claude": func() {
		os.Exit(demoagent.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}})
}
