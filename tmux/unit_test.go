package tmux

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"first", "@0", true},
		{"later", "@314", true},
		{"largest", "@2147483647", true},
		{"too large", "@2147483648", false},
		{"empty", "", false},
		{"no number", "@", false},
		{"pane", "%3", false},
		{"sign", "@+3", false},
		{"negative", "@-3", false},
		{"space", "@3 ", false},
		{"command", "@3;kill-server", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, err := ParseWindowID(c.text)
			require.Equal(t, c.ok, err == nil, "%v", err)
			assert.Equal(t, c.ok, id.Valid())
			if c.ok {
				assert.Equal(t, c.text, id.String())
			}
			_, err = ParsePaneID(strings.Replace(c.text, "@", "%", 1))
			assert.Equal(t, c.ok || c.name == "pane", err == nil)
		})
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", `""`},
		{"plain", "a b;{}'#", `"a b;{}'#"`},
		{"specials", `"\$~`, `"\042\134\044\176"`},
		{"newline", "a\nb\t", `"a\012b\011"`},
		{"utf-8", "ü☃", `"ü☃"`},
		{"not utf-8", "\xff\xc3", `"\377\303"`},
		{"replacement character", "\ufffd", "\"\ufffd\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, quote(c.in))
		})
	}
}

func TestLiteral(t *testing.T) {
	assert.Equal(t, "a##(touch x)b ##{pid} ####", literal("a#(touch x)b #{pid} ##"))
}

func TestOperand(t *testing.T) {
	assert.Equal(t, "a#,b#}c##{d", operand("a,b}c#{d"))
}

func TestTooOld(t *testing.T) {
	for _, c := range []struct {
		version string
		old     bool
	}{
		{"3.2", false}, {"3.2a", false}, {"3.3a", false}, {"3.10", false}, {"4.0", false}, {"next-3.4", false},
		{"master", false}, {"openbsd-7.5", false},
		{"3.1c", true}, {"2.9a", true}, {"1.8", true}, {"next-3.1", true},
	} {
		t.Run(c.version, func(t *testing.T) {
			assert.Equal(t, c.old, errors.Is(tooOld(c.version), ErrTooOld))
		})
	}
}

func TestSocketPath(t *testing.T) {
	dir := t.TempDir()
	assert.Equal(t, dir+"/tmux-7/x", socketPath("x", dir, 7))
	assert.Equal(t, socketPath("x", "", 7), socketPath("x", dir+"/missing", 7), "tmux falls back to /tmp")
	assert.Equal(t, "default", socketPath("", dir, 7)[len(dir+"/tmux-7/"):])
}

func TestScope(t *testing.T) {
	argv, env := []string{"/bin/tmux", "new-session"}, []string{"PATH=/bin"}
	systemd := map[string]string{"INVOCATION_ID": "1", "XDG_RUNTIME_DIR": "/run/user/7"}
	found := func(string) (string, error) { return "/bin/systemd-run", nil }
	for _, c := range []struct {
		name    string
		vars    map[string]string
		find    func(string) (string, error)
		env     []string
		want    []string
		wantEnv []string
	}{
		{"not under systemd", nil, found, env, argv, env},
		{"no systemd-run", systemd, func(string) (string, error) { return "", errors.New("none") }, env, argv, env},
		{
			"scope", systemd, found, env,
			[]string{"/bin/systemd-run", "--user", "--scope", "--quiet", "--collect", "--", "env", "-u", "XDG_RUNTIME_DIR", "/bin/tmux", "new-session"},
			[]string{"PATH=/bin", "XDG_RUNTIME_DIR=/run/user/7"},
		},
		{
			"wanted variables stay", systemd, found, []string{"XDG_RUNTIME_DIR=/other"},
			[]string{"/bin/systemd-run", "--user", "--scope", "--quiet", "--collect", "--", "env", "/bin/tmux", "new-session"},
			[]string{"XDG_RUNTIME_DIR=/other"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			lookup := func(name string) (string, bool) { v, ok := c.vars[name]; return v, ok }
			got, gotEnv := scope(argv, c.env, lookup, c.find)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.wantEnv, gotEnv)
		})
	}
}

