// How MIPS code takes the addresses of data: lui and addiu, or a word of the global offset table
// and addiu.
#pragma once

#include <vector>

#include "arch/code_model.h"
#include "arch/mips/dialect.h"

namespace whocall::mips {

// Those questions of CodeModel.
void append_constant_addresses(const Dialect& dialect, ByteView code, Address address,
                               const GlobalTable& got, bool fixed, AddressRange wanted,
                               std::vector<ConstantAddress>& found);
void append_named_addresses(const Dialect& dialect, ByteView code, Address address,
                            const GlobalTable& got, bool fixed, AddressRange wanted,
                            std::vector<Address>& found);
// Of code at fixed addresses; position-independent code counts from the global offset table.
void append_jump_tables(const Dialect& dialect, ByteView code, std::vector<Address>& tables);

// Whether a function begins with `code` that counts from its own address to its data: lui v1,HIGH;
// daddu v1,v1,t9.
bool begins_with_own_distance(const Dialect& dialect, ByteView code);

}  // namespace whocall::mips
