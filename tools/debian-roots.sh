#!/bin/bash
# debian-roots.sh FOLDER: the tests of ./tmux in Debian 11, 12 and 13, each with its own tmux. As root, on a Debian
# machine with debootstrap: the systems come from the mirror in its sources.list, and stay in FOLDER for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?where to: debian-roots.sh FOLDER}")
mkdir -p "$folder"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -1)
CGO_ENABLED=0 go test -c -o "$folder/tmux.test" ./tmux

root=''
leave() {
	if [[ $root ]]; then umount -q "$root/dev/pts" "$root/proc" || true; fi
}
trap leave EXIT

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
	cp "$folder/tmux.test" "$root/tmp/"
	version=$(chroot "$root" tmux -V)
	# Some tests look for files of their package.
	if chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin LANG=C.UTF-8 TERM=xterm-256color CCBOT_REQUIRE=all \
		sh -c 'cd /tmp && ./tmux.test -test.timeout 300s' >"$root.tests" 2>&1; then
		echo "$suite, $version: passed"
	else
		echo "$suite, $version: failed"
		grep -E '^ *--- FAIL|^panic|too old' "$root.tests" | sort -u || tail "$root.tests"
		bad=1
	fi
	leave
	root=''
done
exit "$bad"
