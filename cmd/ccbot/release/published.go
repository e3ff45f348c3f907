package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"ccbot/internal/loopback"
)

// mostSums bounds the list of a release's files, in bytes.
const mostSums = 1 << 20

// Published returns the version and the address of the archive for a platform, such as
// "linux/amd64", of the release whose folder is at an address. It reads SHA256SUMS there and
// nothing else. The address is https, or http of this machine.
func Published(ctx context.Context, client *http.Client, address, platform string) (version, archive string, err error) {
	folder, err := url.Parse(strings.TrimRight(address, "/") + "/")
	if err != nil || folder.Host == "" || folder.Scheme != "https" && !(folder.Scheme == "http" && loopback.IsHost(folder.Hostname())) {
		return "", "", errors.New("CCBOT_RELEASE_URL is not an https address")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, folder.JoinPath("SHA256SUMS").String(), nil)
	if err != nil {
		return "", "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("%s: %s", folder.Redacted(), response.Status)
	}
	sums, err := io.ReadAll(io.LimitReader(response.Body, mostSums))
	if err != nil {
		return "", "", err
	}
	goos, arch, _ := strings.Cut(platform, "/")
	names := regexp.MustCompile(`(?m)^[0-9a-f]{64} [ *](ccbot-([0-9A-Za-z.+_-]{1,100})-` + goos + `-` + arch + `\.tar\.gz)$`)
	found := names.FindAllSubmatch(sums, 2)
	if len(found) != 1 {
		return "", "", fmt.Errorf("%s names no single archive for %s", folder.Redacted(), platform)
	}
	return string(found[0][2]), folder.JoinPath(string(found[0][1])).Redacted(), nil
}
