# SPDX-License-Identifier: Apache-2.0
# METIS divides the domain; libpng writes pictures, netCDF reads coastlines.
target_link_libraries(mesh2d_app PUBLIC meshing ${METIS_LIBRARY})
if(PNG_FOUND)
  target_link_libraries(mesh2d_app PUBLIC PNG::PNG)
  target_compile_definitions(mesh2d_app PUBLIC MESH2D_HAS_PNG)
endif()
if(netcdf_FOUND)
  target_link_libraries(mesh2d_app PUBLIC PkgConfig::netcdf)
  target_compile_definitions(mesh2d_app PUBLIC MESH2D_HAS_NETCDF)
endif()
target_include_directories(mesh2d_app PUBLIC ${METIS_INCLUDE_DIR})
