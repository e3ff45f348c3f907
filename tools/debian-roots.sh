#!/bin/bash
# debian-roots.sh FOLDER [SUITE|PART|USER]...: run tests in bare Debian systems, each with its own tmux.
#
#   suites: bullseye bookworm trixie (Debian 11, 12, 13)
#   parts:  tmux  the tests of ./tmux, and a day in a chat; the tmux of Debian 11 is too old and must be refused
#           ci    .ci/run, which installs what is missing
#           try   the README's make try, with the packages that the README names: its page must answer
#           test  the README's make test, with the packages that the README names
#           ways  what `make dist` has put into bin/dist: each archive and package is installed or unpacked by its own tool without a
#                 network, and an ordinary user plays the story of `ccbot try` with it
#   users:  root person
#
# Without a suite, part or user it runs all of them: this takes hours. It tests the commit that is checked out. RUN, PKG and
# SKIP restrict the tests as they do for make. It runs as root, on a Debian machine with debootstrap, Go, Node and npm.
#
# Each run has a new copy of a bare root, in its own mount, pid, ipc and uts namespaces: nothing there can write to this
# machine or end one of its processes. FOLDER keeps the bare roots, the caches of the users and a log of each run.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?usage: debian-roots.sh FOLDER [SUITE|PART|USER]...}")
shift

suites=() parts=() users=()
for word in "$@"; do
	case $word in
	bullseye | bookworm | trixie) suites+=("$word") ;;
	tmux | ci | try | test | ways) parts+=("$word") ;;
	root | person) users+=("$word") ;;
	*) echo "debian-roots.sh: $word is no suite, part or user" >&2 && exit 2 ;;
	esac
done
if ((${#suites[@]} == 0)); then suites=(bullseye bookworm trixie); fi
if ((${#parts[@]} == 0)); then parts=(tmux ci try test ways); fi
if ((${#users[@]} == 0)); then users=(root person); fi

# base SUITE: make the suite's bare root, with an ordinary user, unless FOLDER has it. Two runs of this script may share FOLDER.
base() (
	root=$folder/$1
	exec 9>"$root.lock"
	flock 9
	if [[ -e $root.whole ]]; then return; fi
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -1)
	rm -rf --one-file-system "$root"
	unshare --mount --pid --fork --kill-child debootstrap --variant=minbase "$1" "$root" "${mirror%/}" >"$root.log" 2>&1 ||
		{ tail -3 "$root.log" && return; }
	useradd --root "$root" --create-home --shell /bin/bash person
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # a package that is installed starts nothing
	chmod 755 "$root/usr/sbin/policy-rc.d"
	touch "$root.whole"
)

# configure ROOT: let the root reach the network as this machine does.
configure() {
	cp /etc/resolv.conf /etc/hosts "$1/etc/"
	apt-config dump | grep -E '^Acquire::(http|https|ftp)::' >"$1/etc/apt/apt.conf.d/90network" || true
	mkdir -p "$1/etc/ssl/certs"
	cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
	if [[ -d /usr/local/share/ca-certificates ]]; then cp -r /usr/local/share/ca-certificates "$1/usr/local/share/"; fi
}

modules=$(go env GOMODCACHE)/cache/download
environment=(NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt)
for name in GOSUMDB GOTOOLCHAIN GOPRIVATE GONOPROXY GONOSUMDB GOINSECURE; do
	environment+=("$name=$(go env "$name")")
done
environment+=("GOPROXY=file:///srv/modules,$(go env GOPROXY)")
for name in registry proxy https-proxy noproxy; do
	value=$(npm config get "$name" 2>/dev/null)
	if [[ $value && $value != null ]]; then environment+=("npm_config_${name//-/_}=$value"); fi
done
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY RUN PKG SKIP; do
	if [[ ${!name:-} ]]; then environment+=("$name=${!name}"); fi
done

# run SUITE PART USER: run the part in a new copy of the suite's root.
run() {
	local name=$1-$2-$3 home=/root status=0
	if [[ $3 != root ]]; then home=/home/$3; fi
	root=$(mktemp -d "$folder/run.XXXXXX")
	cp -a "$folder/$1/." "$root"
	configure "$root"
	git clone --quiet --no-hardlinks . "$root$home/ccbot"
	chown -R --reference "$root$home" "$root$home/ccbot"
	if [[ $2 == ways ]]; then cp -r bin/dist "$root/srv/dist"; fi
	# Go, Node and the modules that Go has loaded are this machine's, read-only; only what is in $folder can be written.
	GO=$(go env GOROOT) NODE=$(command -v node) NPM=$(dirname "$(dirname "$(realpath "$(command -v npm)")")") MODULES=$modules \
		CACHE=$folder/cache/$3 USER_HOME=$home \
		unshare --mount --pid --ipc --uts --fork --kill-child tools/debian-roots/enter.sh "$root" "$2" \
		env -i --default-signal "${environment[@]}" /bin/bash "$home/ccbot/tools/debian-roots/inside.sh" "$2" "$3" \
		</dev/null >"$folder/$name.log" 2>&1 &
	namespace=$!
	wait "$namespace" || status=$?
	namespace=''
	clean
	if ((status == 0)); then
		echo "$name: passed: $(tail -1 "$folder/$name.log")"
	else
		echo "$name: failed, see $folder/$name.log"
		grep -aE '^ *--- FAIL|^panic|^left behind' "$folder/$name.log" | sort -u || tail "$folder/$name.log"
		bad=1
	fi
}

# clean ends all processes of the run, if it was interrupted, and removes its root.
clean() {
	if [[ $namespace ]]; then kill -KILL "$namespace" && wait "$namespace" || true; fi 2>/dev/null
	if [[ $root ]]; then rm -rf --one-file-system "$root"; fi
	namespace='' root=''
}

namespace='' root=''
trap clean EXIT
mkdir -p "$folder"
bad=0
for suite in "${suites[@]}"; do
	base "$suite"
	if [[ ! -e $folder/$suite.whole ]]; then echo "$suite: no root" && bad=1 && continue; fi
	for part in "${parts[@]}"; do
		for user in "${users[@]}"; do
			if [[ $suite == bullseye && $part != tmux || $part == tmux && $user != root || $part == ways && $user == root ]]; then continue; fi
			run "$suite" "$part" "$user"
		done
	done
done
exit "$bad"
