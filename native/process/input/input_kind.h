// What kind of input a file is, told by its first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace whocall {

inline constexpr std::size_t kInputHead = 512;  // bytes that tell the kind

inline constexpr std::string_view kCoreKind = "core";
inline constexpr std::string_view kMinidumpKind = "minidump";
inline constexpr std::string_view kMicrodumpKind = "microdump";
inline constexpr std::string_view kReportKind = "apport";

// What every minidump begins with, and what microdumps have: a line, or, in Android's log, in which
// other lines may stand before it, the tag of each line.
inline constexpr std::string_view kMinidumpMark = "MDMP";
inline constexpr std::string_view kMicrodumpMark = "-----BEGIN BREAKPAD MICRODUMP-----";
inline constexpr std::string_view kMicrodumpTag = "google-breakpad";

// One of these kinds, "elf" (another ELF file), a packing's name, or "" for what is not known here.
std::string_view input_kind(std::span<const std::byte> head);

// What the file is, for complaints: "an executable".
std::string_view described_input(std::span<const std::byte> head);

}  // namespace whocall
