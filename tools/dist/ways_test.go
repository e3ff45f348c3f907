package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pretended are the files of an archive whose programs only say who they are.
func pretended() map[string]file {
	all := map[string]file{"LICENSE": {[]byte("MIT"), 0o644}, "NOTICES": {[]byte("terms"), 0o644}}
	for _, name := range programNames {
		all[name] = file{fmt.Appendf(nil, "#!/bin/sh\necho new %s \"$@\"\n[ \"$1\" != fail ] || exit 3\n", name), 0o755}
	}
	return all
}

// person has a home folder and an unpacked archive.
type person struct {
	t                   *testing.T
	home, archive, path string
}

func newPerson(t *testing.T) person {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := person{t, home, t.TempDir(), os.Getenv("PATH")}
	for name, f := range withInstall(pretended()) {
		p.write(filepath.Join(p.archive, name), string(f.data), os.FileMode(f.mode))
	}
	p.program("id", "echo 1000")
	return p
}

func (p *person) write(path, text string, mode os.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
}

// program puts a program before all others of that name.
func (p *person) program(name, script string) {
	dir := p.t.TempDir()
	p.write(filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n", 0o755)
	p.path = dir + ":" + p.path
}

// run runs a command without a terminal and returns all that it printed, and its exit code.
func (p *person) run(name string, args ...string) (string, int) {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + p.path}
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func (p *person) install(args ...string) (string, int) {
	return p.run(filepath.Join(p.archive, "install"), args...)
}

// files are all files below a folder, with their texts.
func (p *person) files(dir string) map[string]string {
	all := make(map[string]string)
	read, err := read(dir, "", 0)
	if err != nil {
		p.t.Fatal(err)
	}
	for name, f := range read {
		all[name] = string(f.data)
	}
	return all
}

// TestInstallSaysEachPath: it writes the programs and nothing else, says so, and says what is next.
func TestInstallSaysEachPath(t *testing.T) {
	p := newPerson(t)
	said, code := p.install()
	want := make(map[string]string)
	for _, name := range programNames {
		want[".local/bin/"+name] = string(pretended()[name].data)
		if !strings.Contains(said, "writes "+p.home+"/.local/bin/"+name+"\n") {
			t.Errorf("it does not say that it writes %s:\n%s", name, said)
		}
	}
	if got := p.files(p.home); code != 0 || !maps.Equal(got, want) {
		t.Errorf("exit code %d, files %v", code, slices.Sorted(maps.Keys(got)))
	}
	for _, text := range []string{"makes " + p.home + "/.local/bin\n", "PATH lacks " + p.home + "/.local/bin.", "/.local/bin/ccbot setup, or"} {
		if !strings.Contains(said, text) {
			t.Errorf("no %q in\n%s", text, said)
		}
	}
	if out, _ := p.run(p.home+"/.local/bin/ccbot", "hi"); out != "new ccbot hi\n" {
		t.Errorf("the program says %q", out)
	}
	p.path += ":" + p.home + "/.local/bin"
	p.write(p.home+"/.ccbot/ccbot.env", "", 0o600)
	if said, code = p.install(); code != 0 || strings.Contains(said, "PATH") || strings.Contains(said, "makes") || !strings.Contains(said, "`ccbot service restart`") {
		t.Errorf("exit code %d, a second time, with PATH and a bot:\n%s", code, said)
	}
}

// TestInstallReplacesByRename: who runs the older program, or has another name of it, keeps it whole.
func TestInstallReplacesByRename(t *testing.T) {
	p := newPerson(t)
	p.write(p.home+"/.local/bin/ccbot", "old", 0o755)
	if err := os.Link(p.home+"/.local/bin/ccbot", p.home+"/kept"); err != nil {
		t.Fatal(err)
	}
	said, code := p.install()
	files := p.files(p.home)
	if code != 0 || files["kept"] != "old" || files[".local/bin/ccbot"] == "old" {
		t.Errorf("exit code %d, files %v\n%s", code, files, said)
	}
}

// TestInstallRefuses: nothing is written, in the home folder or elsewhere.
func TestInstallRefuses(t *testing.T) {
	elsewhere := t.TempDir()
	for _, tt := range []struct {
		name string
		make func(p *person)
		args []string
		want string
	}{
		{"root", func(p *person) { p.program("id", "echo 0") }, nil, "--as-root"},
		{"a damaged program", func(p *person) { p.write(p.archive+"/ccbot-hook", "#!/bin/sh\n", 0o755) }, nil, "the archive is damaged"},
		{"a missing program", func(p *person) { _ = os.Remove(p.archive + "/ccbot-hub") }, nil, "the archive is damaged"},
		{"a program of another system", func(p *person) {
			all := pretended()
			all["ccbot"] = file{[]byte("#!/bin/sh\nexit 126\n"), 0o755}
			for name, f := range withInstall(all) {
				p.write(filepath.Join(p.archive, name), string(f.data), os.FileMode(f.mode))
			}
		}, nil, "may be for another system"},
		{"a link out of the home folder", func(p *person) {
			p.write(p.home+"/.local/keep", "", 0o600)
			_ = os.Symlink(elsewhere, p.home+"/.local/bin")
		}, nil, "leads out of"},
		{"a folder in the way", func(p *person) { p.write(p.home+"/.local/bin/ccbot/x", "", 0o600) }, nil, "is a folder"},
		{"an unknown word", func(*person) {}, []string{"--prefix=/usr"}, "usage:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPerson(t)
			tt.make(&p)
			before := p.files(p.home)
			said, code := p.install(tt.args...)
			if code == 0 || !strings.Contains(said, tt.want) || strings.Contains(said, "writes ") {
				t.Errorf("exit code %d:\n%s", code, said)
			}
			if after := p.files(p.home); !maps.Equal(before, after) || len(p.files(elsewhere)) > 0 {
				t.Errorf("it wrote: %v, %v", after, p.files(elsewhere))
			}
		})
	}
	p := newPerson(t)
	p.program("id", "echo 0")
	if said, code := p.install("--as-root"); code != 0 {
		t.Errorf("root who asks for it: exit code %d\n%s", code, said)
	}
}

