// What a core and the kernel say of a process: notes, the auxiliary vector, mappings, and the list
// of what its dynamic linker has loaded. The first byte chooses, the second the architecture.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fuzz.h"
#include "memory/segment_memory.h"
#include "mutators.h"
#include "process/auxiliary_vector.h"
#include "process/core/core_mappings.h"
#include "process/core/core_notes.h"
#include "process/core/foreign_core.h"
#include "process/core/own_notes.h"
#include "process/modules/link_map.h"
#include "process/modules/loaded_elf.h"
#include "process/proc_files.h"
#include "process/told_module.h"

namespace {

using namespace whocall;

constexpr Address kBase = 0x10000;

void read_lists(const Architecture& arch, ByteView bytes) {
  (void)parse_auxiliary_vector(bytes, arch.abi.pointer_size);
  (void)decode_registers(bytes, arch);
  (void)parse_module_note(bytes);
  (void)parse_name_note(bytes);
  (void)parse_signal_note(bytes);
  const auto segments = parse_segment_note(bytes);
  (void)core_mappings(segments, {});
  Address blank_end = 0;
  for (const AddressRange& blank : parse_blank_note(bytes)) {
    fuzz::demand(blank.begin >= blank_end && blank.begin <= blank.end);
    blank_end = blank.end;
  }
  (void)foreign_dump(bytes.bytes());
  const auto files = parse_file_note(bytes, arch.abi.pointer_size);
  Address end = 0;
  for (const Mapping& each : core_mappings({}, files)) {
    fuzz::demand(each.range.begin >= end && each.range.begin <= each.range.end);
    end = each.range.end;
  }
}

void read_text(std::string_view text) {
  (void)parse_maps(text);
  (void)status_field(text, "Tgid");
}

// An image in memory whose own bytes hold its dynamic table and the list.
void read_list(const Architecture& arch, const std::vector<std::byte>& bytes) {
  const auto image = fuzz::elf_around(arch, bytes, kBase);
  const SegmentMemory memory({{kBase, image}, {0, bytes}});
  if (const auto loaded = read_loaded_elf(memory, kBase, arch)) {
    fuzz::demand(read_link_map(memory, *loaded, arch).size() < 1000000);
  }
  const SegmentMemory plain({{kBase, bytes}});
  if (const auto loaded = read_loaded_elf(plain, kBase, arch)) {
    (void)loaded_range(loaded->segments, loaded->bias);
    fuzz::demand(read_link_map(plain, *loaded, arch).size() < 1000000);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const unsigned kind = input.byte() % 3;
  const auto all = architectures();
  const Architecture& arch = *all[input.byte() % all.size()];
  const std::vector<std::byte> own = input.copy();
  if (kind == 0) {
    read_lists(arch, ByteView(own, arch.abi.endian));
  } else if (kind == 1) {
    read_text({reinterpret_cast<const char*>(own.data()), own.size()});
  } else {
    read_list(arch, own);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  const bool is_file = size > 6 && std::memcmp(data + 2, "\177ELF", 4) == 0;
  return is_file ? whocall::fuzz::mutate_elf(data, size, most, seed, 2)
                 : LLVMFuzzerMutate(data, size, most);
}
