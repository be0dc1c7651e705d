// What looking through all code of a large file tells, as bytes that can be kept.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "arch/code_model.h"
#include "symbols/discovery/function_start.h"
#include "symbols/inferred/inferred_name.h"
#include "symbols/inferred/panic_places.h"

namespace whocall {

std::vector<std::byte> encode(std::span<const FunctionStart> starts);
std::vector<std::byte> encode(std::span<const InferredName> names);
std::vector<std::byte> encode(std::span<const DirectJump> jumps);  // sorted by target
std::vector<std::byte> encode(const PanicPlaces& places);

// A miss when the bytes are not whole, or not in order.
std::optional<std::vector<FunctionStart>> decode_starts(std::span<const std::byte> bytes);
std::optional<std::vector<InferredName>> decode_names(std::span<const std::byte> bytes);
std::optional<std::vector<DirectJump>> decode_jumps(std::span<const std::byte> bytes);
std::optional<PanicPlaces> decode_panic_places(std::span<const std::byte> bytes);

}  // namespace whocall
