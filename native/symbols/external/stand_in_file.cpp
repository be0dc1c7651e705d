#include "symbols/external/stand_in_file.h"

#include <elf.h>

#include <filesystem>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/text_lines.h"
#include "symbols/external/breakpad_frames.h"
#include "symbols/external/frame_bytes.h"
#include "symbols/external/symbol_files.h"

namespace whocall {
namespace {

constexpr std::string_view kSectionNames("\0.text\0.debug_frame\0.shstrtab\0", 30);

// An ELF file of any class and byte order, field by field.
class StandInWriter {
 public:
  explicit StandInWriter(const Architecture& arch)
      : word_(arch.abi.pointer_size),
        endian_(arch.abi.endian),
        machine_(arch.abi.elf_machine),
        out_(arch.abi.endian) {}

  std::vector<std::byte> write(const AddressRange& code, std::span<const std::byte> rows) {
    const bool wide = word_ == 8;
    const unsigned header = wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    const unsigned segment = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    const std::uint64_t rows_at = header + segment;
    const std::uint64_t names_at = rows_at + rows.size();
    const std::uint64_t table_at = (names_at + kSectionNames.size() + 7) / 8 * 8;
    for (const unsigned value :
         {0x7fU, 0x45U, 0x4cU, 0x46U, wide ? 2U : 1U, endian_ == Endian::little ? 1U : 2U, 1U}) {
      put(value, 1);
    }
    out_.resize(EI_NIDENT);
    put(ET_DYN, 2);
    put(machine_, 2);
    put(EV_CURRENT, 4);
    put(0, word_);
    put(header, word_);
    put(table_at, word_);
    put(0, 4);
    for (const unsigned value :
         {header, segment, 1U, unsigned(wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)), 4U, 3U}) {
      put(value, 2);
    }
    write_segment(code, wide);
    out_.append(rows);
    out_.append(std::as_bytes(std::span(kSectionNames)));
    out_.resize(table_at);
    write_section({});
    write_section({1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, code.begin, 0, code.size()});
    write_section({7, SHT_PROGBITS, 0, 0, rows_at, rows.size()});
    write_section({20, SHT_STRTAB, 0, 0, names_at, kSectionNames.size()});
    return out_.take();
  }

 private:
  struct Section {
    unsigned name = 0;
    unsigned type = SHT_NULL;
    unsigned flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  void put(std::uint64_t value, unsigned size) { out_.fixed(value, size); }

  void write_segment(const AddressRange& code, bool wide) {
    put(PT_LOAD, 4);
    if (wide) {
      put(PF_R | PF_X, 4);
    }
    for (const std::uint64_t value :
         {std::uint64_t{0}, code.begin, code.begin, std::uint64_t{0}, code.size()}) {
      put(value, word_);
    }
    if (!wide) {
      put(PF_R | PF_X, 4);
    }
    put(4096, word_);
  }

  void write_section(const Section& section) {
    put(section.name, 4);
    put(section.type, 4);
    for (const std::uint64_t value :
         {std::uint64_t{section.flags}, section.address, section.offset, section.size}) {
      put(value, word_);
    }
    put(0, 4);
    put(0, 4);
    put(1, word_);
    put(0, word_);
  }

  unsigned word_;
  Endian endian_;
  unsigned machine_;
  FrameBytes out_;
};

struct StandInFile {
  std::shared_ptr<const ElfFile> file{};
  bool has_rows = false;
};

// Link addresses of a module without a file count from its first byte, those of a program at a
// fixed address from 0. A list without rows, as dump_syms -c writes it, lends its names.
StandInFile stand_in_for(const Module& module, const std::string& path, const Architecture& arch) {
  const auto list = MappedFile::open(path);
  Budget budget(path, list->bytes().size());
  const Address first = module.bias == 0 ? module.range.begin : 0;
  const auto rows = debug_frame_of_breakpad(as_text(list->bytes()), first, arch);
  if (!budget.draw(Cost::unpacked, rows.size())) {
    return {};
  }
  const AddressRange code{first, module.range.end - module.bias};
  return {ElfFile::from_memory(StandInWriter(arch).write(code, rows), path), !rows.empty()};
}

// Where the tools of Breakpad keep the lists of many builds: DIR/libx.so/4C4C44F0...0/libx.so.sym.
void add_stored_lists(ProcessImage& process) {
  std::unordered_set<std::string> seen;  // a core may tell thousands of modules of one build
  for (const Module& module : process.modules) {
    const std::string id = breakpad_id(module.build_id());
    const std::string name = module.path.substr(module.path.rfind('/') + 1);
    if (module.file != nullptr || id.empty() || name.empty() || name == "..") {
      continue;
    }
    for (const std::string& directory : process.search.directories) {
      const std::string path =
          (std::filesystem::path(directory) / name / id / (name + ".sym")).string();
      std::error_code error;
      if (!seen.insert(path).second) {
        break;
      }
      if (std::filesystem::is_regular_file(path, error)) {
        process.search.symbol_files.push_back(path);
        break;
      }
    }
  }
}

}  // namespace

void lend_stand_ins(ProcessImage& process) {
  add_stored_lists(process);
  if (process.search.symbol_files.empty()) {
    return;
  }
  for (const StandIn& each : assign_symbol_files(process).stand_ins) {
    Module& module = process.modules[each.module];
    try {
      auto made =
          module.file == nullptr ? stand_in_for(module, each.path, *process.arch) : StandInFile();
      if (made.file != nullptr) {
        module.file = std::move(made.file);
        module.remark = "No file was found for " + module.path + ": its names " +
                        (made.has_rows ? "and unwind rows " : "") + "come from " + each.path + ".";
      }
    } catch (const Error&) {
      // Said of the list as of any other.
    }
  }
}

}  // namespace whocall