func TestNewAnswer(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines string
		want  answer
	}{
		{"empty block", "%begin 1 2 1\n%end 1 2 1", answer{}},
		{"lines", "%begin 1 2 1\na\nb\n%end 1 2 1\n%begin 1 3 1\nc\n%end 1 3 1", answer{lines: []string{"a", "b", "c"}}},
		{"error", "%begin 1 2 1\ncan't find pane: %9\n%error 1 2 1", answer{fails: []string{"can't find pane: %9"}}},
		{"of others", "%begin 1 2 0\nx\n%end 1 2 0\n%window-add @1\n%begin 1 3 1\na\n%end 1 3 1", answer{lines: []string{"a"}}},
		{"forged end", "%begin 1 2 1\n%end 1 2 1\n%begin 1 3 1\nx\n%end 1 2 1", answer{lines: []string{"%end 1 2 1", "%begin 1 3 1", "x"}}},
		{"other end", "%begin 1 2 1\n%end 1 9 1\n%end 1 2 1", answer{lines: []string{"%end 1 9 1"}}},
		{"no end", "%begin 1 2 1\na", answer{}},
		{"end first", "%end 1 2 1\n%begin 1 2 1", answer{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, newAnswer(strings.Split(c.lines, "\n")))
		})
	}
}

func TestParsePanes(t *testing.T) {
	const numbers = "%1|@2|33|1||9|2|1|1|3|7|50|1700000000|1|80|24"
	good := numbers + "SEPccbotSEPnameSEPcmdSEP/a\nbSEPtagSEPa\\ titleSEP"
	panes, err := parsePanes(good+"\n"+good, "SEP", true)
	require.NoError(t, err)
	require.Len(t, panes, 2)
	assert.Equal(t, panes[0], panes[1])
	assert.Equal(t, Pane{
		ID: PaneID{2}, Window: WindowID{3}, Session: "ccbot", WindowName: "name", PID: 33, Command: "cmd", Path: "/a\nb",
		Dead: true, DeadStatus: -1, DeadSignal: 9, InMode: true, Tag: "tag", Attached: 1, Active: true, WindowPanes: 3, WindowIndex: 7, Scrolled: 50, Touched: time.Unix(1700000000, 0),
		Synchronized: true, Width: 80, Height: 24, Title: "a title",
	}, panes[0])
	for _, bad := range []string{"x", "SEP", numbers, numbers + "SEP", good[:len(good)-3], good + "x", "x" + good, strings.Replace(good, "33", "", 1)} {
		_, err := parsePanes(bad, "SEP", true)
		assert.Error(t, err, bad)
	}
}

