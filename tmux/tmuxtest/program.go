package tmuxtest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"
)

// programWord is the first argument that makes a test binary run the program of the suite.
const programWord = "tmuxtest-record"

// greeting is the text that the program shows.
const greeting = "recording"

// Report is the environment that the program of the suite found when it started.
type Report struct {
	Args []string // after the name of the report file
	Dir  string
	Env  []string
}

// RunProgram is for TestMain of a package that runs Conformance on real panes: when the arguments
// ask for the suite's program, RunProgram runs it and exits; otherwise it returns. The program
// writes a Report to the file that the arguments name, then all input of its terminal to the same
// name with ".in". It ends with its terminal.
func RunProgram() {
	if len(os.Args) < 3 || os.Args[1] != programWord {
		return
	}
	if err := record(os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func record(path string, args []string) error {
	// The terminal is raw, because in line mode it cuts lines at 4,096 bytes and changes \r.
	if _, err := term.MakeRaw(int(os.Stdin.Fd())); err != nil {
		return fmt.Errorf("make terminal raw: %w", err)
	}
	in, err := os.Create(path + ".in")
	if err != nil {
		return err
	}
	defer in.Close()
	fmt.Print(greeting + "\r\n")
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := writeReport(path, Report{Args: args, Dir: dir, Env: os.Environ()}); err != nil {
		return err
	}
	_, _ = io.Copy(in, os.Stdin) // ends with an error when the terminal goes
	return nil
}

// writeReport makes the file appear as a whole: when it exists the program is ready.
func writeReport(path string, r Report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), ".report")
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
