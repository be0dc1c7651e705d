// What x86-64 and i386 share: how calls and jump stubs look in memory.
#pragma once

#include <optional>

#include "arch/architecture.h"

namespace whocall::x86 {

// Longest call instruction: REX, FF, ModRM, SIB, disp32.
inline constexpr std::uint8_t kLongestCall = 8;

std::optional<CallSite> call_before_64(ByteView before, Address return_address);
std::optional<CallSite> call_before_32(ByteView before, Address return_address);
void append_call_targets_64(ByteView code, Address address, std::vector<Address>& targets);
void append_call_targets_32(ByteView code, Address address, std::vector<Address>& targets);
void append_marked_starts_64(ByteView code, Address address, std::vector<Address>& starts);
void append_marked_starts_32(ByteView code, Address address, std::vector<Address>& starts);
void append_jump_tables_64(ByteView code, std::vector<Address>& tables);
void append_jump_tables_32(ByteView code, std::vector<Address>& tables);
bool flow_ends(ByteView before);
void append_jump_sources_64(ByteView code, Address address, AddressRange wanted,
                            std::vector<Address>& sources);
void append_jump_sources_32(ByteView code, Address address, AddressRange wanted,
                            std::vector<Address>& sources);
std::optional<JumpStub> jump_stub_64(ByteView code, Address address);
std::optional<JumpStub> jump_stub_32(ByteView code, Address address);

}  // namespace whocall::x86