func TestUnquoted(t *testing.T) {
	for printed, want := range map[string]string{
		"/plain/é":  "/plain/é",
		`/a\ b\$c`:  "/a b$c",
		`/\377\033`: "/\xff\x1b",
		`/\\377`:    `/\377`,
		`/\\\377`:   "/\\\xff",
		`/\a\r`:     "/\a\r",
		"/\\\n\xff": "/\n\xff",
		`/\`:        `/\`,
		`/\777`:     "/777",
	} {
		assert.Equal(t, want, unquoted(printed), printed)
	}
}

func TestParseViewers(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	for _, c := range []struct {
		name, text string
		want       []Viewer
		bad        bool
	}{
		{"nobody", "", nil, false},
		{"a key", "@2|attached,focused,UTF-8|109|107SccbotS/dev/pts/3S", []Viewer{{WindowID{3}, "ccbot", "/dev/pts/3", false, at(109)}}, false},
		{"no key since the attach", "@2|attached|107|107SccbotS/dev/pts/3S", []Viewer{{Window: WindowID{3}, Session: "ccbot", TTY: "/dev/pts/3"}}, false},
		{"no time", "@2|attached||SaS/dev/pts/3S", []Viewer{{Window: WindowID{3}, Session: "a", TTY: "/dev/pts/3"}}, false},
		{"read-only", "@2|attached,ignore-size,read-only|9|7SaS/dev/pts/3S", []Viewer{{WindowID{3}, "a", "/dev/pts/3", true, at(9)}}, false},
		{"control mode", "@2|attached,focused,control-mode,ignore-size|9|7SccbotSS", nil, false},
		{"suspended", "@2|attached,suspended,UTF-8|9|7SccbotS/dev/pts/3S", nil, false},
		{"two", "@2|control-mode|9|7SaSS\n@0|attached|9|7Sb|cS/dev/pts/4S", []Viewer{{WindowID{1}, "b|c", "/dev/pts/4", false, at(9)}}, false},
		{"no window", "|attached|9|7SaS/dev/pts/3S", nil, true},
		{"fewer numbers", "@2|attached|9SaS/dev/pts/3S", nil, true},
		{"cut off", "@2|attached|9|7Sa", nil, true},
		{"more behind", "@2|attached|9|7SaS/dev/pts/3Sx", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseViewers(c.text, "S")
			require.Equal(t, c.bad, err != nil, "%v", err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestEnding(t *testing.T) {
	for _, c := range []struct {
		name, status, signal string
		code, number         int
	}{
		{"exit", "7", "", 7, 0},
		{"zero", "0", "", 0, 0},
		{"signal", "", "9", -1, 9},
		{"signal by name", "", "KILL", -1, 9},
		{"signal by small name", "", "term", -1, 15},
		{"unknown", "", "", -1, 0},
		{"nonsense", "", "x", -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, number := ending(c.status, c.signal)
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.number, number)
		})
	}
}

func TestErrors(t *testing.T) {
	assert.ErrorIs(t, &commandError{Command: "x", Text: "can't find pane: %9"}, ErrNoPane)
	assert.NotErrorIs(t, &commandError{Command: "x", Text: "unknown: can't find pane"}, ErrNoPane)
	assert.NoError(t, (&commandError{Text: "x"}).Unwrap())
	refused := &GuardError{Got: "1"}
	assert.ErrorIs(t, refused, ErrGuard)
	assert.NotErrorIs(t, refused, ErrNoPane)
	assert.ErrorIs(t, &GuardError{}, ErrNoPane)
}

// Output of the server is foreign: it may be anything and must not cause a panic.
func FuzzAnswers(f *testing.F) {
	f.Add("%begin 1 2 1\na\n%end 1 2 1\n%error 1 2 1", "M")
	f.Add("@2|attached|9|7SEPccbotSEP/dev/pts/3SEP", "SEP")
	f.Add("%1|@2|33|1||9|2|1|1|3|7SEPaSEPbSEPcSEPdSEPeSEP", "SEP")
	f.Fuzz(func(t *testing.T, text, sep string) {
		lines := strings.Split(text, "\n")
		a := newAnswer(lines)
		assert.LessOrEqual(t, len(a.lines), len(lines))
		if sep != "" {
			_, _ = parsePanes(text, sep, true)
			_, _ = parseViewers(text, sep)
		}
		conn := newConnection(func() {}, func(bool) {})
		call := newCall(func(string) string { return "x" })
		conn.pending = append(conn.pending, call)
		var state lineState
		for _, line := range lines {
			conn.readLine(&state, line)
		}
		conn.readLine(&state, call.marker)
		conn.readLine(&state, "%end")
		select {
		case <-call.answer:
		default:
			t.Fatal("the marker ends the answer whatever came before")
		}
	})
}

func TestCaptured(t *testing.T) {
	for _, tc := range []struct{ name, version, line, want string }{
		{"escaped", "3.3a", `a\033[1m\\ \$`, "a\x1b[1m\\ $"},
		{"escaped by the oldest", "3.2", `\033`, "\x1b"},
		{"as it is", "3.4", `a\033`, `a\033`},
		{"as it is in a build to come", "next-3.7", `\\`, `\\`},
		{"as it is in a build without a number", "master", `\\`, `\\`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want+"\n", captured([]string{tc.line, "", "m-capture"}, "m", tc.version), "only the buffer's own newline goes")
			more := []string{tc.line, "", "m-capture❯ of an earlier screen", "2147483647"}
			assert.Equal(t, tc.want+"\n", captured(more, "m", tc.version), "what comes after the buffer is not of the screen")
			assert.Equal(t, escapes(tc.version), !quotes(tc.version))
		})
	}
}

// TestNotConnectedNamesItsReason: while the first attempt goes on there is no reason yet.
func TestNotConnectedNamesItsReason(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	for want, last := range map[string]error{"not connected": nil, "not connected: refused": errors.New("refused")} {
		c := &Client{place: place{socket: socket}, attempt: make(chan struct{}), kick: make(chan struct{}, 1), lastErr: last}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := c.await(ctx)
		require.ErrorIs(t, err, ErrNotSent)
		assert.Regexp(t, want+"$", err)
	}
}
