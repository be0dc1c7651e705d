#include "memory/memory_text.h"

#include <algorithm>

namespace whocall {

std::string read_string(const Memory& memory, Address address, std::size_t limit) {
  std::string text;
  while (text.size() < limit) {
    auto run = memory.run_at(address + text.size());
    if (run.empty()) {
      return {};
    }
    run = run.first(std::min(run.size(), limit - text.size()));
    const auto end = std::ranges::find(run, std::byte{0});
    text.append(reinterpret_cast<const char*>(run.data()),
                static_cast<std::size_t>(end - run.begin()));
    if (end != run.end()) {
      return text;
    }
  }
  return {};
}

}  // namespace whocall
