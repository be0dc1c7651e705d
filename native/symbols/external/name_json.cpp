// JSON from scripts and decompilers, whatever its shape: each object with a name and an address is
// a function. The parser calls back, so nothing but the names is kept, and it does not recurse.
#include <nlohmann/json.hpp>

#include "symbols/external/list_formats.h"

#include <utility>
#include "symbols/external/name_rows.h"

namespace whocall {
namespace {

constexpr std::size_t kDeepestNesting = 64;

// The value with the best key so far.
template <typename Value>
struct Best {
  unsigned rank = ~0U;
  Value value{};

  void offer(unsigned new_rank, Value new_value) {
    if (new_rank < rank) {
      rank = new_rank;
      value = std::move(new_value);
    }
  }
  [[nodiscard]] bool known() const { return rank != ~0U; }
};

struct Object {
  Best<std::string> name, type, origin;
  Best<std::uint64_t> address, size, end;
  NameColumn column;  // of the value to come
};

class Handler {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit Handler(ListedNames& list) : list_(list) {}

  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(number_integer_t /*value*/) { return true; }  // negative
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) { return true; }
  bool binary(binary_t& /*value*/) { return true; }
  bool number_unsigned(number_unsigned_t value) {
    put(value);
    return true;
  }
  bool string(string_t& value) {
    using Kind = NameColumn::Kind;
    Object* object = current();
    if (object == nullptr) {
      return true;
    }
    const NameColumn column = object->column;
    if (column.kind == Kind::name) {
      object->name.offer(column.rank, std::move(value));
    } else if (column.kind == Kind::type) {
      object->type.offer(column.rank, std::move(value));
    } else if (column.kind == Kind::origin) {
      object->origin.offer(column.rank, std::move(value));
    } else if (const auto number = exported_address(value)) {
      put(*number);
    }
    return true;
  }
  bool start_object(std::size_t /*size*/) { return push(true); }
  bool start_array(std::size_t /*size*/) { return push(false); }
  bool key(string_t& value) {
    objects_.back().column = name_column(value);
    return true;
  }
  bool end_object() {
    const Object& object = objects_.back();
    if (object.name.known() && object.address.known() &&
        is_named_function(object.type.value, object.origin.value)) {
      add(object);
    }
    objects_.pop_back();
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    trouble_ = "is not JSON from byte " + std::to_string(position) + " on";
    return false;
  }

 private:
  // The object whose member the next value is; null within an array.
  Object* current() { return !open_.empty() && open_.back() ? &objects_.back() : nullptr; }

  bool push(bool is_object) {
    if (open_.size() >= kDeepestNesting) {
      trouble_ = "is nested deeper than " + std::to_string(kDeepestNesting) + " levels";
      return false;
    }
    open_.push_back(is_object);
    if (is_object) {
      objects_.emplace_back();
    }
    return true;
  }

  void put(std::uint64_t value) {
    using Kind = NameColumn::Kind;
    Object* object = current();
    if (object == nullptr) {
      return;
    }
    const NameColumn column = object->column;
    if (column.kind == Kind::address) {
      object->address.offer(column.rank, value);
    } else if (column.kind == Kind::size) {
      object->size.offer(column.rank, value);
    } else if (column.kind == Kind::end) {
      object->end.offer(column.rank, value);
    }
  }

  void add(const Object& object) {
    ListedName& symbol = list_.names.emplace_back();
    symbol.address = object.address.value;
    symbol.size = object.size.value;
    if (object.end.value > symbol.address) {
      symbol.limit = object.end.value;
    }
    // Folklore. Situation: radare2 writes flags for names. Example: "sym.main", "dbg.main".
    // Remedy: the word before the dot is not part of the name.
    std::string_view name = list_.strings.emplace_back(object.name.value);
    for (const std::string_view word : {"sym.imp.", "sym.", "dbg."}) {
      if (name.starts_with(word)) {
        name.remove_prefix(word == "sym.imp." ? 0 : word.size());
        break;
      }
    }
    symbol.name = name;
  }

  ListedNames& list_;
  std::vector<Object> objects_;
  std::vector<bool> open_;  // true for an object, false for an array
  std::string trouble_;
};

}  // namespace

std::string read_name_json(std::string_view text, ListedNames& list) {
  list.format = "JSON";
  list.exact_sizes = false;
  Handler handler(list);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler.trouble();
}

}  // namespace whocall
