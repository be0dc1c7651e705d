#include "object/pe_functions.h"

#include <algorithm>

#include "base/byte_reader.h"

namespace whocall {
namespace {

constexpr std::uint64_t kRow = 12;      // bytes of a RUNTIME_FUNCTION
constexpr unsigned kMostParts = 32;     // parts of one function
constexpr std::uint8_t kChained = 4;    // UNW_FLAG_CHAININFO
constexpr std::uint32_t kIndirect = 1;  // bit of UnwindData: it is another row's place

PeFunction read_row(ByteView row) {
  ByteReader reader(row);
  PeFunction function;
  function.begin = reader.u32();
  function.end = reader.u32();
  function.info = reader.u32();
  return reader.ok() ? function : PeFunction{};
}

// One UNWIND_INFO.
struct Information {
  std::vector<PeOperation> operations;  // as they stand: the last one of the prologue first
  std::optional<PeFunction> continued;
};

class PeUnwindReader {
 public:
  PeUnwindReader(ByteView codes, unsigned version, unsigned frame)
      : reader_(codes),
        version_(version),
        frame_register_(frame & 15U),
        frame_offset_(frame >> 4U) {}

  // False where a code is none that we know, or is cut off.
  bool read(std::vector<PeOperation>& operations) {
    while (!reader_.at_end()) {
      const std::uint8_t at = reader_.u8();
      const std::uint8_t word = reader_.u8();
      PeOperation operation;
      operation.at = at;
      operation.reg = word >> 4U;
      const bool known = decode(word & 15U, operation);
      if (!known || !reader_.ok()) {
        return false;
      }
      if (counts_) {
        operations.push_back(operation);
      }
    }
    return true;
  }

 private:
  // By the format's description, "x64 exception handling": the op in four bits, and its
  // information in the other four.
  bool decode(unsigned op, PeOperation& operation) {
    using Kind = PeOperation::Kind;
    const std::uint64_t information = operation.reg;
    counts_ = true;
    switch (op) {
      case 0:
        operation.kind = Kind::push;
        return true;
      case 1:
        operation.kind = Kind::alloc;
        operation.amount = information == 0 ? std::uint64_t{reader_.u16()} * 8 : reader_.u32();
        return information < 2;
      case 2:
        operation.kind = Kind::alloc;
        operation.amount = information * 8 + 8;
        return true;
      case 3:
        operation.kind = Kind::set;
        operation.reg = frame_register_;
        operation.amount = std::uint64_t{frame_offset_} * 16;
        return frame_register_ != 0;
      case 4:
        operation.kind = Kind::save;
        operation.amount = std::uint64_t{reader_.u16()} * 8;
        return true;
      case 5:
        operation.kind = Kind::save;
        operation.amount = reader_.u32();
        return true;
      default:
        return decode_rare(op, operation);
    }
  }

  bool decode_rare(unsigned op, PeOperation& operation) {
    const std::uint64_t information = operation.reg;
    counts_ = false;
    switch (op) {
      case 6:  // version 2: where an epilogue lies; 1: an XMM register's half
        reader_.skip(version_ == 2 ? 0 : 2);
        return true;
      case 8:  // an XMM register, which is none of ours
        reader_.skip(2);
        return true;
      case 9:
        reader_.skip(4);
        return true;
      case 10:
        counts_ = true;
        operation.kind = PeOperation::Kind::interrupt;
        operation.amount = information * 8;
        return information < 2;
      case 11:  // .NET on Linux: as 3, by a distance that has no room in the head
        counts_ = true;
        operation.kind = PeOperation::Kind::set;
        operation.reg = frame_register_;
        operation.amount = std::uint64_t{reader_.u32()} * 16;
        return frame_register_ != 0;
      default:
        return false;
    }
  }

  ByteReader reader_;
  unsigned version_;
  unsigned frame_register_;
  unsigned frame_offset_;
  bool counts_ = true;  // whether the last operation is one for us
};

std::optional<Information> read_information(const PeBytes& bytes, std::uint32_t address) {
  const ByteView whole = bytes.at(address);
  ByteReader reader(whole);
  const std::uint8_t head = reader.u8();
  reader.u8();  // the size of the prologue, which the codes tell too
  const std::uint8_t count = reader.u8();
  const std::uint8_t frame = reader.u8();
  const unsigned version = head & 7U;
  const auto codes = whole.slice(4, std::uint64_t{count} * 2);
  Information found;
  if (!codes || (version != 1 && version != 2) ||
      !PeUnwindReader(*codes, version, frame).read(found.operations)) {
    return std::nullopt;
  }
  if ((unsigned{head} >> 3U & kChained) != 0) {
    const auto row = whole.slice(4 + (std::uint64_t{count} + 1) / 2 * 4, kRow);
    if (!row) {
      return std::nullopt;
    }
    found.continued = read_row(*row);
  }
  return found;
}

// Where the row's information lies: some linkers have one row point to another.
std::uint32_t place_of_information(const PeBytes& bytes, std::uint32_t info) {
  for (unsigned depth = 0; depth < kMostParts && (info & kIndirect) != 0; ++depth) {
    info = bytes.at(info - kIndirect).read<std::uint32_t>(8).value_or(0);
  }
  return info;
}

}  // namespace

std::vector<PeFunction> read_pe_functions(const PeBytes& bytes, const PeHeaders& headers) {
  std::vector<PeFunction> functions;
  if (headers.machine != kPeX8664 || headers.exceptions.address == 0) {
    return functions;
  }
  const ByteView table = bytes.at(headers.exceptions.address);
  const std::uint64_t size = std::min<std::uint64_t>(table.size(), headers.exceptions.size);
  for (std::uint64_t at = 0; at + kRow <= size; at += kRow) {
    const PeFunction function = read_row(*table.slice(at, kRow));
    if (function.begin < function.end && function.end <= headers.image_size) {
      functions.push_back(function);
    }
  }
  std::ranges::stable_sort(functions, {}, &PeFunction::begin);
  for (std::size_t at = 0; at + 1 < functions.size(); ++at) {
    functions[at].end = std::min(functions[at].end, functions[at + 1].begin);
  }
  std::erase_if(functions, [](const PeFunction& one) { return one.begin >= one.end; });
  return functions;
}

std::optional<std::vector<PeOperation>> read_pe_prologue(const PeBytes& bytes,
                                                         const PeFunction& function,
                                                         std::uint64_t& work) {
  std::vector<PeOperation> last_first;
  PeFunction part = function;
  for (unsigned depth = 0; depth < kMostParts; ++depth) {
    auto found = read_information(bytes, place_of_information(bytes, part.info));
    if (!found || work <= found->operations.size()) {
      return std::nullopt;
    }
    work -= found->operations.size() + 1;
    for (PeOperation& operation : found->operations) {
      operation.at = depth == 0 ? operation.at : 0;  // long over where this part begins
      last_first.push_back(operation);
    }
    if (!found->continued) {
      std::ranges::reverse(last_first);
      return last_first;
    }
    part = *found->continued;
  }
  return std::nullopt;
}

}  // namespace whocall
