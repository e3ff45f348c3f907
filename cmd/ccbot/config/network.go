package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"ccbot/cmd/ccbot/exit"
)

// network returns the value of a variable of Network, which may be in lower case.
func (c Config) network(name string) string {
	return cmp.Or(c.Network[name], c.Network[strings.ToLower(name)])
}

// checkProxy refuses the address of a proxy that would be ignored: the bot would then connect
// without one. Its scheme may be missing.
func (c *Config) checkProxy() error {
	address := c.network("HTTPS_PROXY")
	if address == "" {
		return nil
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return errors.New("HTTPS_PROXY is not the address of a proxy, such as http://proxy.example:3128 or socks5://127.0.0.1:1080")
	}
	return nil
}

// Proxy returns the proxy of a request to Telegram.
func (c Config) Proxy() func(*http.Request) (*url.URL, error) {
	proxies := httpproxy.Config{HTTPSProxy: c.network("HTTPS_PROXY"), NoProxy: c.network("NO_PROXY")}
	proxy := proxies.ProxyFunc()
	return func(q *http.Request) (*url.URL, error) { return proxy(q.URL) }
}

// TrustCertificates makes this process trust the certificates that the settings name. It is called
// before the first connection with TLS, because Go reads the certificates only once.
func (c Config) TrustCertificates() error {
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if path := c.Network[name]; path != "" {
			if err := os.Setenv(name, path); err != nil {
				return exit.Usage(fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return nil
}
