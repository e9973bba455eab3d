# The recorder: one library libentrain-record-<mpi>.so per MPI that is found, to be loaded into the
# programs of that MPI; a library of empty functions that programs link; and a program that
# finishes archives. Sets ENTRAIN_RECORD_MPIS to the names of the MPIs.

set(ENTRAIN_RECORD AUTO
    CACHE STRING "Build the recorder: AUTO (if MPI and the OTF2 library are found), ON, OFF")
# The tool looks for them relative to itself.
set(ENTRAIN_RECORD_LIBDIR ${CMAKE_INSTALL_LIBDIR}/entrain)

# Sets `name` to what MPI the C compiler wrapper `compiler` belongs to: openmpi, mpich, or "".
function(entrain_name_of_mpi name compiler)
  file(WRITE ${PROJECT_BINARY_DIR}/which_mpi.c "#include <mpi.h>\n")
  execute_process(
    COMMAND ${compiler} -E -dM ${PROJECT_BINARY_DIR}/which_mpi.c
    OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE failed)
  set(${name} "" PARENT_SCOPE)
  if(failed)
    return()
  elseif(macros MATCHES "#define OPEN_MPI ")
    set(${name} openmpi PARENT_SCOPE)
  elseif(macros MATCHES "#define MPICH_VERSION ")
    set(${name} mpich PARENT_SCOPE)
  endif()
endfunction()

