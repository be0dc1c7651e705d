#include "object/pe_frames.h"

#include <algorithm>
#include <cstring>

#include "base/interrupt.h"
#include "object/pe_epilogues.h"
#include "object/pe_frame_writer.h"

namespace whocall {
namespace {

constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 24U;  // of one file's prologues
constexpr std::uint64_t kOfAnEpilogue = 16;                         // operations that one costs

class TableWriter {
 public:
  explicit TableWriter(const PeHeaders& headers)
      : image_base_(headers.image_base), system_v_(headers.system_v) {
    plain_ = add_common_entry(false);
    interrupt_ = add_common_entry(true);
  }

  void add(const PeFunction& function, const PeFrameWriter& frame) {
    const std::size_t begin = out_.size();
    word32(0);
    const std::size_t common = frame.is_interrupt() ? interrupt_ : plain_;
    word32(static_cast<std::uint32_t>(out_.size() - common));
    word64(image_base_ + function.begin);
    word64(function.end - function.begin);
    if (frame.is_interrupt()) {
      out_.push_back(std::byte{0});  // no more augmentation
    }
    const auto& instructions = frame.instructions();
    out_.insert(out_.end(), instructions.begin(), instructions.end());
    close(begin);
  }

  std::vector<std::byte> finish() && {
    word32(0);
    return std::move(out_);
  }

 private:
  // Version 1; code alignment 1, data alignment -8, return address 16. At a function's entry:
  //   CFA = rsp + 8, return address at CFA - 8; by Windows' convention rsi and rdi are the caller's
  std::size_t add_common_entry(bool interrupt) {
    const std::size_t begin = out_.size();
    word32(0);
    word32(0);
    add_bytes({1});
    if (interrupt) {
      add_bytes({'z', 'S'});
    }
    add_bytes({0, 1, 0x78, 16});
    if (interrupt) {
      add_bytes({0});
    }
    add_bytes({0x0c, 7, 8, 0x90, 1});
    if (!system_v_) {
      add_bytes({0x08, 4, 0x08, 5});
    }
    close(begin);
    return begin;
  }

  void add_bytes(std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) {
      out_.push_back(static_cast<std::byte>(byte));
    }
  }

  // Pads with DW_CFA_nop, and says how long the entry is.
  void close(std::size_t begin) {
    out_.resize((out_.size() + 3) / 4 * 4);
    const auto length = static_cast<std::uint32_t>(out_.size() - begin - 4);
    for (unsigned at = 0; at < 4; ++at) {
      out_[begin + at] = static_cast<std::byte>(length >> (8 * at));
    }
  }

  void word32(std::uint32_t value) { word(value, 4); }
  void word64(std::uint64_t value) { word(value, 8); }
  void word(std::uint64_t value, unsigned size) {
    for (unsigned at = 0; at < size; ++at) {
      out_.push_back(static_cast<std::byte>(value >> (8 * at)));
    }
  }

  std::uint64_t image_base_;
  bool system_v_;
  std::vector<std::byte> out_;
  std::size_t plain_ = 0;      // where the common entries lie
  std::size_t interrupt_ = 0;  // of functions that an interrupt calls
};

}  // namespace

std::vector<std::byte> eh_frame_of_pe(const PeBytes& bytes, const PeHeaders& headers,
                                      const std::vector<PeFunction>& functions, Budget& budget) {
  TableWriter table(headers);
  std::uint64_t work = kMostOperations;
  std::uint64_t number = 0;
  for (const PeFunction& function : functions) {
    check_interrupt_at(number++, kManyEntries / 16);
    const auto operations = read_pe_prologue(bytes, function, work);
    if (!operations) {
      continue;
    }
    PeFrameWriter frame(*operations);
    frame.write_prologue();
    const ByteView code = bytes.at(function.begin);
    const std::uint64_t size = std::min<std::uint64_t>(code.size(), function.end - function.begin);
    const auto epilogues = find_pe_epilogues(*code.slice(0, size), frame, work / kOfAnEpilogue);
    work -= epilogues.size() * kOfAnEpilogue;
    for (const PeEpilogue& epilogue : epilogues) {
      frame.write_epilogue(epilogue.begins, epilogue.pops, epilogue.ends);
    }
    if (!budget.draw(Cost::unpacked, frame.instructions().size() + 32)) {
      break;
    }
    table.add(function, frame);
  }
  return std::move(table).finish();
}

}  // namespace whocall
