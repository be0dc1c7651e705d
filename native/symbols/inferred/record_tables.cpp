#include "symbols/inferred/record_tables.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/interrupt.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestName = 64;  // bytes
constexpr std::uint64_t kWidest = 40;     // words of a record
constexpr std::size_t kNextTexts = 6;     // texts of one record and the first of the next
constexpr std::size_t kFewestRows = 4;
constexpr std::size_t kMostLeft = 6;  // rows without a function at the end: constants of Lua
constexpr std::size_t kMostRows = 1U << 16U;
constexpr std::size_t kMostLooks = std::size_t{1} << 24U;  // at words, in all

std::size_t count_functions(const RecordTable& table) {
  return static_cast<std::size_t>(
      std::ranges::count_if(table.rows, [](const RecordRow& row) { return row.function != 0; }));
}

class TableFinder {
 public:
  explicit TableFinder(const RecordWords& words) : words_(words) {}

  std::vector<RecordTable> run() {
    const auto& texts = words_.texts();
    for (std::size_t at = 0; at < texts.size() && looks_ < kMostLooks; ++at) {
      check_interrupt_at(at, kManyEntries);
      for (std::size_t next = at + 1; next < texts.size() && next <= at + kNextTexts; ++next) {
        const std::uint64_t size = texts[next] - texts[at];
        if (size > kWidest * words_.word()) {
          break;
        }
        if (size >= 2 * words_.word() && words_.text_at(texts[at] - size) == nullptr) {
          look_along(texts[at], size);
        }
      }
    }
    choose();
    return std::move(found_);
  }

 private:
  // Texts at `begin` and at each multiple of `size` behind it.
  void look_along(Address begin, std::uint64_t size) {
    std::size_t count = 0;
    while (count < kMostRows && words_.text_at(begin + count * size) != nullptr) {
      ++count;
    }
    looks_ += count;
    if (count < kFewestRows) {
      return;
    }
    const auto step = static_cast<std::int64_t>(words_.word());
    const auto width = static_cast<std::int64_t>(size);
    // The first function behind the text, or else the first of the record before it.
    for (std::int64_t offset = step; offset < width && looks_ < kMostLooks; offset += step) {
      check_interrupt();
      read_column(begin, size, count, offset);
      read_column(begin, size, count, offset - width);
    }
  }

  // Whether one of some rows has a function.
  bool shows_functions(Address column, std::uint64_t size, std::size_t count) {
    constexpr std::size_t kSamples = 16;
    const std::size_t step = std::max<std::size_t>(1, count / kSamples);
    for (std::size_t row = 0; row < count; row += step) {
      ++looks_;
      if (words_.code_at(column + row * size) != 0) {
        return true;
      }
    }
    return false;
  }

  void read_column(Address begin, std::uint64_t size, std::size_t count, std::int64_t offset) {
    const auto place = [&](std::size_t row) {
      return begin + row * size + static_cast<Address>(offset);
    };
    if (!shows_functions(begin + static_cast<Address>(offset), size, count)) {
      return;
    }
    looks_ += count;
    for (std::size_t row = 0; row < count; ++row) {
      RecordTable table{.begin = begin + row * size, .size = size, .offset = offset};
      // What is read together does not belong together where a function is left over.
      bool is_whole = words_.code_at(place(row) - size) == 0;
      const bool is_open_before = words_.is_open(place(row) - size);
      for (; row < count; ++row) {
        const Address function = words_.code_at(place(row));
        if (function == 0 && !words_.is_open(place(row))) {
          break;  // another table begins, whose texts lie just as far apart
        }
        table.rows.push_back({*words_.text_at(begin + row * size), function});
      }
      is_whole = is_whole && words_.code_at(place(row)) == 0;
      const bool has_zeros = has_terminator(table);
      const std::size_t left = trim(table);
      const bool has_end = has_zeros && left <= kMostLeft;
      // Functions before their texts, of which the first record has none, look the same.
      const bool is_all = left == 0 && row == count;
      is_whole = is_whole && (offset < 0 || !is_open_before || is_all || has_end);
      table.functions = count_functions(table);
      looks_ += table.rows.size() * (table.size / words_.word());  // at all columns
      if (is_table(table) && has_columns(table)) {
        table.has_names = has_names(table);
        is_sure_.push_back(table.has_names && (is_whole || has_end) && !has_other_names(table));
        table.number = found_.size();
        found_.push_back(std::move(table));
      }
    }
  }

  // Zeros as long as a record behind the last one.
  bool has_terminator(const RecordTable& table) const {
    const Address first =
        table.begin + static_cast<Address>(std::min<std::int64_t>(0, table.offset));
    const Address end = first + table.rows.size() * table.size;
    for (Address where = end; where < end + table.size; where += words_.word()) {
      if (!words_.is_open(where)) {
        return false;
      }
    }
    return true;
  }

  // Rows at the end that have no function may be something else. How many there are.
  static std::size_t trim(RecordTable& table) {
    const std::size_t count = table.rows.size();
    while (!table.rows.empty() && table.rows.back().function == 0) {
      table.rows.pop_back();
    }
    return count - table.rows.size();
  }

  static bool is_table(const RecordTable& table) {
    if (table.functions < kFewestRows || 2 * table.functions < table.rows.size()) {
      return false;
    }
    std::set<Address> different;
    for (const RecordRow& row : table.rows) {
      if (row.function != 0) {
        different.insert(row.function);
      }
    }
    return 2 * different.size() >= table.functions;
  }

