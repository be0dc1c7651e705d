// The addresses that LoongArch code names.
#pragma once

#include "arch/code_model.h"

namespace whocall::loongarch {

// Each answers the question of CodeModel by the same name.
void append_constant_addresses(ByteView code, Address address, const GlobalTable& got, bool fixed,
                               AddressRange wanted, std::vector<ConstantAddress>& found);
void append_named_addresses(ByteView code, Address address, const GlobalTable& got, bool fixed,
                            AddressRange wanted, std::vector<Address>& found);
// Appends the addresses inside `code` that its instructions take.
void append_taken_code(ByteView code, Address address, std::vector<Address>& found);

}  // namespace whocall::loongarch
