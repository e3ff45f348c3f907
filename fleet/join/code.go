package join

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
)

// TTL is the time in which a code can be used.
const TTL = 10 * time.Minute

// answerTTL is the time after TTL in which the hub still lets a joiner in, so that the chat can
// answer that the code is too old.
const answerTTL = 10 * time.Minute

const (
	secretSize = 16
	version    = "cc1" // of the form of a code, and of the JWT that is built from it
)

// ErrCode is returned for a text that is not a code.
var ErrCode = errors.New("not a code of a ccbot of this version")

// Code lets one machine join.
type Code struct {
	Hub     link.Hub
	Chat    string // public key
	Account string // public key
	Until   time.Time

	secret    []byte
	signature []byte // of the joiner's rights
}

// fields is the binary part of a code.
type fields struct {
	Pin       [sha256.Size]byte
	Chat      [32]byte
	Account   [32]byte
	Secret    [secretSize]byte
	Until     uint64
	Signature [64]byte
}

// Text returns the form that a person copies.
func (c Code) Text() (string, error) {
	chat, err := nkeys.Decode(nkeys.PrefixByteCurve, []byte(c.Chat))
	if err != nil {
		return "", fmt.Errorf("join: %w", err)
	}
	account, err := nkeys.Decode(nkeys.PrefixByteAccount, []byte(c.Account))
	if err != nil {
		return "", fmt.Errorf("join: %w", err)
	}
	var f fields
	copy(f.Pin[:], c.Hub.Pin)
	copy(f.Chat[:], chat)
	copy(f.Account[:], account)
	copy(f.Secret[:], c.secret)
	copy(f.Signature[:], c.signature)
	f.Until = uint64(c.Until.Unix()) //nolint:gosec // after 1970
	var data bytes.Buffer
	if err := binary.Write(&data, binary.BigEndian, f); err != nil {
		return "", fmt.Errorf("join: %w", err)
	}
	return version + "." + base64.RawURLEncoding.EncodeToString(data.Bytes()) + "." + c.Hub.Address, nil
}

// ParseCode reads the form that a person copies.
func ParseCode(text string) (Code, error) {
	parts := strings.SplitN(strings.TrimSpace(text), ".", 3)
	if len(parts) != 3 || parts[0] != version || parts[2] == "" {
		return Code{}, ErrCode
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	if err != nil {
		return Code{}, fmt.Errorf("%w: %w", ErrCode, err)
	}
	var f fields
	if len(data) != binary.Size(f) {
		return Code{}, ErrCode
	}
	if _, err := binary.Decode(data, binary.BigEndian, &f); err != nil {
		return Code{}, fmt.Errorf("%w: %w", ErrCode, err)
	}
	chat, err := nkeys.Encode(nkeys.PrefixByteCurve, f.Chat[:])
	if err != nil {
		return Code{}, fmt.Errorf("%w: %w", ErrCode, err)
	}
	account, err := nkeys.Encode(nkeys.PrefixByteAccount, f.Account[:])
	if err != nil {
		return Code{}, fmt.Errorf("%w: %w", ErrCode, err)
	}
	pin := f.Pin[:]
	if f.Pin == ([sha256.Size]byte{}) { // of an existing server
		pin = nil
	}
	return Code{Hub: link.Hub{Address: parts[2], Pin: pin}, Chat: string(chat), Account: string(account),
		Until: time.Unix(int64(f.Until), 0), secret: f.Secret[:], signature: f.Signature[:]}, nil //nolint:gosec // as written
}

// LogValue hides the secret.
func (Code) LogValue() slog.Value { return slog.StringValue("redacted") }

// String hides the secret.
func (Code) String() string { return "redacted" }

// GoString hides the secret.
func (Code) GoString() string { return "redacted" }

// derive returns n bytes that only the holders of the secret know.
func derive(secret []byte, purpose string, n int) ([]byte, error) {
	data, err := hkdf.Key(sha256.New, secret, nil, "ccbot join 1 "+purpose, n)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return data, nil
}

// idOf returns the public id of a code.
func idOf(secret []byte) (string, error) {
	data, err := derive(secret, "id", 5)
	if err != nil {
		return "", err
	}
	return strings.ToLower(base32.StdEncoding.EncodeToString(data)), nil
}

// joiner returns the key of the joiner with a secret, and what the account signs.
func joiner(secret []byte, account string, until time.Time) (nkeys.KeyPair, rights.Joiner, error) {
	id, err := idOf(secret)
	if err != nil {
		return nil, rights.Joiner{}, err
	}
	raw, err := derive(secret, "user", 32)
	if err != nil {
		return nil, rights.Joiner{}, err
	}
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, raw)
	if err != nil {
		return nil, rights.Joiner{}, fmt.Errorf("join: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, rights.Joiner{}, fmt.Errorf("join: %w", err)
	}
	return pair, rights.Joiner{Account: account, Code: id, User: public, Until: until.Add(answerTTL)}, nil
}

// proof returns what shows that the holder of both keys knows the secret.
func proof(secret []byte, user, key, chat string) ([]byte, error) {
	mac, err := derive(secret, "proof", sha256.Size)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, mac)
	h.Write([]byte(user + " " + key + " " + chat))
	return h.Sum(nil), nil
}

// Fingerprint returns what a person compares: 32 bits of both public keys of a machine.
func Fingerprint(user, key string) string {
	sum := sha256.Sum256([]byte(user + " " + key))
	return fmt.Sprintf("%X-%X", sum[:2], sum[2:4])
}
