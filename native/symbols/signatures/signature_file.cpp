#include "symbols/signatures/signature_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "arch/elf_machine.h"
#include "base/byte_reader.h"
#include "base/error.h"
#include "symbols/signatures/build_tables.h"
#include "symbols/signatures/record_writer.h"

namespace whocall {
namespace {

constexpr std::string_view kMagic = "whocall signatures\n";
// Libraries alone are written as version 1, which older ones read too; version 2 has three tables
// more, of builds.
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kBuildsVersion = 2;
constexpr std::uint32_t kShared = 1;
constexpr std::uint32_t kHidden = 1;
constexpr std::uint32_t kIndirect = 2;
constexpr std::uint32_t kWeak = 4;

// In the order of the tables.
enum Table : std::uint8_t {
  members_table,
  sections_table,
  functions_table,
  symbols_table,
  relocations_table,
  bytes_table,
  texts_table,
  builds_table,
  build_functions_table,
  build_references_table,
  table_count
};
constexpr std::size_t kTablesOfLibraries = builds_table;
constexpr std::array<std::uint64_t, table_count> kRecordSize = {
    8, 44, 16, 24, 20, 1, 1, kBuildSize, kBuildFunctionSize, kBuildReferenceSize};

// FNV-1a, eight bytes a step: it tells damage, not malice.
std::uint64_t check_sum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(sum)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    sum = (sum ^ (std::endian::native == std::endian::little ? word : swap_bytes(word))) *
          0x100000001b3U;
    sum ^= sum >> 29U;
  }
  return sum;
}

std::vector<std::byte> encode_tables(const SignatureSet& set) {
  RecordWriter writer;
  for (const SignatureMember& each : set.members) {
    writer.words(each.library, each.name);
  }
  for (const SignatureSection& each : set.sections) {
    writer.words(each.member, each.group, each.alignment, each.code, each.size, each.anchor,
                 each.is_shared ? kShared : 0U, each.first_function, each.functions,
                 each.first_relocation, each.relocations);
  }
  for (const SignatureFunction& each : set.functions) {
    writer.words(each.offset, each.size, each.name, each.sure_name);
  }
  for (const SignatureSymbol& each : set.symbols) {
    writer.words(each.name, each.section, each.offset, each.expected, each.expected_size,
                 (each.is_hidden ? kHidden : 0U) | (each.is_indirect ? kIndirect : 0U) |
                     (each.is_weak ? kWeak : 0U));
  }
  for (const SignatureRelocation& each : set.relocations) {
    writer.words(each.offset, each.type, each.symbol);
    writer.number(static_cast<std::uint64_t>(each.addend), 8);
  }
  writer.append(set.bytes);
  writer.append(std::as_bytes(std::span(set.strings)));
  writer.append(encode_builds(set));
  return writer.take();
}

class Decoder {
 public:
  Decoder(ByteView bytes, const std::string& path) : path_(path), reader_(bytes) {}

  SignatureSet run() {
    read_header();
    for (std::uint64_t i = 0; i < counts_[members_table]; ++i) {
      set_.members.push_back({reader_.u32(), reader_.u32()});
    }
    for (std::uint64_t i = 0; i < counts_[sections_table]; ++i) {
      read_section();
    }
    for (std::uint64_t i = 0; i < counts_[functions_table]; ++i) {
      set_.functions.push_back({reader_.u32(), reader_.u32(), reader_.u32(), reader_.u32()});
    }
    for (std::uint64_t i = 0; i < counts_[symbols_table]; ++i) {
      read_symbol();
    }
    for (std::uint64_t i = 0; i < counts_[relocations_table]; ++i) {
      set_.relocations.push_back(
          {reader_.u32(), reader_.u32(), reader_.u32(), static_cast<std::int64_t>(reader_.u64())});
    }
    const auto bytes = reader_.block(counts_[bytes_table]).bytes();
    set_.bytes.assign(bytes.begin(), bytes.end());
    const auto texts = reader_.block(counts_[texts_table]).bytes();
    set_.strings.assign(reinterpret_cast<const char*>(texts.data()), texts.size());
    const bool is_right = decode_builds(reader_,
                                        {.builds = counts_[builds_table],
                                         .functions = counts_[build_functions_table],
                                         .references = counts_[build_references_table]},
                                        set_);
    check();
    require(is_right);
    return std::move(set_);
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(path_, "is a damaged signature file", "Write it again: whocall signatures");
  }

