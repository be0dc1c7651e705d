#include "symbols/signatures/signature_member.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/byte_reader.h"
#include "object/elf_symbols.h"
#include "object/relocation_info.h"
#include "symbols/table/symbol_order.h"

namespace whocall {
namespace {

// More of a constant tells little more.
constexpr std::uint64_t kMostExpected = 32;

struct RawRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;
  std::int64_t addend = 0;
};

bool is_code(const ElfSection& section) {
  return section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0 &&
         (section.flags & SHF_EXECINSTR) != 0 && section.size != 0;
}

// GNU ld and gold put all sections of one of these groups together, whatever file they are from
// (their built-in scripts, `ld --verbose`).
std::string_view group_of(std::string_view name) {
  for (const std::string_view group :
       {".text.unlikely", ".text.exit", ".text.startup", ".text.hot", ".text.sorted", ".text"}) {
    const bool is_of_group =
        name == group || (name.starts_with(group) && name[group.size()] == '.');
    if (is_of_group) {
      return group;
    }
  }
  return name;
}

class MemberReader {
 public:
  MemberReader(const ElfFile& file, std::uint32_t member, SignatureTexts& texts, SignatureSet& set)
      : file_(file), member_(member), texts_(texts), set_(set), symbols_(static_symbols(file)) {
    for (const ElfSection& each : file.sections()) {
      if (each.type == SHT_RELA || each.type == SHT_REL) {
        relocations_[each.info].push_back(&each);
      }
    }
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].type == STT_FUNC || symbols_[i].type == STT_GNU_IFUNC) {
        symbols_[i].value &= set_.arch->code.pointer_mask;  // without ARM's bit for T32
      }
      symbols_of_[symbols_[i].section].push_back(i);
    }
  }

  std::uint32_t run() {
    std::uint32_t left_out = 0;
    for (const ElfSection& section : file_.sections()) {
      if (is_code(section) && section.size < kNoSignature) {
        left_out += add_section(section) ? 0U : 1U;
      }
    }
    for (const auto& [index, raw] : pending_) {
      add_relocations(index, raw);
    }
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
      if (symbols_[i].binding != STB_LOCAL && known_sections_.contains(symbols_[i].section)) {
        symbol(i);
      }
    }
    return left_out;
  }

 private:
  bool add_section(const ElfSection& section) {
    const auto code = file_.contents(section);
    auto raw = relocations_of(section, code);
    if (!code || !raw) {
      return false;
    }
    SignatureSection added;
    added.member = member_;
    added.group = texts_.add(group_of(section.name));
    added.alignment = alignment_of(section);
    added.code = static_cast<std::uint32_t>(set_.bytes.size());
    added.size = static_cast<std::uint32_t>(code->size());
    added.is_shared = (section.flags & SHF_GROUP) != 0;
    set_.bytes.insert(set_.bytes.end(), code->bytes().begin(), code->bytes().end());
    add_functions(section, added);
    const auto index = static_cast<std::uint32_t>(set_.sections.size());
    known_sections_.emplace(section.index, index);
    pending_.emplace_back(index, std::move(*raw));
    set_.sections.push_back(added);
    return true;
  }

  static std::uint32_t alignment_of(const ElfSection& section) {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;
    return std::has_single_bit(section.alignment) && section.alignment <= kLargest
               ? static_cast<std::uint32_t>(section.alignment)
               : 1;
  }

  // A miss when one of them is of an unknown type, or damaged.
  std::optional<std::vector<RawRelocation>> relocations_of(const ElfSection& section,
                                                           const std::optional<ByteView>& code) {
    std::vector<RawRelocation> found;
    const auto by = relocations_.find(section.index);
    if (!code || by == relocations_.end()) {
      return found;
    }
    for (const ElfSection* each : by->second) {
      ByteReader reader(file_.contents(*each).value_or(ByteView()));
      while (!reader.at_end()) {
        auto relocation = read(reader, each->type == SHT_RELA);
        const RelocationForm* form = form_of(*set_.arch, relocation.type);
        if (!reader.ok() || form == nullptr || relocation.offset >= section.size) {
          return std::nullopt;
        }
        if (each->type == SHT_REL) {
          relocation.addend = addend_in(*code, relocation.offset, *form);
        }
        found.push_back(relocation);
      }
    }
    std::ranges::stable_sort(found, {}, &RawRelocation::offset);
    return found;
  }

  RawRelocation read(ByteReader& reader, bool with_addend) const {
    const unsigned word = file_.pointer_size();
    RawRelocation relocation;
    relocation.offset = reader.fixed(word);
    const RelocationInfo info = relocation_info(file_, reader.fixed(word));
    relocation.type = info.type;
    relocation.symbol = info.symbol;
    if (with_addend) {
      relocation.addend = word == 8 ? static_cast<std::int64_t>(reader.u64()) : reader.s32();
    }
    return relocation;
  }

  static std::int64_t addend_in(ByteView code, std::uint64_t offset, const RelocationForm& form) {
    const auto value = code.read_unsigned(offset, form.size).value_or(0);
    return form.size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
  }

  // The names of functions in the order in which a program's own symbols are shown.
  // Folklore. Situation: hand-written code marks places within a function by symbols that others
  // can see. Example: __syscall_cancel_arch_end of glibc 2.41, its last instruction. Remedy: what
  // has no size and lies behind the start of a function that has one and reaches there, is none.
  void add_functions(const ElfSection& section, SignatureSection& added) {
    SymbolList functions;
    for (const std::uint32_t i : symbols_of_[section.index]) {
      const ElfSymbol& each = symbols_[i];
      const bool typed = each.type == STT_FUNC || each.type == STT_GNU_IFUNC;
      const bool label = each.type == STT_NOTYPE && each.binding != STB_LOCAL;
      if ((typed || label) && !each.name.empty() && each.value < section.size) {
        Symbol function;
        function.range = {each.value, each.value + std::min(each.size, section.size - each.value)};
        function.name = each.name.substr(0, each.name.find('@', 1));
        // Linkers may move the name of a function that chooses others to the stub that calls them.
        function.source = each.type == STT_GNU_IFUNC ? NameSource::dynsym : NameSource::symtab;
        function.global = each.binding != STB_LOCAL;
        function.weak = each.binding == STB_WEAK;
        function.exact_end = each.size != 0;
        functions.add(function);
      }
    }
    sort_symbols(functions);
    added.first_function = static_cast<std::uint32_t>(set_.functions.size());
    Address reached = 0;  // by the functions so far that have sizes
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const Symbol each = functions[i];
      const bool is_known =
          added.functions != 0 && set_.functions.back().offset == each.range.begin;
      if (!is_known && !each.exact_end && each.range.begin < reached) {
        continue;
      }
      reached = std::max(reached, each.range.end);
      const auto offset = static_cast<std::uint32_t>(each.range.begin);
      if (!is_known) {
        set_.functions.push_back(
            {offset, static_cast<std::uint32_t>(each.range.size()), texts_.add(each.name)});
        ++added.functions;
      }
      if (!each.weak && set_.functions.back().sure_name == 0) {
        set_.functions.back().sure_name = texts_.add(each.name);
      }
    }
  }

  void add_relocations(std::uint32_t index, const std::vector<RawRelocation>& raw) {
    const auto first = static_cast<std::uint32_t>(set_.relocations.size());
    for (const RawRelocation& each : raw) {
      const RelocationForm& form = *form_of(*set_.arch, each.type);
      SignatureRelocation added;
      added.offset = static_cast<std::uint32_t>(each.offset);
      added.type = each.type;
      added.addend = each.addend;
      const ElfSection* merged = each.symbol == 0 ? nullptr : merged_section(each.symbol - 1);
      if (each.symbol == 0 || each.symbol > symbols_.size()) {
        added.symbol = nothing();
      } else if (merged != nullptr) {
        // The linker puts equal constants together: their section is no place any more.
        added.symbol =
            form.kind == RelocationKind::absolute || form.kind == RelocationKind::got_offset
                ? constant_at(*merged, each.addend)
                : nothing();
        added.addend = 0;
      } else {
        added.symbol = symbol(each.symbol - 1);
      }
      set_.relocations.push_back(added);
    }
    set_.sections[index].first_relocation = first;
    set_.sections[index].relocations = static_cast<std::uint32_t>(raw.size());
  }

  // The mergeable section that a section symbol stands for; null for all other symbols.
  const ElfSection* merged_section(std::uint32_t index) const {
    if (index >= symbols_.size() || symbols_[index].type != STT_SECTION ||
        symbols_[index].section >= file_.sections().size()) {
      return nullptr;
    }
    const ElfSection& section = file_.sections()[symbols_[index].section];
    return (section.flags & SHF_MERGE) != 0 ? &section : nullptr;
  }

  std::uint32_t push(const SignatureSymbol& added) {
    set_.symbols.push_back(added);
    return static_cast<std::uint32_t>(set_.symbols.size() - 1);
  }

  std::uint32_t nothing() {
    if (!nothing_) {
      nothing_ = push({});
    }
    return *nothing_;
  }

  std::uint32_t constant_at(const ElfSection& section, std::int64_t offset) {
    const auto [entry, is_new] = constants_.try_emplace({section.index, offset}, 0);
    if (is_new) {
      SignatureSymbol added;
      expect(section, static_cast<std::uint64_t>(offset), 0, added);
      entry->second = push(added);
    }
    return entry->second;
  }

  std::uint32_t symbol(std::uint32_t index) {
    const auto [entry, is_new] = known_symbols_.try_emplace(index, 0);
    if (is_new) {
      entry->second = push(describe(symbols_[index]));
    }
    return entry->second;
  }

  SignatureSymbol describe(const ElfSymbol& from) {
    SignatureSymbol added;
    if (from.binding != STB_LOCAL) {
      added.name = texts_.add(from.name.substr(0, from.name.find('@', 1)));
      added.is_hidden = from.visibility == STV_HIDDEN || from.visibility == STV_INTERNAL;
      added.is_weak = from.binding == STB_WEAK;
      added.is_indirect = from.type == STT_GNU_IFUNC;
    }
    const auto code = known_sections_.find(from.section);
    if (code != known_sections_.end()) {
      if (from.value <= set_.sections[code->second].size) {
        added.section = code->second;
        added.offset = static_cast<std::uint32_t>(from.value);
      }
    } else if (from.section != SHN_UNDEF && from.section < file_.sections().size() &&
               from.type != STT_TLS) {
      expect(file_.sections()[from.section], from.value, from.size, added);
    }
    return added;
  }

  // What stands at `offset` of a section, if it stays as it is.
  void expect(const ElfSection& section, std::uint64_t offset, std::uint64_t size,
              SignatureSymbol& added) {
    const bool constant = section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0 &&
                          (section.flags & (SHF_WRITE | SHF_TLS | SHF_EXECINSTR)) == 0;
    const auto contents = constant ? file_.contents(section) : std::nullopt;
    if (!contents || relocations_.contains(section.index)) {
      return;
    }
    const ByteView rest = contents->from(offset);
    std::uint64_t length = std::min<std::uint64_t>(rest.size(), kMostExpected);
    if ((section.flags & SHF_STRINGS) != 0 && section.entry_size == 1) {
      const auto text = rest.c_string(0);
      length = text ? std::min<std::uint64_t>(text->size() + 1, length) : 0;
    } else if ((section.flags & SHF_MERGE) != 0) {
      length = std::min(length, section.entry_size);
    } else if (size != 0) {
      length = std::min(length, size);
    }
    added.expected = static_cast<std::uint32_t>(set_.bytes.size());
    added.expected_size = static_cast<std::uint32_t>(length);
    const auto bytes = rest.bytes().first(length);
    set_.bytes.insert(set_.bytes.end(), bytes.begin(), bytes.end());
  }

  const ElfFile& file_;
  std::uint32_t member_;
  SignatureTexts& texts_;
  SignatureSet& set_;
  std::vector<ElfSymbol> symbols_;  // without the first, which is none
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> symbols_of_;  // by section
  std::unordered_map<std::uint32_t, std::vector<const ElfSection*>> relocations_;
  std::unordered_map<std::uint32_t, std::uint32_t> known_sections_;  // ours by the file's
  std::unordered_map<std::uint32_t, std::uint32_t> known_symbols_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> constants_;
  std::vector<std::pair<std::uint32_t, std::vector<RawRelocation>>> pending_;
  std::optional<std::uint32_t> nothing_;
};

}  // namespace

SignatureText SignatureTexts::add(std::string_view text) {
  const auto [entry, is_new] = known_.try_emplace(std::string(text), 0);
  if (is_new) {
    entry->second = static_cast<SignatureText>(set_.strings.size());
    set_.strings.append(text);
    set_.strings.push_back('\0');
  }
  return entry->second;
}

std::uint32_t add_member(const ElfFile& file, SignatureMember member, SignatureTexts& texts,
                         SignatureSet& set) {
  set.members.push_back(member);
  const auto index = static_cast<std::uint32_t>(set.members.size() - 1);
  return MemberReader(file, index, texts, set).run();
}

}  // namespace whocall
