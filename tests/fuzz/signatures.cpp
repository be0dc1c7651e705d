// Hostile signature files: reading one throws Error or gives a set whose every place lies inside,
// and which can be written again. The check sum is made right, or nothing would be read.
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz.h"
#include "mutators.h"
#include "symbols/signatures/signature_file.h"
#include "symbols/signatures/signature_index.h"

namespace {

using namespace whocall;

constexpr std::string_view kMagic = "whocall signatures\n";
constexpr std::size_t kSumAt = kMagic.size() + 8 + 7 * 4;
constexpr std::size_t kTables = kSumAt + 8;

void make_right(std::uint8_t* data, std::size_t size) {
  std::memcpy(data, kMagic.data(), kMagic.size());
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::size_t at = kTables; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, std::min<std::size_t>(8, size - at));
    sum = (sum ^ word) * 0x100000001b3U;
    sum ^= sum >> 29U;
  }
  std::memcpy(data + kSumAt, &sum, sizeof sum);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::vector<std::byte> own = input.copy();
  try {
    const SignatureSet set = decode_signatures(ByteView(own, Endian::little), "fuzz");
    const auto written = encode_signatures(set);
    const SignatureSet again = decode_signatures(ByteView(written, Endian::little), "again");
    fuzz::demand(again.sections.size() == set.sections.size());
    for (const SignatureSection& section : set.sections) {
      (void)set.code_of(section);
    }
    const SignatureIndex index(set);
    for (std::uint32_t i = 0; i < index.set().sections.size(); ++i) {
      for (const FixedBytes& fixed : index.fixed(i)) {
        fuzz::demand(fixed.begin < fixed.end && fixed.end <= set.sections[i].size);
      }
    }
  } catch (const Error&) {  // the one error type; any other ends the fuzzer
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<whocall::fuzz::Field> fields;
  for (std::size_t at = kMagic.size() + 8; at + 4 <= size && fields.size() < 500; at += 4) {
    if (at < kSumAt || at >= kTables) {
      fields.push_back({at, 4});
    }
  }
  whocall::fuzz::FieldBytes bytes({data, size}, false);
  if (random() % 2 == 0 && !fields.empty()) {
    whocall::fuzz::mutate_field(bytes, fields, random);
  } else {
    size = LLVMFuzzerMutate(data, size, most);
  }
  if (size > kTables) {
    make_right(data, size);
  }
  return size;
}
