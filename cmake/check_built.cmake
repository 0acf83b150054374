# SPDX-License-Identifier: Apache-2.0
# Part of `cmake --install`: ends it with one line when a file that is to be installed has not been built.
file(STRINGS ${NACRE_INSTALLED_FILES} files)
foreach(file IN LISTS files)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file} is not built yet: cmake --build ${NACRE_BUILD} --target nacre_package")
  endif()
endforeach()
