// Hostile FLIRT files: reading one throws Error or gives a set whose every place lies inside, and
// what is found in code fits it.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "base/text_lines.h"
#include "fuzz.h"
#include "symbols/flirt/flirt_file.h"
#include "symbols/flirt/flirt_index.h"

namespace {

using namespace whocall;

template <typename Items>
void demand_part(std::uint64_t first, std::uint64_t count, const Items& items) {
  fuzz::demand(first <= items.size() && count <= items.size() - first);
}

void demand_inside(const FlirtSet& set) {
  for (const FlirtPattern& each : set.patterns) {
    fuzz::demand(each.size <= kLongestFlirtPattern);
    demand_part(each.bytes, each.size, set.bytes);
    demand_part(each.first_module, each.modules, set.modules);
  }
  for (const FlirtModule& each : set.modules) {
    demand_part(each.first_name, each.names, set.names);
    demand_part(each.first_run, each.runs, set.runs);
    demand_part(each.first_reference, each.references, set.references);
    std::uint32_t before = 0;
    for (const FlirtName& name : set.names_of(each)) {
      fuzz::demand(name.text < set.strings.size() && name.offset >= before);
      before = name.offset;
    }
  }
  for (const FlirtRun& each : set.runs) {
    demand_part(each.bytes, each.size, set.bytes);
  }
  for (const FlirtReference& each : set.references) {
    fuzz::demand(each.text < set.strings.size());
  }
}

void look_for(const FlirtIndex& index, std::span<const std::byte> code) {
  std::vector<std::uint32_t> found;
  std::uint64_t work = 0;
  index.find(code, found, work);
  for (const std::uint32_t each : found) {
    const FlirtPattern& pattern = index.set().patterns[each];
    fuzz::demand(pattern.size <= code.size());
    for (std::size_t i = 0; i < pattern.size; ++i) {
      fuzz::demand((pattern.varies >> i & 1U) != 0 ||
                   index.set().bytes[pattern.bytes + i] == code[i]);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::vector<std::byte> own = input.copy();
  try {
    FlirtSet set =
        is_flirt_tree(own) ? read_flirt_tree(own, "fuzz") : read_flirt_text(as_text(own), "fuzz");
    (void)is_flirt_text(own);
    demand_inside(set);
    const FlirtIndex index(std::move(set));
    for (const FlirtPattern& each : index.set().patterns) {
      look_for(index, std::span(index.set().bytes).subspan(each.bytes));
    }
    look_for(index, own);
  } catch (const Error&) {  // the one error type; any other ends the fuzzer
  }
  return 0;
}
