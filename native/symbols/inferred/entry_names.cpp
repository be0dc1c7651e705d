#include "symbols/inferred/entry_names.h"

#include <elf.h>

#include <string_view>

#include "object/elf_dynamic.h"
#include "symbols/discovery/startup_functions.h"

namespace whocall {
namespace {

void add_initializer(const ElfFile& file, std::uint64_t tag, std::string_view section,
                     std::string_view name, std::vector<InferredName>& names) {
  const auto address = ElfDynamic(file).value(tag);
  const ElfSection* holder = address ? file.section_at(*address) : nullptr;
  if (holder != nullptr && holder->name == section && holder->address == *address) {
    names.push_back({*address, std::string(name), NameSource::entry});
  }
}

}  // namespace

void infer_entry_names(const NameEvidence& evidence, std::vector<InferredName>& names) {
  for (const StartupFunction& each : startup_functions(evidence.file, evidence.arch)) {
    names.push_back({each.address, each.name, NameSource::entry});
  }
  add_initializer(evidence.file, DT_INIT, ".init", "_init", names);
  add_initializer(evidence.file, DT_FINI, ".fini", "_fini", names);
}

}  // namespace whocall
