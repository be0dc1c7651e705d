#include "process/jit/jit_registry.h"

#include <elf.h>

#include <optional>
#include <unordered_set>
#include <utility>

#include "base/hex.h"

namespace whocall {
namespace {

// Of lists that were overwritten; a database that compiles every query has some hundreds.
constexpr std::size_t kEntryLimit = 65536;

constexpr std::uint32_t kVersion = 1;

// Where the fields of struct jit_code_entry { next, prev, symfile_addr; uint64_t symfile_size; }
// lie, in bytes.
struct EntryLayout {
  explicit EntryLayout(const Architecture& arch)
      : file(2 * arch.abi.pointer_size), size(3 * arch.abi.pointer_size) {
    size += (arch.abi.wide_alignment - size % arch.abi.wide_alignment) % arch.abi.wide_alignment;
  }
  Address file;
  Address size;
};

class Lister {
 public:
  Lister(const Memory& memory, const Architecture& arch) : memory_(memory), arch_(arch) {}

  JitRegistry run(Address descriptor) {
    // { uint32_t version, action_flag; entry *relevant, *first; }
    const auto version = memory_.read_unsigned(descriptor, 4, arch_.abi.endian);
    const auto first = word(descriptor + 8 + arch_.abi.pointer_size);
    if (!version || !first) {
      stop("cannot be read");
    } else if (*first != 0 && *version != kVersion) {
      stop("has version " + std::to_string(*version) + ", not 1");
    } else {
      follow(*first);
    }
    return std::move(registry_);
  }

 private:
  [[nodiscard]] std::optional<Address> word(Address address) const {
    return memory_.read_unsigned(address & arch_.address_mask(), arch_.abi.pointer_size,
                                 arch_.abi.endian);
  }

  void follow(Address entry) {
    const EntryLayout layout(arch_);
    std::unordered_set<Address> seen;
    while (entry != 0) {
      if (!seen.insert(entry).second) {
        return stop("runs in a circle at " + hex(entry));
      }
      if (seen.size() > kEntryLimit) {
        return stop("has more than " + std::to_string(kEntryLimit) + " entries");
      }
      const auto next = word(entry);
      const auto file = word(entry + layout.file);
      const auto size =
          memory_.read_unsigned((entry + layout.size) & arch_.address_mask(), 8, arch_.abi.endian);
      if (!next || !file || !size) {
        return stop("cannot be read at " + hex(entry));
      }
      registry_.files.push_back({*file, *size});
      entry = *next;
    }
  }

  void stop(const std::string& why) { registry_.remark = why; }

  const Memory& memory_;
  const Architecture& arch_;
  JitRegistry registry_;
};

}  // namespace

JitRegistry read_jit_registry(const Memory& memory, const Architecture& arch, Address descriptor,
                              const std::string& owner) {
  JitRegistry registry = Lister(memory, arch).run(descriptor);
  if (!registry.remark.empty()) {
    registry.remark = "The list of JIT code that " + owner + " keeps for debuggers " +
                      registry.remark + ": what it has behind that lends no names.";
  }
  return registry;
}

}  // namespace whocall
