// Package addresstest hands out network addresses that belong to one test alone.
package addresstest

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	mu    sync.Mutex
	given = make(map[string]bool)
)

// Free returns an address on which a program of the test may listen, end, and listen again. No other
// test gets it: each process has an address of its own, as all of 127.0.0.0/8 is loopback on Linux,
// and a port is given once. Elsewhere another program may take the port.
func Free(t testing.TB) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	for {
		l, err := net.Listen("tcp", own()+":0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.NoError(t, l.Close())
		if !given[addr] {
			given[addr] = true
			return addr
		}
	}
}

func own() string {
	pid := os.Getpid() // has 22 bits
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	return fmt.Sprintf("127.%d.%d.%d", 64+pid>>16, pid>>8&0xff, pid&0xff)
}
