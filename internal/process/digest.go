package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// maxProgram limits the size of a program whose digest is taken; ccbot-hook has about 3 MB.
const maxProgram = 64 << 20

var errLargeProgram = errors.New("the program is too large")

// Digest returns the SHA-256 of a program, in hex.
func Digest(program io.Reader) (string, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(program, maxProgram+1))
	if err == nil && n > maxProgram {
		err = errLargeProgram
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// ExeDigest returns the digest of the program that a process runs, also if its file was removed or
// replaced. It fails where the system has no handle on that program (darwin).
func (t *Table) ExeDigest(id Identity) (string, error) {
	digest, err := t.exeDigest(id)
	if err != nil {
		return "", fmt.Errorf("process: program of %s: %w", id, err)
	}
	return digest, nil
}

func (t *Table) exeDigest(id Identity) (string, error) {
	program, err := openExe(id.PID)
	if err != nil {
		return "", err
	}
	defer program.Close()
	now, err := t.Identify(id.PID) // after the open: a pid that is reused has another start
	if err != nil {
		return "", err
	}
	if now != id {
		return "", ErrGone
	}
	return Digest(program)
}
