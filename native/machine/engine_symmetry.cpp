// Messages where some ranks are played for all: symmetry.hpp has the reasoning.
#include "machine/engine.hpp"

namespace leadline::machine {

// A message to a rank that is not played is the one that comes from as far away to the rank that is played
// for it.
void Engine::bring_back(Message& message) const {
    const Symmetry& symmetry = *conditions_.symmetry;
    if (symmetry.along_axes() && message.envelope.context >= 0) throw Asymmetric();  // by a rank's number
    const int before = message.to - symmetry.player(message.to);
    message.to -= before;
    message.from = message.envelope.source = symmetry.seen(message.from, before);
}

}  // namespace leadline::machine
