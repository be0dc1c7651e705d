#include "object/relocated_section.h"

#include <elf.h>

#include <algorithm>
#include <optional>

#include "base/byte_reader.h"
#include "object/elf_symbols.h"
#include "object/relocation_info.h"

namespace whocall {
namespace {

struct Relocation {
  std::uint64_t offset = 0;  // in the section, bytes
  std::uint32_t type = 0;    // R_*
  std::uint32_t symbol = 0;  // index
  std::uint64_t addend = 0;  // modulo 2^64
};

class Relocator {
 public:
  Relocator(const ElfFile& file, const ElfSection& section, std::span<const RelocationForm> forms,
            AddressZero zero)
      : file_(file),
        section_(section),
        forms_(forms),
        zero_(zero),
        symbols_(ElfSymbols::static_of(file)) {}

  std::vector<std::byte> run() {
    const auto contents = file_.contents(section_);
    if (!contents || file_.type() != ET_REL) {
      return {};
    }
    bool any = false;
    for (const ElfSection& table : file_.sections()) {
      const bool applies = table.info == section_.index &&
                           (table.type == SHT_RELA || table.type == SHT_REL) && table.size != 0;
      if (applies && !any) {
        any = true;
        bytes_.assign(contents->bytes().begin(), contents->bytes().end());
      }
      if (applies) {
        apply_all(table);
      }
    }
    return std::move(bytes_);
  }

 private:
  void apply_all(const ElfSection& table) {
    const unsigned word = file_.pointer_size();
    ByteReader reader(file_.contents(table).value_or(ByteView()));
    while (!reader.at_end()) {
      Relocation relocation;
      relocation.offset = reader.fixed(word);
      const RelocationInfo info = relocation_info(file_, reader.fixed(word));
      relocation.type = info.type;
      relocation.symbol = info.symbol;
      const bool explicit_addend = table.type == SHT_RELA;
      relocation.addend = explicit_addend ? reader.fixed(word) : 0;
      const auto form = std::ranges::find(forms_, relocation.type, &RelocationForm::type);
      if (reader.ok() && form != forms_.end()) {
        apply(relocation, *form, explicit_addend);
      }
    }
  }

  void apply(const Relocation& relocation, const RelocationForm& form, bool explicit_addend) {
    const ByteView bytes(bytes_, file_.endian());
    const auto present = bytes.read_unsigned(relocation.offset, form.size);
    const auto symbol = address_of(relocation.symbol);
    if (!present || !symbol) {
      return;
    }
    std::uint64_t value = *symbol + (explicit_addend ? relocation.addend : *present);
    switch (form.kind) {
      case RelocationKind::absolute:
        break;
      case RelocationKind::pc_relative:
      case RelocationKind::branch:
        value -= section_.address + relocation.offset;
        break;
      default:
        return;
    }
    for (unsigned i = 0; i < form.size; ++i) {
      const unsigned place = file_.endian() == Endian::little ? i : form.size - 1 - i;
      bytes_[relocation.offset + place] = static_cast<std::byte>(value >> (8 * i));
    }
  }

  // A miss where the symbol is another file's, or in a section that was not loaded.
  [[nodiscard]] std::optional<Address> address_of(std::uint32_t index) const {
    if (index == 0 || index >= symbols_.size()) {
      return std::nullopt;
    }
    const ElfSymbolEntry symbol = symbols_[index];
    if (symbol.section == SHN_UNDEF || symbol.section >= file_.sections().size() ||
        (zero_ == AddressZero::is_none && file_.sections()[symbol.section].address == 0)) {
      return std::nullopt;
    }
    return file_.sections()[symbol.section].address + symbol.value;
  }

  const ElfFile& file_;
  const ElfSection& section_;
  std::span<const RelocationForm> forms_;
  AddressZero zero_;
  ElfSymbols symbols_;
  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> relocated_section(const ElfFile& file, const ElfSection& section,
                                         std::span<const RelocationForm> forms, AddressZero zero) {
  return Relocator(file, section, forms, zero).run();
}

}  // namespace whocall
