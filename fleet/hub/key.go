package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"time"

	"ccbot/internal/spool"
)

const keyName = "key.pem"

// Pin is the SHA-256 of a hub's public key, in the form of a certificate.
type Pin [sha256.Size]byte

// openKey returns the hub's key. It makes the key at the first start.
func openKey(folder spool.Folder) (*ecdsa.PrivateKey, error) {
	data, err := folder.Read(keyName)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(folder)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("read the key: %s has no PEM block", keyName)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read the key: %s has another kind of key", keyName)
	}
	return key, nil
}

func makeKey(folder spool.Folder) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if err := folder.Put(keyName, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

// certificate returns a certificate of a key, which no client reads but for the key.
func certificate(key *ecdsa.PrivateKey) (tls.Certificate, Pin, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "ccbot-hub"},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, Pin{}, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, Pin{}, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, sha256.Sum256(leaf.RawSubjectPublicKeyInfo), nil
}

// OpenPin returns the pin of the hub in a folder. It makes the key if there is none.
func OpenPin(path string) (Pin, error) {
	key, err := openKey(spool.Folder{Path: path, Fsync: true})
	if err != nil {
		return Pin{}, fmt.Errorf("hub: %w", err)
	}
	_, pin, err := certificate(key)
	return pin, err
}
