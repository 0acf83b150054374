# SPDX-License-Identifier: Apache-2.0
# How vectors are returned, of which gcc tells a note, does not matter where all is inlined.
target_compile_options(uts_app PRIVATE -Wno-psabi)
