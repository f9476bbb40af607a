// The backend that this build speaks to, checked against the vocabulary.
#pragma once

#include <backend.hpp>

#include "comm/vocabulary.hpp"

namespace leadline {

static_assert(Communicator<Comm>, "the backend's Comm lacks a word of the vocabulary");
static_assert(OneSided<Comm::Window>, "the backend's Window lacks a word of the vocabulary");
static_assert(Repeatable<Comm::Prepared>, "the backend's Prepared lacks a word of the vocabulary");
static_assert(Repeatable<Comm::Exchange>, "the backend's Exchange lacks a word of the vocabulary");
static_assert(HarnessControl<Control>, "the backend's Control lacks a word of the vocabulary");

}  // namespace leadline
