// Hostile signature files: reading one throws Error or gives a set whose every place lies inside,
// and which can be written again; comparing its builds ends. The check sum is made right, or
// nothing would be read.
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz.h"
#include "mutators.h"
#include "symbols/signatures/build_pairs.h"
#include "symbols/signatures/signature_file.h"
#include "symbols/signatures/signature_index.h"

namespace {

using namespace whocall;

constexpr std::string_view kMagic = "whocall signatures\n";
// Behind the numbers of records: version 2 has three tables more.
std::size_t sum_at(const std::uint8_t* data) {
  return kMagic.size() + 8 + (data[kMagic.size()] == 2 ? 10 : 7) * 4;
}

void make_right(std::uint8_t* data, std::size_t size) {
  std::memcpy(data, kMagic.data(), kMagic.size());
  const std::size_t tables = sum_at(data) + 8;
  if (size <= tables) {
    return;
  }
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::size_t at = tables; at < size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + at, std::min<std::size_t>(8, size - at));
    sum = (sum ^ word) * 0x100000001b3U;
    sum ^= sum >> 29U;
  }
  std::memcpy(data + tables - 8, &sum, sizeof sum);
}

std::vector<LinkedFunction> functions_of(const SignatureSet& set, const SignatureBuild& build) {
  const auto begin = set.build_functions.begin() + build.first_function;
  return {begin, begin + build.functions};
}

// Some builds with the first: pairs are one-to-one.
void pair_all(const SignatureSet& set) {
  for (std::size_t i = 0; i < std::min<std::size_t>(set.builds.size(), 4); ++i) {
    const std::vector<LinkedFunction> known = functions_of(set, set.builds[i]);
    const std::vector<LinkedFunction> program = functions_of(set, set.builds[0]);
    std::vector<bool> taken(known.size());
    for (const BuildPair& pair :
         pair_builds({known, set.build_references}, {program, set.build_references}, {})) {
      if (pair.known != kNoPair) {
        fuzz::demand(pair.known < known.size() && !taken[pair.known]);
        taken[pair.known] = true;
      }
    }
  }
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
    pair_all(set);
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
  const std::size_t sum = size > kMagic.size() ? sum_at(data) : size;
  for (std::size_t at = kMagic.size() + 8; at + 4 <= size && fields.size() < 500; at += 4) {
    if (at < sum || at >= sum + 8) {
      fields.push_back({at, 4});
    }
  }
  whocall::fuzz::FieldBytes bytes({data, size}, false);
  if (random() % 2 == 0 && !fields.empty()) {
    whocall::fuzz::mutate_field(bytes, fields, random);
  } else {
    size = LLVMFuzzerMutate(data, size, most);
  }
  if (size > kMagic.size()) {
    make_right(data, size);
  }
  return size;
}
