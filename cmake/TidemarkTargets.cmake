# How every folder becomes a target.
#
#   tidemark_library(planner/alloc SOURCES ... DEPENDS planner/base LINKS fmt::fmt)
#
# makes the target tidemark_planner_alloc. Its headers are reachable only through a link tree of its own
# (build/include/<target>/planner/alloc -> the source folder), so a folder can include exactly what it
# depends on: an include against the rules of docs/architecture.md does not compile.
# DEPENDS are folders and are public (their types stand in our headers); LINKS are third-party and private.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(tidemark_options INTERFACE)
target_compile_options(tidemark_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>
  # GCC 12 sees overlapping copies in std::string's operator+ and insert where there are none (its bug 105651) ...
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # ... and, optimising, uninitialised reads in a std::variant that holds strings (Result) and in a std::optional.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<OR:$<CONFIG:Release>,$<BOOL:${TIDEMARK_SANITIZE}>>>:-Wno-maybe-uninitialized>)
if(TIDEMARK_SANITIZE)
  # Without the two checks that AddressSanitizer makes as well: a null pointer, an object's end.
  target_compile_options(tidemark_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize=null,object-size -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_definitions(tidemark_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(tidemark_options INTERFACE -fsanitize=address,undefined)
endif()

function(tidemark_target_name folder out)
  string(REPLACE "/" "_" name ${folder})
  set(${out} tidemark_${name} PARENT_SCOPE)
endfunction()

# Gives `target` the link tree that exposes `folder` and nothing else.
function(tidemark_expose target folder)
  set(root ${CMAKE_BINARY_DIR}/include/${target})
  get_filename_component(parent ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)
  target_include_directories(${target} PUBLIC ${root})
endfunction()

function(tidemark_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINKS" ${ARGN})
  tidemark_target_name(${folder} target)
  add_library(${target} STATIC)
  foreach(source ${ARG_SOURCES})
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/${folder}/${source})
  endforeach()
  tidemark_expose(${target} ${folder})
  target_link_libraries(${target} PRIVATE tidemark_options ${ARG_LINKS})
  foreach(dependency ${ARG_DEPENDS})
    tidemark_target_name(${dependency} dependency_target)
    target_link_libraries(${target} PUBLIC ${dependency_target})
  endforeach()
endfunction()

# Under the sanitizers the code under test is optimised and has every check. The tests themselves keep those of memory
# and arithmetic: more, and optimising them, doubles the build and finds nothing. A library that is linked after
# tidemark_options, since its -fsanitize=undefined would turn all of them on again behind options of the target's own.
add_library(tidemark_test_options INTERFACE)
if(TIDEMARK_SANITIZE)
  target_compile_options(tidemark_test_options INTERFACE -O0 -g0 -fno-sanitize=null,alignment,vptr,object-size)
endif()

# tidemark_test(tests/alloc SOURCES ... DEPENDS planner/alloc LABELS unit): one GoogleTest program a folder.
function(tidemark_test folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINKS;LABELS" ${ARGN})
  tidemark_target_name(${folder} target)
  add_executable(${target})
  foreach(source ${ARG_SOURCES})
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/${folder}/${source})
  endforeach()
  target_link_libraries(${target} PRIVATE tidemark_options tidemark_test_options tidemark_test_support ${ARG_LINKS}
    GTest::gtest_main GTest::gmock)
  foreach(dependency ${ARG_DEPENDS})
    tidemark_target_name(${dependency} dependency_target)
    target_link_libraries(${target} PRIVATE ${dependency_target})
  endforeach()
  if(TIDEMARK_SANITIZE AND NOT folder MATCHES "^tests/gui/")  # Qt asks for another kind of position-independent code
    target_precompile_headers(${target} REUSE_FROM tidemark_test_headers)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()
