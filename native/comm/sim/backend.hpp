// The vocabulary on a described machine.
#pragma once

#include "comm/sim/communicator.hpp"  // IWYU pragma: export
#include "comm/sim/control.hpp"       // IWYU pragma: export
#include "comm/sim/session.hpp"       // IWYU pragma: export
