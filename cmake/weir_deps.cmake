# Where each outside library comes from. Used by the build and, installed beside weir-config.cmake, by
# programs that find Weir, so that a component asks only for what it links.

# Finds a package: a missing one is an error in Weir's own build, and makes find_package(weir) say "not found"
# in somebody else's. A macro, like the others here, because both kinds of answer belong to the caller's scope.
macro(_weir_find package)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "weir")
    include(CMakeFindDependencyMacro)
    find_dependency(${package})
  else()
    find_package(${package} REQUIRED)
  endif()
endmacro()

# Makes weir_deps::<name> from a pkg-config module.
macro(_weir_pkg_config_dep name module)
  if(NOT TARGET weir_deps::${name})
    _weir_find(PkgConfig)
    pkg_check_modules(weir_dep_${name} REQUIRED QUIET IMPORTED_TARGET GLOBAL ${module})
    add_library(weir_deps::${name} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(weir_deps::${name} INTERFACE PkgConfig::weir_dep_${name})
  endif()
endmacro()

# Finds what is behind one link target.
macro(weir_need target)
  if("${target}" STREQUAL "weir_deps::sodium")
    _weir_pkg_config_dep(sodium libsodium)
  elseif("${target}" STREQUAL "weir_deps::asio")
    # Debian ships standalone Asio as headers only, without a package file.
    if(NOT TARGET weir_deps::asio)
      find_path(WEIR_ASIO_INCLUDE_DIR asio.hpp REQUIRED)
      mark_as_advanced(WEIR_ASIO_INCLUDE_DIR)
      _weir_find(Threads)
      add_library(weir_deps::asio INTERFACE IMPORTED GLOBAL)
      # A directory the compiler searches anyway must not be named again: it would reorder the C++ headers.
      if(NOT WEIR_ASIO_INCLUDE_DIR STREQUAL "/usr/include")
        target_include_directories(weir_deps::asio SYSTEM INTERFACE "${WEIR_ASIO_INCLUDE_DIR}")
      endif()
      target_compile_definitions(weir_deps::asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
      target_link_libraries(weir_deps::asio INTERFACE Threads::Threads)
    endif()
  elseif("${target}" MATCHES "^OpenSSL::")
    _weir_find(OpenSSL)
  elseif("${target}" STREQUAL "Threads::Threads")
    _weir_find(Threads)
  elseif("${target}" STREQUAL "fmt::fmt")
    _weir_find(fmt)
  elseif("${target}" STREQUAL "SQLite::SQLite3")
    _weir_find(SQLite3)
  elseif("${target}" STREQUAL "nlohmann_json::nlohmann_json")
    _weir_find(nlohmann_json)
  elseif("${target}" STREQUAL "CLI11::CLI11")
    _weir_find(CLI11)
  elseif("${target}" MATCHES "::")
    message(FATAL_ERROR "weir_deps.cmake does not know where ${target} comes from")
  endif()
endmacro()

# What pkg-config calls the library behind a link target; empty when it has no module of its own.
function(weir_pkg_config_module target out)
  set(module_OpenSSL::Crypto libcrypto)
  set(module_OpenSSL::SSL libssl)
  set(module_weir_deps::sodium libsodium)
  set(module_fmt::fmt fmt)
  set(module_SQLite::SQLite3 sqlite3)
  set(${out} "${module_${target}}" PARENT_SCOPE)
endfunction()
