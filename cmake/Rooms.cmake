# Rooms are the folders of src/. Each one is compiled as an object library entrain_<room>, so that
# it builds, and its unit tests link and run, while a room above it is being rebuilt.

# Sets ENTRAIN_ROOMS and, per room, ENTRAIN_<room>_USES from the table in `file`.
function(entrain_read_rooms file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[a-z0-9]+:")
  set(rooms)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z0-9]+):(.*)$" unused "${line}")
    set(room ${CMAKE_MATCH_1})
    separate_arguments(uses UNIX_COMMAND "${CMAKE_MATCH_2}")
    list(APPEND rooms ${room})
    set(ENTRAIN_${room}_USES ${uses} PARENT_SCOPE)
  endforeach()
  set(ENTRAIN_ROOMS ${rooms} PARENT_SCOPE)
endfunction()

# Sets `result` to the object libraries among `rooms` (a room without sources has none).
function(entrain_objects_of result)
  set(targets)
  foreach(room IN LISTS ARGN)
    if(TARGET entrain_${room}_objects)
      list(APPEND targets entrain_${room}_objects)
    endif()
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# Object library entrain_<room>_objects of src/<room>/*.cpp without tests and main, and the target
# entrain_<room> that builds it.
function(entrain_add_room room)
  if(room STREQUAL "record") # libraries of its own: Record.cmake
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  if(room STREQUAL "base")
    list(APPEND sources ${PROJECT_BINARY_DIR}/version.cpp)
  endif()
  if(room STREQUAL "otf2" AND NOT ENTRAIN_HAS_OTF2_LIBRARY)
    list(FILTER sources EXCLUDE REGEX "/library_(child|definitions|events)\\.cpp$")
  endif()
  if(NOT sources)
    return()
  endif()
  set(target entrain_${room}_objects)
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                              ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC standard_settings tl::expected fmt::fmt Threads::Threads
                        PRIVATE standard_warnings)
  if(room STREQUAL "clock") # of the fits; no other room includes that header
    target_link_libraries(${target} PRIVATE Eigen3::Eigen)
  endif()
  if(room STREQUAL "otf2")
    target_compile_definitions(
      ${target} PRIVATE ENTRAIN_HAS_OTF2_LIBRARY=$<BOOL:${ENTRAIN_HAS_OTF2_LIBRARY}>)
    if(ENTRAIN_HAS_OTF2_LIBRARY)
      target_link_libraries(${target} PUBLIC PkgConfig::otf2)
    endif()
  endif()
  if(room MATCHES "^(net|report|cli)$")
    target_link_libraries(${target} PUBLIC nlohmann_json::nlohmann_json)
  endif()
  if(room STREQUAL "cli")
    target_compile_definitions(${target} PRIVATE ENTRAIN_RECORD_LIBDIR="${CMAKE_INSTALL_LIBDIR}/entrain")
    target_link_libraries(${target} PUBLIC CLI11::CLI11)
  else()
    add_custom_target(entrain_${room} DEPENDS ${target})
  endif()
endfunction()

# The library target `entrain`: all rooms but the tool's.
function(entrain_add_library)
  set(rooms ${ENTRAIN_ROOMS})
  list(REMOVE_ITEM rooms cli)
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
    PRIVATE $<BUILD_INTERFACE:standard_settings> fmt::fmt Threads::Threads)
  if(ENTRAIN_HAS_OTF2_LIBRARY)
    target_link_libraries(entrain PRIVATE PkgConfig::otf2)
  endif()
  set_target_properties(entrain PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                           SOVERSION 0)
endfunction()

# Object library entrain_mpi_objects: the processes of a run, with MPI or (ENTRAIN_MPI=OFF, or none
# found) without. Only the tool links it, so that the library depends on no MPI.
function(entrain_add_mpi)
  set(folder ${PROJECT_SOURCE_DIR}/src/engine/mpi)
  if(MPI_C_FOUND)
    add_library(entrain_mpi_objects OBJECT ${folder}/processes.cpp)
    target_link_libraries(entrain_mpi_objects PUBLIC MPI::MPI_C)
    target_compile_definitions(entrain_mpi_objects PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  else()
    add_library(entrain_mpi_objects OBJECT ${folder}/none.cpp)
  endif()
  target_include_directories(entrain_mpi_objects PUBLIC ${PROJECT_SOURCE_DIR}/include
                                                        ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(entrain_mpi_objects PUBLIC standard_settings tl::expected)
endfunction()

# The tool `entrain`, target entrain_cli, in bin/ of the build folder.
function(entrain_add_tool)
  set(main ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  file(GLOB found CONFIGURE_DEPENDS ${main})
  if(NOT found)
    return()
  endif()
  entrain_add_mpi()
  entrain_objects_of(objects cli)
  add_executable(entrain_cli ${main})
  target_include_directories(entrain_cli PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(
    entrain_cli PRIVATE ${objects} entrain_mpi_objects entrain CLI11::CLI11 fmt::fmt
                        nlohmann_json::nlohmann_json standard_settings standard_warnings)
  set_target_properties(entrain_cli PROPERTIES OUTPUT_NAME entrain RUNTIME_OUTPUT_DIRECTORY
                                                                   ${PROJECT_BINARY_DIR}/bin)
endfunction()
