package rpc_test

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy passes the bytes of connections on, unless it stalls.
type proxy struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	goOn     *sync.Cond
	stalled  bool
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, to: to}
	p.goOn = sync.NewCond(&p.mu)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	t.Cleanup(func() { p.stall(false); _ = l.Close() })
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve(c net.Conn) {
	other, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = c.Close()
		return
	}
	go p.copy(c, other)
	p.copy(other, c)
}

func (p *proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		if err != nil {
			return
		}
		p.mu.Lock()
		for p.stalled {
			p.goOn.Wait()
		}
		p.mu.Unlock()
		if _, err := to.Write(data[:n]); err != nil {
			return
		}
	}
}

// stall keeps all bytes back, or passes them on.
func (p *proxy) stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = on
	p.goOn.Broadcast()
}
