#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# subproject.sh SOURCE_DIR: Nacre as a part of another project, by add_subdirectory and by FetchContent, beside targets of short names.
# The other project installs its own files, and Nacre's where it asks for them. Nothing of Nacre is built here.
set -eu
source=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() { echo "subproject.sh: $*" >&2; exit 1; }

# project NAME COMMAND: a project that takes Nacre in by COMMAND.
project() {
  mkdir "$scratch/$1"
  cat >"$scratch/$1/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project(user_project LANGUAGES CXX)
foreach(name demo calibration meshing program_options reference runtime uts wire)
  add_library(\${name} INTERFACE)
endforeach()
set(shared_before "\${BUILD_SHARED_LIBS}")
$2
if(CMAKE_BUILD_TYPE OR CMAKE_CXX_STANDARD OR NOT "\${BUILD_SHARED_LIBS}" STREQUAL shared_before)
  message(FATAL_ERROR "the settings of the project have changed")
endif()
add_executable(user user.cpp)
target_link_libraries(user PRIVATE nacre::nacre)
install(FILES user.cpp DESTINATION share/user)
TEXT
  echo 'int main() {}' >"$scratch/$1/user.cpp"
}
# configure NAME OPTION...
configure() {
  name=$1
  shift
  cmake -G "${generator:-Ninja}" -S "$scratch/$name" -B "$scratch/$name/build" "$@" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; fail "$name is not configured"; }
}

project directory "add_subdirectory($source nacre)"
project fetched "include(FetchContent)
FetchContent_Declare(nacre SOURCE_DIR $source OVERRIDE_FIND_PACKAGE)
find_package(nacre REQUIRED COMPONENTS static)
if(NOT nacre_COMMAND)
  message(FATAL_ERROR \"the command is not told\")
endif()"
for name in directory fetched; do
  echo "-- $name"
  configure "$name"
  programs=$(ninja -C "$scratch/$name/build" -t commands all | sed -n 's/.* -o \([^ ]*\) .*/\1/p' | grep -vE '\.(o|so|gch|pch)$' |
    sed 's,.*/,,' | LC_ALL=C sort | tr '\n' ' ')
  [ "$programs" = "nacre user " ] || fail "$name builds these programs: $programs"
  cmake --install "$scratch/$name/build" --prefix "$scratch/$name/prefix" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; fail "$name is not installed"; }
  installed=$(cd "$scratch/$name/prefix" && find . -type f)
  [ "$installed" = ./share/user/user.cpp ] || fail "$name installs more than its own: $installed"
done

echo "-- as a shared library, where the project wants libraries so"
rm -r "$scratch/directory/build"
configure directory
ninja -C "$scratch/directory/build" -t commands user | tail -n 1 >"$scratch/link"
if grep -q 'libnacre\.so' "$scratch/link"; then fail "a shared library nobody asked for"; fi
grep -q 'rpath,[^ ]*/build/nacre/bin' "$scratch/link" || fail "the program does not find modules of the build"
configure directory -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
ninja -C "$scratch/directory/build" -t commands user | tail -n 1 | grep -q 'libnacre\.so' || fail "the program is not linked with libnacre.so"
if ninja -C "$scratch/directory/build" -t commands user | tail -n 1 | grep -q rpath; then fail "an installed program looks into the build"; fi
rm -r "$scratch/directory/build"

echo "-- with Nacre installed too"
configure directory -DNACRE_INSTALL=ON
if cmake --install "$scratch/directory/build" --prefix "$scratch/prefix" >"$scratch/log" 2>&1; then fail "it installs what is not built"; fi
tr -s ' \n' ' ' <"$scratch/log" | grep -q 'is not built yet: cmake --build .* --target nacre_package' ||
  { cat "$scratch/log"; fail "no word of what to build"; }
cmake --install "$scratch/directory/build" --prefix "$scratch/prefix" --component doc >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; fail "no documents"; }
for file in docs/tutorial.md examples/counter.cpp examples/CMakeLists.txt; do
  [ -e "$scratch/prefix/share/doc/nacre/$file" ] || fail "$file is not installed"
done
(cd "$scratch/prefix/share/doc/nacre" && grep -roE '\]\([^)#: ]+\.[a-z]+' --include='*.md' .) | sed 's/:\](/ /' >"$scratch/links"
[ -s "$scratch/links" ] || fail "it finds no link in the documents"
while read -r document target; do
  [ -e "$scratch/prefix/share/doc/nacre/$(dirname "$document")/$target" ] || fail "$document links to $target, which is not installed"
done <"$scratch/links"
rm -r "$scratch/directory/build"

