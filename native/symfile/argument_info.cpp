#include "symfile/argument_info.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_sink.h"
#include "rules/dwarf.h"
#include "symfile/dwarf_entries.h"

namespace whocall {
namespace {

constexpr std::uint8_t kUnitVersion = 4;

// The kinds of entries, numbered as .debug_abbrev has them; 0 ends a list of children.
constexpr std::uint8_t kListEnd = 0;
constexpr std::uint8_t kUnitEntry = 1;
constexpr std::uint8_t kFunctionEntry = 2;
constexpr std::uint8_t kMangledEntry = 3;
constexpr std::uint8_t kParameterEntry = 4;
constexpr std::uint8_t kUnknownEntry = 5;
constexpr std::uint8_t kMoreEntry = 6;
constexpr std::uint8_t kNumberEntry = 7;
constexpr std::uint8_t kTextEntry = 8;
constexpr std::uint8_t kPointerEntry = 9;
using Pair = std::pair<std::uint8_t, std::uint8_t>;
struct EntryForm {
  std::uint8_t entry;
  std::uint8_t tag;
  bool has_children;
  std::vector<Pair> attributes;
};

std::vector<EntryForm> entry_forms() {
  return {
      {kUnitEntry,
       dw::TAG_compile_unit,
       true,
       {{dw::AT_producer, dw::FORM_string},
        {dw::AT_language, dw::FORM_data1},
        {dw::AT_name, dw::FORM_string}}},
      {kFunctionEntry,
       dw::TAG_subprogram,
       true,
       {{dw::AT_name, dw::FORM_string},
        {dw::AT_low_pc, dw::FORM_addr},
        {dw::AT_high_pc, dw::FORM_udata},
        {dw::AT_external, dw::FORM_flag_present},
        {dw::AT_prototyped, dw::FORM_flag_present}}},
      {kMangledEntry,
       dw::TAG_subprogram,
       true,
       {{dw::AT_name, dw::FORM_string},
        {dw::AT_linkage_name, dw::FORM_string},
        {dw::AT_low_pc, dw::FORM_addr},
        {dw::AT_high_pc, dw::FORM_udata},
        {dw::AT_external, dw::FORM_flag_present},
        {dw::AT_prototyped, dw::FORM_flag_present}}},
      {kParameterEntry,
       dw::TAG_formal_parameter,
       false,
       {{dw::AT_name, dw::FORM_string},
        {dw::AT_type, dw::FORM_ref4},
        {dw::AT_location, dw::FORM_exprloc}}},
      {kUnknownEntry,
       dw::TAG_formal_parameter,
       false,
       {{dw::AT_name, dw::FORM_string}, {dw::AT_type, dw::FORM_ref4}}},
      {kMoreEntry, dw::TAG_unspecified_parameters, false, {}},
      {kNumberEntry,
       dw::TAG_base_type,
       false,
       {{dw::AT_name, dw::FORM_string},
        {dw::AT_byte_size, dw::FORM_data1},
        {dw::AT_encoding, dw::FORM_data1}}},
      {kTextEntry,
       dw::TAG_pointer_type,
       false,
       {{dw::AT_byte_size, dw::FORM_data1}, {dw::AT_type, dw::FORM_ref4}}},
      {kPointerEntry, dw::TAG_pointer_type, false, {{dw::AT_byte_size, dw::FORM_data1}}},
  };
}

// By stack pointer, each once.
std::vector<HandedValue> told_values(std::vector<HandedValue> values) {
  std::ranges::stable_sort(values, {}, &HandedValue::sp);
  std::vector<HandedValue> sure;
  for (auto first = values.begin(); first != values.end();) {
    const auto last = std::find_if(first, values.end(),
                                   [&](const HandedValue& each) { return each.sp != first->sp; });
    if (std::all_of(first, last, [&](const auto& each) { return each.value == first->value; })) {
      sure.push_back(*first);
    }
    first = last;
  }
  sure.resize(std::min(sure.size(), kMostCallsTold));
  return sure;
}

class InfoWriter {
 public:
  explicit InfoWriter(const Architecture& arch)
      : arch_(arch), pointer_size_(arch.abi.pointer_size), out_(sink()) {}

  ArgumentInfo write(const std::vector<WrittenFunction>& functions) {
    for (const WrittenFunction& function : functions) {
      write_unit(function);
    }
    return {std::move(out_).take(), abbreviations()};
  }

 private:
  [[nodiscard]] ByteSink sink() const { return {arch_.abi.endian, pointer_size_}; }

  // Each function has a unit of its own: gdb takes all code between the first and the last function
  // of a unit for the unit's.
  void write_unit(const WrittenFunction& function) {
    unit_ = out_.size();
    types_.clear();
    out_.u32(0).u16(kUnitVersion).u32(0).u8(pointer_size_);
    // What is no name of C++ is not read by its rules.
    const bool is_cxx = !function.linkage_name.empty();
    out_.u8(kUnitEntry).text("whocall").u8(is_cxx ? dw::LANG_C_plus_plus : dw::LANG_C99);
    out_.text(function.file);
    write_function(function);
    out_.u8(kListEnd);
    out_.patch_u32(unit_, static_cast<std::uint32_t>(out_.size() - unit_ - 4));
  }

