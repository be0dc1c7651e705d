#include "symbols/languages/objc_methods.h"

#include <elf.h>

#include <deque>
#include <string>
#include <unordered_set>
#include <utility>

#include "arch/architecture.h"
#include "base/interrupt.h"
#include "symbols/discovery/data_words.h"
#include "symbols/languages/dynamic_text.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestObjcText = 4096;  // bytes: of a class's name, or of a selector

// struct objc_module, in words: version, size, name, symtab.
constexpr std::uint64_t kModuleWords = 4;
constexpr std::uint64_t kLeastVersion = 8;
constexpr std::uint64_t kMostVersion = 10;
// struct objc_symtab, in words: count of selectors, selectors, two counts of 16 bits, definitions:
// classes first, then categories.
constexpr std::uint64_t kCounts = 2;
constexpr std::uint64_t kDefinitions = 3;
// struct objc_class, in words. The class of a class holds the methods that are called by its name.
constexpr std::uint64_t kMeta = 0;
constexpr std::uint64_t kClassName = 2;
constexpr std::uint64_t kMethods = 7;
// struct objc_category, in words.
constexpr std::uint64_t kCategoryName = 0;
constexpr std::uint64_t kExtendedClass = 1;
constexpr std::uint64_t kInstanceMethods = 2;
constexpr std::uint64_t kClassMethods = 3;
// struct objc_method_list, in words: next, count of 32 bits, methods of three words.
constexpr std::uint64_t kFirstMethod = 2;
constexpr std::uint64_t kMethodWords = 3;
constexpr std::uint64_t kCode = 2;

class ObjcReader {
 public:
  ObjcReader(const ElfFile& file, const Architecture& arch)
      : file_(file), arch_(arch), words_(file), word_(file.pointer_size()) {}

  // A module is found by its last word, which leads to the table of its symbols.
  std::optional<NameList> read() {
    for (const DataPointer& each : words_.pointers()) {
      const Address module = each.where - (kModuleWords - 1) * word_;
      const std::uint64_t version = number_at(module);
      if (version >= kLeastVersion && version <= kMostVersion &&
          number_at(module + word_) == kModuleWords * word_) {
        read_symbols(each.target);
      }
    }
    if (list_.symbols.empty()) {
      return std::nullopt;
    }
    list_.owner = std::move(names_);
    return std::move(list_);
  }

 private:
  [[nodiscard]] std::uint64_t number_at(Address where) const {
    return file_.at(where).read_unsigned(0, word_).value_or(0);
  }
  [[nodiscard]] std::string_view text(Address record, std::uint64_t place) const {
    const auto target = words_.pointer_at(record + place * word_);
    return target ? words_.text_at(*target, kLongestObjcText) : std::string_view();
  }

  void read_symbols(Address symbols) {
    if (!seen_.insert(symbols).second) {
      return;
    }
    const ByteView counts = file_.at(symbols + kCounts * word_);
    const unsigned classes = counts.read<std::uint16_t>(0).value_or(0);
    const unsigned categories = counts.read<std::uint16_t>(2).value_or(0);
    for (unsigned i = 0; i < classes + categories; ++i) {
      check_interrupt_at(i, kManyEntries);
      const auto definition = words_.pointer_at(symbols + (kDefinitions + i) * word_);
      if (!definition) {
        return;  // not what it looked like, or damaged
      }
      if (!seen_.insert(*definition).second) {
        continue;
      }
      if (i < classes) {
        read_class(*definition);
      } else {
        read_category(*definition);
      }
    }
  }

  void read_class(Address one) {
    const std::string name(text(one, kClassName));
    const auto meta = words_.pointer_at(one + kMeta * word_);
    if (!name.empty() && meta) {
      read_methods(one + kMethods * word_, "-[" + name + " ");
      read_methods(*meta + kMethods * word_, "+[" + name + " ");
    }
  }

  void read_category(Address one) {
    const std::string_view name = text(one, kCategoryName);
    const std::string_view extended = text(one, kExtendedClass);
    if (!name.empty() && !extended.empty()) {
      const std::string owner = std::string(extended) + "(" + std::string(name) + ") ";
      read_methods(one + kInstanceMethods * word_, "-[" + owner);
      read_methods(one + kClassMethods * word_, "+[" + owner);
    }
  }

  // Of the list that the word at `where` leads to.
  void read_methods(Address where, const std::string& owner) {
    const auto methods = words_.pointer_at(where);
    if (!methods || !seen_.insert(*methods).second) {
      return;
    }
    const std::uint32_t count = file_.at(*methods + word_).read<std::uint32_t>(0).value_or(0);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Address method = *methods + (kFirstMethod + kMethodWords * i) * word_;
      const std::string_view selector = text(method, 0);
      const auto code = words_.pointer_at(method + kCode * word_);
      if (selector.empty() || !code || !add(arch_.code_address(*code), owner, selector)) {
        return;
      }
    }
  }

  bool add(Address code, const std::string& owner, std::string_view selector) {
    const ElfSection* section = file_.section_at(code);
    const std::size_t size = owner.size() + selector.size() + 1;
    const bool is_code = section == nullptr || (section->flags & SHF_EXECINSTR) != 0;
    if (!is_code || !file_.budget().draw(Cost::names, size)) {
      return false;
    }
    names_->push_back(owner + std::string(selector) + "]");
    Symbol symbol;
    symbol.range = {code, code};
    symbol.name = names_->back();
    symbol.source = NameSource::objc;
    symbol.exact_end = false;
    list_.symbols.push_back(symbol);
    return true;
  }

  const ElfFile& file_;
  const Architecture& arch_;
  DataWords words_;
  unsigned word_;                     // bytes
  std::unordered_set<Address> seen_;  // what a hostile file names again and again is read once
  std::shared_ptr<std::deque<std::string>> names_ = std::make_shared<std::deque<std::string>>();
  NameList list_;
};

}  // namespace

std::optional<NameList> objc_methods(const ElfFile& file) {
  const Architecture* arch = find_architecture(file.identity());
  // All that has classes calls it, before its first own function runs.
  if (arch == nullptr || !has_dynamic_text(file, "__objc_exec_class")) {
    return std::nullopt;
  }
  return ObjcReader(file, *arch).read();
}

}  // namespace whocall
