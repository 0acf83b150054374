#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check]: clang-format over all sources, in place; --check changes nothing, names what would change and fails then.
# Versions of clang-format differ, so only the one below counts; where it is missing, the exit code is 77.
set -eu
cd "$(dirname "$0")/.."
wanted=14
found=
for name in "clang-format-$wanted" clang-format; do
  if command -v "$name" >/dev/null && "$name" --version | grep -q "version $wanted\."; then
    found=$name
    break
  fi
done
if [ -z "$found" ]; then
  echo "format.sh: skipped: there is no clang-format $wanted (apt-get install clang-format-$wanted, or pip install clang-format==14.0.6)"
  exit 77
fi
case ${1:-} in
  "") action=-i ;;
  --check) action="--dry-run -Werror" ;;
  *) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086  # the action is words
if find include src apps bench examples tests \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 -P "$(nproc 2>/dev/null || echo 2)" -n 40 "$found" $action; then
  exit 0
fi
echo "format.sh: make format does it" >&2
exit 1