  void write_function(const WrittenFunction& function) {
    std::vector<std::uint32_t> types;
    for (const WrittenParameter& parameter : function.parameters) {
      types.push_back(type_of(parameter));
    }
    const bool is_cxx = !function.linkage_name.empty();
    out_.u8(is_cxx ? kMangledEntry : kFunctionEntry).text(function.name);
    if (is_cxx) {
      out_.text(function.linkage_name);
    }
    out_.word(function.range.begin).uleb(function.range.size());
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      const WrittenParameter& parameter = function.parameters[i];
      const auto values = told_values(parameter.values);
      const bool known = !values.empty();
      out_.u8(known ? kParameterEntry : kUnknownEntry).text("a" + std::to_string(i + 1));
      out_.u32(types[i]);
      if (known) {
        const auto location = location_of(parameter, values);
        out_.uleb(location.size()).append(location);
      }
    }
    if (function.more) {
      out_.u8(kMoreEntry);
    }
    out_.u8(kListEnd);
  }

  // Where the type of a parameter stands in the unit, bytes; written when it is first asked for.
  std::uint32_t type_of(const WrittenParameter& parameter) {
    using Kind = WrittenParameter::Kind;
    const auto [known, is_new] = types_.try_emplace({parameter.kind, parameter.size}, 0);
    if (!is_new) {
      return known->second;
    }
    if (parameter.kind == Kind::text) {
      const std::uint32_t character = here();
      out_.u8(kNumberEntry).text("char").u8(1).u8(dw::ATE_signed_char);
      known->second = here();
      out_.u8(kTextEntry).u8(pointer_size_).u32(character);
      return known->second;
    }
    known->second = here();
    if (parameter.kind == Kind::pointer) {
      out_.u8(kPointerEntry).u8(pointer_size_);
      return known->second;
    }
    const bool is_signed = parameter.kind == Kind::signed_number;
    const std::string_view name = parameter.size == 4 ? "int" : "long long";
    out_.u8(kNumberEntry).text((is_signed ? "" : "unsigned ") + std::string(name));
    out_.u8(parameter.size).u8(is_signed ? dw::ATE_signed : dw::ATE_unsigned);
    return known->second;
  }
  [[nodiscard]] std::uint32_t here() const {
    return static_cast<std::uint32_t>(out_.size() - unit_);
  }

  void number(ByteSink& out, std::uint64_t value) const {
    pointer_size_ == 8 ? out.u8(dw::OP_const8u).u64(value) : out.u8(dw::OP_const4u).u32(value);
  }

  // What a frame is told whose stack pointer is on top of the expression's stack, and that it is
  // the whole answer.
  [[nodiscard]] std::vector<std::byte> answer(const WrittenParameter& parameter,
                                              std::uint64_t value) const {
    ByteSink out = sink();
    number(out, value);
    out.u8(dw::OP_stack_value).u8(dw::OP_piece).uleb(parameter.size);
    return std::move(out).take();
  }

  [[nodiscard]] std::vector<std::byte> location_of(const WrittenParameter& parameter,
                                                   const std::vector<HandedValue>& values) const {
    ByteSink out = sink();
    out.u8(dw::OP_bregx).uleb(arch_.registers.sp).sleb(0);
    const std::size_t count = values.size();
    const std::size_t skip = 3;
    const std::size_t compared = (pointer_size_ == 8 ? 9 : 5) + 2 + 3;
    const std::size_t each =
        compared + answer(parameter, 0).size() + skip;  // bytes, all of them alike
    const std::size_t end = count * each + 1 + 1 + 1;   // of what follows the first operation
    for (std::size_t i = 0; i < count; ++i) {
      const auto told = answer(parameter, values[i].value);
      out.u8(dw::OP_dup);
      number(out, values[i].sp);
      out.u8(dw::OP_ne).u8(dw::OP_bra).u16(told.size() + skip);
      out.append(told);
      out.u8(dw::OP_skip).u16(end - (i + 1) * each);
    }
    out.u8(dw::OP_drop).u8(dw::OP_piece).uleb(parameter.size);
    return std::move(out).take();
  }

  [[nodiscard]] std::vector<std::byte> abbreviations() const {
    ByteSink out = sink();
    for (const EntryForm& form : entry_forms()) {
      out.u8(form.entry).u8(form.tag).u8(form.has_children ? 1 : 0);
      for (const auto& [attribute, how] : form.attributes) {
        out.u8(attribute).u8(how);
      }
      out.u8(0).u8(0);
    }
    return std::move(out.u8(0)).take();
  }

  const Architecture& arch_;
  std::uint8_t pointer_size_;
  ByteSink out_;
  std::size_t unit_ = 0;  // where the unit begins, bytes
  std::map<std::pair<WrittenParameter::Kind, std::uint8_t>, std::uint32_t> types_;
};

}  // namespace

ArgumentInfo write_argument_info(const std::vector<WrittenFunction>& functions,
                                 const Architecture& arch) {
  return InfoWriter(arch).write(functions);
}

}  // namespace whocall
