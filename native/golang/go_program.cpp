#include "golang/go_program.h"

#include <elf.h>

#include <array>
#include <unordered_map>
#include <vector>

#include "base/interrupt.h"
#include "golang/go_inlining.h"
#include "object/elf_imports.h"

namespace whocall {
namespace {

// struct moduledata of the runtime, in words: since Go 1.16 it begins with the address of the
// table's header; before that were three slices fewer.
constexpr std::uint64_t kModuleWords = 64;  // looked at
constexpr std::uint64_t kFirstPc = 20;
constexpr std::uint64_t kLastPc = 21;
constexpr std::uint64_t kText = 22;
constexpr std::uint64_t kTextInHeader = 2;  // word behind the first eight bytes

struct TablePlace {
  ByteView bytes;
  Address address = 0;
};

// Words of the file as they are once it is loaded.
class LoadedWords {
 public:
  LoadedWords(const ElfFile& file, unsigned word) : file_(file), word_(word) {}

  [[nodiscard]] unsigned size() const { return word_; }

  [[nodiscard]] std::vector<std::uint64_t> read(Address where, std::uint64_t count) const {
    std::vector<std::uint64_t> words;
    const ByteView bytes = file_.at(where);
    for (std::uint64_t i = 0; i < count; ++i) {
      words.push_back(bytes.read_unsigned(i * word_, word_).value_or(0));
    }
    if (file_.type() == ET_DYN) {
      for_each_relative_pointer(file_, [&](Address at, Address target) {
        if (at >= where && at - where < count * word_ && (at - where) % word_ == 0) {
          words[(at - where) / word_] = target;
        }
      });
    }
    return words;
  }

  // Where words stand that hold `value`.
  [[nodiscard]] std::vector<Address> places_of(std::uint64_t value) const {
    std::vector<Address> places;
    if (file_.type() == ET_DYN) {
      for_each_relative_pointer(file_, [&](Address at, Address target) {
        if (target == value) {
          places.push_back(at);
        }
      });
    }
    for (const ElfSegment& segment : file_.segments()) {
      if (segment.type != PT_LOAD || (segment.flags & PF_W) == 0) {
        continue;
      }
      const ByteView bytes = file_.at(segment.address);
      for (std::uint64_t at = 0; at + word_ <= bytes.size(); at += word_) {
        if (bytes.read_unsigned(at, word_) == value) {
          places.push_back(segment.address + at);
        }
      }
    }
    return places;
  }

 private:
  const ElfFile& file_;
  unsigned word_;
};

// Folklore. Situation: the table's section has another name, or there are no sections. Example:
// GNU ld puts .data.rel.ro.gopclntab of a position-independent program into .data.rel.ro. Remedy:
// a Go program says that it is one by its notes; its table is found by the number that it begins
// with, and what follows has to be a table.
bool may_be_go(const ElfFile& file) {
  return file.sections().empty() || file.section(".go.buildinfo") != nullptr ||
         file.section(".note.go.buildid") != nullptr;
}

bool begins_table(const ByteView& bytes, std::uint64_t at) {
  constexpr std::uint32_t kLeastMagic = 0xfffffff0;
  const auto magic = bytes.read<std::uint32_t>(at);
  return magic && *magic >= kLeastMagic && GoPclntab::parse(bytes.from(at), 0, 0).has_value();
}

std::optional<TablePlace> find_table(const ElfFile& file, bool& named) {
  for (const std::string_view name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    const ElfSection* section = file.section(name);
    const auto bytes = section != nullptr ? file.contents(*section) : std::nullopt;
    if (bytes) {
      named = true;
      return TablePlace{*bytes, section->address};
    }
  }
  if (!may_be_go(file)) {
    return std::nullopt;
  }
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != PT_LOAD) {
      continue;
    }
    const ByteView bytes = file.at(segment.address);
    const std::uint64_t first = (4 - segment.address % 4) % 4;
    if (!file.budget().draw(Cost::searched, bytes.size())) {
      break;
    }
    for (std::uint64_t at = first; at + 8 <= bytes.size(); at += 4) {
      check_interrupt_at(at / 4, kManyBytes);
      if (begins_table(bytes, at)) {
        return TablePlace{bytes.from(at), segment.address + at};
      }
    }
  }
  return std::nullopt;
}

// The words of the runtime's struct for the table at `address`; empty where none is found.
std::vector<std::uint64_t> find_module_data(const GoPclntab& table, Address address,
                                            const LoadedWords& words) {
  const auto first = table.entry(0);
  const auto last = table.entry(table.count());
  for (const Address place : words.places_of(address)) {
    auto module = words.read(place, kModuleWords);
    if (first && last && module[kLastPc] - module[kFirstPc] == *last - *first &&
        module[kFirstPc] - module[kText] == *first - table.text()) {
      return module;
    }
  }
  return {};
}

}  // namespace

std::optional<GoProgram> find_go_program(const ElfFile& file, std::string* remark) {
  bool named = false;
  const auto place = find_table(file, named);
  if (!place) {
    return std::nullopt;
  }
  const LoadedWords words(file, file.pointer_size());
  const Address header = place->address + 8 + kTextInHeader * file.pointer_size();
  auto table = GoPclntab::parse(place->bytes, place->address, words.read(header, 1).front());
  if (!table || table->pointer_size() != file.pointer_size()) {
    if (remark != nullptr && named) {
      *remark = "The function table of the Go program " + file.path() +
                " is damaged or of an unknown version: it lends no names.";
    }
    return std::nullopt;
  }
  GoProgram program{*table};
  if (table->format() >= GoFormat::go118) {
    const auto module = find_module_data(*table, place->address, words);
    if (table->text() == 0 && module.empty()) {  // since Go 1.26 the header does not tell it
      const ElfSection* text = file.section(".text");
      program.table = *GoPclntab::parse(place->bytes, place->address, text ? text->address : 0);
    } else if (!module.empty()) {
      program.table = *GoPclntab::parse(place->bytes, place->address, module[kText]);
      program.inline_base = find_inline_base(program.table, file, module);
    }
  }
  return program;
}

}  // namespace whocall
