#!/bin/bash
# debian-roots.sh FOLDER: the tests of ./tmux, and a day in a chat, in Debian 11, 12 and 13, each with its own tmux.
# The tmux of Debian 11 is too old: that it is refused is what is looked at there. As root, on a Debian
# machine with debootstrap: the systems come from the mirror in its sources.list, and stay in FOLDER for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?where to: debian-roots.sh FOLDER}")
mkdir -p "$folder"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -1)
export CGO_ENABLED=0
go test -c -o "$folder/" ./tmux ./e2e
go build -o "$folder/" ./cmd/...

root=''
leave() {
	if [[ $root ]]; then umount -q "$root/dev/pts" "$root/proc" || true; fi
}
trap leave EXIT

inside() { # inside COMMAND...: run it in the root; the tests find the programs there and build none
	chroot "$root" env -i -C /tmp HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 TERM=xterm-256color CCBOT_REQUIRE=all \
		CCBOT_E2E_BINARIES=/tmp "$@"
}

bad=0
for suite in bullseye bookworm trixie; do
	root=$folder/$suite
	if [[ ! -e $root.whole ]]; then
		rm -rf "$root"
		debootstrap --variant=minbase --include=tmux,procps "$suite" "$root" "${mirror%/}" >"$root.log" 2>&1 ||
			{ tail "$root.log"; exit 1; }
		touch "$root.whole"
	fi
	mount -t proc proc "$root/proc"
	mount --bind /dev/pts "$root/dev/pts"
	cp "$folder"/{tmux.test,e2e.test,ccbot,ccbot-hook,ccbot-try} "$root/tmp/"
	version=$(chroot "$root" tmux -V)
	if inside ./tmux.test -test.timeout 300s >"$root.tests" 2>&1 && inside ./e2e.test -test.timeout 120s -test.run '^TestP3_MainJob$' >>"$root.tests" 2>&1; then
		echo "$suite, $version: passed"
	elif grep -qa 'tmux is too old: it is 3.1' "$root.tests"; then
		echo "$suite, $version: refused, it is too old"
	else
		echo "$suite, $version: failed"
		grep -aE '^ *--- FAIL|^panic' "$root.tests" | sort -u || tail "$root.tests"
		bad=1
	fi
	leave
	root=''
done
exit "$bad"
