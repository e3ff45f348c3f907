package folders_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/port/folders"
)

func TestAddress(t *testing.T) {
	for address, want := range map[string]struct{ machine, path, above string }{
		"":                  {"", "", "/"},
		"/":                 {"", "/", "/"},
		"/work/api":         {"", "/work/api", "/work"},
		"/work/b:/api":      {"", "/work/b:/api", "/work/b:"},
		"h7k2m9qa:":         {"h7k2m9qa", "", "h7k2m9qa:/"},
		"h7k2m9qa:/":        {"h7k2m9qa", "/", "h7k2m9qa:/"},
		"h7k2m9qa:/work":    {"h7k2m9qa", "/work", "h7k2m9qa:/"},
		"h7k2m9qa:/work/a ": {"h7k2m9qa", "/work/a ", "h7k2m9qa:/work"},
	} {
		t.Run(address, func(t *testing.T) {
			machine, path := folders.Split(address)
			assert.Equal(t, want.machine, machine)
			assert.Equal(t, want.path, path)
			assert.Equal(t, address, folders.Address(machine, path))
			assert.Equal(t, want.above, folders.Above(address))
		})
	}
}

func TestPathThatIsNoText(t *testing.T) {
	for path, want := range map[string]bool{"": true, "/häuser/日本/😀": true, "a\xff": false, "a\ufffd": false, "ж\xd0": false, "\xed\xa0\x80": false} {
		assert.Equal(t, want, folders.IsText(path), "%q", path)
	}
}

func TestShortAddress(t *testing.T) {
	own, other := folders.Bounds{Home: "/home/u"}, folders.Bounds{Machine: "barn", Home: "h7k2m9qa:/home/u"}
	for _, tt := range []struct {
		in            folders.Bounds
		address, want string
	}{
		{own, "/home/u", "~"}, {own, "/home/u/api", "~/api"}, {own, "/home/u2", "/home/u2"}, {own, "h7k2m9qa:/home/u", "h7k2m9qa:/home/u"},
		{other, "h7k2m9qa:/home/u/api", "barn:~/api"}, {other, "h7k2m9qa:/srv", "barn:/srv"},
		{folders.Bounds{}, "/srv", "/srv"}, {folders.Bounds{Machine: "barn"}, "h7k2m9qa:/home/u", "barn:/home/u"},
	} {
		assert.Equal(t, tt.want, tt.in.Short(tt.address))
	}
}

func TestTextsWithoutAddress(t *testing.T) {
	for _, text := range []string{"a.txt", "b:file", "B:/work", "~/api", ":/work", "b c:/work", "../b:/work"} {
		machine, path := folders.Split(text)
		assert.Empty(t, machine, text)
		assert.Equal(t, text, path)
	}
}
