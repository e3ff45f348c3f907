package recovery

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
)

// archived returns the bytes of an archive that ccbot did not write: its members are headers, each
// with content of the size that it names.
func archived(t *testing.T, members ...tar.Header) []byte {
	t.Helper()
	var file bytes.Buffer
	zipped := gzip.NewWriter(&file)
	archive := tar.NewWriter(zipped)
	for _, header := range members {
		require.NoError(t, archive.WriteHeader(&header))
		_, err := archive.Write(bytes.Repeat([]byte("x"), int(header.Size)))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	return file.Bytes()
}

func packedBytes(t *testing.T, records map[string][]byte) []byte {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, pack(&file, records, func() error { return nil }))
	return file.Bytes()
}

// TestP8_ForeignArchiveIsNotBackup: a member's name and type never lead out of the sessions'
// folder, nor make anything but a record there. Of an archive with one such member nothing is
// taken.
func TestP8_ForeignArchiveIsNotBackup(t *testing.T) {
	good := tar.Header{Name: "a.json", Mode: 0o600, Size: 3}
	tests := []struct {
		name   string
		member tar.Header
	}{
		{"out of the folder", tar.Header{Name: "../a.json", Size: 3}},
		{"out of the folder, at last", tar.Header{Name: "b/../../a.json", Size: 3}},
		{"an absolute path", tar.Header{Name: "/etc/a.json", Size: 3}},
		{"in a folder", tar.Header{Name: "b/a.json", Size: 3}},
		{"in this folder", tar.Header{Name: "./b.json", Size: 3}},
		{"a link", tar.Header{Name: "b.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}},
		{"a hard link", tar.Header{Name: "b.json", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}},
		{"a device", tar.Header{Name: "b.json", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}},
		{"a pipe", tar.Header{Name: "b.json", Typeflag: tar.TypeFifo}},
		{"a folder", tar.Header{Name: "b.json/", Typeflag: tar.TypeDir}},
		{"larger than a record can be", tar.Header{Name: "b.json", Size: spool.DefaultMaxSize + 1}},
		{"the same record twice", good},
		{"a name under way", tar.Header{Name: ".b.json", Size: 3}},
		{"no name", tar.Header{Name: ".json", Size: 3}},
		{"another ending", tar.Header{Name: "b.txt", Size: 3}},
		{"a long name", tar.Header{Name: strings.Repeat("../", 80) + "b.json", Size: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			records, err := unpack(archived(t, good, tt.member))
			require.ErrorContains(t, err, "is not a record")
			assert.Empty(t, records)
		})
	}
	records, err := unpack(archived(t, good))
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"a.json": []byte("xxx")}, records, "what another tar has packed")
}

// Nothing is taken from an archive with data after its records.
func TestP8_BackupEndsWithItsRecords(t *testing.T) {
	good := packedBytes(t, map[string][]byte{"a.json": []byte("{}")})
	var unzipped bytes.Buffer
	r, err := gzip.NewReader(bytes.NewReader(good))
	require.NoError(t, err)
	_, err = unzipped.ReadFrom(r)
	require.NoError(t, err)
	zipped := func(more string) []byte {
		var file bytes.Buffer
		w := gzip.NewWriter(&file)
		_, err := w.Write(append(bytes.Clone(unzipped.Bytes()), more...))
		require.NoError(t, errors.Join(err, w.Close()))
		return file.Bytes()
	}
	for name, packed := range map[string][]byte{
		"a second gzip member":    append(bytes.Clone(good), packedBytes(t, map[string][]byte{"b.json": []byte("{}")})...),
		"bytes after the gzip":    append(bytes.Clone(good), 0),
		"bytes after the archive": zipped("more"),
	} {
		records, err := unpack(packed)
		require.ErrorIs(t, err, errTrailing, name)
		assert.Empty(t, records, name)
	}
	records, err := unpack(zipped(strings.Repeat("\x00", 8192)))
	require.NoError(t, err)
	assert.Len(t, records, 1, "tar programs fill the last block")
}

// TestP8_FalseMemberSizeTakesNoMemory: a tar header can name any size.
func TestP8_FalseMemberSizeTakesNoMemory(t *testing.T) {
	var file bytes.Buffer
	zipped := gzip.NewWriter(&file)
	require.NoError(t, tar.NewWriter(zipped).WriteHeader(&tar.Header{Name: "a.json", Size: 1 << 40}))
	require.NoError(t, zipped.Close())
	_, err := unpack(file.Bytes())
	require.ErrorContains(t, err, "is not a record")
}

// TestP8_TornBackupIsDetected: a backup that is cut short or has a wrong byte is not taken for one
// with other records.
func TestP8_TornBackupIsDetected(t *testing.T) {
	records := map[string][]byte{"a.json": []byte("{}"), "b.json": bytes.Repeat([]byte("\x00"), 3000), "empty.json": {},
		// Each name that a file can have.
		"no text \xff.json": []byte("1"), strings.Repeat("long", 60) + ".json": []byte("2")}
	whole := packedBytes(t, records)
	for n := range whole {
		_, err := unpack(whole[:n])
		require.Error(t, err, "the first %d bytes", n)
		wrong := bytes.Clone(whole)
		wrong[n] ^= 0x40
		if got, err := unpack(wrong); err == nil {
			require.Equal(t, records, got, "byte %d", n) // it is not content: gzip's date
		}
	}
	got, err := unpack(whole)
	require.NoError(t, err)
	require.Equal(t, records, got)
	for _, other := range []string{"", "{}", "2026", strings.Repeat("\x00", 2048)} {
		_, err := unpack([]byte(other))
		require.Error(t, err, other)
	}
	_, err = unpack(append(bytes.Clone(whole), "and more"...))
	require.Error(t, err)
}

// FuzzUnpack: a member of any file that is accepted as a record can be one, and is packed and
// unpacked unchanged.
func FuzzUnpack(f *testing.F) {
	var file bytes.Buffer
	require.NoError(f, pack(&file, map[string][]byte{"a.json": []byte("{}"), "ü.json": nil}, func() error { return nil }))
	f.Add(file.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := unpack(data)
		if err != nil {
			return
		}
		for name, content := range records {
			assert.True(t, isRecordName(name), name)
			assert.LessOrEqual(t, len(content), spool.DefaultMaxSize)
		}
		again, err := unpack(packedBytes(t, records))
		require.NoError(t, err)
		assert.Equal(t, len(records), len(again))
	})
}
