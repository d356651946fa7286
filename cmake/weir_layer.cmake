# weir_layer(<name> [DEPENDS <layers>...] [PUBLIC <libs>...] [PRIVATE <libs>...] [TEST <libs>...])
#
# Makes the library weir_<name> (alias weir::<name>) from the layer's folder:
#
#   *.cc        the library, except main.cc, *_test.cc and *_fuzz.cc; a layer without any is header-only
#   *_test.cc   one GoogleTest program, weir_<name>_test, whose tests carry the label <name>
#   *_long_test.cc   another one, weir_<name>_long_test, for sweeps of minutes; label long: only `./test --long` runs
#               them
#
# DEPENDS are layers, PUBLIC and PRIVATE outside libraries (PUBLIC when a header of the layer includes them),
# TEST libraries that only the tests use; the tests also get the PRIVATE ones. Headers are included from the
# root of the repository: <weir/flow/merge.h>.
include_guard(GLOBAL)
include(GNUInstallDirs)

# Libraries that are headers only leave nothing behind in an archive, so who links an installed layer does
# not need them.
set(weir_header_only_libs nlohmann_json::nlohmann_json CLI11::CLI11)

function(weir_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;PUBLIC;PRIVATE;TEST")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_layer(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|/main)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(long_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_long_test\\.cc$")
  list(FILTER long_tests INCLUDE REGEX "_long_test\\.cc$")

  foreach(lib IN LISTS arg_PUBLIC arg_PRIVATE)
    weir_need(${lib})
  endforeach()
  list(TRANSFORM arg_DEPENDS PREPEND "weir_" OUTPUT_VARIABLE layers)

  set(target weir_${name})
  set(linked_libs ${arg_PUBLIC})
  if(sources)
    add_library(${target} STATIC ${sources})
    weir_target_flags(${target})
    set(scope PUBLIC)
    foreach(lib IN LISTS arg_PRIVATE)
      if(lib IN_LIST weir_header_only_libs)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${lib}>)
      else()
        target_link_libraries(${target} PRIVATE ${lib})
        list(APPEND linked_libs ${lib})
      endif()
    endforeach()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(weir::${name} ALIAS ${target})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${scope} ${layers} ${arg_PUBLIC})

  # What the install rules and the header check need to know about the layer.
  set_property(GLOBAL APPEND PROPERTY weir_layers ${name})
  set_property(GLOBAL PROPERTY weir_${name}_depends "${arg_DEPENDS}")
  set_property(GLOBAL PROPERTY weir_${name}_libs "${linked_libs}")
  set_property(GLOBAL PROPERTY weir_${name}_build_libs "${arg_PUBLIC};${arg_PRIVATE}")

  if(weir_build_tests)
    foreach(lib IN LISTS arg_TEST)
      weir_need(${lib})
    endforeach()
    set(test_libs ${target} ${arg_PRIVATE} ${arg_TEST})
    if(tests)
      weir_test_program(${target}_test PREFIX ${name} SOURCES ${tests} LIBS ${test_libs} LABELS ${name})
    endif()
    if(long_tests)
      # One label only: gtest_discover_tests of CMake 3.25 loses the second.
      weir_test_program(${target}_long_test PREFIX ${name} SOURCES ${long_tests} LIBS ${test_libs} LABELS long)
    endif()
  endif()
endfunction()

# weir_test_program(<target> PREFIX <prefix> SOURCES ... LIBS ... LABELS ...): a GoogleTest program; each of its
# tests becomes the ctest test <prefix>.<suite>.<name>.
function(weir_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "SOURCES;LIBS;LABELS")
  add_executable(${target} ${arg_SOURCES})
  weir_target_flags(${target})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Small tests are inlined whole, and then g++ 12 takes the value of an empty optional for one that is read (GCC
    # bug 80635). The libraries keep the warning.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest_main rapidcheck)
  if(WEIR_SANITIZE)
    # Two fifths of the time it takes to compile the tests. Nowhere else, so that a missing include is noticed.
    target_precompile_headers(${target} PRIVATE
      <gtest/gtest.h> <algorithm> <chrono> <deque> <functional> <map> <optional> <ranges> <sstream> <string> <thread> <vector>)
  endif()
  # Two minutes are ages for a unit test; instrumented code is several times slower, a sweep is meant to be.
  set(timeout_s 120)
  if(WEIR_SANITIZE)
    set(timeout_s 600)
  endif()
  if("long" IN_LIST arg_LABELS)
    set(timeout_s 3600)
  endif()
  gtest_discover_tests(${target}
    TEST_PREFIX "${arg_PREFIX}."
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${timeout_s} LABELS "${arg_LABELS}")
endfunction()

# weir_program(<program> LAYER <name> [PRIVATE <libs>...]): the executable bin/<program> from the layer's main.cc.
function(weir_program program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LAYER" "PRIVATE")
  foreach(lib IN LISTS arg_PRIVATE)
    weir_need(${lib})
  endforeach()
  add_executable(${program} "${CMAKE_CURRENT_SOURCE_DIR}/main.cc")
  weir_target_flags(${program})
  target_link_libraries(${program} PRIVATE weir_${arg_LAYER} ${arg_PRIVATE})
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${arg_LAYER})
endfunction()
