package process

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ccbot/internal/sourcetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// signalFiles are the only files of the program in which anything is signalled: what Table.End
// calls.
var signalFiles = []string{"internal/process/signal_linux.go", "internal/process/signal_darwin.go"}

// standIns lists the files where programs that are not ccbot signal: the stand-in for Claude Code
// does what the real one does (it stops its own job at C-z, and ends the hooks that it has
// started), ccbot-try asks the ccbot that it has started to stop, ccbot-codex ends its children,
// and the suite of agents ends its subjects.
var standIns = []string{"try/demoagent/brain/suspend.go", "try/demoagent/group.go", "cmd/ccbot-codex/pane.go", "cmd/ccbot-try/main.go", "internal/processtest/processtest.go",
	"agent/agenttest/crashing.go", "agent/agenttest/ending.go"}

func TestP2_onlyOneFileSignals(t *testing.T) {
	root := sourcetest.Root()
	for name, source := range sourcetest.All(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range signalling(t, name, source) {
			assert.Contains(t, append(standIns, signalFiles...), name, found)
		}
	}
	for _, file := range signalFiles {
		assert.NotEmpty(t, signalling(t, filepath.Join(root, file), nil), "%s signals nothing: is this test blind?", file)
	}
}

func TestP2_ccbotLinksNoStandIn(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		list := exec.Command("go", "list", "-deps", "ccbot/cmd/ccbot")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		require.NoError(t, err)
		linked := strings.Fields(string(out))
		assert.Contains(t, linked, "ccbot/internal/process")
		for _, file := range standIns {
			assert.NotContains(t, linked, "ccbot/"+path.Dir(file))
		}
		for _, pkg := range linked {
			assert.False(t, strings.HasPrefix(pkg, "ccbot/try") || strings.HasPrefix(pkg, "ccbot/e2e"), pkg)
		}
	}
}

func TestP2_onlyOneFileSignals_sees(t *testing.T) {
	tests := []struct {
		name  string
		body  string
		found bool
	}{
		{"syscall.Kill", `syscall.Kill(1, 15)`, true},
		{"unix.Kill", `unix.Kill(1, 15)`, true},
		{"under another name", `other.Kill(1, 15)`, true},
		{"kept as a value", `kill := syscall.Kill; kill(1, 15)`, true},
		{"Tgkill", `unix.Tgkill(1, 1, 15)`, true},
		{"PidfdSendSignal", `unix.PidfdSendSignal(3, 15, nil, 0)`, true},
		{"raw system call", `syscall.RawSyscall(syscall.SYS_KILL, 1, 15, 0)`, true},
		{"os.Process.Kill", `cmd.Process.Kill()`, true},
		{"os.Process.Signal", `p.Signal(os.Interrupt)`, true},
		{"method value", `cmd.Cancel = cmd.Process.Kill`, true},
		{"method value of a process", `f = cmd.Process.Signal`, true},
		{"os.FindProcess", `os.FindProcess(1)`, true},
		{"kill(1)", `exec.Command("kill", "-9", "1")`, true},
		{"pkill by path", `exec.CommandContext(ctx, "/usr/bin/pkill", "x")`, true},
		{"signal type", `var s syscall.Signal = 15`, false},
		{"signal constant", `_ = unix.SIGKILL`, false},
		{"signal.Notify", `signal.Notify(c, os.Interrupt)`, false},
		{"condition variable", `cond.Signal()`, false},
		{"a verb of the chat", `bot.Kill(ctx, id)`, false},
		{"a field", `wait(grace.Kill)`, false},
		{"another command", `exec.Command("tmux", "kill-pane")`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src := "package p\nimport (\n\"syscall\"\n\"os\"\n\"os/signal\"\n\"os/exec\"\n\"golang.org/x/sys/unix\"\nother \"golang.org/x/sys/unix\"\n)\nfunc f() { " + test.body + " }\n"
			assert.Equal(t, test.found, len(signalling(t, "p.go", src)) > 0)
		})
	}
	assert.NotEmpty(t, signalling(t, "p.go", "package p\nimport . \"syscall\"\n"))
}

// signalling reads one file without types, so that it works while other packages do not compile.
// Calls that only look like a signal (a condition variable, a method Kill with arguments) are
// distinguished by shape.
func signalling(t *testing.T, path string, src any) []string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, src, parser.SkipObjectResolution)
	require.NoError(t, err)
	s := signalScan{imports: map[string]string{}, called: map[ast.Expr]*ast.CallExpr{}}
	for _, spec := range file.Imports {
		s.add(spec)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			s.called[call.Fun] = call
		}
		if sel, ok := n.(*ast.SelectorExpr); ok && s.signals(sel) {
			s.found = append(s.found, files.Position(sel.Pos()).String()+": "+sel.Sel.Name)
		}
		return true
	})
	return s.found
}

type signalScan struct {
	imports map[string]string // local name to path
	called  map[ast.Expr]*ast.CallExpr
	found   []string
}

var kernelPackages = []string{"syscall", "golang.org/x/sys/unix"}

func (s *signalScan) add(spec *ast.ImportSpec) {
	path, _ := strconv.Unquote(spec.Path.Value)
	name := path[strings.LastIndex(path, "/")+1:]
	if spec.Name != nil {
		name = spec.Name.Name
	}
	if name == "." && (slices.Contains(kernelPackages, path) || path == "os") {
		s.found = append(s.found, "dot import of "+path)
	}
	s.imports[name] = path
}

func (s *signalScan) signals(sel *ast.SelectorExpr) bool {
	call := s.called[sel]
	if ident, ok := sel.X.(*ast.Ident); ok && s.imports[ident.Name] != "" {
		return packageSignals(s.imports[ident.Name], sel.Sel.Name, call)
	}
	switch sel.Sel.Name {
	case "Kill", "Terminate":
		return call != nil && len(call.Args) == 0 || call == nil && isProcess(sel.X)
	case "Signal", "SendSignal":
		return call != nil && len(call.Args) > 0 || call == nil && isProcess(sel.X)
	}
	return false
}

// isProcess: without types a method value is known by what it hangs on, as in cmd.Process.Kill.
func isProcess(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == "Process"
	case *ast.Ident:
		return slices.Contains([]string{"process", "proc", "p"}, x.Name)
	}
	return false
}

func packageSignals(path, name string, call *ast.CallExpr) bool {
	switch {
	case slices.Contains(kernelPackages, path):
		return slices.Contains([]string{"Kill", "Tgkill", "PidfdSendSignal", "SYS_KILL", "SYS_TKILL", "SYS_TGKILL",
			"SYS_PIDFD_SEND_SIGNAL", "SYS_RT_SIGQUEUEINFO", "SYS_RT_TGSIGQUEUEINFO"}, name)
	case path == "os":
		return name == "FindProcess"
	case path == "os/exec":
		return call != nil && runsKill(call)
	}
	return false
}

func runsKill(call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok {
			continue
		}
		text, _ := strconv.Unquote(lit.Value)
		return slices.Contains([]string{"kill", "pkill", "killall", "skill", "fuser"}, filepath.Base(text))
	}
	return false
}
