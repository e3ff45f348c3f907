package process

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ArgvHash is a fingerprint of a command line: the SHA-256 of its arguments, each with a NUL behind it as the kernel
// keeps them, in hex. A record holds it instead of the arguments, which are nobody's business. "" is of none, as a
// zombie's are.
func ArgvHash(args []string) string {
	if len(args) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}
