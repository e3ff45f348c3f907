#!/bin/sh
# programs.sh FOLDER [-race]: builds the programs that the tests of the whole run; with -race, ccbot finds data races. A program that
# is the same as before stays as it is, also its time, by which go test knows it.
set -eu
mkdir -p "$1/.built"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
build() { GOGC=${GOGC-400} "${GO:-go}" build -buildvcs=false "$@"; }
build ${2:+"$2"} -tags failpoints -ldflags "-s -w -X main.version=v0.0.1" -o "$folder/.built/" ./cmd/ccbot
build -ldflags '-s -w' -o "$folder/.built/" ./cmd/ccbot-codex ./cmd/ccbot-hook ./cmd/ccbot-hub ./cmd/ccbot-try
for program in "$folder"/.built/*; do
	to=$folder/${program##*/}
	if ! cmp -s "$program" "$to"; then
		cp "$program" "$to.$$"
		mv "$to.$$" "$to"
	fi
done
