#include "symbols/signatures/signature_builder.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/long_work.h"
#include "base/mapped_file.h"
#include "files/debug_files.h"
#include "object/archive.h"
#include "object/elf_architecture.h"
#include "symbols/signatures/signature_build.h"
#include "symbols/signatures/signature_member.h"

namespace whocall {
namespace {

constexpr std::uint32_t kAnchorSize = 8;                       // bytes
constexpr std::uint64_t kLargestSet = std::uint64_t{1} << 31;  // bytes of code

std::uint64_t window_at(const SignatureSet& set, std::uint64_t place) {
  std::uint64_t value = 0;
  std::memcpy(&value, set.bytes.data() + place, sizeof(value));
  return value;
}

template <typename Visit>
void for_each_window(const SignatureSet& set, const SignatureSection& section, Visit visit) {
  for (const FixedBytes& fixed : fixed_bytes(set, section)) {
    for (std::uint32_t at = fixed.begin; at + kAnchorSize <= fixed.end; ++at) {
      visit(at, window_at(set, std::uint64_t{section.code} + at));
    }
  }
}

// The eight bytes of each section that occur least often in all of them: where they stand in a
// program, the section probably does.
void choose_anchors(SignatureSet& set) {
  LongWork work("Choosing the bytes that tell functions", "apart");
  std::size_t done = 0;
  std::vector<std::uint64_t> windows;
  for (const SignatureSection& section : set.sections) {
    for_each_window(set, section,
                    [&](std::uint32_t, std::uint64_t value) { windows.push_back(value); });
  }
  std::ranges::sort(windows);
  for (SignatureSection& section : set.sections) {
    check_interrupt_at(done, kManyEntries);
    work.reached(done++, set.sections.size());
    std::ptrdiff_t fewest = 0;
    for_each_window(set, section, [&](std::uint32_t at, std::uint64_t value) {
      if (fewest == 1) {
        return;
      }
      const auto same = std::equal_range(windows.begin(), windows.end(), value);
      const std::ptrdiff_t count = same.second - same.first;
      if (section.anchor == kNoSignature || count < fewest) {
        fewest = count;
        section.anchor = at;
      }
    });
  }
}

class Builder {
 public:
  void add(const std::string& path) {
    LongWork work("Reading", path);
    if (is_linked(path)) {
      add_linked(path);
      return;
    }
    const Archive archive(path);
    const SignatureText library = texts_.add(std::string_view(path).substr(path.rfind('/') + 1));
    std::size_t others = 0;
    std::size_t done = 0;
    for (const ArchiveMember& member : archive.members()) {
      check_interrupt();
      work.reached(done++, archive.members().size());
      others += add_file(path, library, member) ? 0U : 1U;
    }
    if (others != 0) {
      built_.remarks.push_back(path + ": " + std::to_string(others) + " of " +
                               std::to_string(archive.members().size()) +
                               " members are no object files and say nothing.");
    }
  }

  BuiltSignatures take(const std::string& last_path) {
    if (built_.set.sections.empty() && built_.set.builds.empty()) {
      throw Error(last_path, "has no code that signatures could be made of",
                  "Give libraries of object files, or linked files with names; object files for "
                  "link-time optimization have no code");
    }
    if (left_out_ != 0) {
      built_.remarks.push_back(std::to_string(left_out_) +
                               " sections have relocations that whocall does not know, or damage: "
                               "they are left out.");
    }
    choose_anchors(built_.set);
    return std::move(built_);
  }

 private:
  static bool is_linked(const std::string& path) {
    return is_elf(MappedFile::open(path)->bytes()) && ElfFile::open(path)->type() != ET_REL;
  }

  static bool is_elf(std::span<const std::byte> bytes) {
    constexpr std::string_view kMagic = "\177ELF";
    return bytes.size() >= kMagic.size() &&
           std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  }

  void require_same(const std::string& name, const Architecture& arch) {
    if (built_.set.arch != nullptr && built_.set.arch != &arch) {
      throw Error(name,
                  "has code for " + std::string(arch.name) + ", others before it for " +
                      std::string(built_.set.arch->name),
                  "Make a file of signatures for each instruction set");
    }
    built_.set.arch = &arch;
  }

  void add_linked(const std::string& path) {
    const auto file = ElfFile::open(path);
    const Architecture& arch = architecture_of(*file);
    if (arch.code.make_placed_reader == nullptr) {
      throw Error(
          path,
          "has code for " + std::string(arch.name) +
              ", of which whocall does not know what another build has in common",
          "Signatures of linked files are for " + architecture_names([](const Architecture& known) {
            return known.code.make_placed_reader != nullptr;
          }));
    }
    require_same(path, arch);
    FileSearch search;
    const std::size_t slash = path.rfind('/');
    search.directories = {slash == std::string::npos ? "." : path.substr(0, slash + 1)};
    search.debug_directories = {"/usr/lib/debug"};
    const DebugFile debug = find_debug_file(*file, search);
    if (add_build(file, debug.file, texts_, built_.set) == 0) {
      throw Error(
          path, "names none of its functions" + (debug.remark.empty() ? "" : ". " + debug.remark),
          "Give the file as it was before it was stripped, or put its debug file beside it");
    }
  }

  bool add_file(const std::string& path, SignatureText library, const ArchiveMember& member) {
    const auto bytes = member.contents.bytes();
    if (!is_elf(bytes)) {
      return false;
    }
    const std::string name = path + "(" + member.name + ")";
    const auto file = ElfFile::from_memory({bytes.begin(), bytes.end()}, name);
    if (file->type() != ET_REL) {
      return false;
    }
    const Architecture& arch = architecture_of(*file);
    if (arch.linkage.relocations == nullptr) {
      throw Error(
          name,
          "has code for " + std::string(arch.name) + ", whose relocations whocall does not know",
          "Signatures are for " + architecture_names([](const Architecture& known) {
            return known.linkage.relocations != nullptr;
          }));
    }
    require_same(name, arch);
    left_out_ += add_member(*file, {library, texts_.add(member.name)}, texts_, built_.set);
    if (built_.set.bytes.size() > kLargestSet) {
      throw Error(path, "is too large: more than two gigabytes of code",
                  "Make files of signatures of fewer libraries each");
    }
    return true;
  }

  BuiltSignatures built_;
  SignatureTexts texts_{built_.set};
  std::uint64_t left_out_ = 0;
};

}  // namespace

BuiltSignatures build_signatures(const std::vector<std::string>& paths) {
  Builder builder;
  for (const std::string& path : paths) {
    builder.add(path);
  }
  return builder.take(paths.empty() ? std::string("No library") : paths.back());
}

}  // namespace whocall
