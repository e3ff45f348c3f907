package link

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/rights"
)

func TestServerLines(t *testing.T) {
	for _, tt := range []struct{ name, sent, passed string }{
		{"messages", "MSG a 1 2\r\nhi\r\nMSG a 1 b 2\r\nhi\r\nHMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\nHMSG a 1 b 12 12\r\nNATS/1.0\r\n\r\n\r\n", "all"},
		{"an empty reply", "MSG a 1  2\r\nhi\r\n", "all"},
		{"others", "INFO {\"a\": 1} \r\nPING\r\nPONG\r\n+OK\r\n-ERR 'Stale Connection'\r\n", "all"},
		{"a payload like a line", "MSG a 1 11\r\nMSG a 1 9\r\n\r\n", "all"},
		{"a huge size", "PING\r\nMSG a 1 9223372036854775807\r\nx", "PING\r\n"},
		{"a size that overflows", "MSG a 1 99999999999999999999\r\nx", ""},
		{"a size beyond the limit", fmt.Sprintf("MSG a 1 %d\r\nx", maxMessage+1), ""},
		{"a size with a sign", "MSG a 1 -1\r\nx", ""},
		{"a tab", "MSG a\t1 2 x\r\n\r\n", ""},
		{"too many words", "MSG a 1 b c 0\r\n\r\n", ""},
		{"lower case", "msg a 1 0\r\n\r\n", ""},
		{"a payload without an end", "MSG a 1 1\r\nxMSG a 1 9\r\n", ""},
		{"a payload that is cut", "MSG a 1 9\r\nx", ""},
		{"a line that is cut", "MSG a 1", ""},
		{"a long line", "INFO " + strings.Repeat("a", maxLine) + "\r\n", ""},
		{"no carriage return", "PING\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := bufio.NewReaderSize(strings.NewReader(tt.sent), maxLine)
			var got []byte
			for {
				one, err := readServer(in, nil)
				if err != nil {
					break
				}
				got = append(got, one...)
			}
			if tt.passed == "all" {
				tt.passed = tt.sent
			}
			assert.Equal(t, tt.passed, string(got))
		})
	}
}

// TestP8_ServerEndsNoClient: the client does not survive the message of a hub that claims to be the
// longest possible one.
func TestP8_ServerEndsNoClient(t *testing.T) {
	of := httptest.NewTLSServer(nil) // has a certificate
	defer of.Close()
	pin := sha256.Sum256(of.Certificate().RawSubjectPublicKeyInfo)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: of.TLS.Certificates, MinVersion: tls.VersionTLS13})
	require.NoError(t, err)
	defer l.Close()
	speak := make(chan struct{})
	serve := func(c net.Conn) {
		defer c.Close()
		_, _ = fmt.Fprint(c, `INFO {"max_payload":9,"tls_required":true,"nonce":"x"}`+"\r\n")
		for in := bufio.NewScanner(c); in.Scan() && in.Text() != "PING"; {
		}
		_, _ = fmt.Fprint(c, "PONG\r\n")
		<-speak
		_, _ = fmt.Fprint(c, "MSG a 1 9223372036854775807\r\nx")
	}
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go serve(c)
		}
	}()
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	conn, err := Dial(Hub{Address: "tls://" + l.Addr().String(), Pin: pin[:]}, Login{User: rights.User{Key: pair}})
	require.NoError(t, err)
	defer conn.Close()
	cut := conn.StatusChanged(nats.RECONNECTING)
	close(speak)
	<-cut
}
