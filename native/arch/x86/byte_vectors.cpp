#include "arch/x86/byte_vectors.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hex.h"

namespace whocall::x86 {
namespace {

enum class Shape : std::uint8_t { mask, three, load, store };  // what it makes, and of what

struct Form {
  std::uint8_t map;     // 1: 0F, 2: 0F 38, 3: 0F 3A
  std::uint8_t prefix;  // 1: 66, 2: F3, 3: F2
  std::uint8_t opcode;
  Shape shape;
  std::string_view bytes;  // its name where W is 0
  std::string_view words;  // and where it is 1; of most the same
};

constexpr auto kForms = std::to_array<Form>({
    {1, 1, 0x64, Shape::mask, "vpcmpgtb", "vpcmpgtb"},
    {1, 1, 0x65, Shape::mask, "vpcmpgtw", "vpcmpgtw"},
    {1, 1, 0x74, Shape::mask, "vpcmpeqb", "vpcmpeqb"},
    {1, 1, 0x75, Shape::mask, "vpcmpeqw", "vpcmpeqw"},
    {1, 1, 0xd8, Shape::three, "vpsubusb", "vpsubusb"},
    {1, 1, 0xd9, Shape::three, "vpsubusw", "vpsubusw"},
    {1, 1, 0xda, Shape::three, "vpminub", "vpminub"},
    {1, 1, 0xdc, Shape::three, "vpaddusb", "vpaddusb"},
    {1, 1, 0xde, Shape::three, "vpmaxub", "vpmaxub"},
    {1, 1, 0xea, Shape::three, "vpminsw", "vpminsw"},
    {1, 1, 0xee, Shape::three, "vpmaxsw", "vpmaxsw"},
    {1, 1, 0xf8, Shape::three, "vpsubb", "vpsubb"},
    {1, 1, 0xf9, Shape::three, "vpsubw", "vpsubw"},
    {1, 1, 0xfc, Shape::three, "vpaddb", "vpaddb"},
    {1, 1, 0xfd, Shape::three, "vpaddw", "vpaddw"},
    {1, 3, 0x6f, Shape::load, "vmovdqu8", "vmovdqu16"},
    {1, 3, 0x7f, Shape::store, "vmovdqu8", "vmovdqu16"},
    {2, 1, 0x00, Shape::three, "vpshufb", "vpshufb"},
    {2, 1, 0x26, Shape::mask, "vptestmb", "vptestmw"},
    {2, 2, 0x26, Shape::mask, "vptestnmb", "vptestnmw"},
    {2, 1, 0x38, Shape::three, "vpminsb", "vpminsb"},
    {2, 1, 0x3a, Shape::three, "vpminuw", "vpminuw"},
    {2, 1, 0x3c, Shape::three, "vpmaxsb", "vpmaxsb"},
    {2, 1, 0x3e, Shape::three, "vpmaxuw", "vpmaxuw"},
    {3, 1, 0x3e, Shape::mask, "vpcmpub", "vpcmpuw"},
    {3, 1, 0x3f, Shape::mask, "vpcmpb", "vpcmpw"},
});

constexpr std::array<std::string_view, 16> kNames64 = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                       "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                       "r12", "r13", "r14", "r15"};
constexpr std::array<std::string_view, 8> kNames32 = {"eax", "ecx", "edx", "ebx",
                                                      "esp", "ebp", "esi", "edi"};

struct Vector {
  std::string_view registers;  // their names' beginning
  std::string_view memory;
  std::uint8_t size = 0;  // bytes
};

constexpr std::array<Vector, 3> kVectors = {
    {{"xmm", "xmmword ptr ", 16}, {"ymm", "ymmword ptr ", 32}, {"zmm", "zmmword ptr ", 64}}};

// The bits that EVEX adds to a field are stored inverted.
constexpr unsigned added(std::uint8_t byte, unsigned bit, unsigned value) {
  return (byte >> bit & 1U) == 0 ? value : 0;
}

class Reader {
 public:
  Reader(ByteView code, bool is_64) : code_(code), is_64_(is_64) {}

  std::optional<Operation> read() {
    for (std::size_t at = 0; at < head_.size(); ++at) {
      const auto value = code_.read<std::uint8_t>(at);
      if (!value) {
        return std::nullopt;
      }
      head_.at(at) = *value;
    }
    const bool is_evex = head_[0] == 0x62 && (head_[1] & 8U) == 0 && (head_[2] & 4U) != 0 &&
                         (is_64_ || (head_[1] & 0xf0U) == 0xf0);
    const Form* form = is_evex ? find_form() : nullptr;
    const unsigned length = head_[3] >> 5U & 3U;
    const bool broadcasts = (head_[3] & 0x10U) != 0;
    if (form == nullptr || length >= kVectors.size() || broadcasts || head_[5] >= 0xc0) {
      return std::nullopt;
    }
    vector_ = kVectors.at(length);
    return read_operands(*form);
  }

 private:
  [[nodiscard]] const Form* find_form() const {
    const auto* found = std::ranges::find_if(kForms, [this](const Form& form) {
      return form.map == (head_[1] & 7U) && form.prefix == (head_[2] & 3U) &&
             form.opcode == head_[4];
    });
    return found == kForms.end() ? nullptr : found;
  }

