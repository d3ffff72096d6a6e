#!/usr/bin/env bash
# Installs what a build or the lints need and the machine lacks; does nothing where it is there.
#   tools/setup.sh build   checks for cargo, python3 and a C compiler
#   tools/setup.sh lint    the same, then rustfmt, clippy and, in .tools, cargo-deny
#   tools/setup.sh measure valgrind, where apt-get can install it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Pinned: a newer cargo-deny may judge otherwise.
deny_version=0.20.2

say() { printf 'setup: %s\n' "$*" >&2; }

require() { # COMMAND WHAT-TO-DO
    command -v "$1" >/dev/null || { say "$1 is missing: $2"; exit 1; }
}

check_build() {
    require cargo "install Rust, with rustup or from your distribution"
    require python3 "install Python 3.9 or later"
    require cc "install a C compiler (Debian: apt-get install build-essential)"
}

add_component() { # SUBCOMMAND COMPONENT
    cargo "$1" --version >/dev/null 2>&1 && return
    require rustup "$2 is missing too; install it beside your cargo"
    say "adding $2"
    rustup component add "$2"
}

install_deny() {
    if [[ "$(.tools/bin/cargo-deny --version 2>/dev/null)" == "cargo-deny $deny_version" ]]; then
        return
    fi
    say "building cargo-deny $deny_version in .tools (a minute or two, once)"
    # Unoptimised and without debug information: it runs for seconds, so building it is what costs.
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --force \
        --root .tools --version "$deny_version" cargo-deny
}

install_valgrind() {
    if command -v valgrind >/dev/null; then
        return
    fi
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        say "installing valgrind"
        apt-get install --yes --quiet valgrind >/dev/null 2>&1 && return
        apt-get update --quiet >/dev/null 2>&1
        apt-get install --yes --quiet valgrind >/dev/null 2>&1 && return
    fi
    say "valgrind is not installed and cannot be: instructions are not counted"
}

case "${1-}" in
build) check_build ;;
lint)
    check_build
    add_component fmt rustfmt
    add_component clippy clippy
    install_deny
    ;;
measure) install_valgrind ;;
*)
    say "usage: tools/setup.sh build|lint|measure"
    exit 2
    ;;
esac
