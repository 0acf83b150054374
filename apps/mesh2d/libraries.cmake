# SPDX-License-Identifier: Apache-2.0
# METIS divides the domain; netCDF reads coastlines and rasters, muParser expressions.
target_link_libraries(mesh2d_app PUBLIC meshing pictures ${METIS_LIBRARY})
set(parts_left_out "/input/without_netcdf[.]cpp$")
if(netcdf_FOUND)
  target_link_libraries(mesh2d_app PUBLIC PkgConfig::netcdf)
  target_compile_definitions(mesh2d_app PUBLIC MESH2D_HAS_NETCDF)
else()  # coasts, which only netCDF brings, are left out whole
  set(parts_left_out "/coast/(clip|coast_test|coastlines|faces|gshhg|gshhg_map|make_planar)[.]cpp$|/netcdf_raster[.]cpp$")
  list(FILTER app_tests EXCLUDE REGEX "${parts_left_out}")
endif()
get_target_property(sources mesh2d_app SOURCES)
list(FILTER sources EXCLUDE REGEX "${parts_left_out}")
set_target_properties(mesh2d_app PROPERTIES SOURCES "${sources}")
if(muparser_FOUND)
  target_link_libraries(mesh2d_app PUBLIC PkgConfig::muparser)
  target_compile_definitions(mesh2d_app PUBLIC MESH2D_HAS_MUPARSER)
endif()
target_include_directories(mesh2d_app PUBLIC ${METIS_INCLUDE_DIR})
