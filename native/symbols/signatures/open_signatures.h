// Opens files of signatures of all kinds, each once for as long as it stays the same.
#pragma once

#include <memory>
#include <string>

#include "symbols/flirt/flirt_index.h"
#include "symbols/signatures/signature_index.h"

namespace whocall {

// One of them is null.
struct OpenedSignatures {
  std::shared_ptr<const SignatureIndex> own;  // what `whocall signatures` wrote
  std::shared_ptr<const FlirtIndex> flirt;
};

// Throws Error.
OpenedSignatures open_signatures(const std::string& path);

}  // namespace whocall
