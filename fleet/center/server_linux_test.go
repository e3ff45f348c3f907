package center_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/center"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
)

// authority returns an authority that the system trusts, as a file, and a certificate of it for
// 127.0.0.1. The system reads the file once in a process.
var authority = sync.OnceValues(func() (root []byte, cert tls.Certificate) {
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return k
	}
	ca, leaf := key(), key()
	parent := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	issued := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: parent.NotBefore, NotAfter: parent.NotAfter, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	top, err := x509.CreateCertificate(rand.Reader, parent, parent, ca.Public(), ca)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, issued, parent, leaf.Public(), ca)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: top}), tls.Certificate{Certificate: [][]byte{der}, PrivateKey: leaf}
})

// cluster is a plain NATS server in operator mode, which is not ours: it has no front, and its
// operator signs the account of the fleet.
type cluster struct {
	t        *testing.T
	server   *server.Server
	operator nkeys.KeyPair
	accounts *server.MemAccResolver
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	root, cert := authority()
	file := filepath.Join(t.TempDir(), "root.pem")
	require.NoError(t, os.WriteFile(file, root, 0o600))
	t.Setenv("SSL_CERT_FILE", file)
	c := &cluster{t: t, accounts: &server.MemAccResolver{}}
	var err error
	c.operator, err = nkeys.CreateOperator()
	require.NoError(t, err)
	public, err := c.operator.PublicKey()
	require.NoError(t, err)
	system, err := nkeys.CreateAccount()
	require.NoError(t, err)
	id, err := system.PublicKey()
	require.NoError(t, err)
	token, err := jwt.NewAccountClaims(id).Encode(c.operator)
	require.NoError(t, err)
	require.NoError(t, c.accounts.Store(id, token))
	trusted := jwt.NewOperatorClaims(public)
	trusted.SystemAccount = id
	c.server, err = server.NewServer(&server.Options{ServerName: "theirs", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		TLS: true, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}, TLSTimeout: 10, AuthTimeout: 20,
		JetStream: true, StoreDir: t.TempDir(), TrustedOperators: []*jwt.OperatorClaims{trusted}, SystemAccount: id, AccountResolver: c.accounts})
	require.NoError(t, err)
	c.server.Start()
	t.Cleanup(func() { c.server.Shutdown(); c.server.WaitForShutdown() })
	require.True(t, c.server.ReadyForConnections(time.Minute))
	return c
}

// imports signs an account, as the operator does with `nsc import account` and `nsc push`.
func (c *cluster) imports(account string) {
	c.t.Helper()
	claims, err := jwt.DecodeAccountClaims(account)
	require.NoError(c.t, err)
	require.True(c.t, claims.IsSelfSigned(), "the operator signs it instead")
	token, err := claims.Encode(c.operator)
	require.NoError(c.t, err)
	require.NoError(c.t, c.accounts.Store(claims.Subject, token))
	if known, err := c.server.LookupAccount(claims.Subject); err == nil {
		c.server.UpdateAccountClaims(known, claims)
	}
}

// created returns the time at which a stream was made; zero: there is none.
func (c *cluster) created(stream string) time.Time {
	c.t.Helper()
	all, err := c.server.Jsz(&server.JSzOptions{Accounts: true, Streams: true})
	require.NoError(c.t, err)
	for _, account := range all.AccountDetails {
		for _, s := range account.Streams {
			if s.Name == stream {
				return s.Created
			}
		}
	}
	return time.Time{}
}

func (c *cluster) url() string { return "tls://" + c.server.Addr().String() }

