#include "symbols/discovery/object_starts.h"

#include <elf.h>

#include <algorithm>

#include "object/elf_symbols.h"
#include "object/global_offset_table.h"
#include "symbols/table/code_areas.h"

namespace whocall {

std::vector<Address> object_starts(const ElfFile& file, const Architecture& arch,
                                   const DataWords& words, const AddressRange& wanted) {
  std::vector<Address> found;
  const auto put = [&](Address address) {
    if (wanted.contains(address)) {
      found.push_back(address);
    }
  };
  for (const auto& [where, target] : words.pointers()) {
    put(target);
  }
  for (const auto& symbols : {static_symbols(file), dynamic_symbols(file)}) {
    for (const ElfSymbol& symbol : symbols) {
      put(symbol.value);
      put(symbol.value + symbol.size);  // what follows is another object, or nothing
    }
  }
  const GlobalTable got = global_table(file);
  for (const AddressRange& area : code_areas(file)) {
    const ByteView code = file.at(area.begin);
    const auto inside = code.slice(0, std::min<std::uint64_t>(area.size(), code.size()));
    if (inside && arch.code.append_named_addresses != nullptr) {
      arch.code.append_named_addresses(*inside, area.begin, got, file.type() == ET_EXEC, wanted,
                                       found);
    }
  }
  std::erase_if(found, [&](Address address) { return address % file.pointer_size() != 0; });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace whocall
