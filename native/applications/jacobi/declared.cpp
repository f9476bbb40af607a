// The forms of the halo, which the declaration lists.
#include "applications/jacobi/halo.hpp"

namespace leadline::jacobi {

const std::vector<std::string>& Halo::forms() {
    static const std::vector<std::string> all{"blocking", "overlapped", "persistent", "collective",
                                              "one-sided"};
    return all;
}

}  // namespace leadline::jacobi
