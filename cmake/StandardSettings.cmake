# standard_settings: what every target of this project is compiled with, warnings aside.

add_library(standard_settings INTERFACE)
target_compile_features(standard_settings INTERFACE cxx_std_20)

# A clock map must give to the bit what an OTF2 reader computes: no fused multiply-add, which would
# round once where the reader rounds twice.
target_compile_options(standard_settings INTERFACE -ffp-contract=off)

# GCC collects its garbage less often: 6 % less time to compile (rooms engine and cli with -O2). A job
# then takes up to 1.3 GB (room formats/kineto), most less than 0.9.
target_compile_options(
  standard_settings
  INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=1000;--param=ggc-min-heapsize=500000>")

# Every x86-64 processor since 2008 counts bits in one instruction; src/base/ranked_bits.hpp does little
# else.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_compile_options(standard_settings INTERFACE -mpopcnt)
endif()

# The Python module is a shared library, and holds the same objects as the tool. Programs are compiled
# like libraries then, so that all share the precompiled headers.
if(ENTRAIN_PYTHON)
  target_compile_options(standard_settings INTERFACE -fPIC -fno-semantic-interposition)
endif()

if(ENTRAIN_SANITIZE)
  target_compile_options(
    standard_settings INTERFACE -fsanitize=${ENTRAIN_SANITIZE} -fno-sanitize-recover=all
                                -fno-omit-frame-pointer)
  target_link_options(standard_settings INTERFACE -fsanitize=${ENTRAIN_SANITIZE})
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
if(BUILD_SHARED_LIBS)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Type of build" FORCE)
endif()

# ccache, where it is installed. Its depend mode spares the first build a second preprocessing of
# every source; the rest is what precompiled headers ask for.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_DEPEND=true
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
  target_compile_options(
    standard_settings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()
