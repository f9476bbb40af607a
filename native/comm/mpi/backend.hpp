// The vocabulary on a real machine: every word is one MPI call (or OpenSHMEM's, for a window that asks so).
#pragma once

#include "comm/mpi/communicator.hpp"
#include "comm/mpi/control.hpp"
#include "comm/mpi/prepared.hpp"
#include "comm/mpi/session.hpp"
#include "comm/mpi/window.hpp"