// TestNpmVersion compares versions with those of other packages: each is newer than the one before it.
func TestNpmVersion(t *testing.T) {
	for version, want := range map[string]string{"0e8ee875": "0.0.0-g0e8ee875", "v1.4.0": "1.4.0", "v1.4.0-3-gabcdef": "1.4.1-3.gabcdef",
		"v1.4.0-rc.1": "1.4.0-rc.1", "v1.4.0-3-gabcdef-dirty": "1.4.1-3.gabcdef-dirty"} {
		if got := npmVersion(version); got != want {
			t.Errorf("npmVersion(%q) = %q, want %q", version, got, want)
		}
	}
}

// TestNpmInstallsOffline: an ordinary user needs two files and no network. The launcher hands on arguments, output and exit code, and
// the programs lie beside each other.
func TestNpmInstallsOffline(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	p := newPerson(t)
	out, _ := p.run("node", "-p", "process.platform + '/' + process.arch")
	goos, arch, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(out, "x64", "amd64")), "/")
	r := release{version: "v1.4.0", at: time.Unix(1700000000, 0).UTC()}
	launcher, err := r.npmCcbot([]string{goos + "/" + arch, "plan9/arm64"}, pretended())
	if err != nil {
		t.Fatal(err)
	}
	programs, err := r.npmOf(goos, arch, pretended())
	if err != nil {
		t.Fatal(err)
	}
	p.write(p.home+"/a.npm.tgz", string(launcher), 0o600)
	p.write(p.home+"/b.npm.tgz", string(programs), 0o600)
	install := []string{"install", "--offline", "--no-audit", "--no-fund", "--global", "--prefix", p.home + "/npm"}
	if out, code := p.run("npm", append(install, p.home+"/a.npm.tgz", p.home+"/b.npm.tgz")...); code != 0 {
		t.Fatalf("npm: exit code %d\n%s", code, out)
	}
	for name, f := range p.files(p.home + "/npm") {
		if strings.HasSuffix(name, "package.json") && strings.Contains(f, `"scripts"`) {
			t.Errorf("%s has a script:\n%s", name, f)
		}
	}
	if out, code := p.run(p.home+"/npm/bin/ccbot", "fail", "a b"); code != 3 || out != "new ccbot fail a b\n" {
		t.Errorf("exit code %d, %q", code, out)
	}
}
