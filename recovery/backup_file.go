package recovery

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/internal/spool"
)

const (
	recordEnding = ".json"
	backupMost   = 1 << 30 // bytes of all records of a backup: a foreign archive cannot fill the memory
)

// pack writes records as a gzipped tar: gzip's checksum distinguishes a torn file, or a file with a
// wrong byte, from a whole one. each is called after each record; its error ends the work.
func pack(to io.Writer, records map[string][]byte, each func() error) error {
	zipped, room := gzip.NewWriter(to), backupMost
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(records)) {
		data := records[name]
		if room -= len(data); room < 0 {
			return fmt.Errorf("all records together: %w", spool.ErrTooBig)
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

// unpack returns all records that pack wrote, or an error. Only a regular file with the name and
// the size of a record counts as a record.
func unpack(packed []byte) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	records, room := make(map[string][]byte), int64(backupMost)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, unzipped) // the checksum comes last
			return records, err
		}
		if err != nil {
			return nil, err
		}
		_, twice := records[header.Name]
		room -= header.Size
		if twice || header.Typeflag != tar.TypeReg || !isRecordName(header.Name) || header.Size > spool.DefaultMaxSize || room < 0 {
			return nil, fmt.Errorf("%q in it is no record", header.Name)
		}
		if records[header.Name], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}

func isRecordName(name string) bool {
	return filepath.Ext(name) == recordEnding && filepath.Base(name) == name && !strings.HasPrefix(name, ".")
}