# Interface target entrain_mpi_<mpi> with the flags that the wrapper `compiler` adds.
function(entrain_add_mpi_flags mpi compiler)
  execute_process(COMMAND ${compiler} -show OUTPUT_VARIABLE command
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(words UNIX_COMMAND "${command}")
  add_library(entrain_mpi_${mpi} INTERFACE)
  target_compile_definitions(entrain_mpi_${mpi} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(entrain_mpi_${mpi} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      target_link_directories(entrain_mpi_${mpi} INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l(.+)")
      target_link_libraries(entrain_mpi_${mpi} INTERFACE ${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# What every part of the recorder is compiled with. It is loaded into other people's programs, so it
# shows nothing but what it must and brings its own C++ library.
add_library(entrain_record_settings INTERFACE)
target_compile_features(entrain_record_settings INTERFACE cxx_std_20)
target_compile_options(entrain_record_settings INTERFACE -O2 -fvisibility=hidden)
target_include_directories(entrain_record_settings INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                             ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(entrain_record_settings INTERFACE PkgConfig::otf2 Threads::Threads
                                                        ${CMAKE_DL_LIBS})

if(ENTRAIN_SANITIZE)
  # Programs are built with the same sanitizers then; see tests/record.
  target_compile_options(entrain_record_settings INTERFACE -fsanitize=${ENTRAIN_SANITIZE}
                                                           -fno-omit-frame-pointer)
  target_link_options(entrain_record_settings INTERFACE -fsanitize=${ENTRAIN_SANITIZE})
endif()

# Object library entrain_record_objects of the sources that know nothing of MPI.
function(entrain_add_record_objects)
  set(sources archive.cpp clock_files.cpp clocks.cpp definitions.cpp event_file.cpp journal.cpp memory.cpp
              otf2_locks.c repair.cpp settings.cpp timer.cpp)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/record/)
  add_library(entrain_record_objects OBJECT ${sources})
  set_target_properties(entrain_record_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(entrain_record_objects PUBLIC entrain_record_settings)
  entrain_warn_in_cxx(entrain_record_objects)
endfunction()

function(entrain_warn_in_cxx target)
  target_compile_options(
    ${target}
    PRIVATE $<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:standard_warnings,INTERFACE_COMPILE_OPTIONS>>)
endfunction()

function(entrain_add_record_library mpi)
  set(source ${PROJECT_SOURCE_DIR}/src/record)
  set(generated ${PROJECT_BINARY_DIR}/generated/record)
  add_library(entrain_record_${mpi} SHARED)
  target_sources(
    entrain_record_${mpi}
    PRIVATE ${generated}/wrappers.cpp
            ${source}/collectives.cpp
            ${source}/communicators.cpp
            ${source}/completion.cpp
            ${source}/finish.cpp
            ${source}/messages.cpp
            ${source}/one_sided.cpp
            ${source}/otf2_context.c
            ${source}/period.cpp
            ${source}/process.cpp
            ${source}/recorder.cpp
            ${source}/session.cpp)
  target_include_directories(entrain_record_${mpi} PRIVATE ${PROJECT_BINARY_DIR}/generated)
  target_link_libraries(entrain_record_${mpi} PRIVATE entrain_record_objects entrain_mpi_${mpi})
  entrain_warn_in_cxx(entrain_record_${mpi})
  target_link_options(entrain_record_${mpi} PRIVATE -static-libgcc
                      LINKER:--version-script=${generated}/exports.map)
  if(NOT ENTRAIN_SANITIZE) # their runtime has a C++ library and symbols of its own
    target_link_options(entrain_record_${mpi} PRIVATE -static-libstdc++ LINKER:-z,defs)
  endif()
  set_target_properties(
    entrain_record_${mpi}
    PROPERTIES OUTPUT_NAME entrain-record-${mpi}
               LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${ENTRAIN_RECORD_LIBDIR}
               LINK_DEPENDS ${generated}/exports.map)
  add_dependencies(entrain_record_${mpi} entrain_record_generated)
  install(TARGETS entrain_record_${mpi} DESTINATION ${ENTRAIN_RECORD_LIBDIR})
endfunction()

# The wrappers, from the table of MPI's calls.
function(entrain_generate_wrappers)
  set(source ${PROJECT_SOURCE_DIR}/src/record)
  set(generated ${PROJECT_BINARY_DIR}/generated/record)
  set(tables ${source}/mpi_calls.txt ${source}/mpi4_calls.txt)
  set(files ${generated}/wrappers.cpp ${generated}/real_mpi.hpp ${generated}/regions.hpp
            ${generated}/exports.map)
  add_custom_command(
    OUTPUT ${files}
    COMMAND ${Python3_EXECUTABLE} ${source}/generate_wrappers.py ${tables} ${generated}
    DEPENDS ${source}/generate_wrappers.py ${tables}
    COMMENT "Generating the wrappers of MPI")
  add_custom_target(entrain_record_generated DEPENDS ${files})
endfunction()

function(entrain_add_record_tools)
  add_library(entrain_hooks SHARED ${PROJECT_SOURCE_DIR}/src/record/hooks_stub.c)
  target_include_directories(entrain_hooks PRIVATE ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(entrain_hooks PROPERTIES OUTPUT_NAME entrain-hooks LIBRARY_OUTPUT_DIRECTORY
                                                 ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
  install(TARGETS entrain_hooks DESTINATION ${CMAKE_INSTALL_LIBDIR})
  add_executable(entrain_record_repair ${PROJECT_SOURCE_DIR}/src/record/repair_main.cpp)
  target_link_libraries(entrain_record_repair PRIVATE entrain_record_objects)
  set_target_properties(
    entrain_record_repair PROPERTIES OUTPUT_NAME entrain-record-repair RUNTIME_OUTPUT_DIRECTORY
                                     ${PROJECT_BINARY_DIR}/${ENTRAIN_RECORD_LIBDIR})
  install(TARGETS entrain_record_repair DESTINATION ${ENTRAIN_RECORD_LIBDIR})
endfunction()

function(entrain_add_recorder)
  set(mpis)
  if(ENTRAIN_RECORD AND ENTRAIN_HAS_OTF2_LIBRARY)
    find_package(Python3 COMPONENTS Interpreter)
    foreach(wrapper mpicc.openmpi mpicc.mpich mpicc)
      find_program(ENTRAIN_${wrapper} ${wrapper})
      mark_as_advanced(ENTRAIN_${wrapper})
      if(NOT ENTRAIN_${wrapper} OR NOT Python3_FOUND)
        continue()
      endif()
      entrain_name_of_mpi(mpi ${ENTRAIN_${wrapper}})
      if(mpi AND NOT mpi IN_LIST mpis)
        entrain_add_mpi_flags(${mpi} ${ENTRAIN_${wrapper}})
        set(ENTRAIN_RECORD_MPICC_${mpi} ${ENTRAIN_${wrapper}} PARENT_SCOPE)
        list(APPEND mpis ${mpi})
      endif()
    endforeach()
  endif()
  set(ENTRAIN_RECORD_MPIS ${mpis} PARENT_SCOPE)
  if(NOT mpis)
    if(ENTRAIN_RECORD AND NOT ENTRAIN_RECORD STREQUAL "AUTO")
      message(FATAL_ERROR "ENTRAIN_RECORD=ON needs MPI (mpicc), the OTF2 library and Python 3")
    endif()
    return()
  endif()
  message(STATUS "Recorder for: ${mpis}")
  entrain_add_record_objects()
  entrain_generate_wrappers()
  foreach(mpi IN LISTS mpis)
    entrain_add_record_library(${mpi})
  endforeach()
  entrain_add_record_tools()
endfunction()