echo "-- with a generator of several configurations"
generator="Ninja Multi-Config"
configure directory -DNACRE_INSTALL=ON -DBUILD_SHARED_LIBS=ON -DNACRE_LLD=ON -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON \
  -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_CXX_FLAGS=-fvisibility-inlines-hidden -DCMAKE_INSTALL_PREFIX=/usr -DNACRE_UCX=OFF -DNACRE_MPI=OFF \
  -DCMAKE_INSTALL_LIBDIR=/usr/lib -DCMAKE_INSTALL_INCLUDEDIR=/usr/headers
if cmake --install "$scratch/directory/build" --config Debug --prefix "$scratch/prefix" >"$scratch/log" 2>&1; then fail "it installs what is not built"; fi
tr -s ' \n' ' ' <"$scratch/log" | grep -q 'is not built yet: cmake --build [^ ]* --config Debug --target nacre_package' ||
  { cat "$scratch/log"; fail "no word of the configuration to build"; }
if grep -E 'nacre_(ucx|mpi)' "$scratch/directory/build/nacre/nacre_installed_files_Debug.txt"; then fail "a module that is switched off"; fi
ninja -C "$scratch/directory/build" -t commands nacre_shared >"$scratch/commands"
if grep -q 'CMAKE_CXX_COMPILER_ID "GNU"' "$scratch"/directory/build/CMakeFiles/*/CMakeCXXCompiler.cmake &&
   grep -q -e -fuse-ld=lld "$scratch/commands"; then fail "lld links what gcc leaves to the linker to optimise"; fi
grep -q 'visibility=hidden.* -c ' "$scratch/commands" || fail "the project hides nothing"
grep 'visibility=hidden.* -c ' "$scratch/commands" | grep -qv 'visibility=hidden.* -fvisibility=default -fno-visibility-inlines-hidden' &&
  fail "a project that hides what it can hides what libnacre.so exports"

echo "-- with folders whose paths are absolute"
for end in a so; do : >"$scratch/directory/build/nacre/src/Debug/libnacre.$end"; done
(cd "$scratch" && cmake --install directory/build --config Debug --prefix installed --component dev) >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; fail "nothing for developers"; }
for file in headers/nacre/nacre.hpp lib/libnacre.a lib/cmake/nacre/nacre-config.cmake lib/pkgconfig/nacre.pc; do
  [ -e "$scratch/installed/$file" ] || fail "$file is not installed"
done
PKG_CONFIG_PATH=$scratch/installed/lib/pkgconfig
export PKG_CONFIG_PATH
[ "$(pkg-config --variable=libdir nacre-shared)" = "$scratch/installed/lib" ] || fail "nacre-shared.pc names another folder"
pkg-config --cflags nacre-shared | grep -q -e "-I$scratch/installed/headers" || fail "nacre-shared.pc names another folder of headers"
pkg-config --print-requires nacre | grep -q '^hwloc' || fail "nacre.pc does not require hwloc"
if cmake "$scratch/directory/build" -DCMAKE_INSTALL_LIBDIR=/other/lib >"$scratch/log" 2>&1; then fail "a folder outside of the prefix is taken"; fi
grep -q 'CMAKE_INSTALL_LIBDIR is /other/lib' "$scratch/log" || { cat "$scratch/log"; fail "no word of the folder outside of the prefix"; }

echo "-- find_package"
mkdir "$scratch/finder"
cat >"$scratch/finder/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(finder LANGUAGES CXX)
if(beside)
  add_subdirectory(${beside} nacre)
endif()
find_package(nacre)
if(nacre_FOUND)
  find_package(nacre REQUIRED)
  get_target_property(folders nacre::nacre INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "headers: ${folders}, command: ${nacre_COMMAND}")
endif()
TEXT
# finds TEXT OPTION...: what the project says of the package.
finds() {
  expected=$1
  shift
  cmake -G Ninja -S "$scratch/finder" -B "$scratch/finder/build" -DCMAKE_PREFIX_PATH="$scratch/installed" "$@" >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; fail "find_package(nacre) ends the configuration"; }
  tr -s ' \n' ' ' <"$scratch/log" | grep -q -e "$expected" || { cat "$scratch/log"; fail "expected: $expected"; }
}
unset PKG_CONFIG_PATH
PKG_CONFIG_LIBDIR=$scratch finds "set nacre_FOUND to FALSE.* nacre::static needs libzstd"
finds "headers: $scratch/installed/headers, command: $scratch/installed/bin/nacre"
finds "command: .*/nacre/bin/nacre" -Dbeside="$source"