// TestP8_FleetAtAnExistingServer: the fleet works at a server that is not ours, also while a
// machine attacks it as far as only the front of ccbot-hub would prevent: nothing is lost or
// believed.
func TestP8_FleetAtAnExistingServer(t *testing.T) {
	theirs := newCluster(t)
	w := &world{t: t, folder: t.TempDir(), chat: &chat{}}
	account, err := center.SetServer(w.folder, theirs.url())
	require.NoError(t, err)
	theirs.imports(account)
	w.start()
	b, c := t.TempDir(), t.TempDir()
	w.join("B", b)
	joined := w.join("C", c)
	onC := w.run("C", c)
	w.shows("C")
	say := func(name string) {
		t.Helper()
		require.NoError(t, onC.News().SessionNews(t.Context(), port.Session{ID: uuid.New(), Name: name}, news.Renamed{}))
		waittest.Until(t, func() bool { return slices.Contains(w.chat.all(), name) })
	}
	say("first")

	x := w.steal(b)
	names := x.of.Names
	next := "$JS.API.CONSUMER.MSG.NEXT." + names.Commands() + "." + x.of.ID
	made := theirs.created(names.Events())
	for i, reply := range []string{"$JS.API.STREAM.DELETE." + names.Events(), "$JS.API.STREAM.DELETE." + names.Commands(),
		"$JS.API.CONSUMER.DELETE." + names.Events() + "." + joined.ID, names.Event(joined.ID), names.Request(joined.ID)} {
		for subject, body := range map[string]string{next: `{"batch":9,"no_wait":true}`, names.Event(x.of.ID): "x"} {
			require.NoError(t, x.Conn().PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: []byte(body)}))
		}
		require.NoError(t, x.Conn().Flush())
		say(string(rune('a' + i)))
		w.shows("C")
	}
	assert.Equal(t, []string{"first", "a", "b", "c", "d", "e"}, w.chat.all())
	// nats-server obeyed such a reply until 2.15.2, and the chat made the stream again: TestP8_StreamsAreMadeAgain.
	assert.Equal(t, made, theirs.created(names.Events()), "the server takes no reply for a call of its own")
	for _, subject := range []string{names.Event(joined.ID), names.Command(joined.ID), names.Request(joined.ID), "$JS.API.STREAM.DELETE." + names.Events()} {
		require.NoError(t, x.Conn().Publish(subject, []byte("x")))
		require.NoError(t, x.Conn().Flush())
		require.ErrorIs(t, x.Conn().LastError(), nats.ErrPermissionViolation, subject)
	}

	_, err = w.center.Remove(t.Context(), "B")
	require.NoError(t, err)
	require.True(t, w.steal(b).Conn().IsConnected(), "the server has to be told")
	assert.Equal(t, theirs.url(), w.center.Server())
	account, err = center.SetServer(w.folder, theirs.url())
	require.NoError(t, err)
	theirs.imports(account)
	a, keys := membership(t, b)
	waittest.Until(t, func() bool { return !x.Conn().IsConnected() })
	hubtest.Refused(t, func() (*link.Host, error) { return link.OpenHost(a.Hub, a.Login(keys), a.Names, a.ID) })
	say("last")
}

// TestP9_OtherServersAreRefused: without a pin the authorities of the system decide, and a server
// without TLS gets nothing.
func TestP9_OtherServersAreRefused(t *testing.T) {
	theirs := newCluster(t)
	for _, urls := range []string{"nats://127.0.0.1:4222", "127.0.0.1:4222", "tls://a@127.0.0.1:4222", "tls://127.0.0.1", "tls://a:1,", "tls://a:1,nats://b:1", "tls://a:1/x", ""} {
		_, err := center.SetServer(t.TempDir(), urls)
		require.ErrorIs(t, err, center.ErrAddress, urls)
	}
	_, port, err := net.SplitHostPort(theirs.server.Addr().String())
	require.NoError(t, err)
	plain, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	plain.Start()
	t.Cleanup(func() { plain.Shutdown(); plain.WaitForShutdown() })
	require.True(t, plain.ReadyForConnections(time.Minute))
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	user, err := keys.Chat()
	require.NoError(t, err)
	dial := func(urls string) error {
		_, err := link.Dial(link.Hub{Address: urls}, link.Login{User: user})
		return err
	}
	require.ErrorIs(t, dial(theirs.url()), link.ErrRights, "its operator has not signed the account")
	require.ErrorAs(t, dial("tls://localhost:"+port), new(x509.HostnameError))
	require.ErrorIs(t, dial("tls://"+plain.Addr().String()), nats.ErrSecureConnWanted)
}