  std::optional<Operation> read_operands(const Form& form) {
    auto memory = read_memory();
    if (!memory) {
      return std::nullopt;
    }
    memory->read = form.shape != Shape::store;
    memory->written = !memory->read;
    memory->size = masked() ? 0 : vector_.size;  // a masked one may access less
    Operation out;
    out.mnemonic = (head_[2] & 0x80U) != 0 ? form.words : form.bytes;
    out.operands = operands_of(form, *memory);
    out.operands_text = text_of(out.operands);
    if (form.map == 3) {
      const auto immediate = code_.read<std::uint8_t>(at_++);
      if (!immediate) {
        return std::nullopt;
      }
      compare_as(*immediate, out);
    }
    out.size = static_cast<std::uint8_t>(at_);
    return out;
  }

  // In their order: what is written comes first.
  [[nodiscard]] std::vector<Operand> operands_of(const Form& form, const Operand& memory) const {
    const unsigned reg = head_[5] >> 3U & 7U;
    const Operand made = named(form.shape == Shape::mask
                                   ? "k" + std::to_string(reg)
                                   : vector(reg + added(head_[1], 7, 8) + added(head_[1], 4, 16)));
    if (form.shape == Shape::load) {
      return {made, memory};
    }
    if (form.shape == Shape::store) {
      return {memory, made};
    }
    return {made, named(vector((~head_[2] >> 3U & 15U) + added(head_[3], 3, 16))), memory};
  }

  static Operand named(std::string reg) {
    Operand out;
    out.kind = Operand::Kind::reg;
    out.reg = std::move(reg);
    return out;
  }

  // The immediate says which comparison it is: vpcmpb with 0 is vpcmpeqb.
  static void compare_as(std::uint8_t immediate, Operation& out) {
    constexpr std::array<std::string_view, 8> kComparisons = {"eq",  "lt",  "le",  "",
                                                              "neq", "nlt", "nle", ""};
    const std::string_view comparison = kComparisons.at(immediate & 7U);
    if (comparison.empty()) {
      out.operands_text += ", " + std::to_string(immediate);
    } else {
      out.mnemonic.insert(std::string_view("vpcmp").size(), comparison);
    }
  }

  [[nodiscard]] bool masked() const { return (head_[3] & 7U) != 0; }

  std::optional<Operand> read_memory() {
    const unsigned mod = head_[5] >> 6U;
    unsigned base = head_[5] & 7U;
    at_ = head_.size();
    Operand out;
    out.kind = Operand::Kind::memory;
    const bool has_sib = base == 4;
    if (has_sib) {
      const auto sib = code_.read<std::uint8_t>(at_++);
      if (!sib) {
        return std::nullopt;
      }
      const unsigned index = (*sib >> 3U & 7U) + added(head_[1], 6, 8);
      out.index = index == 4 ? "" : name(index);
      out.scale = static_cast<std::uint8_t>(1U << (*sib >> 6U));
      base = *sib & 7U;
    }
    if (mod == 0 && base == 5) {
      out.reg = has_sib || !is_64_ ? "" : "rip";
    } else {
      out.reg = name(base + added(head_[1], 5, 8));
    }
    return read_distance(mod, base, out) ? std::optional(out) : std::nullopt;
  }

  bool read_distance(unsigned mod, unsigned base, Operand& out) {
    if (mod == 1) {
      const auto found = code_.read<std::uint8_t>(at_);
      at_ += 1;
      out.value = std::int64_t{static_cast<std::int8_t>(found.value_or(0))} * vector_.size;
      return found.has_value();
    }
    if (mod == 2 || base == 5) {
      const auto found = code_.read<std::uint32_t>(at_);
      at_ += 4;
      out.value = static_cast<std::int32_t>(found.value_or(0));
      return found.has_value();
    }
    return true;
  }

  [[nodiscard]] std::string name(unsigned number) const {
    return std::string(is_64_ ? kNames64.at(number) : kNames32.at(number & 7U));
  }

  [[nodiscard]] std::string vector(unsigned number) const {
    return std::string(vector_.registers) + std::to_string(number);
  }

  // As the decoder library writes operands.
  [[nodiscard]] std::string text_of(const std::vector<Operand>& operands) const {
    std::string text;
    for (const Operand& each : operands) {
      text += text.empty() ? "" : ", ";
      text += each.kind == Operand::Kind::reg
                  ? each.reg
                  : std::string(vector_.memory) + "[" + address_of(each) + "]";
      if (&each == &operands.front() && masked()) {
        text += " {k" + std::to_string(head_[3] & 7U) + "}";
        text += (head_[3] & 0x80U) != 0 ? " {z}" : "";
      }
    }
    return text;
  }

  static std::string address_of(const Operand& memory) {
    std::string out = memory.reg;
    if (!memory.index.empty()) {
      out += (out.empty() ? "" : " + ") + memory.index;
      out += memory.scale > 1 ? "*" + std::to_string(memory.scale) : "";
    }
    if (memory.value != 0 || out.empty()) {
      const bool below = memory.value < 0 && !out.empty();
      out += out.empty() ? "" : below ? " - " : " + ";
      const auto distance = static_cast<std::uint64_t>(below ? -memory.value : memory.value);
      out += distance > 9 ? hex(distance) : std::to_string(distance);
    }
    return out;
  }

  ByteView code_;
  bool is_64_;
  std::array<std::uint8_t, 6> head_{};  // 62, its three bytes, the opcode and ModRM
  Vector vector_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Operation> read_byte_vector(ByteView code, Address address, bool is_64) {
  auto found = Reader(code, is_64).read();
  if (found) {
    found->address = address;
  }
  return found;
}

}  // namespace whocall::x86
