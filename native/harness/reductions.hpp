// What a reduction combines and how, under the names that points use.
#pragma once

#include "harness/run.hpp"

namespace leadline {

// The sweeps.
inline Sweep reductions() {
    return choice("reduction", {"sum", "product", "min", "user"},
                  "how numbers are combined; user: by a sum that the program brings", {"sum"});
}
inline Sweep types() {
    return choice("type", {"int32", "int64", "float", "double"}, "type of the numbers", {"double"});
}

// The point's, where it has them.
inline Reduce reduction(const Run& run) {
    const std::string& name = run.word("reduction");
    if (name == "product") return Reduce::product;
    if (name == "min") return Reduce::smallest;
    return name == "user" ? Reduce::user : Reduce::sum;
}
inline Type number_type(const Run& run) {
    const std::string& name = run.word("type");
    if (name == "int32") return Type::int32;
    if (name == "int64") return Type::int64;
    return name == "float" ? Type::float32 : Type::float64;
}

}  // namespace leadline
