package process

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ArgvHash is a fingerprint of a command line: the SHA-256 of its arguments, each followed by a NUL
// as in the kernel, in hex. A record holds the fingerprint instead of the arguments, because these
// are private. An empty command line, such as that of a zombie, gives "".
func ArgvHash(args []string) string {
	if len(args) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}
