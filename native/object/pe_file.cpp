#include "object/pe_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/mapped_file.h"
#include "object/pe_elf_writer.h"
#include "object/pe_frames.h"
#include "object/pe_names.h"

namespace whocall {
namespace {

// Of the file's bytes, those that are kept: up to the end of the last section. What a linker or
// somebody who signs files put behind is of no use here.
std::uint64_t kept_size(ByteView bytes, const PeHeaders& headers, bool loaded) {
  std::uint64_t size = headers.headers_size;
  for (const PeSection& section : headers.sections) {
    const std::uint64_t begin = loaded ? section.address : section.offset;
    size = std::max(size, begin + section.file_size());
  }
  return std::min<std::uint64_t>(size, bytes.size());
}

class PeConverter {
 public:
  PeConverter(ByteView bytes, const PeHeaders& headers, bool loaded, const std::string& name,
              Budget* whole)
      : bytes_(bytes, headers, loaded),
        headers_(headers),
        budget_(name, bytes.size(), whole),
        writer_(headers, bytes, kept_size(bytes, headers, loaded)) {}

  std::vector<std::byte> convert() && {
    const std::uint64_t head = std::min<std::uint64_t>(headers_.headers_size, bytes_.all().size());
    writer_.add_part(kPeHeadersSection, bytes_.all().slice(0, head)->bytes());
    functions_ = read_pe_functions(bytes_, headers_);
    if (!functions_.empty()) {
      writer_.add_part(".eh_frame", eh_frame_of_pe(bytes_, headers_, functions_, budget_));
    }
    for (const PeSection& section : headers_.sections) {
      const bool lesser =
          !functions_.empty() && (section.name == ".debug_frame" || section.name == ".eh_frame");
      if (!lesser) {  // than .pdata, which the system itself unwinds by
        writer_.add_section(section, bytes_.loaded());
      }
    }
    const std::uint64_t most = budget_.left(Cost::symbols);
    add_symbols(SHT_SYMTAB, symbols_of_pe(bytes_, headers_, most));
    add_symbols(SHT_DYNSYM, exports_of_pe(bytes_, headers_, most));
    return std::move(writer_).finish();
  }

 private:
  void add_symbols(std::uint32_t type, const std::vector<PeName>& names) {
    const auto count = budget_.cut(Cost::symbols, names.size());
    std::vector<PeElfWriter::Symbol> symbols;
    for (const PeName& name : std::span(names).first(count)) {
      check_interrupt_at(symbols.size(), kManyEntries);
      if (!budget_.draw(Cost::names, 2 * name.name.size())) {  // it is copied, and copied again
        break;
      }
      symbols.push_back(
          {name.name, name.address, size_at(name.address), name.is_code, name.is_global});
    }
    writer_.add_symbols(type, symbols);
  }

  // Of the function that begins there; 0 where .pdata has none.
  [[nodiscard]] std::uint32_t size_at(std::uint32_t address) const {
    const auto found = std::ranges::lower_bound(functions_, address, {}, &PeFunction::begin);
    return found != functions_.end() && found->begin == address ? found->end - found->begin : 0;
  }

  PeBytes bytes_;
  const PeHeaders& headers_;
  Budget budget_;
  PeElfWriter writer_;
  std::vector<PeFunction> functions_;
};

}  // namespace

bool is_pe(ByteView bytes) {
  const auto place = bytes.read<std::uint32_t>(0x3c);
  return bytes.read<std::uint16_t>(0) == 0x5a4d && place &&
         bytes.read<std::uint32_t>(*place) == 0x00004550U;
}

std::shared_ptr<const ElfFile> elf_of_pe(ByteView bytes, bool loaded, const std::string& name,
                                         Budget* whole) {
  const auto headers = read_pe_headers(bytes);
  if (!headers) {
    throw Error(name, "is no PE file of x86-64 or i386", "Give an .exe or .dll of one of these");
  }
  return ElfFile::from_memory(PeConverter(bytes, *headers, loaded, name, whole).convert(), name,
                              whole);
}

std::shared_ptr<const ElfFile> open_pe(const std::string& path) {
  const auto file = MappedFile::open(path);
  return elf_of_pe(ByteView(file->bytes(), Endian::little), false, path);
}

ByteView pe_headers_of(const ElfFile& file) {
  const ElfSection* section = file.section(kPeHeadersSection);
  return section == nullptr ? ByteView() : file.contents(*section).value_or(ByteView());
}

bool calls_as_windows(const ElfFile& file) {
  const auto headers = read_pe_headers(pe_headers_of(file));
  return headers && !headers->system_v;
}

}  // namespace whocall
