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
	MaxStore int64         // bytes of the store
	Log      server.Logger // gets the server's warnings and errors; may be nil
}

// Hub is a running hub.
type Hub struct {
	server *server.Server
	front  *front
	pin    Pin
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
	running, err := start(s, cert)
	if errors.Is(err, errStore) {
		if err := disk.RemoveAll(filepath.Join(s.Folder, "store")); err != nil {
			return nil, fmt.Errorf("hub: remove the damaged store: %w", err)
		}
		running, err = start(s, cert)
	}
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	clients, err := listen(s.Listen, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}}, running)
	if err != nil {
		running.Shutdown()
		running.WaitForShutdown()
		return nil, fmt.Errorf("hub: %w", err)
	}
	return &Hub{running, clients, pin}, nil
}

// errStore is returned if the server cannot use its store.
var errStore = errors.New("the store cannot be used")

func start(s Settings, cert tls.Certificate) (*server.Server, error) {
	options, err := optionsOf(s, cert)
	if err != nil {
		return nil, err
	}
	running, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	if s.Log != nil {
		running.SetLogger(s.Log, false, false)
	}
	running.Start()
	if running.ReadyForConnections(startTimeout) && running.JetStreamEnabled() {
		return running, nil
	}
	running.Shutdown()
	running.WaitForShutdown()
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
		PingInterval: 20 * time.Second, MaxPingsOut: 2, NoSigs: true, NoLog: s.Log == nil,
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
	h.server.Shutdown()
	h.server.WaitForShutdown()
}
