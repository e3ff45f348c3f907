#!/bin/sh
# install [--no-setup] [--as-root]: the programs of this archive into ~/.local/bin, then `ccbot setup`.
# It writes only below the home folder, says each path before it writes there, and replaces a program by a rename.
set -eu
umask 022

fail() { echo "install: $1" >&2 && exit 1; }

setup=yes root=
for word in "$@"; do
	case $word in
	--no-setup) setup= ;;
	--as-root) root=yes ;;
	*) echo "usage: $0 [--no-setup] [--as-root]" >&2 && exit 2 ;;
	esac
done
if [ "$(id -u)" = 0 ] && [ ! "$root" ]; then
	fail "you are root, and agents should not be: run it as the person whose agents ccbot starts, or with --as-root"
fi
cd "$(dirname "$0")"
home=$(cd "${HOME:?is not set}" && pwd -P)
bin=$home/.local/bin

if command -v sha256sum >/dev/null; then sum=sha256sum; else sum='shasum -a 256'; fi
$sum -c SHA256SUMS >/dev/null || fail "the archive is damaged: unpack it again"
./ccbot version >/dev/null || fail "the programs do not run here: $(basename "$PWD") may be for another system"

for folder in "$home/.local" "$bin"; do
	if [ ! -e "$folder" ]; then echo "makes $folder" && mkdir "$folder"; fi
	case $(cd "$folder" && pwd -P)/ in
	"$home"/*) ;;
	*) fail "$folder leads out of $home; nothing was installed" ;;
	esac
done
for name in ccbot ccbot-*; do
	if [ -d "$bin/$name" ]; then fail "$bin/$name is a folder; nothing was installed"; fi
done
trap 'rm -f "$bin"/.ccbot*.$$' EXIT
for name in ccbot-* ccbot; do # ccbot last: it never finds an older program beside itself
	echo "writes $bin/$name"
	cp "$name" "$bin/.$name.$$"
	chmod 755 "$bin/.$name.$$"
	mv -f "$bin/.$name.$$" "$bin/$name"
done

case :$PATH: in
*:"$bin":* | *:"${HOME%/}/.local/bin":*) ;;
*) echo "PATH lacks $bin. For a new shell: echo 'PATH=\$HOME/.local/bin:\$PATH' >> ~/.profile" ;;
esac
if [ -e "${CCBOT_DIR:-$home/.ccbot}/ccbot.env" ]; then
	echo "If ccbot runs as a service, \`ccbot service restart\` starts this version."
elif [ "$setup" ] && [ -t 0 ]; then
	"$bin/ccbot" setup
else
	echo "Next, in a terminal: $bin/ccbot setup, or without Telegram: $bin/ccbot try"
fi
