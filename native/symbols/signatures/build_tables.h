// The tables of linked builds in a signature file (signature_file.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"
#include "symbols/signatures/signature_set.h"

namespace whocall {

// Of their records, bytes.
inline constexpr std::uint64_t kBuildSize = 20;
inline constexpr std::uint64_t kBuildFunctionSize = 92;
inline constexpr std::uint64_t kBuildReferenceSize = 12;

std::vector<std::byte> encode_builds(const SignatureSet& set);

struct BuildCounts {
  std::uint64_t builds = 0;
  std::uint64_t functions = 0;
  std::uint64_t references = 0;
};

// Appends what `reader` has next; `set` has its texts. Whether every index and every place in them
// lies inside its table, and no part of a table belongs to two: builds have their functions one
// behind the other, and these their references, so that nobody has more work than the file is long.
bool decode_builds(ByteReader& reader, const BuildCounts& counts, SignatureSet& set);

}  // namespace whocall
