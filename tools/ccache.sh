#!/usr/bin/env bash
# Sourced by the scripts that build: compilations come from ccache where it is installed. CMake reads the launchers from
# the environment, the builds that Leadline itself starts too. Without the sloppiness, ccache leaves out every file
# that uses a precompiled header; more of it (include_file_mtime) would keep what was compiled while a header changed.
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros
fi
