// The files that `whocall signatures` writes.
//
// Little-endian whatever the libraries are: a header (magic, version, what follows and how much of
// it, a check sum), then the tables of SignatureSet one after the other, each as an array of
// records of 32-bit words. The same libraries give the same bytes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbols/signatures/signature_set.h"

namespace whocall {

std::vector<std::byte> encode_signatures(const SignatureSet& set);

// Every index and every place in the answer lies inside its table. Throws Error: no signature file,
// one of another version, a damaged one, an instruction set that we do not know. `path` is for the
// message.
SignatureSet decode_signatures(ByteView bytes, const std::string& path);

}  // namespace whocall
