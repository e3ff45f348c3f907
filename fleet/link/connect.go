package link

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"ccbot/fleet/rights"
)

const (
	connectTimeout = 10 * time.Second
	requestTimeout = 5 * time.Second
	minBackoff     = 100 * time.Millisecond
	maxBackoff     = 5 * time.Second
)

// Errors of a connection, matched with errors.Is.
var (
	// ErrPin is returned if the server has another key than the pinned one.
	ErrPin = errors.New("the hub has another key")
	// ErrRights is returned if the user's rights have ended, or the hub does not know the fleet yet.
	ErrRights = errors.New("the hub refuses this user")
)

// Hub is the address and the identity of a hub.
type Hub struct {
	Address string // HOST:PORT of a ccbot-hub, or URLs of NATS servers
	Pin     []byte // SHA-256 of the hub's public key; without one the authorities of the system count
}

// Login is the user of a connection.
type Login struct {
	User   rights.User
	Rights func() string // the present JWT of User; nil: it stays the same
	Inbox  string        // prefix
}

// connect returns a connection that is made again whenever it is lost. again, if not nil, is called
// after that.
func connect(h Hub, as Login, again func()) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("ccbot"), nats.Timeout(connectTimeout), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(backoff), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.Secure(tlsConfig(h.Pin)), nats.SetCustomDialer(dialer{tlsConfig(h.Pin)}), nats.SkipHostLookup(), // Dial knows the name
		nats.IgnoreDiscoveredServers(), nats.FlusherTimeout(connectTimeout),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if h.Pin != nil {
		options = append(options, nats.TLSHandshakeFirst())
	}
	if as.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(as.Inbox))
	}
	token := func() (string, error) {
		if as.Rights != nil {
			return as.Rights(), nil
		}
		return as.User.JWT, nil
	}
	options = append(options, nats.UserJWT(token, as.User.Key.Sign))
	if again != nil {
		options = append(options, nats.ReconnectHandler(func(*nats.Conn) { again() }))
	}
	conn, err := nats.Connect(h.Address, options...)
	if err != nil && strings.EqualFold(err.Error(), nats.ErrAuthorization.Error()) { // the server's own text
		err = fmt.Errorf("%w: %w", ErrRights, err)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the hub: %w", err)
	}
	return conn, nil
}

// backoff returns the pause before an attempt to connect again.
func backoff(attempts int) time.Duration {
	return min(minBackoff<<min(attempts, 10), maxBackoff)
}

func tlsConfig(pin []byte) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if pin == nil {
		return config
	}
	config.InsecureSkipVerify = true // no authority knows the key: the pin is compared instead
	config.VerifyConnection = func(state tls.ConnectionState) error {
		sum := sha256.Sum256(state.PeerCertificates[0].RawSubjectPublicKeyInfo)
		if !bytes.Equal(sum[:], pin) {
			return ErrPin
		}
		return nil
	}
	return config
}

// Dial connects once as a user whose rights are for one purpose, such as a joiner. The caller
// closes the connection.
func Dial(h Hub, as Login) (*nats.Conn, error) { return connect(h, as, nil) }
