package rights

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Keys are the keys of a fleet.
type Keys struct {
	operator, system, account nkeys.KeyPair
	accountID                 string
}

// seeds is the stored form of Keys.
type seeds struct {
	Operator string `json:"operator"`
	System   string `json:"system"`
	Account  string `json:"account"`
}

// NewKeys makes the keys of a fleet.
func NewKeys() (*Keys, error) {
	operator, err := nkeys.CreateOperator()
	if err != nil {
		return nil, fmt.Errorf("rights: %w", err)
	}
	system, err := nkeys.CreateAccount()
	if err != nil {
		return nil, fmt.Errorf("rights: %w", err)
	}
	account, err := nkeys.CreateAccount()
	if err != nil {
		return nil, fmt.Errorf("rights: %w", err)
	}
	return keysOf(operator, system, account)
}

// ParseKeys reads what Keys.Secret returned.
func ParseKeys(secret []byte) (*Keys, error) {
	var s seeds
	if err := json.Unmarshal(secret, &s); err != nil {
		return nil, fmt.Errorf("rights: read the keys: %w", err)
	}
	var pairs []nkeys.KeyPair
	for _, seed := range []string{s.Operator, s.System, s.Account} {
		pair, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			return nil, fmt.Errorf("rights: read the keys: %w", err)
		}
		pairs = append(pairs, pair)
	}
	return keysOf(pairs[0], pairs[1], pairs[2])
}

func keysOf(operator, system, account nkeys.KeyPair) (*Keys, error) {
	id, err := account.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("rights: %w", err)
	}
	return &Keys{operator, system, account, id}, nil
}

// Secret returns the keys for the chat's own disk.
func (k *Keys) Secret() ([]byte, error) {
	var texts []string
	for _, pair := range []nkeys.KeyPair{k.operator, k.system, k.account} {
		seed, err := pair.Seed()
		if err != nil {
			return nil, fmt.Errorf("rights: %w", err)
		}
		texts = append(texts, string(seed))
	}
	return json.Marshal(seeds{texts[0], texts[1], texts[2]})
}

// LogValue returns the fleet.
func (k *Keys) LogValue() slog.Value { return slog.StringValue(k.Fleet()) }

// String returns the fleet.
func (k *Keys) String() string { return k.Fleet() }

// GoString returns the fleet.
func (k *Keys) GoString() string { return k.Fleet() }

// Fleet returns the name of the fleet, which is made of the account's public key.
func (k *Keys) Fleet() string { return FleetOf(k.accountID) }

// Account returns the account's public key.
func (k *Keys) Account() string { return k.accountID }

// Names returns the names of the fleet.
func (k *Keys) Names() Names { return Names{Fleet: k.Fleet()} }

// FleetOf returns the fleet of an account.
func FleetOf(account string) string { return shortID(account) }

// HostID returns the id of the host with a public user key.
func HostID(user string) string { return shortID(user) }

// shortID returns 8 characters of a public key. The first character is the kind of the key, and
// the second has few values.
func shortID(public string) string {
	if len(public) < 10 {
		return ""
	}
	return strings.ToLower(public[2:10])
}

// Trust has the claims by which a hub knows the users of a fleet. It has no secret.
type Trust struct {
	Operator string `json:"operator"` // the operator's JWT, which names the system account
	System   string `json:"system"`   // the system account's JWT
}

// Trust returns the claims for the fleet's hub.
func (k *Keys) Trust() (Trust, error) {
	system, err := k.system.PublicKey()
	if err != nil {
		return Trust{}, fmt.Errorf("rights: %w", err)
	}
	public, err := k.operator.PublicKey()
	if err != nil {
		return Trust{}, fmt.Errorf("rights: %w", err)
	}
	operator := jwt.NewOperatorClaims(public)
	operator.Name, operator.SystemAccount = "ccbot", system
	account := jwt.NewAccountClaims(system)
	account.Name = "system"
	var t Trust
	if t.Operator, err = operator.Encode(k.operator); err != nil {
		return Trust{}, fmt.Errorf("rights: %w", err)
	}
	if t.System, err = account.Encode(k.operator); err != nil {
		return Trust{}, fmt.Errorf("rights: %w", err)
	}
	return t, nil
}

// Revoked are the public user keys whose rights have ended, with the time of the end. They have
// none ever again, whenever a JWT says that it was issued: the clock may have gone back in between.
type Revoked map[string]time.Time

// AccountJWT returns the fleet's account for the hub.
func (k *Keys) AccountJWT(revoked Revoked) (string, error) { return k.accountBy(k.operator, revoked) }

// OwnAccountJWT returns the fleet's account for the operator of an existing server, who signs it in
// place of the account itself.
func (k *Keys) OwnAccountJWT(revoked Revoked) (string, error) { return k.accountBy(k.account, revoked) }

func (k *Keys) accountBy(signer nkeys.KeyPair, revoked Revoked) (string, error) {
	claims := jwt.NewAccountClaims(k.accountID)
	claims.Name = "ccbot " + k.Fleet()
	claims.Limits.Conn = maxConnections
	claims.Limits.Payload = MaxPayload
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: MaxDisk, Streams: 8, Consumer: 2 * maxConnections, MaxAckPending: jwt.NoLimit}
	for user := range revoked {
		claims.RevokeAt(user, time.Unix(math.MaxInt64, 0))
	}
	token, err := claims.Encode(signer)
	if err != nil {
		return "", fmt.Errorf("rights: %w", err)
	}
	return token, nil
}
