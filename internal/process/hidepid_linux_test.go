package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"ccbot/internal/programtest"
)

// nobody is a user of this test alone: a program of another test that changes into a user cannot be read for a moment.
const nobody = 53117

// A process that /proc hides is unknown, never gone, and a table without some of our processes is
// an error. It runs with a real /proc mounted with hidepid, in a separate mount namespace, seen by
// a process without privileges.
func TestP6_hiddenIsNotGone_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	tests := []struct {
		hidepid int
		root    string // how a scan shows a process of root
		holes   string // a scan while one of our processes may not be read
	}{
		{1, "with its owner only", "error"},
		{2, "not at all", "no error"}, // the kernel does not list it: this hole cannot be seen
		{4, "not at all", "no error"},
	}
	for _, test := range tests {
		t.Run("hidepid="+strconv.Itoa(test.hidepid), func(t *testing.T) {
			table := newTestTable(t)
			rootly := startAgent(t, table, "wait", "--resume", textX)
			older := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"claude"}, Env: append(os.Environ(), childMode+"=wait"),
				SysProcAttr: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}}
			ofOurs := start(t, table, older)
			cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"claude"}, SysProcAttr: &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS},
				Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0", childMode+"=hidepid", fmt.Sprintf("HIDEPID=%d", test.hidepid),
					"ROOTLY="+onOneLine(rootly.id), "OLDER="+onOneLine(ofOurs.id))}
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "cannot mount") {
				t.Log("no mount namespace or no mount of /proc here:", err, string(out))
				return
			}
			require.NoError(t, err, string(out))
			assert.Equal(t, []string{
				"root's process: unknown",
				"end of it: spared unreadable, error true",
				"root's process in a scan: " + test.root,
				"ours, older: alive",
				// our parent is hidden, and this one could be above it
				"end of it: spared unreadable, error true",
				"ours: alive",
				"end of it: term",
				"one that ended: gone",
				"ours, not to be read: unknown",
				"end of it: spared unreadable, error true",
				"scan with it: " + test.holes,
			}, strings.Split(strings.TrimSpace(string(out)), "\n"))
			assert.Equal(t, Alive, table.Liveness(rootly.id))
			assert.Equal(t, Alive, table.Liveness(ofOurs.id))
		})
	}
}

func onOneLine(id Identity) string { return fmt.Sprint(id.PID, " ", id.Start, " ", id.Boot) }

// lookThroughHidepid runs in the child of the test above.
func lookThroughHidepid() {
	must := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid="+os.Getenv("HIDEPID")); err != nil {
		fmt.Println("cannot mount /proc:", err)
		os.Exit(1)
	}
	must(syscall.Setgroups(nil)) // hidepid does not apply to the group root
	must(syscall.Setresgid(nobody, nobody, nobody))
	must(syscall.Setresuid(nobody, nobody, nobody))
	table, err := NewTable()
	must(err)
	look := func(what string, id Identity) {
		fmt.Println(what+":", table.Liveness(id))
		out, err := table.End(context.Background(), id, proven, nil, Grace{})
		if out.Spared != "" {
			fmt.Printf("end of it: spared %s, error %t\n", out.Reason, err != nil)
			return
		}
		fmt.Println("end of it:", out.How)
	}
	var id, older Identity
	_, err = fmt.Sscan(os.Getenv("ROOTLY"), &id.PID, &id.Start, &id.Boot)
	must(err)
	_, err = fmt.Sscan(os.Getenv("OLDER"), &older.PID, &older.Start, &older.Boot)
	must(err)
	look("root's process", id)
	s, err := table.Snapshot(context.Background())
	must(err)
	fmt.Println("root's process in a scan:", shown(s, id.PID))

	look("ours, older", older)
	// avoids a start in our tick
	for m, err := table.Moment(); m.Tick <= table.Self().Start; m, err = table.Moment() {
		must(err)
	}
	ours := exec.Command("sleep", "60")
	must(ours.Start())
	id, err = table.Identify(ours.Process.Pid)
	must(err)
	look("ours", id)
	_ = ours.Process.Kill()
	_ = ours.Wait()
	fmt.Println("one that ended:", table.Liveness(id))

	closed := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"claude"}, Env: append(os.Environ(), childMode+"=undumpable")}
	stdin, err := closed.StdinPipe()
	must(err)
	stdout, err := closed.StdoutPipe()
	must(err)
	must(closed.Start())
	_, err = stdout.Read(make([]byte, 1)) // it is ready
	must(err)
	id = Identity{closed.Process.Pid, 1, table.Self().Boot}
	look("ours, not to be read", id)
	if _, err = table.Snapshot(context.Background()); err != nil {
		fmt.Println("scan with it: error")
	} else {
		fmt.Println("scan with it: no error")
	}
	_ = stdin.Close()
	_ = closed.Wait()
}

func shown(s Snapshot, pid int) string {
	p, ok := s.Find(pid)
	switch {
	case !ok:
		return "not at all"
	case p.UID == 0 && !p.Identity.Valid() && len(p.Args) == 0:
		return "with its owner only"
	default:
		return fmt.Sprintf("%+v", p)
	}
}
