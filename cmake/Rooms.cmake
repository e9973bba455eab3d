# Rooms are the folders of src/ and products/ that src/rooms.txt names. Each one is compiled as an object library, so that
# it builds, and its unit tests link and run, while a room above it is broken.

# The folders that hold rooms; an #include names a file from one of them.
set(ENTRAIN_SOURCE_ROOTS ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/products)

# Sets `result` to the name of a room as part of a target: otf2/read becomes otf2_read.
function(entrain_room_name result room)
  string(REPLACE "/" "_" name ${room})
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# Sets ENTRAIN_ROOMS and, per room, from the table in `file`: ENTRAIN_<room>_NEEDS, the
# rooms that it includes and all that these need, ENTRAIN_<room>_NAMES, the libraries that its line
# names, and ENTRAIN_<room>_LIBRARIES, those of all of these rooms.
function(entrain_read_rooms file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[a-z0-9/]+:")
  set(rooms)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z0-9/]+):([^|]*)[|]?(.*)$" unused "${line}")
    set(room ${CMAKE_MATCH_1})
    separate_arguments(uses UNIX_COMMAND "${CMAKE_MATCH_2}")
    separate_arguments(libraries UNIX_COMMAND "${CMAKE_MATCH_3}")
    list(APPEND rooms ${room})
    set(ENTRAIN_${room}_NAMES ${libraries} PARENT_SCOPE)
    set(needs ${uses})
    foreach(used IN LISTS uses)
      list(APPEND needs ${ENTRAIN_${used}_NEEDS})
    endforeach()
    list(REMOVE_DUPLICATES needs)
    foreach(needed IN LISTS needs)
      list(APPEND libraries ${ENTRAIN_${needed}_LIBRARIES})
    endforeach()
    list(REMOVE_DUPLICATES libraries)
    set(ENTRAIN_${room}_NEEDS ${needs})
    set(ENTRAIN_${room}_NEEDS ${needs} PARENT_SCOPE)
    set(ENTRAIN_${room}_LIBRARIES ${libraries})
    set(ENTRAIN_${room}_LIBRARIES ${libraries} PARENT_SCOPE)
  endforeach()
  set(ENTRAIN_ROOMS ${rooms} PARENT_SCOPE)
endfunction()

# The libraries that rooms.txt may name, as targets.
set(ENTRAIN_LIBRARY_eigen Eigen3::Eigen)
set(ENTRAIN_LIBRARY_json nlohmann_json::nlohmann_json)
set(ENTRAIN_LIBRARY_cli11 CLI11::CLI11)
set(ENTRAIN_LIBRARY_simdjson simdjson::simdjson)
set(ENTRAIN_LIBRARY_protozero protozero)
set(ENTRAIN_LIBRARY_zlib ZLIB::ZLIB)
set(ENTRAIN_LIBRARY_zstd entrain_zstd)
set(ENTRAIN_LIBRARY_babeltrace2 entrain_babeltrace2)
if(ENTRAIN_HAS_OTF2_LIBRARY)
  set(ENTRAIN_LIBRARY_otf2 PkgConfig::otf2)
endif()

# Sets `result` to the targets of the libraries of `room`. Without the OTF2 library it has none.
function(entrain_libraries_of result room)
  set(targets)
  foreach(library IN LISTS ENTRAIN_${room}_LIBRARIES)
    if(NOT library MATCHES "^(eigen|json|cli11|simdjson|protozero|zlib|zstd|babeltrace2|otf2)$")
      message(FATAL_ERROR "src/rooms.txt: ${room} names the library ${library}, which "
                          "cmake/Rooms.cmake does not know")
    endif()
    list(APPEND targets ${ENTRAIN_LIBRARY_${library}})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Sets `result` to the object libraries among `rooms` (a room without sources has none).
function(entrain_objects_of result)
  set(targets)
  foreach(room IN LISTS ARGN)
    entrain_room_name(name ${room})
    if(TARGET entrain_${name}_objects)
      list(APPEND targets entrain_${name}_objects)
    endif()
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Sets `result` to the sources of a room, without tests.
function(entrain_sources_of result room)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp
       ${PROJECT_SOURCE_DIR}/products/${room}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# Object library entrain_<room>_objects of a room's sources, and the target entrain_<room> that
