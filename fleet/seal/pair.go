package seal

import (
	"bytes"
	"crypto/rand"
	"fmt"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/nacl/box"
)

const (
	keySize   = 32
	nonceSize = 24
)

// pair encrypts between two ends, in the form of Key.SealFor. Their common key is computed once: a
// flood of messages that the peer did not seal would take a processor otherwise.
type pair struct{ common [keySize]byte }

func newPair(key Key, peer string) (*pair, error) {
	seed, err := key.Seed()
	if err != nil {
		return nil, err
	}
	_, private, err := nkeys.DecodeSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	public, err := nkeys.Decode(nkeys.PrefixByteCurve, []byte(peer))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	if len(public) != keySize || len(private) != keySize {
		return nil, fmt.Errorf("seal: %w", nkeys.ErrInvalidCurveKey)
	}
	var p pair
	box.Precompute(&p.common, (*[keySize]byte)(public), (*[keySize]byte)(private))
	return &p, nil
}

func (p *pair) seal(data []byte) []byte {
	var nonce [nonceSize]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return box.SealAfterPrecomputation(append([]byte(nkeys.XKeyVersionV1), nonce[:]...), data, &nonce, &p.common)
}

func (p *pair) open(sealed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(sealed, []byte(nkeys.XKeyVersionV1))
	if !ok || len(rest) <= nonceSize {
		return nil, ErrSender
	}
	data, ok := box.OpenAfterPrecomputation(nil, rest[nonceSize:], (*[nonceSize]byte)(rest[:nonceSize]), &p.common)
	if !ok {
		return nil, ErrSender
	}
	return data, nil
}
