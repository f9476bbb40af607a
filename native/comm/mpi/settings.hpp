// The library's own settings as its tools interface tells them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace leadline {

// Name and value of those whose name holds one of the words.
std::map<std::string, std::string> settings_named(const std::vector<std::string>& words);

}  // namespace leadline
