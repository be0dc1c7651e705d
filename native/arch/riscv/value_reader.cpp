#include "arch/riscv/value_reader.h"

#include <array>
#include <utility>

#include "arch/riscv/expanded.h"
#include "arch/riscv/fields.h"
#include "arch/riscv/frame_facts.h"
#include "arch/value_steps.h"

namespace whocall::riscv {
namespace {

// An instruction of 32 bits, by its major opcode. What is not read here loses what it writes, and
// counts all that it reads as changed.
class WordSteps : private ValueSteps {
 public:
  WordSteps(std::uint32_t word, Address address, ValueFlow& out)
      : ValueSteps(out, kZero), word_(word), address_(address) {}

  void read() {
    switch (opcode(word_)) {
      case kLui:
        return put(rd(word_), constant(static_cast<std::uint64_t>(immediate_u(word_))));
      case kAuipc:
        return put(rd(word_), constant(address_ + static_cast<std::uint64_t>(immediate_u(word_))));
      case kJal:
        return lose(rd(word_));
      case kJalr:
        return jump();
      case 0x63:  // branches
        note(rs1(word_), kWord);
        return note(rs2(word_), kWord);
      case kOpImm:
        return immediates();
      case 0x1b:
        return words();
      case 0x33:
        return registers();
      case kLoad:
        return load();
      case 0x23:
        return store_part(immediate_s(word_), part(rs2(word_), size()));
      case 0x07:
        return load_elsewhere();
      case 0x27:
        return store_elsewhere();
      default:
        return others();
    }
  }

 private:
  // Of what is loaded or stored, bytes.
  [[nodiscard]] std::uint8_t size() const {
    return static_cast<std::uint8_t>(1U << (funct3(word_) & 3U));
  }
  [[nodiscard]] ValueAddress at(std::int64_t offset) const {
    ValueAddress place;
    if (rs1(word_) != kZero) {
      place.base = rs1(word_);
    }
    place.offset = offset;
    return place;
  }

  void jump() {
    note(rs1(word_), kWord);
    if (rd(word_) != kZero && rs1(word_) != kZero) {
      out_.target = sum(at(immediate_i(word_)), kWord);
    }
    lose(rd(word_));
  }

  void immediates() {
    const std::int64_t amount = immediate_i(word_);
    if (funct3(word_) == 0) {
      note(rs1(word_), kWord);
      return put(rd(word_), sum(at(amount), kWord));
    }
    if (funct3(word_) == 7 && amount == 0xff) {  // zext.b
      return put(rd(word_), part(rs1(word_), 1));
    }
    mix(rs1(word_));
    lose(rd(word_));
  }

  // addiw, and with 0 sext.w: of the lower half, whose sign fills the upper one.
  void words() {
    if (funct3(word_) == 0 && immediate_i(word_) == 0) {
      return put(rd(word_), part(rs1(word_), kHalf, true));
    }
    if (funct3(word_) == 0) {
      note(rs1(word_), kHalf);
      return put(rd(word_), sum(at(immediate_i(word_)), kHalf, true));
    }
    mix(rs1(word_), kHalf);
    lose(rd(word_));
  }

  void registers() {
    const bool adds = funct3(word_) == 0 && funct7(word_) == 0;
    if (adds && (rs1(word_) == kZero || rs2(word_) == kZero)) {
      return put(rd(word_), part(rs1(word_) == kZero ? rs2(word_) : rs1(word_), kWord));
    }
    if (adds) {
      note(rs1(word_), kWord);
      note(rs2(word_), kWord);
      return put(rd(word_), sum({.base = rs1(word_), .index = rs2(word_)}, kWord));
    }
    mix(rs1(word_));
    mix(rs2(word_));
    lose(rd(word_));
  }

  void load() {
    const ValueAddress place = at(immediate_i(word_));
    note(place);
    out_.loads.push_back({place, size(), true});
    put(rd(word_), loaded(place, size(), funct3(word_) < 4));
  }
  void load_elsewhere() {
    const bool scalar = funct3(word_) >= 1 && funct3(word_) <= 4;
    const ValueAddress place = at(scalar ? immediate_i(word_) : 0);
    note(place);
    out_.loads.push_back({place, scalar ? size() : kMuch, false});
  }

  void store_part(std::int64_t offset, const ValueWrite& value) {
    const ValueAddress place = at(offset);
    note(place);
    store(place, value, size());
  }
  void store_elsewhere() {
    const bool scalar = funct3(word_) >= 1 && funct3(word_) <= 4;
    if (scalar) {
      return store_part(immediate_s(word_), {});
    }
    mix(rs1(word_));  // vectors, by strides and indices
    store_somewhere();
  }

  void others() {
    switch (opcode(word_)) {
      case 0x2f:  // lr, sc and the atomic operations
        mix(rs2(word_));
        note(rs1(word_), kWord);
        store(at(0), {}, kWord);
        return lose(rd(word_));
      case 0x73:
        mix(funct3(word_) != 0 && funct3(word_) < 4 ? rs1(word_) : kZero);
        return lose(funct3(word_) == 0 ? kA0 : rd(word_));
      case 0x0f:  // fence; cbo.zero clears memory
        return funct3(word_) == 2 ? store_somewhere() : void();
      case 0x43:  // the four multiplications with addition
      case 0x47:
      case 0x4b:
      case 0x4f:
        return;
      case 0x53:
        return floating_point();
      case 0x57:
        mix(rs1(word_));
        return lose(rd(word_));
      default:  // of words, or unknown
        mix(rs1(word_));
        mix(rs2(word_));
        return lose(rd(word_));
    }
  }

  // Comparisons, conversions and moves into general registers, and out of them.
  void floating_point() {
    const std::uint32_t operation = bits(word_, 27, 5);
    if (operation == 0x14 || operation == 0x18 || operation == 0x1c) {
      lose(rd(word_));
    } else if (operation == 0x1a || operation == 0x1e) {
      mix(rs1(word_));
    }
  }

  std::uint32_t word_;
  Address address_;
};

class Reader final : public ValueReader {
 public:
  std::optional<ValueFlow> read(ByteView code, Address address) override {
    const auto parcel = parcel_at(code, 0);
    const auto word = parcel && is_compressed(*parcel) ? expanded(*parcel) : word_at(code, 0);
    if (!word || !is_word(*word)) {
      return std::nullopt;
    }
    ValueFlow out;
    WordSteps(*word, address, out).read();
    // The decoder takes it and the jump behind it as one.
    const auto next = parcel && is_compressed(*parcel) ? std::nullopt : word_at(code, kWidth);
    if (next && is_far_jump(*word, *next)) {
      out.writes.clear();
      for (const Register each : {rd(*word), rd(*next)}) {
        out.writes.emplace_back().destination = each;
      }
    }
    return out;
  }
  [[nodiscard]] std::span<const Register> results() const override { return kResults; }

 private:
  static constexpr std::array<Register, 2> kResults = {kA0, kA0 + 1};
};

}  // namespace

std::unique_ptr<ValueReader> make_value_reader(const CodeReader& /*around*/) {
  return std::make_unique<Reader>();
}

}  // namespace whocall::riscv
