#!/bin/sh
# Installs the CLIs of Claude Code and Codex that the end-to-end tests run (the versions are pinned
# in package-lock.json) into a cache folder and prints the path of Claude Code's binary. Running it
# again is cheap.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ccbot-e2e
binary=$cache/node_modules/.bin/claude

if [ -x "$binary" ] && cmp -s "$here/package-lock.json" "$cache/installed.json"; then
	echo "$binary"
	exit 0
fi

mkdir -p "$cache"
rm -f "$cache/installed.json"
cp "$here/package.json" "$here/package-lock.json" "$cache/"
# The package's own script puts the native binary in place. Newer npm asks before it runs such
# scripts, so none runs during the install and this one is called by name.
(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund >&2 &&
	cd node_modules/@anthropic-ai/claude-code && node install.cjs >&2)
[ -x "$binary" ] || {
	echo "install.sh: $binary is missing after the install" >&2
	exit 1
}
cp "$here/package-lock.json" "$cache/installed.json"
echo "$binary"
