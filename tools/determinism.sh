#!/usr/bin/env bash
# Runs one scenario with several builds or options of headrace and compares what they write, byte by
# byte:
#   tools/determinism.sh SCENARIO "HEADRACE [OPTION...]" "HEADRACE [OPTION...]"...
# Only manifest.json may differ (it holds times and paths).
set -euo pipefail

if (($# < 3)); then
    echo 'usage: tools/determinism.sh SCENARIO "HEADRACE [OPTION...]" "HEADRACE [OPTION...]"...' >&2
    exit 2
fi
scenario=$1
shift

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

count=0
for headrace in "$@"; do
    read -ra command <<<"$headrace"
    "${command[0]}" run "$scenario" "${command[@]:1}" --out "$scratch/$count" >/dev/null 2>"$scratch/$count.log" </dev/null || {
        cat "$scratch/$count.log" >&2
        echo "determinism: $headrace failed on $scenario" >&2
        exit 1
    }
    rm "$scratch/$count/manifest.json"
    if [[ -z "$(ls -A "$scratch/$count")" ]]; then
        echo "determinism: $headrace wrote no result" >&2
        exit 1
    fi
    if ! diff -rq "$scratch/0" "$scratch/$count" >&2; then
        echo "determinism: $1 and $headrace differ on $scenario" >&2
        exit 1
    fi
    count=$((count + 1))
done
echo "determinism: $count runs wrote the same on $scenario" >&2
