package center

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"

	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/fleet/seal"
	"ccbot/internal/spool"
)

// Files of the folder. Its folders are hosts, and links with a folder for each host.
const (
	hubName  = "hub"
	keysName = "keys"
	sealName = "seal"
)

// ErrNoHub is returned by Open if no hub was named.
var ErrNoHub = errors.New("the fleet has no hub")

// storedHub is the stored form of a hub. Without a pin it is an existing NATS server, or several of
// one cluster.
type storedHub struct {
	Address string `json:"address"`
	Pin     string `json:"pin"`
}

func files(path string) spool.Folder { return spool.Folder{Path: path, Fsync: true} }

// SetHub stores the address of the fleet's hub, HOST:PORT, and the pin of its key, and makes the
// keys of the fleet if there are none. It returns what the hub has to know of the fleet.
func SetHub(path, address, pin string) (rights.Trust, error) {
	if pin == "" {
		return rights.Trust{}, ErrAddress
	}
	keys, err := setHub(path, storedHub{address, pin})
	if err != nil {
		return rights.Trust{}, err
	}
	return keys.Trust()
}

// SetServer stores the URLs of an existing NATS server, tls://HOST:PORT with commas between those
// of a cluster, and makes the keys of the fleet if there are none. It returns the fleet's account,
// which the operator of the server signs: again after each removal, because the account has the
// revocations.
func SetServer(path, urls string) (account string, err error) {
	keys, err := setHub(path, storedHub{Address: urls})
	if err != nil {
		return "", err
	}
	_, revoked, err := hostsOf(path).Revoked()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return keys.OwnAccountJWT(revoked)
}

func setHub(path string, s storedHub) (*rights.Keys, error) {
	if _, err := parseHub(s); err != nil {
		return nil, err
	}
	folder := files(path)
	if err := folder.Make(); err != nil {
		return nil, err
	}
	keys, _, err := openKeys(folder)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = folder.Put(hubName, data)
	}
	return keys, err
}

// ErrAddress is returned for an address or a pin that no hub has.
var ErrAddress = errors.New("not HOST:PORT and the pin of a hub, nor tls://HOST:PORT of a NATS server")

func parseHub(s storedHub) (link.Hub, error) {
	if s.Pin == "" {
		return parseServers(s.Address)
	}
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil || host == "" || port == "" || strings.ContainsAny(s.Address, ", /@") {
		return link.Hub{}, ErrAddress
	}
	pin, err := hex.DecodeString(s.Pin)
	if err != nil || len(pin) != 32 {
		return link.Hub{}, ErrAddress
	}
	return link.Hub{Address: "tls://" + s.Address, Pin: pin}, nil
}

// parseServers reads the URLs of a cluster, which have neither a user nor a path.
func parseServers(urls string) (link.Hub, error) {
	for _, one := range strings.Split(urls, ",") {
		address, ok := strings.CutPrefix(one, "tls://")
		host, port, err := net.SplitHostPort(address)
		if !ok || err != nil || host == "" || port == "" || strings.ContainsAny(address, " /@") {
			return link.Hub{}, ErrAddress
		}
	}
	return link.Hub{Address: urls}, nil
}

func readHub(folder spool.Folder) (link.Hub, error) {
	var s storedHub
	data, err := folder.Read(hubName)
	if errors.Is(err, fs.ErrNotExist) {
		return link.Hub{}, ErrNoHub
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return link.Hub{}, fmt.Errorf("read the hub: %w", err)
	}
	return parseHub(s)
}

// Exists reports whether a hub was named.
func Exists(path string) bool {
	_, err := readHub(files(path))
	return !errors.Is(err, ErrNoHub)
}

// openKeys returns the keys of the fleet and of the chat's seals. It makes those that are missing.
func openKeys(folder spool.Folder) (*rights.Keys, seal.Key, error) {
	keys, err := openKey(folder, keysName, rights.ParseKeys, rights.NewKeys, (*rights.Keys).Secret)
	if err != nil {
		return nil, seal.Key{}, err
	}
	key, err := openKey(folder, sealName, seal.ParseKey, seal.NewKey, seal.Key.Seed)
	return keys, key, err
}

func openKey[K any](folder spool.Folder, name string, parse func([]byte) (K, error), make func() (K, error), secret func(K) ([]byte, error)) (key K, err error) {
	data, err := folder.Read(name)
	if err == nil {
		return parse(data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return key, fmt.Errorf("read the keys of the fleet: %w", err)
	}
	if key, err = make(); err != nil {
		return key, err
	}
	if data, err = secret(key); err != nil {
		return key, err
	}
	return key, folder.Put(name, data)
}

func hostsOf(path string) join.Hosts { return join.Hosts{Folder: files(filepath.Join(path, "hosts"))} }

// Hosts returns the hosts that were let in and not removed, without a connection, and those that
// cannot be read.
func Hosts(path string) (present []join.Host, unread []*join.Unread, err error) {
	all, unread, err := hostsOf(path).List()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, host := range all {
		if !host.IsRemoved() {
			present = append(present, host)
		}
	}
	return present, unread, err
}
