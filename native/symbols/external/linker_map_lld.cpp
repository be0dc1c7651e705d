// The link maps of lld and mold (`-Map`): tables of sections, their parts, and symbols, each one
// further to the right than the other.
//
//              VMA              LMA     Size Align Out     In      Symbol
//             1660             1660      11d    16 .text
//             1660             1660       22    16         Scrt1.o:(.text)
//             1660             1660       22     1                 _start
//
// mold leaves LMA out, writes 0x before addresses, sizes in decimal and those of symbols as 0.
// Sources: what lld 14 and mold 1.10 write.
#include <array>

#include "base/text_lines.h"
#include "symbols/external/list_formats.h"

namespace whocall {
namespace {

constexpr std::size_t kInputIndent = 8;  // blanks more than before an output section
constexpr std::size_t kSymbolIndent = 16;

struct LldRow {
  Address address = 0;
  std::uint64_t size = 0;
  std::size_t indent = 0;  // of the text
  std::string_view text;
};

class LldMapReader {
 public:
  explicit LldMapReader(std::string_view heading)
      : has_lma_(heading.find("LMA") != std::string_view::npos) {}

  [[nodiscard]] std::optional<LldRow> read(std::string_view line) const {
    const std::string_view address = take_word(line);
    if (has_lma_) {
      take_word(line);
    }
    const std::string_view size = take_word(line);
    const std::string_view alignment = take_word(line);
    const auto begin = hexadecimal(address);
    const auto bytes = number(size, has_hex_prefix(address) ? 10 : 16);
    const std::string_view text = trimmed(line);
    if (!begin || !bytes || !number(alignment, 10) || text.empty()) {
      return std::nullopt;
    }
    const auto indent = static_cast<std::size_t>(text.data() - line.data());
    return LldRow{*begin, *bytes, indent - 1, text};
  }

 private:
  bool has_lma_;
};

}  // namespace

void read_lld_map(std::string_view text, ListedNames& list) {
  list.format = "a linker map";
  const LldMapReader reader(take_line(text));
  AddressRange input{};
  while (!text.empty()) {
    const auto row = reader.read(take_line(text));
    if (!row) {
      continue;
    }
    const AddressRange range{row->address, row->address + row->size};
    if (row->indent >= kSymbolIndent) {
      ListedName& symbol = list.names.emplace_back();
      symbol.address = row->address;
      symbol.size = row->size;
      symbol.name = row->text.substr(0, row->text.find('@', 1));
      if (row->address >= input.begin && row->address < input.end) {
        symbol.limit = input.end;
      }
    } else if (row->indent >= kInputIndent) {
      input = range;
    } else if (row->text == ".text") {
      list.text = range;
    }
  }
}

}  // namespace whocall
