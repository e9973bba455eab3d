# standard_warnings: the warnings every target of this project is compiled with.
#
# -Wconversion is on because narrowing a tick is the kind of bug this program exists to repair in
# others. -Wsign-conversion is not: differences of unsigned stamps are taken on purpose everywhere.

add_library(standard_warnings INTERFACE)
target_compile_options(
  standard_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wcast-qual
            -Wconversion
            -Wdouble-promotion
            -Wformat=2
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Woverloaded-virtual
            -Wshadow
            -Wundef
            -Wunused)
# GCC 12 sees overlapping or endless copies in std::string's operator+ where it inlines much; there
# are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(standard_warnings INTERFACE $<$<CONFIG:Release>:-Wno-restrict>
                                                     $<$<CONFIG:Release>:-Wno-stringop-overflow>
                                                     $<$<CONFIG:Release>:-Wno-array-bounds>
                                                     $<$<CONFIG:Release>:-Wno-stringop-overread>)
endif()
if(ENTRAIN_WERROR)
  target_compile_options(standard_warnings INTERFACE -Werror)
endif()
