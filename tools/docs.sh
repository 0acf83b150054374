#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the site of the documents, build/docs/site/index.html, with Sphinx in a virtual environment below build/docs. Any
# warning is an error. Doxygen, where it is installed, makes the reference beside it.
set -eu
cd "$(dirname "$0")/.."
build=build/docs
environment=$build/python
requirements=docs/site/requirements.txt
export PYTHONDONTWRITEBYTECODE=1

stop() {
  echo "docs: $1" >&2
  exit 1
}

install_sphinx() {
  cmp -s "$requirements" "$environment/installed.txt" && return
  echo "Installing Sphinx into $environment"
  rm -rf "$environment"
  python3 -m venv "$environment" >"$build/install.log" 2>&1 ||
    stop "python3 cannot make a virtual environment: install python3-venv (its message is in $build/install.log)"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 1 --timeout 10 \
    --requirement "$requirements" >"$build/install.log" 2>&1 ||
    stop "the package index of Python cannot be reached, or lacks what $requirements lists (pip's message is in
$build/install.log): try again with a network, or set the index that pip shall use. The documents in docs/ can be read as they are."
  cp "$requirements" "$environment/installed.txt"
}

command -v python3 >/dev/null || stop "python3 is missing: install python3 and python3-venv, version 3.11 or later"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || stop "Sphinx needs Python 3.11 or later: install python3 of that age"
mkdir -p "$build"
install_sphinx

version=$(sed -n 's/^project(nacre .*VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
NACRE_REFERENCE=no
rm -rf "$build/pages" "$build/site" "$build/reference"
if command -v doxygen >/dev/null; then
  echo "Making the reference with Doxygen"
  sed -e "s|@PROJECT_SOURCE_DIR@|$PWD|g; s|@PROJECT_BINARY_DIR@|$PWD/$build|; s|@PROJECT_VERSION@|$version|" docs/Doxyfile.in >"$build/Doxyfile"
  case $(doxygen --version) in
    1.[0-8].* | 1.9.[0-4] | 1.9.[0-4]" "*) echo "HTML_EXTRA_STYLESHEET += $PWD/docs/site/reference_dark.css" >>"$build/Doxyfile" ;;
  esac
  doxygen "$build/Doxyfile" >"$build/doxygen.log" 2>&1 || stop "Doxygen failed: see $build/doxygen.log"
  NACRE_REFERENCE=yes
else
  echo "Doxygen is not installed: the site has no reference of the public interface"
fi

echo "Making the pages with Sphinx"
export NACRE_VERSION="$version" NACRE_REFERENCE
python3 tools/site_pages.py . "$build/pages"
"$environment/bin/python" -m sphinx --quiet --fail-on-warning --keep-going --jobs auto --conf-dir docs/site \
  --doctree-dir "$build/doctrees" "$build/pages" "$build/site"
if [ "$NACRE_REFERENCE" = yes ]; then cp -R "$build/reference/html" "$build/site/reference"; fi
echo "The site is $build/site/index.html, and needs no server and no network"
