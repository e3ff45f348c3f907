package hub

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"ccbot/fleet/rights"
	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// startTimeout limits the start of the server, which reads its store.
const startTimeout = time.Minute

// Settings are the parameters of Open.
type Settings struct {
	Folder   string // has key.pem, and the folder store
	Listen   string // HOST:PORT; port 0 is a free one
	Trust    rights.Trust
	MaxStore int64         // bytes of the store, at least rights.MaxDisk
	Log      server.Logger // gets the server's warnings and errors; may be nil
	// HasRoom reports whether the disk of the store has room; nil: its free space decides.
	HasRoom func() bool `json:"-"`
}

// Hub is a running hub. Run starts its server anew when that can no longer write.
type Hub struct {
	settings Settings
	cert     tls.Certificate
	front    *front
	pin      Pin
	broken   chan struct{} // has an item if the server can no longer write
}

// Open starts a hub. It returns when clients can connect.
func Open(s Settings) (*Hub, error) {
	folder := spool.Folder{Path: s.Folder, Fsync: true}
	if err := folder.Make(); err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	key, err := openKey(folder)
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	cert, pin, err := certificate(key)
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	if s.HasRoom == nil {
		s.HasRoom = s.hasRoom
	}
	h := &Hub{settings: s, cert: cert, pin: pin, broken: make(chan struct{}, 1)}
	running, err := h.start()
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	h.front, err = listen(s.Listen, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}}, running)
	if err != nil {
		end(running)
		return nil, fmt.Errorf("hub: %w", err)
	}
	return h, nil
}

// start starts a server. A store that cannot be read is removed.
func (h *Hub) start() (*server.Server, error) {
	running, err := h.startOnce()
	if !errors.Is(err, errStore) {
		return running, err
	}
	if err := disk.RemoveAll(filepath.Join(h.settings.Folder, "store")); err != nil {
		return nil, fmt.Errorf("remove the damaged store: %w", err)
	}
	return h.startOnce()
}

// errStore is returned if the server cannot use its store.
var errStore = errors.New("the store cannot be used")

func (h *Hub) startOnce() (*server.Server, error) {
	options, err := optionsOf(h.settings, h.cert)
	if err != nil {
		return nil, err
	}
	running, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	running.SetLogger(h, false, false)
	running.Start()
	if running.ReadyForConnections(startTimeout) && running.JetStreamEnabled() {
		return running, nil
	}
	end(running)
	if !running.JetStreamEnabled() {
		return nil, errStore
	}
	return nil, fmt.Errorf("not ready after %s", startTimeout)
}

func optionsOf(s Settings, cert tls.Certificate) (*server.Options, error) {
	_, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", s.Listen, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("listen on %q: the port is not a number up to 65535", s.Listen)
	}
	operator, err := jwt.DecodeOperatorClaims(s.Trust.Operator)
	if err != nil {
		return nil, fmt.Errorf("read the operator: %w", err)
	}
	store := filepath.Join(s.Folder, "store")
	accounts, err := server.NewDirAccResolver(filepath.Join(store, "accounts"), 16, time.Hour, server.NoDelete)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	if err := accounts.Store(operator.SystemAccount, s.Trust.System); err != nil {
		return nil, fmt.Errorf("%w: %w", errStore, err)
	}
	return &server.Options{
		ServerName: "ccbot-hub", DontListen: true, // see front
		TLS: true, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}}, // clients ask for it
		TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: operator.SystemAccount, AccountResolver: accounts,
		JetStream: true, StoreDir: store, SyncAlways: true, JetStreamMaxStore: s.MaxStore, JetStreamMaxMemory: 64 << 20,
		MaxPayload: rights.MaxPayload, MaxConn: maxConnections, AuthTimeout: 10, WriteDeadline: 10 * time.Second,
		PingInterval: 20 * time.Second, MaxPingsOut: 2, NoSigs: true,
		DisableJetStreamBanner: true,
	}, nil
}

// Address returns the address on which the hub listens.
func (h *Hub) Address() string { return h.front.listener.Addr().String() }

// Pin returns the pin of the hub's key.
func (h *Hub) Pin() Pin { return h.pin }

// Close ends all connections and the server.
func (h *Hub) Close() {
	h.front.close()
	end(h.front.server.Load())
}

func end(running *server.Server) {
	running.Shutdown()
	running.WaitForShutdown()
}
