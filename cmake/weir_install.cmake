# Install rules: one export set and one pkg-config file per layer, so that find_package(weir COMPONENTS flow)
# and `pkg-config weir-flow` ask only for what flow needs.
include_guard(GLOBAL)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(weir_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weir")
set(weir_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
# From the folder of the .pc files back to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH weir_pc_to_prefix "/${weir_pc_dir}" "/")
string(REGEX REPLACE "/$" "" weir_pc_to_prefix "${weir_pc_to_prefix}")
get_property(layers GLOBAL PROPERTY weir_layers)

# What weir-config.cmake knows about each layer.
set(components "set(weir_components ${layers})\n")

foreach(layer IN LISTS layers)
  get_property(depends GLOBAL PROPERTY weir_${layer}_depends)
  get_property(libs GLOBAL PROPERTY weir_${layer}_libs)
  string(APPEND components "set(weir_${layer}_depends ${depends})\nset(weir_${layer}_libs ${libs})\n")

  set_target_properties(weir_${layer} PROPERTIES EXPORT_NAME ${layer})
  install(TARGETS weir_${layer} EXPORT weir-${layer} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${layer})
  install(EXPORT weir-${layer} NAMESPACE weir:: FILE weir-${layer}.cmake DESTINATION ${weir_cmake_dir}
    COMPONENT ${layer})

  # Weir's libraries are archives: whoever links one links what it uses, so nothing is "private" here.
  set(pc_requires "")
  foreach(dependency IN LISTS depends)
    list(APPEND pc_requires weir-${dependency})
  endforeach()
  set(pc_libs "")
  set(pc_cflags "-I\${includedir}")
  foreach(lib IN LISTS libs)
    weir_pkg_config_module(${lib} module)
    if(module)
      list(APPEND pc_requires ${module})
    elseif(lib STREQUAL "weir_deps::asio")
      string(APPEND pc_cflags " -DASIO_STANDALONE -DASIO_NO_DEPRECATED -pthread")
      string(APPEND pc_libs " -pthread")
    elseif(lib STREQUAL "Threads::Threads")
      string(APPEND pc_cflags " -pthread")
      string(APPEND pc_libs " -pthread")
    else()
      message(FATAL_ERROR "weir_install.cmake cannot tell pkg-config about ${lib}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES pc_requires)
  list(JOIN pc_requires ", " pc_requires)
  get_target_property(type weir_${layer} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    string(PREPEND pc_libs "-L\${libdir} -lweir_${layer}")
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/pkgconfig/weir-${layer}.pc" @ONLY CONTENT
"prefix=\${pcfiledir}/@weir_pc_to_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: weir-@layer@
Description: @PROJECT_DESCRIPTION@ (layer @layer@)
Version: @PROJECT_VERSION@
Requires: @pc_requires@
Cflags: @pc_cflags@
Libs: @pc_libs@
")
  install(FILES "${CMAKE_BINARY_DIR}/pkgconfig/weir-${layer}.pc" DESTINATION ${weir_pc_dir} COMPONENT ${layer})
endforeach()

file(WRITE "${CMAKE_BINARY_DIR}/weir-components.cmake" "${components}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/weir-config.cmake" "${CMAKE_BINARY_DIR}/weir-config.cmake" COPYONLY)
# Before 1.0 a minor version may change anything.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/weir-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/weir-components.cmake" "${CMAKE_BINARY_DIR}/weir-config.cmake"
  "${CMAKE_BINARY_DIR}/weir-config-version.cmake" "${CMAKE_CURRENT_LIST_DIR}/weir_deps.cmake"
  DESTINATION ${weir_cmake_dir} COMPONENT core)

# Which internal headers a public one needs is read off the files when they are installed.
install(CODE "
  set(weir_source_dir \"${PROJECT_SOURCE_DIR}\")
  set(weir_header_layers \"${layers}\")
  set(weir_include_dir \"${CMAKE_INSTALL_INCLUDEDIR}\")"
  ALL_COMPONENTS)
install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/weir_install_headers.cmake" ALL_COMPONENTS)
