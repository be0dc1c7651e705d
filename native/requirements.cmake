# What has to be installed before whocall can be built. All that is missing is told at once, by the
# names that this system's packages have; those of other systems than Debian are by documentation.

set(systems          debian|ubuntu       fedora|rhel|centos             arch                  suse                  alpine)
set(install_commands "apt-get install"   "dnf install"                  "pacman -S --needed"  "zypper install"      "apk add")
# A word that says what is missing, a header that comes with it, and its package on each system.
set(requirements
  "compiler    cstdlib                 g++                gcc-c++             gcc         gcc-c++               g++"
  "pkg-config  -                       pkg-config         pkgconf-pkg-config  pkgconf     pkgconf-pkg-config    pkgconf"
  "zlib        zlib.h                  zlib1g-dev         zlib-devel          zlib        zlib-devel            zlib-dev"
  "libdeflate  libdeflate.h            libdeflate-dev     libdeflate-devel    libdeflate  libdeflate-devel      libdeflate-dev"
  "liblzma     lzma.h                  liblzma-dev        xz-devel            xz          xz-devel              xz-dev"
  "libzstd     zstd.h                  libzstd-dev        libzstd-devel       zstd        libzstd-devel         zstd-dev"
  "liblz4      lz4frame.h              liblz4-dev         lz4-devel           lz4         liblz4-devel          lz4-dev"
  "libbz2      bzlib.h                 libbz2-dev         bzip2-devel         bzip2       libbz2-devel          bzip2-dev"
  "capstone    capstone/capstone.h     libcapstone-dev    capstone-devel      capstone    capstone-devel        capstone-dev"
  "libiberty   libiberty/demangle.h    libiberty-dev      binutils-devel      binutils    binutils-devel        binutils-dev"
  "libbfd      bfd.h                   binutils-dev       binutils-devel      binutils    binutils-devel        binutils-dev"
  "libdw       elfutils/libdw.h        libdw-dev          elfutils-devel      elfutils    libdw-devel           elfutils-dev"
  "debuginfod  elfutils/debuginfod.h   libdebuginfod-dev  elfutils-debuginfod-client-devel  debuginfod  libdebuginfod-devel  elfutils-dev"
  "json        nlohmann/json.hpp       nlohmann-json3-dev json-devel          nlohmann-json  nlohmann_json-devel  nlohmann-json"
  "Python.h    Python.h                python3-dev        python3-devel       python      python3-devel         python3-dev"
  "pybind11    pybind11/pybind11.h     pybind11-dev       pybind11-devel      pybind11    python3-pybind11-devel  py3-pybind11-dev"
  "doctest     doctest/doctest.h       doctest-dev        doctest-devel       doctest     doctest-devel         doctest-dev"
  "benchmark   benchmark/benchmark.h   libbenchmark-dev   google-benchmark-devel  benchmark  benchmark-devel    benchmark-dev")

# What a build with these options does not ask for; pip brings pybind11 by itself.
set(unasked_requirements "")
if(NOT WHOCALL_PYTHON)
  list(APPEND unasked_requirements Python.h pybind11)
elseif(DEFINED SKBUILD)
  list(APPEND unasked_requirements pybind11)
endif()
if(NOT WHOCALL_TESTS)
  list(APPEND unasked_requirements doctest)
endif()
if(NOT WHOCALL_BENCHMARKS)
  list(APPEND unasked_requirements benchmark)
endif()

set(missing_requirements "")
macro(missing name)  # NAME: one of the table
  list(APPEND missing_requirements ${name})
endmacro()

# Sets `column` to the place of this system in the table, that of Debian where nobody knows it.
function(find_system)
  cmake_host_system_information(RESULT release QUERY DISTRIB_INFO)
  set(column 0 PARENT_SCOPE)
  foreach(system IN LISTS systems)
    if(" ${release_ID} ${release_ID_LIKE} " MATCHES "${system}")
      list(FIND systems ${system} found)
      set(column ${found} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Ends the configuration if anything is missing.
function(demand_requirements)
  if(NOT missing_requirements)
    return()
  endif()
  find_system()
  math(EXPR place "${column} + 2")
  list(GET install_commands ${column} command)
  foreach(requirement IN LISTS requirements)
    string(REGEX MATCHALL "[^ ]+" words ${requirement})
    list(GET words 0 name)
    if(name IN_LIST missing_requirements)
      list(GET words ${place} package)
      list(APPEND names ${name})
      list(APPEND packages ${package})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  list(JOIN names ", " names)
  list(JOIN packages " " packages)
  message(FATAL_ERROR "whocall cannot be built, as these are missing: ${names}. Install them, then "
    "configure anew:\n  ${command} ${packages}")
endfunction()

# Without a compiler CMake finds no libraries, but it sees which headers there are.
function(demand_compiler)
  if(CMAKE_CXX_COMPILER OR CMAKE_TOOLCHAIN_FILE OR DEFINED ENV{CXX})
    return()
  endif()
  find_program(WHOCALL_COMPILER NAMES c++ g++ clang++)
  if(WHOCALL_COMPILER)
    return()
  endif()
  file(GLOB folders /usr/include/*-linux-* /usr/include/python3*)
  find_program(WHOCALL_PKG_CONFIG NAMES pkg-config pkgconf)
  if(NOT WHOCALL_PKG_CONFIG)
    missing(pkg-config)
  endif()
  foreach(requirement IN LISTS requirements)
    string(REGEX MATCHALL "[^ ]+" words ${requirement})
    list(GET words 0 name)
    list(GET words 1 header)
    string(MAKE_C_IDENTIFIER "WHOCALL_HEADER_${name}" found)
    if(name IN_LIST unasked_requirements OR header STREQUAL "-")
      continue()
    endif()
    find_path(${found} NAMES ${header} PATHS ${folders})
    if(name STREQUAL "compiler" OR NOT ${found})
      missing(${name})
    endif()
  endforeach()
  demand_requirements()
endfunction()
