#include "report/form/operations.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/interrupt.h"
#include "process/process_decoder.h"

namespace whocall {
namespace {

constexpr std::size_t kLongestPiece = std::size_t{1} << 20U;  // bytes
constexpr std::size_t kTurnsBetweenChecks = 4096;

// How far it is to what follows bytes that have no operands: of vector instructions that the
// library does not know the length is known; else they are none.
std::size_t passed_over(InstructionDecoder& decoder, const CodeModel& code, ByteView rest,
                        Address address) {
  const auto known = decoder.decode(rest, address);
  return known && known->size != 0 ? known->size : code.alignment;
}

}  // namespace

std::vector<Operation> list_operations(const ProcessImage& process, Address begin, std::size_t size,
                                       std::size_t most) {
  std::vector<Operation> found;
  const auto decoder = decoder_for(process);
  if (decoder == nullptr) {
    return found;
  }
  std::vector<std::byte> bytes(std::min(size, kLongestPiece));
  bytes.resize(process.memory->read(begin, std::span(bytes)));
  const ByteView code(bytes, process.arch->abi.endian);
  std::size_t at = 0;
  for (std::size_t turn = 0; at < bytes.size() && found.size() < most; ++turn) {
    check_interrupt_at(turn, kTurnsBetweenChecks);
    const ByteView rest = code.from(at);
    auto operation = decoder->operation(rest, begin + at);
    if (operation) {
      at += operation->size;
      found.push_back(std::move(*operation));
    } else {
      at += passed_over(*decoder, process.arch->code, rest, begin + at);
    }
  }
  return found;
}

}  // namespace whocall
