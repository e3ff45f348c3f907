package host

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Read implements [files.Files].
func (m *Machine) Read(_ context.Context, transcript, path string, most int64) (string, error) {
	folder := filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "tool-results")
	if filepath.Dir(path) != folder {
		return "", errors.New("it is not beside the transcript")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := openRegular(root, filepath.Base(path))
	if err != nil {
		return "", err
	}
	defer f.Body.Close()
	if f.Size > most {
		return "", errors.New("it is too long")
	}
	data, err := io.ReadAll(io.NewSectionReader(f.Body, 0, f.Size))
	return string(data), err
}
