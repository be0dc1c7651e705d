#include "symbols/languages/ocaml_program.h"

#include <elf.h>

#include <algorithm>
#include <string_view>

#include "base/interrupt.h"
#include "object/elf_symbols.h"
#include "symbols/discovery/data_words.h"
#include "symbols/languages/dynamic_text.h"

namespace whocall {
namespace {

// The table of one module: "camlStdlib__List__frametable", since 5.1 "camlStdlib__List.frametable".
bool names_frame_table(std::string_view name) {
  return name.starts_with("caml") &&
         (name.ends_with("__frametable") || name.ends_with(".frametable"));
}

// Ascending. A hostile file may name any place: what begins inside the one before is no table.
std::vector<OcamlFrame> frames_of_named_tables(const ElfFile& file) {
  std::vector<Address> tables;
  const ElfSymbols symbols = ElfSymbols::dynamic_of(file);
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    check_interrupt_at(i, kManyEntries);
    if (const ElfSymbolEntry symbol = symbols[i];
        symbol.section != SHN_UNDEF && names_frame_table(symbols.name_of(symbol))) {
      tables.push_back(symbol.value);
    }
  }
  std::ranges::sort(tables);
  std::vector<OcamlFrame> frames;
  Address end = 0;
  for (const Address table : tables) {
    end = table >= end ? append_ocaml_frames(file, table, frames) : end;
  }
  return frames;
}

// Tables are told by what they are: a small number, and so many descriptors each of which begins
// with the address of code, some of them with a place in the source.
class TableSearch {
 public:
  explicit TableSearch(const ElfFile& file) : file_(file), pointers_(words_of(file)) {}

  std::vector<OcamlFrame> find() {
    std::vector<OcamlFrame> found;
    Address end = 0;
    for (const DataPointer& each : pointers_) {
      const Address table = each.where - file_.pointer_size();
      std::vector<OcamlFrame> frames;
      if (table >= end && is_code(each.target)) {
        const auto behind = read(table, frames);
        end = behind.value_or(end);
        found.insert(found.end(), frames.begin(), behind ? frames.end() : frames.begin());
      }
    }
    return found;
  }

 private:
  static std::vector<DataPointer> words_of(const ElfFile& file) {
    const AddressRange everything{0, ~Address{0}};
    return data_pointers(file, std::span(&everything, 1));
  }

  [[nodiscard]] bool is_code(Address address) const {
    const ElfSection* section = file_.section_at(address);
    return section != nullptr && (section->flags & SHF_EXECINSTR) != 0;
  }

  [[nodiscard]] bool leads_to_code(Address where) const {
    const auto found = std::ranges::lower_bound(pointers_, where, {}, &DataPointer::where);
    return found != pointers_.end() && found->where == where && is_code(found->target);
  }

  // The end of the table; a miss where there is none.
  std::optional<Address> read(Address table, std::vector<OcamlFrame>& frames) {
    constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 22U;  // of one module
    constexpr std::uint64_t kCostOfEach = 16;                       // bytes
    constexpr std::size_t kLookedAt = 64;                           // frames
    const unsigned word = file_.pointer_size();
    const std::uint64_t count = file_.at(table).read_unsigned(0, word).value_or(0);
    if (count == 0 || count > kMostFrames) {
      return std::nullopt;
    }
    Address next = table + word;
    for (std::uint64_t i = 0; i < count; ++i) {
      check_interrupt_at(i, kManyEntries);
      const auto frame = leads_to_code(next) && file_.budget().draw(Cost::searched, kCostOfEach)
                             ? read_ocaml_frame(file_, next, next)
                             : std::nullopt;
      if (!frame) {
        return std::nullopt;
      }
      if (frame->debug_info != 0) {
        frames.push_back(*frame);
      }
    }
    // Texts are at most a page long, and one of the first tells.
    const auto first = std::span(frames).first(std::min(frames.size(), kLookedAt));
    const bool tells = std::ranges::any_of(first, [&](const OcamlFrame& frame) {
      return !ocaml_places(file_, frame.debug_info, OcamlFormat::ocaml411).empty() ||
             !ocaml_places(file_, frame.debug_info, OcamlFormat::ocaml502).empty();
    });
    return tells ? std::optional(next) : std::nullopt;
  }

  const ElfFile& file_;
  std::vector<DataPointer> pointers_;  // by place
};

// Where each descriptor's first word points: in most programs the loader writes it. `frames` ascend
// by their own places.
void find_returns(const ElfFile& file, std::vector<OcamlFrame>& frames) {
  if (frames.empty()) {
    return;
  }
  const AddressRange all{frames.front().where, frames.back().where + 1};
  const std::vector<DataPointer> pointers = data_pointers(file, std::span(&all, 1));
  auto each = pointers.begin();
  for (OcamlFrame& frame : frames) {
    each = std::find_if(each, pointers.end(),
                        [&](const DataPointer& pointer) { return pointer.where >= frame.where; });
    const bool here = each != pointers.end() && each->where == frame.where;
    frame.returns_to = here ? each->target : 0;
  }
  std::erase_if(frames, [](const OcamlFrame& frame) { return frame.returns_to == 0; });
  std::ranges::sort(frames, {}, &OcamlFrame::returns_to);
}

// The runtime asks the environment for it.
bool has_options_of_ocaml(const ElfFile& file) {
  const ElfSection* section = file.section(".rodata");
  const auto bytes = section != nullptr ? file.contents(*section) : std::nullopt;
  return bytes && holds_text(*bytes, "OCAMLRUNPARAM");
}

}  // namespace

OcamlTables ocaml_tables(const ElfFile& file) {
  if (has_dynamic_text(file, "frametable")) {
    return OcamlTables::named;
  }
  const bool is_static = file.interpreter().empty() && file.entry() != 0;
  return is_static && has_options_of_ocaml(file) ? OcamlTables::searched : OcamlTables::none;
}

OcamlProgram read_ocaml_program(const ElfFile& file, OcamlTables tables) {
  OcamlProgram program;
  program.frames =
      tables == OcamlTables::named ? frames_of_named_tables(file) : TableSearch(file).find();
  find_returns(file, program.frames);
  program.format = ocaml_format(file, program.frames);
  return program;
}

}  // namespace whocall