  // Others are operators, or sentences that have functions as well.
  static bool has_names(const RecordTable& table) {
    std::set<std::string_view> names;
    std::size_t named = 0;
    for (const RecordRow& row : table.rows) {
      if (is_registered_name(row.text)) {
        ++named;
        names.insert(row.text);
      }
    }
    return 2 * named >= table.rows.size() && names.size() == named;
  }

  // Each word of a record is of one kind in all of them: zero is of any.
  bool has_columns(const RecordTable& table) const {
    for (std::uint64_t column = 0; column < table.size; column += words_.word()) {
      std::optional<RecordWords::Kind> kind;
      for (std::size_t row = 0; row + 1 < table.rows.size(); ++row) {
        const auto here = words_.kind_at(table.begin + row * table.size + column);
        if (here != RecordWords::Kind::zero && here != kind.value_or(here)) {
          return false;
        }
        kind = here != RecordWords::Kind::zero ? std::optional(here) : kind;
      }
    }
    return true;
  }

  // Whether another word of the records leads to names as well, in all that have a function.
  bool has_other_names(const RecordTable& table) const {
    for (std::uint64_t column = words_.word(); column < table.size; column += words_.word()) {
      bool are_names = true;
      for (std::size_t row = 0; row + 1 < table.rows.size(); ++row) {
        const auto* text = words_.text_at(table.begin + row * table.size + column);
        const bool is_name = text != nullptr && is_registered_name(*text);
        are_names = are_names && (is_name || table.rows[row].function == 0);
      }
      if (are_names) {
        return true;
      }
    }
    return false;
  }

  // Of tables that share words that with the smallest records is right: larger ones skip some. Of
  // those as small it is the one with the most functions; of those with as many none is.
  void choose() {
    std::ranges::stable_sort(found_, [](const RecordTable& left, const RecordTable& right) {
      return left.size != right.size ? left.size < right.size : left.functions > right.functions;
    });
    std::vector<bool> is_chosen;
    for (std::size_t number = 0; number < found_.size(); ++number) {
      check_interrupt();
      RecordTable& table = found_[number];
      leave_to_smaller(table);
      is_chosen.push_back(is_sure_[table.number] && table.functions >= kFewestRows);
      for_each_place(table, [&](Address where) {
        const auto [owner, is_new] = owners_.try_emplace(where, number);
        const RecordTable& other = found_[owner->second];
        if (is_new || owner->second == number) {
          return;
        }
        if (have_other_texts(table, other)) {
          owner->second = other.has_names ? owner->second : number;
          return;
        }
        is_chosen[number] = false;
        // Another function of the same records is no rival.
        if (other.functions == table.functions && other.size == table.size &&
            other.begin != table.begin) {
          is_chosen[owner->second] = false;
        }
      });
    }
    std::size_t number = 0;
    std::erase_if(found_, [&](const RecordTable&) { return !is_chosen[number++]; });
  }

  // Whether they are the same records, of which one has texts that are no names.
  static bool have_other_texts(const RecordTable& left, const RecordTable& right) {
    return left.size == right.size && (left.begin - right.begin) % left.size != 0 &&
           !(left.has_names && right.has_names);
  }

  // Of rows whose text and function are those of smaller tables the others are another table, which
  // lies behind or before and just as far apart.
  void leave_to_smaller(RecordTable& table) const {
    const auto is_left = [&](Address where) {
      const auto owner = owners_.find(where);
      return owner != owners_.end() && found_[owner->second].size < table.size;
    };
    bool leaves = false;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Address text = table.begin + row * table.size;
      if (table.rows[row].function != 0 && is_left(text) &&
          is_left(text + static_cast<Address>(table.offset))) {
        table.rows[row].function = 0;
        leaves = true;
      }
    }
    if (leaves) {
      const auto first =
          std::ranges::find_if(table.rows, [](const RecordRow& row) { return row.function != 0; });
      table.begin += static_cast<Address>(first - table.rows.begin()) * table.size;
      table.rows.erase(table.rows.begin(), first);
      table.functions = count_functions(table);
    }
  }

  template <typename Visit>
  static void for_each_place(const RecordTable& table, const Visit& visit) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Address text = table.begin + row * table.size;
      if (table.rows[row].function != 0) {
        visit(text);
        visit(text + static_cast<Address>(table.offset));
      }
    }
  }

  const RecordWords& words_;
  std::vector<RecordTable> found_;
  std::vector<bool> is_sure_;                        // by the tables' numbers
  std::unordered_map<Address, std::size_t> owners_;  // of the places of texts and functions
  std::size_t looks_ = 0;
};

}  // namespace

bool is_registered_name(std::string_view text) {
  const auto is_letter = [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
  };
  const auto may_follow = [&](char each) {
    return is_letter(each) || (each >= '0' && each <= '9') ||
           std::string_view("-.:|").find(each) != std::string_view::npos;
  };
  return text.size() >= 2 && text.size() <= kLongestName && is_letter(text.front()) &&
         std::ranges::all_of(text, may_follow);
}

std::vector<RecordTable> record_tables(const RecordWords& words) {
  return TableFinder(words).run();
}

}  // namespace whocall
