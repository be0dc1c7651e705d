#include "symbols/inferred/type_infos.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/table/code_areas.h"

namespace whocall {
namespace {

enum class Kind : std::uint8_t { alone, one_base, many_bases };

constexpr std::size_t kLongestName = 4096;
constexpr std::uint64_t kMostBases = 1024;

// The classes of libstdc++ and libc++abi whose virtual tables type infos begin with.
std::optional<Kind> kind_named(std::string_view name) {
  if (name == "N10__cxxabiv117__class_type_infoE") {
    return Kind::alone;
  }
  if (name == "N10__cxxabiv120__si_class_type_infoE") {
    return Kind::one_base;
  }
  if (name == "N10__cxxabiv121__vmi_class_type_infoE") {
    return Kind::many_bases;
  }
  return std::nullopt;
}

// Class names begin with their length, a nested or local scope, or a substitution.
bool begins_class(char first) {
  return (first >= '1' && first <= '9') || first == 'N' || first == 'S' || first == 'Z';
}
bool looks_like_class(std::string_view name) { return name.size() > 1 && begins_class(name[0]); }

class Reader {
 public:
  Reader(const ElfFile& file, const DataWords& words)
      : file_(file),
        words_(words),
        word_(file.pointer_size()),
        code_(file.sections().empty() ? std::vector<AddressRange>() : code_areas(file)) {}

  std::unordered_map<Address, TypeInfo> run() {
    std::unordered_map<Address, TypeInfo> found;
    const std::span<const DataPointer> pointers = words_.pointers();
    for (std::size_t i = 0; i < pointers.size(); ++i) {
      const auto& [where, target] = pointers[i];
      if (!may_be_name(target)) {
        continue;
      }
      const Address object = where - word_;
      const auto kind = kind_of(object, pointer_before(pointers, i, object));
      if (!kind) {
        continue;
      }
      std::string_view name = words_.text_at(target, kLongestName);
      name.remove_prefix(name.starts_with(kInternal) ? 1 : 0);
      if (looks_like_class(name)) {
        found.emplace(object, TypeInfo{name, bases_of(object, *kind)});
      }
    }
    return found;
  }

 private:
  static constexpr char kInternal = '*';  // before names with internal linkage

  // At a glance: of a large file's pointers the most lead to functions.
  [[nodiscard]] bool may_be_name(Address target) const {
    if (is_code(target)) {
      return false;
    }
    const char first = static_cast<char>(file_.at(target).read<std::uint8_t>(0).value_or(0));
    return first == kInternal || begins_class(first);
  }

  // What stands at `object` if that is a pointer: as a rule the one before pointers[index].
  [[nodiscard]] std::optional<Address> pointer_before(std::span<const DataPointer> pointers,
                                                      std::size_t index, Address object) const {
    if (index == 0 || pointers[index - 1].where < object) {
      return std::nullopt;
    }
    const DataPointer& before = pointers[index - 1];
    return before.where == object ? std::optional(before.target) : words_.pointer_at(object);
  }

  [[nodiscard]] bool is_code(Address address) const {
    return std::ranges::any_of(code_,
                               [&](const AddressRange& area) { return area.contains(address); });
  }

  // `table` is where its first word points; a miss when that is no pointer into the file.
  [[nodiscard]] std::optional<Kind> kind_of(Address object, std::optional<Address> table) const {
    constexpr std::string_view kTable = "_ZTV";
    std::string_view bound = words_.import_at(object);
    if (bound.empty() && table) {
      bound = words_.import_at(*table - 2ULL * word_);  // a copy in the program's own data
    }
    if (bound.starts_with(kTable)) {
      return kind_named(bound.substr(kTable.size()));
    }
    const auto own = table ? words_.pointer_at(*table - word_) : std::nullopt;
    const auto name = own ? words_.pointer_at(*own + word_) : std::nullopt;
    return name ? kind_named(words_.text_at(*name, kLongestName)) : std::nullopt;
  }

  [[nodiscard]] std::vector<Address> bases_of(Address object, Kind kind) const {
    std::vector<Address> bases;
    const auto add = [&](Address where) {
      if (const auto base = words_.pointer_at(where)) {
        bases.push_back(*base);
      }
    };
    if (kind == Kind::one_base) {
      add(object + 2ULL * word_);
    } else if (kind == Kind::many_bases) {
      constexpr unsigned kHead = 8;  // __flags and __base_count, 32 bits each
      const auto count = file_.at(object + 2ULL * word_ + 4).read<std::uint32_t>(0).value_or(0);
      for (std::uint64_t i = 0; i < count && i < kMostBases; ++i) {
        add(object + 2ULL * word_ + kHead + i * 2 * word_);
      }
    }
    return bases;
  }

  const ElfFile& file_;
  const DataWords& words_;
  unsigned word_;
  std::vector<AddressRange> code_;  // sections of it: segments may hold texts too
};

}  // namespace

std::unordered_map<Address, TypeInfo> type_infos(const ElfFile& file, const DataWords& words) {
  return Reader(file, words).run();
}

}  // namespace whocall
