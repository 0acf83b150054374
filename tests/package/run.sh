#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR: installs the build into a temporary prefix and builds main.cpp against it, with CMake and with pkg-config,
# then one of the installed examples; runs the installed programs, and looks at what each component installs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
: "${CXX:=c++}"
export CXX

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
echo "-- the version"
mkdir "$scratch/version"
(cd "$scratch/version" && sh "$here/version.sh" "$scratch/prefix")
cp "$here/main.cpp" "$here/CMakeLists.txt" "$scratch"
cd "$scratch"

# expect RANKS COMMAND...: the command exits with 0 and says that all ranks have answered.
expect() {
  line="$1 answers on $1 ranks"
  shift
  output=$("$@")
  printf '%s\n' "$output"
  case $output in *"$line"*) ;; *) echo "expected: $line" >&2; exit 1 ;; esac
}

echo "-- find_package(nacre)"
shared=$(find "$scratch/prefix" -name 'libnacre.so.*')
cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$scratch/prefix" ${shared:+-Dwanted_components="COMPONENTS;static;shared"} \
  >configure.log || { cat configure.log; exit 1; }
cmake --build build
expect 2 build/greet --nacre.ranks=2
expect 5 build/greet --nacre.ranks=5 --nacre.transport=sim

echo "-- pkg-config nacre"
pc=$(find prefix -name nacre.pc)
PKG_CONFIG_PATH=$scratch/$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # the flags are words
$CXX -std=c++20 main.cpp -o greet $(pkg-config --cflags --libs nacre)
expect 2 ./greet --nacre.ranks=2

# linked PROGRAM: which libnacre.so it is linked with, if any.
linked() { ldd "$1" | sed -n 's/.*libnacre[^ ]* => \([^ ]*\) .*/\1/p'; }
for program in build/greet ./greet; do
  [ -z "$(linked $program)" ] || { echo "$program is linked with the shared library" >&2; exit 1; }
done
if [ -n "$shared" ]; then
  echo "-- the shared library"
  # shellcheck disable=SC2046  # the flags are words
  $CXX -std=c++20 main.cpp -o shared_greet $(pkg-config --cflags --libs nacre-shared)
  for program in build/shared_greet ./shared_greet; do
    [ "$(readlink -f "$(linked $program)")" = "$(readlink -f "$shared")" ] || { ldd $program; echo "$program does not find $shared" >&2; exit 1; }
    expect 2 $program --nacre.ranks=2
    expect 2 prefix/bin/nacre run -n 2 $program
  done
  # What the archive needs, the shared library has by itself.
  PKG_CONFIG_LIBDIR=$scratch PKG_CONFIG_PATH='' cmake -G Ninja -S . -B alone -DCMAKE_PREFIX_PATH="$scratch/prefix" \
    -Dwanted_components="COMPONENTS;shared" >alone.log 2>&1 || { cat alone.log; echo "the shared library wants what the archive needs" >&2; exit 1; }
  # Without the library's component the static one is there all the same.
  mv "$shared" kept.so
  if cmake -G Ninja -S . -B without -DCMAKE_PREFIX_PATH="$scratch/prefix" -Dwanted_components="COMPONENTS;shared" >missing.log 2>&1; then
    echo "find_package finds a shared library that is not there" >&2
    exit 1
  fi
  cmake -G Ninja -S . -B without -DCMAKE_PREFIX_PATH="$scratch/prefix" -Dwanted_components= >missing.log 2>&1 ||
    { cat missing.log; echo "find_package wants the shared library" >&2; exit 1; }
  mv kept.so "$shared"
fi

echo "-- another mode of the standard library does not link"
# shellcheck disable=SC2046  # the flags are words
if $CXX -std=c++20 -D_GLIBCXX_DEBUG main.cpp -o debug_greet $(pkg-config --cflags --libs nacre) >debug.log 2>&1; then
  echo "a program with _GLIBCXX_DEBUG is linked with a library without it" >&2
  exit 1
fi
grep -q library_built_with_glibcxx_debug debug.log || { cat debug.log; echo "the linker does not name the mode" >&2; exit 1; }

echo "-- the installed programs and machines"
sed -n 's|^tools.*/||p' "$build/nacre_installed_files.txt" >programs
[ -s programs ] || { echo "run.sh finds no programs that are installed" >&2; exit 1; }
for program in mesh2d mesh3d; do  # where they are built
  [ ! -x "$build/bin/$program" ] || [ -x "prefix/bin/$program" ] || { echo "$program is not installed" >&2; exit 1; }
