#!/bin/bash
# inside.sh PART USER: run a part of debian-roots.sh in a bare Debian, as pid 1. The last line is the result.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH=/usr/local/sbin:/usr/local/bin:/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
as=()
if [[ $2 != root ]]; then
	HOME=/home/$2
	as=(runuser -u "$2" -- env USER="$2" LOGNAME="$2")
fi

install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }

tmux_part() {
	local log=/var/log/tmux.tests
	install tmux
	export CGO_ENABLED=0 GOFLAGS=-buildvcs=false CCBOT_REQUIRE=all CCBOT_E2E_BINARIES=/opt/ccbot # no compiler of C is here
	go build -o "$CCBOT_E2E_BINARIES/" ./cmd/...
	if { go test -count=1 ./tmux && go test -count=1 -run '^TestP3_MainJob$' ./e2e; } >"$log" 2>&1; then
		echo "$(tmux -V)"
	elif grep -qa 'tmux is too old: it is 3.1' "$log"; then
		echo "$(tmux -V) is refused, it is too old"
	else
		cat "$log"
		return 1
	fi
}

ci_part() {
	local command
	if ((${#as[@]})); then # an ordinary user cannot install what is missing, and is told what root has to do
		command=$("${as[@]}" .ci/run | sed -n 's/^as root: //p') || true
		$command >/dev/null
	fi
	"${as[@]}" .ci/run
}

test_part() {
	local packages
	packages=$(sed -n 's/.*packages, besides Go: `\([^`]*\)`.*/\1/p' README.md)
	# shellcheck disable=SC2086 # a list of packages
	install ${packages:?README.md names none}
	"${as[@]}" make test
}

# get HOST PATH COOKIE: print a page.
get() {
	exec 3<>"/dev/tcp/${1/://}"
	printf 'GET %s HTTP/1.0\r\nHost: %s\r\nCookie: %s\r\n\r\n' "$2" "$1" "$3" >&3
	tr -d '\r' <&3
	exec 3>&-
}

# files lists the files that a trial could leave.
files() { find /tmp /var/tmp /run /dev/shm "$HOME" ! -type d ! -path "$HOME/.cache/*" ! -path "$HOME/.config/go/*" ! -path "$HOME/go/*" ! -path "$PWD/bin/*" | sort; }

# try_part opens the page of `make try` as a browser does, and ends it as Ctrl-C does.
try_part() {
	local log=/var/log/try pid url='' host cookie page before
	install make git ca-certificates
	if ((${#as[@]})); then install tmux; fi # for root `make try` installs it
	before=$(files)
	set -m # a process group for Ctrl-C
	"${as[@]}" make try >"$log" 2>&1 &
	pid=$!
	set +m
	until url=$(grep -o 'http://[^ ]*' "$log") || ! kill -0 "$pid" || ((SECONDS > 1200)); do sleep 1; done
	[[ $url ]] || { cat "$log" && return 1; }
	host=$(cut -d/ -f3 <<<"$url")
	cookie=$(get "$host" "/${url#*//*/}" '' | sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p')
	page=$(get "$host" / "$cookie")
	kill -INT -- "-$pid"
	wait "$pid" || true # make reports the interrupt as a failure
	cat "$log"
	diff <(echo "$before") <(files) | sed -n 's/^>/left behind:/p' >>"$log"
	grep 'left behind' "$log" && return 1
	[[ $page == *'id="list"'* ]] && grep -q 'nothing is left' "$log" && echo "$url answered ${page%%$'\n'*}"
}

# ways_part installs each file of the release in its own way, without a network, and lets the person play the story with it.
ways_part() {
	local platform folder
	platform=linux-$(dpkg --print-architecture)
	install tmux ca-certificates git iproute2 rpm2cpio cpio libarchive-tools pacman-package-manager
	cd /srv/dist
	sha256sum --check --quiet SHA256SUMS
	folder=$(basename ccbot-*-"$platform".tar.gz .tar.gz)

	way install '' "tar -xzf /srv/dist/$folder.tar.gz && $folder/install" .local/bin/ccbot
	way npm '' "npm install --offline --no-audit --no-fund --global --prefix ~/npm /srv/dist/${folder%-"$platform"}.npm.tgz /srv/dist/$folder.npm.tgz" npm/bin/ccbot
	way rpm '' "rpm2cpio /srv/dist/$folder.rpm | cpio -idm --quiet --no-absolute-filenames" usr/bin/ccbot
	way arch '' "bsdtar -xf /srv/dist/$folder.pkg.tar.zst" usr/bin/ccbot
	ln -sf /proc/self/mounts /etc/mtab # pacman looks how full the disk is
	mkdir -p /opt/arch/var/lib/pacman
	way pacman "pacman --upgrade --noconfirm --nodeps --nodeps --root /opt/arch --dbpath /opt/arch/var/lib/pacman /srv/dist/$folder.pkg.tar.zst" '' /opt/arch/usr/bin/ccbot
	way deb "dpkg --install /srv/dist/$folder.deb" '' /usr/bin/ccbot
	echo 'each way leads to the first answer'
}

# way NAME AS_ROOT AS_PERSON CCBOT: install by two commands, either may be empty, and play the story with the ccbot.
way() {
	local began=$EPOCHREALTIME code
	[[ ! $2 ]] || $2 >/dev/null
	# shellcheck disable=SC2016 # the person's shell expands it
	unshare --net sh -c 'ip link set lo up && exec "$@"' sh "${as[@]}" PATH=/usr/local/bin:/usr/bin:/bin bash -euc 'cd && mkdir "way-$0" && cd "way-$0"
		HOME=$PWD; eval "$1"; "$2" version; exec "$2" try --story --fast' "$1" "$3" "$4" || { code=$? && echo "$1: exit code $code" && return 1; }
	echo "$1: $((${EPOCHREALTIME/./} - ${began/./}))" | awk '{ printf "%s the story is over after %.1f s\n", $1, $2 / 1e6 }'
}

# processes lists all processes but this shell.
processes() {
	local dir
	for dir in /proc/[0-9]*; do
		case ${dir#/proc/} in "$$" | "$BASHPID") continue ;; esac
		if [[ -s $dir/exe ]]; then echo "left behind: process ${dir#/proc/}: $(tr '\0' ' ' <"$dir/cmdline")"; fi
	done 2>/dev/null
}

apt-get update -qq
set +e
(set -e; "${1}_part")
status=$?
left=$(processes)
if [[ $left ]]; then
	echo "$left"
	exit 1
fi
exit "$status"
