#!/bin/sh
# Installs the Debian packages that Tessera needs and that are missing.
#
#   tools/setup.sh [GROUP...]      groups of tools/packages.txt; all of them when none is named
#
# Says what it installs; says nothing and changes nothing when nothing is missing.
# TESSERA_SKIP_SETUP=1 skips it, for machines where the tools come from elsewhere.
set -eu

[ "${TESSERA_SKIP_SETUP:-0}" = 1 ] && exit 0
list=$(dirname "$0")/packages.txt

die() {
  echo "setup: $1" >&2
  echo "setup: with the tools installed in another way, set TESSERA_SKIP_SETUP=1" >&2
  exit 1
}

# Packages of the named groups, one per line.
wanted() {
  while read -r group package _; do
    case $group in '' | '#'*) continue ;; esac
    [ -z "$1" ] && echo "$package" && continue
    case " $1 " in *" $group "*) echo "$package" ;; esac
  done <"$list"
}

packages=$(wanted "$*")
[ -n "$packages" ] || die "no such group of packages: $*"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die "this is not a Debian system; Tessera needs the equivalents of: $(echo $packages)"
fi

installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages 2>/dev/null || true)
missing=
for package in $packages; do
  case "
$installed
" in
    *"
$package installed
"*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -z "$missing" ] && exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null ||
    die "not root and no sudo here; have an administrator run: apt-get install$missing"
  sudo=sudo
fi

echo "setup: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" \
    >"$log" 2>&1 </dev/null || { cat "$log" >&2; return 1; }
}
apt update || die "apt-get update failed; its words are above"
apt install -y --no-install-recommends $missing || die "apt-get install failed; its words are above"
