#!/bin/sh
# agents.sh CLAUDE CODEX: prints the cache folder (XDG_CACHE_HOME) with these versions of the CLIs. Empty ones are the pinned
# versions. Others are installed into bin/agents.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ -z "$1$2" ]; then
	"$here/install.sh" >/dev/null
	echo "${XDG_CACHE_HOME:-$HOME/.cache}"
	exit 0
fi
pinned() { sed -n "s|.*\"$1\": \"\(.*\)\".*|\1|p" "$here/package.json"; }
claude=${1:-$(pinned @anthropic-ai/claude-code)}
codex=${2:-$(pinned @openai/codex)}
cache=$here/../bin/agents/$claude-$codex
npm install --ignore-scripts --no-audit --no-fund --prefix "$cache/ccbot-e2e" \
	"@anthropic-ai/claude-code@$claude" "@openai/codex@$codex" >&2
(cd "$cache/ccbot-e2e/node_modules/@anthropic-ai/claude-code" && node install.cjs >&2)
(cd "$cache" && pwd)