  void read_header() {
    const auto magic = reader_.block(kMagic.size()).bytes();
    if (!reader_.ok() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
      throw Error(
          path_, "is no signature file",
          "Make one: whocall signatures FILE -o FILE; or name a .sig or .pat file of FLIRT");
    }
    const std::uint32_t version = reader_.u32();
    if (reader_.ok() && version != kVersion && version != kBuildsVersion) {
      throw Error(path_,
                  "is a signature file of version " + std::to_string(version) +
                      ", and this whocall reads versions 1 and 2",
                  "Write it again: whocall signatures");
    }
    const std::uint16_t machine = reader_.u16();
    const std::uint8_t pointer_size = reader_.u8();
    const auto endian = reader_.u8() == 0 ? Endian::little : Endian::big;
    std::uint64_t size = 0;
    const std::size_t tables = version == kVersion ? kTablesOfLibraries : std::size_t{table_count};
    for (std::size_t i = 0; i < tables; ++i) {
      counts_.at(i) = reader_.u32();
      size += counts_.at(i) * kRecordSize.at(i);
    }
    const std::uint64_t sum = reader_.u64();
    if (!reader_.ok() || reader_.remaining() != size ||
        check_sum(reader_.view().from(reader_.offset()).bytes()) != sum) {
      refuse();
    }
    set_.arch = find_architecture(ElfIdentity{machine, pointer_size, endian, 0});
    if (set_.arch == nullptr || set_.arch->linkage.relocations == nullptr) {
      throw Error(path_,
                  "is a signature file for " + std::string(elf_machine(machine).name) +
                      ", an instruction set that this whocall does not know",
                  "Take it out of the list");
    }
  }

  void read_section() {
    SignatureSection section;
    section.member = reader_.u32();
    section.group = reader_.u32();
    section.alignment = reader_.u32();
    section.code = reader_.u32();
    section.size = reader_.u32();
    section.anchor = reader_.u32();
    section.is_shared = (reader_.u32() & kShared) != 0;
    section.first_function = reader_.u32();
    section.functions = reader_.u32();
    section.first_relocation = reader_.u32();
    section.relocations = reader_.u32();
    set_.sections.push_back(section);
  }

  void read_symbol() {
    SignatureSymbol symbol;
    symbol.name = reader_.u32();
    symbol.section = reader_.u32();
    symbol.offset = reader_.u32();
    symbol.expected = reader_.u32();
    symbol.expected_size = reader_.u32();
    const std::uint32_t flags = reader_.u32();
    symbol.is_hidden = (flags & kHidden) != 0;
    symbol.is_indirect = (flags & kIndirect) != 0;
    symbol.is_weak = (flags & kWeak) != 0;
    set_.symbols.push_back(symbol);
  }

  void require(bool holds) const {
    if (!holds) {
      refuse();
    }
  }
  void require_text(SignatureText place) const { require(place < set_.strings.size()); }
  template <typename Items>
  void require_part(std::uint64_t first, std::uint64_t count, const Items& items) const {
    require(first <= items.size() && count <= items.size() - first);
  }

  // What all others rely on, so that nobody has to look again.
  void check() const {
    require(reader_.ok() && !set_.strings.empty() && set_.strings.front() == '\0' &&
            set_.strings.back() == '\0');
    for (const SignatureMember& each : set_.members) {
      require_text(each.library);
      require_text(each.name);
    }
    for (const SignatureSection& each : set_.sections) {
      check_section(each);
    }
    for (const SignatureFunction& each : set_.functions) {
      require_text(each.name);
      require_text(each.sure_name);
    }
    for (const SignatureSymbol& each : set_.symbols) {
      require_text(each.name);
      require_part(each.expected, each.expected_size, set_.bytes);
      require(each.section == kNoSignature || (each.section < set_.sections.size() &&
                                               each.offset <= set_.sections[each.section].size));
    }
    for (const SignatureRelocation& each : set_.relocations) {
      require(each.symbol < set_.symbols.size());
    }
  }

  void check_section(const SignatureSection& section) const {
    require(section.member < set_.members.size() && std::has_single_bit(section.alignment));
    require_text(section.group);
    require_part(section.code, section.size, set_.bytes);
    require_part(section.first_function, section.functions, set_.functions);
    require_part(section.first_relocation, section.relocations, set_.relocations);
    require(section.anchor == kNoSignature ||
            (section.anchor <= section.size && section.size - section.anchor >= 8));
    for (std::uint32_t i = 0; i < section.functions; ++i) {
      const SignatureFunction& each = set_.functions[section.first_function + i];
      require(each.offset < section.size && each.size <= section.size - each.offset);
    }
    for (std::uint32_t i = 0; i < section.relocations; ++i) {
      require(set_.relocations[section.first_relocation + i].offset < section.size);
    }
  }

  const std::string& path_;
  ByteReader reader_;
  std::array<std::uint64_t, table_count> counts_{};
  SignatureSet set_;
};

}  // namespace

std::vector<std::byte> encode_signatures(const SignatureSet& set) {
  const std::vector<std::byte> tables = encode_tables(set);
  RecordWriter writer;
  writer.append(std::as_bytes(std::span(kMagic)));
  const bool has_builds = !set.builds.empty();
  writer.words(has_builds ? kBuildsVersion : kVersion);
  writer.number(set.arch->abi.elf_machine, 2);
  writer.number(set.arch->abi.pointer_size, 1);
  writer.number(set.arch->abi.endian == Endian::little ? 0 : 1, 1);
  for (const std::size_t count :
       {set.members.size(), set.sections.size(), set.functions.size(), set.symbols.size(),
        set.relocations.size(), set.bytes.size(), set.strings.size()}) {
    writer.words(count);
  }
  if (has_builds) {
    writer.words(set.builds.size(), set.build_functions.size(), set.build_references.size());
  }
  writer.number(check_sum(tables), 8);
  writer.append(tables);
  return writer.take();
}

SignatureSet decode_signatures(ByteView bytes, const std::string& path) {
  return Decoder(bytes, path).run();
}

}  // namespace whocall
