# find_package(weir COMPONENTS flow store ...) makes weir::flow, weir::store and what they need; without
# COMPONENTS, every layer.
include("${CMAKE_CURRENT_LIST_DIR}/weir-components.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/weir_deps.cmake")

if(weir_FIND_COMPONENTS)
  set(weir_wanted ${weir_FIND_COMPONENTS})
else()
  set(weir_wanted ${weir_components})
endif()

# A component stands for all components below it. weir_components lists users after what they use, so going
# through it backwards meets every component before its needs.
set(weir_closure ${weir_wanted})
set(weir_backwards ${weir_components})
list(REVERSE weir_backwards)
foreach(weir_component IN LISTS weir_backwards)
  if(weir_component IN_LIST weir_closure)
    list(APPEND weir_closure ${weir_${weir_component}_depends})
  endif()
endforeach()

foreach(weir_component IN LISTS weir_components)
  if(weir_component IN_LIST weir_closure)
    foreach(weir_lib IN LISTS weir_${weir_component}_libs)
      weir_need(${weir_lib})
    endforeach()
    include("${CMAKE_CURRENT_LIST_DIR}/weir-${weir_component}.cmake")
    set(weir_${weir_component}_FOUND TRUE)
  endif()
endforeach()

foreach(weir_component IN LISTS weir_wanted)
  if(NOT weir_${weir_component}_FOUND AND (weir_FIND_REQUIRED_${weir_component} OR NOT weir_FIND_COMPONENTS))
    set(weir_FOUND FALSE)
    set(weir_NOT_FOUND_MESSAGE "weir has no component ${weir_component}; it has: ${weir_components}")
  endif()
endforeach()
