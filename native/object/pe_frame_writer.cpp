#include "object/pe_frame_writer.h"

#include <array>

namespace whocall {
namespace {

// Call frame instructions and operations of expressions.
constexpr unsigned kAdvance1 = 0x02;
constexpr unsigned kAdvance4 = 0x04;
constexpr unsigned kSameValue = 0x08;
constexpr unsigned kRememberState = 0x0a;
constexpr unsigned kRestoreState = 0x0b;
constexpr unsigned kDefCfa = 0x0c;
constexpr unsigned kDefCfaExpression = 0x0f;
constexpr unsigned kExpression = 0x10;
constexpr unsigned kOffsetExtendedSf = 0x11;
constexpr unsigned kDefCfaSf = 0x12;
constexpr unsigned kBreg0 = 0x70;
constexpr unsigned kDeref = 0x06;
constexpr unsigned kReturnAddress = 16;
constexpr unsigned kStackPointer = 7;
constexpr std::int64_t kDataAlignment = -8;

// DWARF's number of a register by that of instructions.
constexpr std::array<unsigned, 16> kDwarf = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace

PeFrameWriter::PeFrameWriter(const std::vector<PeOperation>& operations) : operations_(operations) {
  sum_up(operations);
}

void PeFrameWriter::sum_up(const std::vector<PeOperation>& operations) {
  using Kind = PeOperation::Kind;
  for (const PeOperation& operation : operations) {
    switch (operation.kind) {
      case Kind::push:
        plain_ = plain_ && allocated_ == 0;
        pushed_.push_back(operation.reg);
        whole_ += 8;
        break;
      case Kind::alloc:
        plain_ = plain_ && allocated_ == 0;
        allocated_ += operation.amount;
        whole_ += operation.amount;
        break;
      case Kind::set:
        frame_register_ = operation.reg;
        frame_offset_ = operation.amount;
        at_set_ = whole_;
        break;
      case Kind::interrupt:
        interrupt_ = true;
        plain_ = false;
        whole_ += operation.amount;
        break;
      case Kind::save:
        break;
    }
  }
}

void PeFrameWriter::write_prologue() {
  if (interrupt_) {
    write_interrupt();
    return;
  }
  for (const PeOperation& operation : operations_) {
    advance_to(operation.at);
    apply(operation);
  }
}

void PeFrameWriter::apply(const PeOperation& operation) {
  using Kind = PeOperation::Kind;
  switch (operation.kind) {
    case Kind::push:
    case Kind::alloc:
      stack_ += operation.kind == Kind::push ? 8 : operation.amount;
      if (!set_) {
        write_cfa();
      }
      if (operation.kind == Kind::push) {
        write_saved(operation.reg, -static_cast<std::int64_t>(stack_ + 8));
      }
      break;
    case Kind::set:
      set_ = true;
      write_cfa();
      break;
    case Kind::save: {
      // Counted from where the stack pointer stands when all is reserved, or stood when the frame
      // register was set.
      const std::uint64_t base = (frame_register_ != kNone ? at_set_ : whole_) + 8;
      write_saved(operation.reg, static_cast<std::int64_t>(operation.amount - base));
      break;
    }
    case Kind::interrupt:
      break;
  }
}

// What the processor pushed holds the stack pointer of the code that it interrupted:
//   CFA = *(rip's place + 24), rip = *(rip's place); saved registers are told by their places.
void PeFrameWriter::write_interrupt() {
  const bool framed = frame_register_ != kNone;
  const unsigned base = kBreg0 + (framed ? kDwarf.at(frame_register_ & 15U) : kStackPointer);
  // From the base register to the rip that was pushed.
  const auto rip = static_cast<std::int64_t>(framed ? at_set_ - frame_offset_ : whole_);
  const auto place = [&](std::int64_t offset, bool deref) {
    std::vector<std::byte> saved;
    saved.swap(out_);
    byte(base);
    sleb(offset);
    if (deref) {
      byte(kDeref);
    }
    saved.swap(out_);
    uleb(saved.size());
    out_.insert(out_.end(), saved.begin(), saved.end());
  };
  byte(kDefCfaExpression);
  place(rip + 24, true);
  byte(kExpression);
  uleb(kReturnAddress);
  place(rip, false);
  std::uint64_t stack = 0;
  for (const PeOperation& operation : operations_) {
    using Kind = PeOperation::Kind;
    const bool moves = operation.kind == Kind::alloc || operation.kind == Kind::interrupt;
    stack += operation.kind == Kind::push ? 8 : moves ? operation.amount : 0;
    const std::uint64_t below = framed ? at_set_ : whole_;
    if (operation.kind == Kind::push || operation.kind == Kind::save) {
      const auto offset = operation.kind == Kind::push
                              ? rip - static_cast<std::int64_t>(stack)
                              : rip + static_cast<std::int64_t>(operation.amount - below);
      byte(kExpression);
      uleb(kDwarf.at(operation.reg & 15U));
      place(offset, false);
    }
  }
}

void PeFrameWriter::write_epilogue(std::uint32_t begins, const std::vector<std::uint32_t>& pops,
                                   std::uint32_t ends) {
  const auto by_stack = [&](std::size_t left) {
    byte(kDefCfa);
    uleb(kStackPointer);
    uleb(8 * (left + 1));
  };
  if (begins < at_) {
    return;  // within the prologue
  }
  advance_to(begins);
  byte(kRememberState);
  if (!has_frame_register()) {
    by_stack(pushed_.size());
  }
  for (std::size_t done = 0; done < pops.size(); ++done) {
    advance_to(pops[done]);
    by_stack(pushed_.size() - done - 1);
    byte(kSameValue);
    uleb(kDwarf.at(pushed_[pushed_.size() - done - 1] & 15U));
  }
  advance_to(ends);
  byte(kRestoreState);
}

void PeFrameWriter::advance_to(std::uint32_t at) {
  const std::uint32_t delta = at > at_ ? at - at_ : 0;
  if (delta == 0) {
    return;
  }
  if (delta < 0x40) {
    byte(0x40U + delta);
  } else if (delta < 0x100) {
    byte(kAdvance1);
    byte(delta);
  } else {
    byte(kAdvance4);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      byte(delta >> shift & 0xffU);
    }
  }
  at_ = at;
}

void PeFrameWriter::write_cfa() {
  const std::int64_t offset = set_ ? static_cast<std::int64_t>(at_set_ + 8 - frame_offset_)
                                   : static_cast<std::int64_t>(stack_ + 8);
  byte(offset < 0 ? kDefCfaSf : kDefCfa);
  uleb(set_ ? kDwarf.at(frame_register_ & 15U) : kStackPointer);
  if (offset < 0) {
    sleb(offset / kDataAlignment);
  } else {
    uleb(static_cast<std::uint64_t>(offset));
  }
}

void PeFrameWriter::write_saved(unsigned reg, std::int64_t offset) {
  byte(kOffsetExtendedSf);
  uleb(kDwarf.at(reg & 15U));
  sleb(offset / kDataAlignment);
}

void PeFrameWriter::uleb(std::uint64_t value) {
  do {
    const auto low = static_cast<unsigned>(value & 0x7fU);
    value >>= 7U;
    byte(value != 0 ? low | 0x80U : low);
  } while (value != 0);
}

void PeFrameWriter::sleb(std::int64_t value) {
  bool more = true;
  while (more) {
    const auto low = static_cast<unsigned>(value & 0x7f);
    value >>= 7;
    more = !((value == 0 && (low & 0x40U) == 0) || (value == -1 && (low & 0x40U) != 0));
    byte(more ? low | 0x80U : low);
  }
}

}  // namespace whocall
