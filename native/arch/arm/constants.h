// The addresses that ARM code names: a word of the literal pool behind a function, or the halves
// movw and movt; code that may move adds its own address to that.
#pragma once

#include <vector>

#include "arch/code_model.h"

namespace whocall::arm {

// Each answers the question of CodeModel by the same name; literal pools are in the order of
// `Data`.
template <Endian Data = Endian::little>
void append_constant_addresses(ByteView code, Address address, const GlobalTable& got, bool fixed,
                               AddressRange wanted, std::vector<ConstantAddress>& found);
template <Endian Data = Endian::little>
void append_named_addresses(ByteView code, Address address, const GlobalTable& got, bool fixed,
                            AddressRange wanted, std::vector<Address>& found);

}  // namespace whocall::arm
