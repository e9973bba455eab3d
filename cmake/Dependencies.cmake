# The libraries that the build needs. All that are missing are named at once, with the Debian
# packages that hold them, so that nobody has to install them one by one.

set(missing)
# entrain_require(name package arguments...): find_package(name arguments...), or one more line.
macro(entrain_require name package)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND missing "  ${name} (Debian: ${package})")
  endif()
endmacro()

entrain_require(tl-expected libexpected-dev)
entrain_require(fmt libfmt-dev)
entrain_require(Threads libc6-dev)
entrain_require(nlohmann_json nlohmann-json3-dev)
entrain_require(CLI11 libcli11-dev)
entrain_require(simdjson libsimdjson-dev)
entrain_require(Eigen3 libeigen3-dev 3.4 NO_MODULE)
if(ENTRAIN_BUILD_TESTS)
  entrain_require(GTest "libgtest-dev libgmock-dev")
  entrain_require(rapidcheck librapidcheck-dev CONFIG)
endif()

# Optional: without MPI the tool is one process; without the OTF2 library there is no recorder, and
# archives of other substrates than POSIX files are not read.
if(ENTRAIN_MPI STREQUAL "AUTO")
  find_package(MPI 3.1 COMPONENTS C QUIET)
elseif(ENTRAIN_MPI)
  entrain_require(MPI "libopenmpi-dev or libmpich-dev" 3.1 COMPONENTS C)
endif()
set(ENTRAIN_HAS_OTF2_LIBRARY OFF)
if(ENTRAIN_OTF2_LIBRARY OR ENTRAIN_BUILD_TESTS)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(otf2 QUIET IMPORTED_TARGET GLOBAL otf2)
  endif()
  if(ENTRAIN_OTF2_LIBRARY AND TARGET PkgConfig::otf2)
    set(ENTRAIN_HAS_OTF2_LIBRARY ON)
  endif()
  if(ENTRAIN_BUILD_TESTS AND NOT TARGET PkgConfig::otf2) # the tests' oracle
    list(APPEND missing "  the OTF2 library (Debian: libopen-trace-format2-dev pkg-config)")
  endif()
endif()

if(missing)
  list(JOIN missing "\n" missing)
  set(hint "On Debian, 'make deps' installs them.")
  if(ENTRAIN_BUILD_TESTS)
    string(APPEND hint " Without tests (-DENTRAIN_BUILD_TESTS=OFF) fewer are needed.")
  endif()
  message(FATAL_ERROR "These libraries are missing:\n${missing}\n${hint}")
endif()