# builds it.
function(entrain_add_room room)
  entrain_sources_of(sources ${room})
  if(NOT sources)
    return()
  endif()
  entrain_room_name(name ${room})
  entrain_libraries_of(libraries ${room})
  set(target entrain_${name}_objects)
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                              ${ENTRAIN_SOURCE_ROOTS})
  target_link_libraries(
    ${target}
    PUBLIC standard_settings tl::expected fmt::fmt Threads::Threads ${libraries}
    PRIVATE standard_warnings)
  target_compile_definitions(
    ${target} PRIVATE ENTRAIN_RECORD_LIBDIR="${CMAKE_INSTALL_LIBDIR}/entrain")
  # GCC stops inlining when a batch of files has grown by 40 %, in the midst of what reads events: a
  # check of a Perfetto trace takes a fifth less time without that limit, and compiling half more.
  if(room MATCHES "^formats/(json|kineto|perfetto)$")
    set(is_release_of_gcc $<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release>>)
    target_compile_options(
      ${target}
      PRIVATE
        "$<${is_release_of_gcc}:--param=inline-unit-growth=400;--param=large-unit-insns=100000>")
  endif()
  if(json IN_LIST ENTRAIN_${room}_NAMES)
    target_precompile_headers(${target} REUSE_FROM entrain_precompiled_json)
  else()
    target_precompile_headers(${target} REUSE_FROM entrain_precompiled)
  endif()
  if(NOT room STREQUAL "cli") # the tool's own name
    add_custom_target(entrain_${name} DEPENDS ${target})
  endif()
endfunction()

# Every room but those that are built by themselves: the rooms of a product with a build file of its
# own (products/), and the tool's main.
function(entrain_add_rooms)
  foreach(room IN LISTS ENTRAIN_ROOMS)
    if(NOT room MATCHES "^(record/.*|net/.*|tool)$")
      entrain_add_room(${room})
    endif()
  endforeach()
  target_sources(entrain_base_objects PRIVATE ${PROJECT_BINARY_DIR}/version.cpp)
endfunction()

# The library target `entrain`: all rooms below the tool's, and none of the recorder's.
function(entrain_add_library)
  set(rooms ${ENTRAIN_ROOMS})
  list(FILTER rooms EXCLUDE REGEX "^(record/.*|(.*/)?cli|tool)$")
  entrain_objects_of(objects ${rooms})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/entrain/*.h*)

  add_library(entrain ${objects})
  add_library(entrain::entrain ALIAS entrain)
  target_sources(entrain PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
                                FILES ${headers})
  target_compile_features(entrain PUBLIC cxx_std_20)
  target_link_libraries(
    entrain
    PUBLIC tl::expected
    PRIVATE $<BUILD_INTERFACE:standard_settings> fmt::fmt Threads::Threads
            simdjson::simdjson ZLIB::ZLIB entrain_zstd)
  if(TARGET PkgConfig::babeltrace2)
    target_link_libraries(entrain PRIVATE PkgConfig::babeltrace2)
  endif()
  set_target_properties(entrain PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                           SOVERSION 0)
endfunction()

# Object library entrain_mpi_objects: the processes of a run, with MPI or (ENTRAIN_MPI=OFF, or none
# found) without. Only the tool links it, so that the library depends on no MPI.
function(entrain_add_mpi)
  set(folder ${PROJECT_SOURCE_DIR}/src/tool/mpi)
  if(MPI_C_FOUND)
    add_library(entrain_mpi_objects OBJECT ${folder}/processes.cpp)
    target_link_libraries(entrain_mpi_objects PUBLIC MPI::MPI_C)
    target_compile_definitions(entrain_mpi_objects PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  else()
    add_library(entrain_mpi_objects OBJECT ${folder}/none.cpp)
  endif()
  target_include_directories(entrain_mpi_objects PUBLIC ${PROJECT_SOURCE_DIR}/include
                                                        ${ENTRAIN_SOURCE_ROOTS})
  target_link_libraries(entrain_mpi_objects PUBLIC standard_settings tl::expected)
endfunction()

# The tool `entrain`, target entrain_cli, in bin/ of the build folder.
function(entrain_add_tool)
  entrain_sources_of(sources tool)
  if(NOT sources)
    return()
  endif()
  entrain_add_mpi()
  set(rooms ${ENTRAIN_tool_NEEDS}) # those of them that the library has not
  list(FILTER rooms INCLUDE REGEX "^(.*/)?cli$")
  entrain_objects_of(objects ${rooms})
  entrain_libraries_of(libraries tool)
  add_executable(entrain_cli ${sources})
  target_include_directories(entrain_cli PRIVATE ${ENTRAIN_SOURCE_ROOTS})
  target_link_libraries(entrain_cli PRIVATE ${objects} entrain_mpi_objects entrain fmt::fmt
                                            ${libraries} standard_settings standard_warnings)
  target_compile_definitions(entrain_cli PRIVATE ENTRAIN_HAS_NET=$<BOOL:${ENTRAIN_NET}>)
  set_target_properties(entrain_cli PROPERTIES OUTPUT_NAME entrain RUNTIME_OUTPUT_DIRECTORY
                                                                   ${PROJECT_BINARY_DIR}/bin)
endfunction()
