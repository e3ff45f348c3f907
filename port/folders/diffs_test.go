package folders

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestP9_PatchLinesShowInvisibleCharacters(t *testing.T) {
	for _, tt := range []struct {
		name, patch string
		want        []string
	}{
		{"nothing", "", nil},
		{"a blank that is none", "@@ -1 +1 @@ run\u00a0\n-./run x\n+./run\u00a0x\n", []string{"@@ -1 +1 @@ run⟨U+00A0⟩", "-./run x", "+./run⟨U+00A0⟩x"}},
		{"a blank at an end", "+x \\ \n \n+", []string{"+x \\⟨1×␠⟩", " ", "+"}},
		{"a tab", " \tx", []string{" ⇥   x"}},
		{"a file of another system", "@@ -1 +1 @@\r\n-a\r\n+b\r\n", []string{"@@ -1 +1 @@", "-a", "+b"}},
		{"one line of another system", "@@ -1 +1 @@\r\n-a\n+a\r\n", []string{"@@ -1 +1 @@", "-a", "+a⟨U+000D⟩"}},
		{"no text", "\xff\xfe", []string{"\xff⟨0xFE⟩"}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, PatchLines(tt.patch)) })
	}
}
