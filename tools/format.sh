#!/bin/sh
# Runs clang-format on every C and C++ source: tools/format.sh -i, or tools/format.sh --dry-run
# -Werror to check only.
set -eu
cd "$(dirname "$0")/.."
find src include bench tests examples -name '*.[ch]' -o -name '*.[ch]pp' 2>/dev/null |
  LC_ALL=C sort | xargs clang-format-14 --style=file "$@"
