package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sum is the result of a comparison with the list of checksums.
type Sum string

// The results of a comparison.
const (
	SumRight Sum = "right"
	SumWrong Sum = "wrong"
	SumNone  Sum = "unknown: no SHA256SUMS next to the file has it"
)

// Checksum compares a file with SHA256SUMS in its folder.
func Checksum(name string) (Sum, error) {
	list, err := os.ReadFile(filepath.Join(filepath.Dir(name), "SHA256SUMS"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if len(words) != 2 || strings.TrimPrefix(words[1], "*") != filepath.Base(name) {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		sum := sha256.New()
		if _, err := io.Copy(sum, f); err != nil {
			return "", err
		}
		want, err := hex.DecodeString(words[0])
		if err != nil || !bytes.Equal(sum.Sum(nil), want) {
			return SumWrong, nil
		}
		return SumRight, nil
	}
	return SumNone, nil
}
