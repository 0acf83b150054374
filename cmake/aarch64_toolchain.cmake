# SPDX-License-Identifier: Apache-2.0
# Compiles for aarch64 with the distribution's cross compiler, and runs tests under qemu's emulator of one process. The libraries
# are those of the foreign architecture arm64 (dpkg --add-architecture); tools/aarch64_tests.sh installs them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(NACRE_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(NACRE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${NACRE_QEMU})
endif()
