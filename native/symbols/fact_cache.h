// Facts about files, kept in the user's cache directory for the next time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "object/elf_file.h"

namespace whocall {

// Under $XDG_CACHE_HOME/whocall, else ~/.cache/whocall. WHOCALL_CACHE=off keeps nothing and reads
// nothing. What cannot be read or written there, belongs to somebody else, or was changed, is as if
// it were not there: nothing throws.
//
// A key names a file on disk as it is now (path, inode, size, times) and this very build of
// whocall: what another build found out is nobody's truth. Of the facts that a plugin reads it
// names the plugin's file as well.
std::optional<std::string> facts_key(const ElfFile& file, const ElfFile* debug_file,
                                     const std::string& plugin = {});

// What was kept of this kind ("starts") under a key.
std::optional<std::vector<std::byte>> find_facts(const std::string& key, const std::string& kind);

// Writes it whole or not at all. The oldest facts go when all together are larger than
// kMostKeptFacts.
void keep_facts(const std::string& key, const std::string& kind, std::span<const std::byte> facts);

inline constexpr std::uint64_t kMostKeptFacts = std::uint64_t{256} << 20U;  // bytes

}  // namespace whocall
