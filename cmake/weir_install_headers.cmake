# Runs at install time: installs the public headers of every layer, and of internal/ only what they include,
# directly or not. What tests share (testing/) stays here, but for the kit that users test their own flows with.
cmake_minimum_required(VERSION 3.25)  # an install script starts with the policies of CMake 2
set(pending "")
foreach(layer IN LISTS weir_header_layers)
  file(GLOB_RECURSE headers RELATIVE "${weir_source_dir}" "${weir_source_dir}/weir/${layer}/*.h")
  list(FILTER headers EXCLUDE REGEX "/(internal|testing)/")
  list(APPEND pending ${headers})
  if(layer STREQUAL "flow")
    file(GLOB headers RELATIVE "${weir_source_dir}" "${weir_source_dir}/weir/flow/testing/*.h")
    list(APPEND pending ${headers})
  endif()
endforeach()

set(chosen "")
while(pending)
  list(POP_FRONT pending header)
  if(header IN_LIST chosen)
    continue()
  endif()
  list(APPEND chosen "${header}")
  file(STRINGS "${weir_source_dir}/${header}" includes REGEX "^#[ \t]*include <weir/")
  list(TRANSFORM includes REPLACE "^[^<]*<([^>]*)>.*$" "\\1")
  list(APPEND pending ${includes})
endwhile()

foreach(header IN LISTS chosen)
  get_filename_component(folder "${header}" DIRECTORY)
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${weir_include_dir}/${folder}" TYPE FILE
    FILES "${weir_source_dir}/${header}")
endforeach()
