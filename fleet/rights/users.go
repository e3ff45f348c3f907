package rights

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// TTL of a host's rights, and the age at which they are renewed.
const (
	HostTTL   = 90 * 24 * time.Hour
	RenewalAt = 60 * 24 * time.Hour
)

// User is a user of the hub: its rights, and the key that proves them.
type User struct {
	JWT string
	Key nkeys.KeyPair
}

// LogValue returns nothing of the user.
func (User) LogValue() slog.Value { return slog.StringValue("redacted") }

// Chat returns a user with all rights in the fleet's account. Its key is made for this call: the
// chat stores none.
func (k *Keys) Chat() (User, error) { return newUser("chat", k.account) }

// System returns a user that can give the hub the fleet's account.
func (k *Keys) System() (User, error) { return newUser("system", k.system) }

func newUser(name string, account nkeys.KeyPair) (User, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return User{}, fmt.Errorf("rights: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return User{}, fmt.Errorf("rights: %w", err)
	}
	claims := jwt.NewUserClaims(public)
	claims.Name = name
	token, err := claims.Encode(account)
	if err != nil {
		return User{}, fmt.Errorf("rights: %w", err)
	}
	return User{token, pair}, nil
}

// HostJWT returns the rights of a host, whose public user key is user, until a time.
func (k *Keys) HostJWT(host, user string, until time.Time) (string, error) {
	if !nkeys.IsValidPublicUserKey(user) {
		return "", fmt.Errorf("rights: %q is not a public user key", user)
	}
	claims := jwt.NewUserClaims(user)
	claims.Name, claims.Expires = host, until.Unix()
	claims.UserPermissionLimits = hostPermissions(k.Names(), host)
	token, err := claims.Encode(k.account)
	if err != nil {
		return "", fmt.Errorf("rights: %w", err)
	}
	return token, nil
}

// Joiner is the public part of a joiner's rights. A code is too short for a JWT, so its holder
// builds the JWT from the same values as the signer.
type Joiner struct {
	Account string // public key
	Code    string // the id of the code
	User    string // public key
	Until   time.Time
}

// Sign returns the account's signature of the joiner's rights.
func (k *Keys) Sign(j Joiner) ([]byte, error) {
	unsigned, err := j.unsigned()
	if err != nil {
		return nil, err
	}
	signature, err := k.account.Sign([]byte(unsigned))
	if err != nil {
		return nil, fmt.Errorf("rights: %w", err)
	}
	return signature, nil
}

// JWT returns the joiner's JWT with a signature of Sign.
func (j Joiner) JWT(signature []byte) (string, error) {
	unsigned, err := j.unsigned()
	if err != nil {
		return "", err
	}
	return unsigned + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// unsigned returns the JWT without its signature. The form is written out here, because both ends
// of a code may have different versions of the library: a change needs another version of codes.
func (j Joiner) unsigned() (string, error) {
	limits := joinerPermissions(Names{Fleet: FleetOf(j.Account)}, j.Code)
	type allowed struct {
		Allow []string `json:"allow"`
	}
	payload, err := json.Marshal(struct {
		Exp  int64  `json:"exp"`
		Iss  string `json:"iss"`
		Name string `json:"name"`
		Sub  string `json:"sub"`
		Nats any    `json:"nats"`
	}{j.Until.Unix(), j.Account, "join", j.User, struct {
		Pub     allowed `json:"pub"`
		Sub     allowed `json:"sub"`
		Subs    int64   `json:"subs"`
		Data    int64   `json:"data"`
		Payload int64   `json:"payload"`
		Type    string  `json:"type"`
		Version int     `json:"version"`
	}{allowed{limits.Pub.Allow}, allowed{limits.Sub.Allow}, limits.Subs, limits.Data, limits.Payload, "user", 2}})
	if err != nil {
		return "", fmt.Errorf("rights: %w", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + encode(payload), nil
}
