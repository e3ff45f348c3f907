package seal

import (
	"fmt"
	"log/slog"

	"github.com/nats-io/nkeys"
)

// Key is the private curve key of one end.
type Key struct {
	pair   nkeys.KeyPair
	public string
}

// NewKey makes a key.
func NewKey() (Key, error) {
	pair, err := nkeys.CreateCurveKeys()
	if err != nil {
		return Key{}, fmt.Errorf("seal: %w", err)
	}
	return keyOf(pair)
}

// ParseKey returns the key of a seed.
func ParseKey(seed []byte) (Key, error) {
	pair, err := nkeys.FromCurveSeed(seed)
	if err != nil {
		return Key{}, fmt.Errorf("seal: read the key: %w", err)
	}
	return keyOf(pair)
}

func keyOf(pair nkeys.KeyPair) (Key, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return Key{}, fmt.Errorf("seal: %w", err)
	}
	return Key{pair, public}, nil
}

// Seed returns the secret form of the key, which ParseKey reads.
func (k Key) Seed() ([]byte, error) {
	seed, err := k.pair.Seed()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return seed, nil
}

// Public returns the public key: 56 characters that begin with X.
func (k Key) Public() string { return k.public }

// String returns the public key, and so do all verbs of package fmt.
func (k Key) String() string { return k.public }

// GoString returns the public key.
func (k Key) GoString() string { return k.public }

// LogValue returns the public key.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.public) }

// SealFor encrypts data for the holder of a public key.
func (k Key) SealFor(public string, data []byte) ([]byte, error) {
	sealed, err := k.pair.Seal(data, public)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// OpenFrom returns data that the holder of a public key sealed for k. It returns ErrSender for
// any other data.
func (k Key) OpenFrom(public string, sealed []byte) ([]byte, error) {
	data, err := k.pair.Open(sealed, public)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSender, err)
	}
	return data, nil
}
