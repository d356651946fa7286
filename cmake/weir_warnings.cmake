# The warnings every target of Weir is built with. They stay inside the build tree: users of an installed
# Weir keep their own.
set(weir_warning_flags
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wextra-semi
  -Wimplicit-fallthrough -Wvla -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND weir_warning_flags -Wduplicated-cond -Wlogical-op)
  # g++ 12 reports overlapping copies inside std::string that are not there (GCC bug 105651).
  list(APPEND weir_warning_flags -Wno-restrict)
  if(WEIR_SANITIZE)
    # Instrumented code confuses the flow analysis behind these, and -Wtsan is about fences, which the
    # thread sanitizer does not model; code that uses fences says how it is checked instead.
    list(APPEND weir_warning_flags -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
    if(WEIR_SANITIZE MATCHES "thread")
      list(APPEND weir_warning_flags -Wno-tsan)
    endif()
  endif()
endif()
if(WEIR_WERROR)
  list(APPEND weir_warning_flags -Werror)
endif()

# Gives a target the warnings above and the sanitizers of this build.
function(weir_target_flags target)
  target_compile_options(${target} PRIVATE ${weir_warning_flags})
  if(WEIR_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${WEIR_SANITIZE})
    if(WEIR_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # Linked as C, or clang brings an operator new of its own, beside which a program cannot have one that counts.
      target_link_options(${target} PRIVATE --driver-mode=gcc)
      target_link_libraries(${target} PRIVATE stdc++ m)
    endif()
    if(WEIR_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=undefined)
    endif()
  endif()
endfunction()
