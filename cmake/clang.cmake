# Toolchain of the preset "clang": the newest clang that Weir supports, whatever its package is called.
find_program(WEIR_CLANGXX NAMES clang++-20 clang++-19 clang++-18 clang++-17 clang++-16)
if(NOT WEIR_CLANGXX)
  message(FATAL_ERROR "the preset clang needs clang 16 or later; on Debian 12: apt-get install clang-16")
endif()
set(CMAKE_CXX_COMPILER "${WEIR_CLANGXX}")
