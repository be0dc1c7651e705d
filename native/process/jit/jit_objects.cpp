#include "process/jit/jit_objects.h"

#include <elf.h>

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/error.h"
#include "base/hex.h"
#include "object/elf_symbols.h"
#include "process/jit/jit_registry.h"

namespace whocall {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;  // bytes
constexpr std::uint64_t kLargestSum = std::uint64_t{256} << 20;

std::optional<Address> symbol_in(const ElfSymbols& table, std::string_view name) {
  for (std::size_t i = 1; i < table.size(); ++i) {
    const ElfSymbolEntry entry = table[i];
    if (entry.type == STT_OBJECT && entry.section != SHN_UNDEF && table.name_of(entry) == name) {
      return entry.value;
    }
  }
  return std::nullopt;
}

// Link address; a module has one at most.
std::optional<Address> descriptor_in(const ElfFile& file) {
  constexpr std::string_view kName = "__jit_debug_descriptor";
  const auto exported = symbol_in(ElfSymbols::dynamic_of(file), kName);
  return exported ? exported : symbol_in(ElfSymbols::static_of(file), kName);
}

std::vector<AddressRange> loaded_code(const ElfFile& file) {
  std::vector<AddressRange> code;
  for (const ElfSection& section : file.sections()) {
    constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    const AddressRange range{section.address, end_of(section.address, section.size)};
    if ((section.flags & kCode) == kCode && section.address != 0 && !range.empty()) {
      code.push_back(range);
    }
  }
  std::ranges::sort(code, {}, &AddressRange::begin);
  return code;
}

// The files of one list, and what was wrong with the others.
class Collector {
 public:
  explicit Collector(const ProcessImage& process) : process_(process) {}

  void add(const JitRegistration& registration) {
    if (registration.size == 0 || registration.size > kLargestFile ||
        registration.size > kLargestSum - sum_) {
      ++too_large_;
      return;
    }
    if (process_.memory->run_at(registration.address).empty()) {
      ++unreadable_;
      return;
    }
    sum_ += registration.size;  // also of what then proves unreadable: that took as long
    std::vector<std::byte> bytes(registration.size);
    if (process_.memory->read(registration.address, bytes) != bytes.size()) {
      ++unreadable_;
      return;
    }
    // Folklore. Situation: a JIT compiler registers what only a reader of its own for gdb knows.
    // Example: Erlang's. Remedy: that is no damaged ELF file, and is not called one.
    if (!std::ranges::equal(std::span(bytes).first(std::min<std::size_t>(bytes.size(), SELFMAG)),
                            std::as_bytes(std::span(ELFMAG, SELFMAG)))) {
      ++other_;
      return;
    }
    try {
      auto file = ElfFile::from_memory(
          std::move(bytes), "[JIT object at " + hex(registration.address) + "]", budget_.get());
      auto code = is_ours(*file) ? loaded_code(*file) : std::vector<AddressRange>();
      if (!code.empty()) {
        objects.push_back({std::move(file), std::move(code)});
        return;
      }
    } catch (const Error&) {
      // Counted like one that tells of no code.
    }
    ++useless_;
  }

  void remark_on(const std::string& owner, std::vector<std::string>& remarks) {
    const auto say = [&](std::size_t& count, const std::string& what) {
      if (count != 0) {
        remarks.push_back("Of the files by which " + owner + " tells debuggers of its code, " +
                          std::to_string(count) + " " + what + ": no names are taken from there.");
      }
      count = 0;
    };
    say(unreadable_, "cannot be read from memory");
    say(too_large_, "cannot be as large as listed");
    say(other_, "have a form of their own, as for a reader that comes with the program");
    say(useless_, "tell of no code of this machine");
  }

  std::vector<JitObject> objects;

 private:
  [[nodiscard]] bool is_ours(const ElfFile& file) const {
    return process_.arch->abi.is_of(file.identity());
  }

  const ProcessImage& process_;
  std::uint64_t sum_ = 0;
  std::shared_ptr<Budget> budget_ = std::make_shared<Budget>("The list of JIT code", 0);
  std::size_t unreadable_ = 0;
  std::size_t too_large_ = 0;
  std::size_t other_ = 0;    // no ELF files
  std::size_t useless_ = 0;  // ELF files, without code that can be used
};

}  // namespace

const AddressRange* JitObject::code_at(Address runtime) const {
  const auto next = std::ranges::upper_bound(code, runtime, {}, &AddressRange::begin);
  return next != code.begin() && std::prev(next)->contains(runtime) ? &*std::prev(next) : nullptr;
}

std::vector<JitDescriptor> find_jit_descriptors(const ProcessImage& process) {
  std::vector<JitDescriptor> found;
  for (const Module& module : process.modules) {
    if (const auto link = module.file ? descriptor_in(*module.file) : std::nullopt) {
      found.push_back({module.runtime_address(*link), module.path});
    }
  }
  return found;
}

JitObjects::JitObjects(const ProcessImage& process, const std::vector<JitDescriptor>& descriptors) {
  Collector collector(process);
  for (const JitDescriptor& descriptor : descriptors) {
    JitRegistry registry =
        read_jit_registry(*process.memory, *process.arch, descriptor.address, descriptor.owner);
    for (const JitRegistration& registration : registry.files) {
      collector.add(registration);
    }
    if (!registry.remark.empty()) {
      remarks_.push_back(std::move(registry.remark));
    }
    collector.remark_on(descriptor.owner, remarks_);
  }
  objects_ = std::move(collector.objects);

  struct Piece {
    AddressRange range;
    std::uint32_t object;
  };
  std::vector<Piece> code;
  for (std::uint32_t i = 0; i < objects_.size(); ++i) {
    for (const AddressRange& range : objects_[i].code) {
      code.push_back({range, i});
    }
  }
  std::ranges::stable_sort(code, {}, [](const Piece& piece) { return piece.range.begin; });
  pieces_ = flatten_ranges(static_cast<std::uint32_t>(code.size()),
                           [&](std::uint32_t i) { return code[i].range; });
  std::ranges::transform(code, std::back_inserter(owners_), &Piece::object);
}

const JitObject* JitObjects::at(Address runtime) const {
  const std::uint32_t found = find_range(pieces_, runtime);
  return found == kNoRange ? nullptr : &objects_[owners_[found]];
}

const JitObjects& jit_objects_of(const ProcessImage& process) {
  return process.attachments().get<JitObjects>(
      [&] { return JitObjects(process, find_jit_descriptors(process)); });
}

}  // namespace whocall