done
for program in $(cat programs); do
  case $program in
    emulate) arguments="--program line --machine prefix/share/nacre/machines/petaflops.toml" ;;
    incast) arguments="--switch sim --seconds 0.02 --runs 1" ;;
    mesh2d) arguments="pipe --triangles 2000 --check" ;;
    mesh3d) arguments="sphere --tetrahedra 5000 --check" ;;
    uts) arguments="--tree T1" ;;
    *) echo "run.sh has no arguments for $program" >&2; exit 1 ;;
  esac
  # shellcheck disable=SC2086  # the arguments are words
  "prefix/bin/$program" $arguments >program.log 2>&1 || { cat program.log; echo "$program $arguments failed" >&2; exit 1; }
done
if [ -x prefix/bin/incast ]; then
  if prefix/bin/incast --switch star --runs 1 --seconds 0.05 >star.log 2>&1; then code=0; else code=$?; fi
  [ "$code" = 0 ] || { [ "$code" = 77 ] && grep "^star: " star.log; } || { cat star.log; exit 1; }
fi

echo "-- the installed examples"
examples=prefix/share/doc/nacre/examples
cmake -G Ninja -S "$examples" -B examples -DCMAKE_PREFIX_PATH="$scratch/prefix" >examples.log || { cat examples.log; exit 1; }
cmake --build examples --target example_access
ctest --test-dir examples --no-tests=error -R '^example\.access\.' >examples.log || { cat examples.log; exit 1; }

echo "-- components"
# part COMPONENT THERE MISSING: the component installs the one and not the other.
part() {
  cmake --install "$build" --prefix "parts/$1" --component "$1" >part.log || { cat part.log; exit 1; }
  [ -e "parts/$1/$2" ] || { echo "component $1 has no $2" >&2; exit 1; }
  [ ! -e "parts/$1/$3" ] || { echo "component $1 has $3" >&2; exit 1; }
}
part runtime bin/nacre include
part dev include/nacre/nacre.hpp bin
if [ -n "$shared" ]; then part shared "${shared#"$scratch/prefix/"}" include; fi
part doc share/doc/nacre/docs/tutorial.md bin
part tools bin/uts bin/nacre

echo "-- the installed command"
expect 2 prefix/bin/nacre run -n 2 build/greet

echo "-- the files of pkg-config"
for name in nacre ${shared:+nacre-shared}; do
  flags=$(pkg-config --cflags --libs "$name")
  case $flags in *"rpath,$scratch/prefix/"*) ;; *) echo "$name.pc does not name the prefix: $flags" >&2; exit 1 ;; esac
  case $flags in *-std=*) echo "$name.pc chooses a standard, which may be older than the program's: $flags" >&2; exit 1 ;; esac
  case $flags in *..*) echo "$name.pc names a folder by way of another one: $flags" >&2; exit 1 ;; esac
done

# The build's own modules are still there; no program that is linked with the package may look for them.
for module in $(find prefix -name 'nacre_ucx.so'); do
  echo "-- the installed module of UCX"
  if prefix/bin/nacre info | grep 'ucx .*module is not installed'; then exit 1; fi
  mv "$module" kept.so
  prefix/bin/nacre info | grep -q 'ucx .*module is not installed' || { echo "nacre info has UCX without its module" >&2; exit 1; }
  mv kept.so "$module"
  for program in build/greet ./greet ${shared:+build/shared_greet}; do
    expect 2 prefix/bin/nacre run -n 2 --transport ucx $program
    mv "$module" kept.so
    : >"$module"
    if prefix/bin/nacre run -n 2 --transport ucx $program 2>spoilt.log; then code=0; else code=$?; fi
    mv kept.so "$module"
    [ "$code" -ne 0 ] && grep -q "module $scratch/$module cannot be loaded" spoilt.log ||
      { cat spoilt.log; echo "$program did not look for $module first" >&2; exit 1; }
    mv "$module" kept.so
    if prefix/bin/nacre run -n 2 --transport ucx $program 2>missing.log; then code=0; else code=$?; fi
    mv kept.so "$module"
    [ "$code" -ne 0 ] && grep -q "there is no module for UCX: none of .*$scratch/$module" missing.log ||
      { cat missing.log; echo "$program did not look for $module" >&2; exit 1; }
    if grep -F "$build" missing.log; then echo "$program looks into the build" >&2; exit 1; fi
  done
done
