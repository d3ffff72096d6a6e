#!/usr/bin/env bash
# Holds the dependencies to deny.toml. Bans, licences and sources are always checked. Advisories
# need the advisory database, which cargo-deny fetches with git: where that cannot be reached they
# are not checked and the last line says so, unless ADVISORIES=required makes it an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deny=.tools/bin/cargo-deny
fetch_log=$(mktemp)
trap 'rm -f "$fetch_log"' EXIT

# Duplicates and the like are warnings: they show in `.tools/bin/cargo-deny check`.
"$deny" --log-level error check --hide-inclusion-graph bans licenses sources

if timeout 120 env GIT_TERMINAL_PROMPT=0 "$deny" fetch db >"$fetch_log" 2>&1 </dev/null; then
    "$deny" --log-level error check --disable-fetch --hide-inclusion-graph advisories
elif [[ "${ADVISORIES-}" == required ]]; then
    cat "$fetch_log" >&2
    echo "deny: advisories cannot be checked: the database is out of reach" >&2
    exit 1
else
    echo "deny: advisories NOT CHECKED: the database is out of reach" >&2
fi
