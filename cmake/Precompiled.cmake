# Headers that nearly every source includes, compiled once. Sources still include what they use:
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows where one does not.

# Position-independent objects and programs cannot share one.
if(BUILD_SHARED_LIBS)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

set(ENTRAIN_PRECOMPILED_HEADERS
    <algorithm> <array> <atomic> <cmath> <cstddef> <cstdint> <filesystem> <functional> <limits>
    <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <tuple> <utility>
    <vector> <fmt/core.h> <fmt/format.h> <tl/expected.hpp>)

# Object library `target` that holds the precompiled `headers`, compiled with `libraries` in sight.
function(entrain_add_precompiled target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LIBRARIES")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${target}.cpp
       CONTENT "// Compiled for its precompiled headers only.\n")
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/${target}.cpp)
  # The warnings too: -Wpedantic changes which macros the compiler defines.
  target_link_libraries(${target} PRIVATE standard_settings standard_warnings ${arg_LIBRARIES})
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
endfunction()

entrain_add_precompiled(entrain_precompiled HEADERS ${ENTRAIN_PRECOMPILED_HEADERS}
                        LIBRARIES tl::expected fmt::fmt Threads::Threads)
# Half of the time that a source with the JSON library takes is the library's.
entrain_add_precompiled(
  entrain_precompiled_json
  HEADERS ${ENTRAIN_PRECOMPILED_HEADERS} <nlohmann/json.hpp>
  LIBRARIES tl::expected fmt::fmt Threads::Threads nlohmann_json::nlohmann_json)
