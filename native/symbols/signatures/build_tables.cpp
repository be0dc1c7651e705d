#include "symbols/signatures/build_tables.h"

#include <algorithm>

#include "symbols/signatures/record_writer.h"

namespace whocall {
namespace {

template <typename Items>
bool has_part(std::uint64_t first, std::uint64_t count, const Items& items) {
  return first <= items.size() && count <= items.size() - first;
}

bool leads_into(const LinkedReference& reference, const SignatureBuild& build) {
  return static_cast<std::uint32_t>(reference.kind) < kLinkedKinds &&
         (reference.kind != LinkedKind::function || reference.value < build.functions);
}

// Whether the functions of a build, and their references, are right; the next one's follow.
bool is_right(const SignatureSet& set, const SignatureBuild& build, std::uint64_t& next_reference) {
  for (std::uint32_t i = 0; i < build.functions; ++i) {
    const BuildFunction& each = set.build_functions[build.first_function + i];
    if (each.name >= set.strings.size() || each.first_reference != next_reference ||
        !has_part(each.first_reference, each.references, set.build_references)) {
      return false;
    }
    next_reference += each.references;
    const auto references =
        std::span(set.build_references).subspan(each.first_reference, each.references);
    if (!std::ranges::all_of(references,
                             [&](const LinkedReference& to) { return leads_into(to, build); })) {
      return false;
    }
  }
  return true;
}

bool are_right(const SignatureSet& set) {
  std::uint64_t next_function = 0;
  std::uint64_t next_reference = 0;
  for (const SignatureBuild& build : set.builds) {
    const bool has_texts =
        std::max({build.file, build.build_id, build.soname}) < set.strings.size();
    if (!has_texts || build.first_function != next_function ||
        !has_part(build.first_function, build.functions, set.build_functions) ||
        !is_right(set, build, next_reference)) {
      return false;
    }
    next_function += build.functions;
  }
  return next_function == set.build_functions.size() &&
         next_reference == set.build_references.size();
}

}  // namespace

std::vector<std::byte> encode_builds(const SignatureSet& set) {
  RecordWriter writer;
  for (const SignatureBuild& each : set.builds) {
    writer.words(each.file, each.build_id, each.soname, each.first_function, each.functions);
  }
  for (const BuildFunction& each : set.build_functions) {
    writer.words(each.name, each.size, each.weight, each.first_reference, each.references);
    writer.number(each.code, 8);
    for (const std::uint32_t number : each.sketch) {
      writer.words(number);
    }
  }
  for (const LinkedReference& each : set.build_references) {
    writer.words(static_cast<std::uint32_t>(each.kind));
    writer.number(each.value, 8);
  }
  return writer.take();
}

bool decode_builds(ByteReader& reader, const BuildCounts& counts, SignatureSet& set) {
  for (std::uint64_t i = 0; i < counts.builds; ++i) {
    set.builds.push_back({reader.u32(), reader.u32(), reader.u32(), reader.u32(), reader.u32()});
  }
  for (std::uint64_t i = 0; i < counts.functions; ++i) {
    BuildFunction function;
    function.name = reader.u32();
    function.size = reader.u32();
    function.weight = reader.u32();
    function.first_reference = reader.u32();
    function.references = reader.u32();
    function.code = reader.u64();
    for (std::uint32_t& number : function.sketch) {
      number = reader.u32();
    }
    set.build_functions.push_back(function);
  }
  for (std::uint64_t i = 0; i < counts.references; ++i) {
    const auto kind = static_cast<LinkedKind>(reader.u32());
    set.build_references.push_back({kind, reader.u64()});
  }
  return reader.ok() && are_right(set);
}

}  // namespace whocall
